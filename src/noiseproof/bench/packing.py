"""Publishing a grid: all its records in one packed file, and the files of the records again."""

import os
from pathlib import Path
from typing import NamedTuple

from noiseproof import files
from noiseproof.bench.grid import Grid
from noiseproof.bench.pages.report import variants
from noiseproof.bench.words import count
from noiseproof.errors import DataError
from noiseproof.results import Record, RunFiles, Store
from noiseproof.results.pack import SUFFIX, pack, record_text
from noiseproof.results.store import result


class Packed(NamedTuple):
    """What was packed.

    Args:
        path: the packed file.
        inside: the keys of its records.
        others: the keys of the store's other records.
    """

    path: Path
    inside: frozenset[str]
    others: frozenset[str]


def pack_grid(grid: Grid, store: Store, folder: Path, force: bool = False) -> Packed:
    """Write what a store has of a grid, with either recipe and any seed, into one packed file.

    Args:
        grid: the grid.
        store: where the records are, packed or not.
        folder: where the packed file goes, under the name of the grid; made if it is not there.
        force: replace the file that is there.
    """
    path = folder / f"{grid.name}{SUFFIX}"
    files.check_file(path if folder.exists() else folder, force)
    places = {place for variant in variants(grid) for place in variant.places.values()}
    found = list(store.found())
    store.judge(found)
    if disputes := [d for d in store.disputes.values() if d.place in places]:
        raise DataError(f"{count(len(disputes), 'disputed cell')} of {grid.name}: {disputes[0]}")
    if store.damaged and path.exists():
        raise DataError(
            f"{path} may have what cannot be read of {store.path}; choose another --out"
        )
    own = {f.record.key: f for f in reversed(found) if f.record.place in places}
    others = [f for f in found if f.record.key not in own]
    kept = {f.record.key for f in others if f.path.resolve() != path.resolve()}
    if lost := {f.record.key for f in others} - kept:
        raise DataError(
            f"{path} has {count(len(lost), 'record')} of no row, noise or data of {grid.name}, "
            "which would be lost; choose another --out"
        )
    if not own:
        raise DataError(f"{store.path}: no record of {grid.name} to pack")
    ordered = sorted(own.values(), key=lambda one: RunFiles.of(folder, one.record).name)
    with files.explained(folder):
        folder.mkdir(exist_ok=True)
    files.write(path, pack(one.values for one in ordered), force)
    return Packed(path, frozenset(own), frozenset(kept))


def unpack_store(store: Store, folder: Path) -> tuple[int, int]:
    """Write every record of a store into a file of its own, byte for byte as its run wrote it.

    Args:
        store: a packed file, or a folder of them.
        folder: where the files go; files that are there are left alone.

    Returns:
        how many files were written, and how many were there already.
    """
    written = there = 0
    every = list(store.found())
    store.judge(every)
    if disputes := list(store.disputes.values()):  # of which one side alone would be left
        raise DataError(f"{count(len(disputes), 'disputed cell')}: {disputes[0]}")
    for found in every:
        path = RunFiles.of(folder, found.record).record
        if os.path.lexists(path):
            old = Record.read(path)
            if (old.key, result(old)) != (found.record.key, result(found.record)):
                raise DataError(
                    f"{path}: another result than in {found.path}; remove what is wrong"
                )
            there += 1
        else:
            files.write(path, record_text(found.values))
            written += 1
    return written, there
