"""Writing files: whole or not at all, never over something of somebody else's.

    files.check_file(path, force)            raise at once what would fail after an hour of work
    files.write(path, content)               one file: the old one or the new one, never half of it
    with files.writing(path, content):       a file about another one, which the block replaces
    files.check_folder(path, force)
    with files.replacing(path, force) as f:  a folder: write into ``f``, which becomes ``path``
    files.set_aside(path)                    a file that is not what it should be: *.damaged
    with files.locked(path, "this run"):     one process at a time; ``files.is_locked`` asks
    files.check_plain(path)                  before a read: no pipe, no device, no folder
    files.mode_of(path)                      what is there, if anything; a bad name is one line
    files.below(folder)                      every file in it; no folder is left out unseen
    with files.unchanged(path):              what the block reads is of one version, or an error

A write goes into a hidden neighbour, ``.NAME.XXXXXXXX.part``, is synced to the disk, and takes the
place of the old file or folder in one step of the file system. What a killed process leaves behind
is removed by the next write to the same name; what a living one is writing or replacing is left
alone, and whoever wants to replace the same folder waits for it. A check deletes nothing. Full
disks, missing permissions and the like are raised as :class:`~noiseproof.errors.FileError`, one
line.

A folder carries a manifest of the files that noiseproof wrote into it, so that replacing it never
deletes a file that somebody else put there or changed.
"""

from noiseproof.files.destination import check_file, check_folder, check_name
from noiseproof.files.folder import replacing
from noiseproof.files.lock import is_locked, locked
from noiseproof.files.manifest import MANIFEST, not_ours, write_manifest
from noiseproof.files.part import explained, make_folder
from noiseproof.files.single import set_aside, write, writing
from noiseproof.files.source import below, check_plain, mode_of
from noiseproof.files.unchanged import stamp, unchanged

__all__ = [
    "MANIFEST",
    "below",
    "check_file",
    "check_folder",
    "check_name",
    "check_plain",
    "explained",
    "is_locked",
    "locked",
    "make_folder",
    "mode_of",
    "not_ours",
    "replacing",
    "set_aside",
    "stamp",
    "unchanged",
    "write",
    "write_manifest",
    "writing",
]
