"""Can this be written? Asked before the work begins rather than after it."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from noiseproof.errors import ParameterError
from noiseproof.files.hold import held
from noiseproof.files.manifest import not_ours
from noiseproof.files.part import explained, not_removable, put_back

#: So many names of files are told.
_TOLD = 3


def check_file(path: Path, force: bool = False, inputs: Iterable[str | Path | None] = ()) -> None:
    """Raise ParameterError where a file cannot be written, or would replace something else.

    Args:
        path: the file to be.
        force: a plain file that is there may be replaced.
        inputs: files and folders that are read for it; none of them is ever replaced.
    """
    with explained(path):
        if _is_there(path):
            ask_force(path, force)
            if path.is_symlink() or not path.is_file():
                # It would be replaced by a file: a device, a pipe or a link would be gone.
                raise ParameterError(f"{path} is not a plain file; it is left as it is")
            if any(read is not None and _is_in(path, read) for read in inputs):
                raise ParameterError(f"{path} is an input; it is left as it is")
        _check_parent(path)


def check_folder(path: Path, force: bool = False, inputs: Iterable[str | Path | None] = ()) -> None:
    """Raise ParameterError where a folder cannot be written, or would replace somebody's files.

    Args:
        path: the folder to be.
        force: a folder that is there may be replaced if noiseproof wrote everything in it.
        inputs: files and folders that are read for it; a folder that is or holds one of them is
            never replaced.
    """
    if "\0" in str(path):
        check_name(path)
    with explained(path):
        put_back(path)
        if _is_there(path):
            check_kind(path, force)
            for read in inputs:
                if read is not None and _is_in(Path(read), path):
                    raise ParameterError(f"{read} is an input; {path} is left as it is")
            with held(path) as there:  # or its manifest may be of one folder, its files of another
                if there:
                    check_ours(path, path)
        _check_parent(path)


def check_kind(path: Path, force: bool) -> None:
    """Raise ParameterError for what is there, unless it is a folder and may be replaced."""
    if os.path.ismount(path):
        raise ParameterError(
            f"{path} is a mount point, which cannot be replaced; name a folder in it"
        )
    ask_force(path, force)
    if path.is_symlink() or not path.is_dir():
        raise ParameterError(f"{path} is not a folder; it is left as it is")


def check_ours(folder: Path, name: Path) -> None:
    """Raise ParameterError where ``folder``, known as ``name``, holds files of somebody else.

    Or where it could be replaced, but the old one not removed.
    """
    others = not_ours(folder)
    if others:
        more = f" and {len(others) - _TOLD} more" if len(others) > _TOLD else ""
        raise ParameterError(
            f"{name} holds files that noiseproof did not write, or that were changed since: "
            f"{', '.join(others[:_TOLD])}{more}; move them away, or choose another folder"
        )
    if (stuck := not_removable(folder)) is not None:
        where = name / stuck.relative_to(folder)
        raise ParameterError(
            f"{where} belongs to another user, and what is in it cannot be removed; "
            "choose another folder"
        )


def check_name(path: Path) -> None:
    """Raise ParameterError for a path without a name of its own, such as ``.`` or ``/``."""
    if not path.name or path.name == ".." or "\0" in str(path):
        raise ParameterError(f"{str(path)!r} names no file or folder to write")


def ask_force(path: Path, force: bool) -> None:
    """Raise ParameterError for what is there, unless it may be replaced."""
    if not force:
        raise ParameterError(f"{path} exists; nothing is overwritten without --force")


def _is_there(path: Path) -> bool:
    """Return whether something has this name; raise OSError if nothing can ever have it."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _is_in(path: Path, place: str | Path) -> bool:
    """Return whether a path is ``place``, or in that folder."""
    with suppress(OSError, ValueError):  # links in a circle, a null: the reader complains of them
        if os.path.samefile(path, place):
            return True
        return Path(os.path.realpath(place)) in Path(os.path.realpath(path)).parents
    return False


def _check_parent(path: Path) -> None:
    try:
        parent = path.absolute().parent
    except FileNotFoundError:
        raise ParameterError(
            f"cannot write {path}: the working directory does not exist any more"
        ) from None
    check_name(path)
    if not parent.is_dir():
        raise ParameterError(f"no directory {parent} to make {path.name} in")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise ParameterError(f"cannot write into {parent}")
