"""Checkpoints: the state of a run after an epoch, in one file that is always whole."""

import os
import pickle
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import torch

from noiseproof.errors import DataError

State = dict[str, Any]


def write_atomically(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write a file that is either the old one or the new one, whenever the machine stops.

    Args:
        path: where it shall be; its folder is made.
        write: is called with a file open for writing.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), 0o666 & ~_umask())
            write(file)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def save_checkpoint(path: Path, identity: str, state: State) -> None:
    """Write the state of a run, under the hash of what makes it this run and no other."""
    # What a killed process left half written is of no use to anyone.
    for torn in path.parent.glob(f".{path.name}.*.part"):
        torn.unlink(missing_ok=True)
    content = state | {"identity": identity}
    write_atomically(path, lambda file: torch.save(content, file))


def load_checkpoint(path: Path, identity: str, device: torch.device) -> State | None:
    """Return the state of the run ``identity``; None where there is none yet.

    A file that cannot be read, or is of another run, is an error: nothing is overwritten.
    """
    if not path.exists():
        return None
    state = read_tensors(path, device)
    found = state and state.get("identity")
    if not found:
        raise DataError(f"{path}: not a checkpoint; --restart begins anew")
    if found != identity:
        raise DataError(
            f"{path}: belongs to another run ({found[:12]}, not {identity[:12]}); "
            "--restart begins anew, --out elsewhere keeps it"
        )
    return state


def read_tensors(path: Path, device: torch.device | str = "cpu") -> State | None:
    """Return the dict that ``torch.save`` wrote, nothing in it executed; None where it is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of strange files before it refuses them
            content = torch.load(path, map_location=device, weights_only=True)
    except (EOFError, RuntimeError, KeyError, IndexError, ValueError, pickle.UnpicklingError):
        return None
    return content if isinstance(content, dict) else None


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
