"""Checkpoints: the state of a run after an epoch, in one file that is always whole."""

import io
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from noiseproof import files
from noiseproof.errors import DataError
from noiseproof.train.meter import are_numbers
from noiseproof.train.outcome import Epoch
from noiseproof.train.possible import check_epoch

State = dict[str, Any]


def save_checkpoint(path: Path, identity: str, state: State) -> None:
    """Write the state of a run, under the hash of what makes it this run and no other."""
    write_tensors(path, state | {"identity": identity})


def write_tensors(path: Path, content: State) -> None:
    """Write a dict as ``torch.save`` does, whole or not at all."""
    # In memory first: torch turns the error of a full disk into one about its own zip format.
    buffer = io.BytesIO()
    torch.save(content, buffer)
    files.write(path, buffer.getbuffer())


def load_checkpoint(path: Path, identity: str, device: torch.device | str = "cpu") -> State | None:
    """Return the state of the run ``identity``; None where there is none yet.

    A file that cannot be read, or is of another run, is an error: nothing is overwritten.
    """
    if not path.exists():
        return None
    state = read_tensors(path, device)
    found = state and state.get("identity")
    if not state or not found or not _is_whole(state):
        raise DataError(f"{path}: not a checkpoint; --restart begins anew")
    if found != identity:
        raise DataError(
            f"{path}: belongs to another run ({str(found)[:12]}, not {identity[:12]}); "
            "--restart begins anew, --out elsewhere keeps it"
        )
    return state


class UnfitError(DataError):
    """A state that does not fit what it is loaded into."""

    def __init__(self, path: Path | None = None) -> None:
        """Say which file it is, where that is known."""
        super().__init__(
            f"{path or 'the checkpoint'}: does not fit the network of this run; remove it, or "
            "begin anew with --restart"
        )


@contextmanager
def restoring() -> Iterator[None]:
    """Raise UnfitError for what goes wrong while a state is loaded: other versions may differ."""
    try:
        yield
    except (RuntimeError, ValueError, TypeError, LookupError, AttributeError):
        raise UnfitError from None


def restore(
    network: torch.nn.Module,
    weights: State,
    optimiser: torch.optim.Optimizer,
    state: State,
    finite: bool = True,
) -> None:
    """Load what a network and its optimiser were; raise UnfitError if that is of another kind.

    torch would convert other types, and take other settings than the recipe's. All numbers are
    ``finite`` unless a network of a stack has failed.
    """
    own = network.state_dict()
    if any(value.dtype != own[name].dtype for name, value in weights.items()):
        raise UnfitError
    if finite and not are_numbers(weights):
        raise UnfitError
    network.load_state_dict(weights)
    settings = optimiser.state_dict()["param_groups"]
    parameters = [one for group in optimiser.param_groups for one in group["params"]]
    buffers = {}
    for number, parameter in enumerate(parameters if settings[0]["momentum"] else ()):
        kept = state["state"][number]["momentum_buffer"]
        if (kept.shape, kept.dtype) != (parameter.shape, parameter.dtype):
            raise UnfitError
        if finite and not are_numbers({"kept": kept}):
            raise UnfitError
        # A copy: elements of a tensor in a file may share their memory, and steps write to it.
        buffers[number] = {"momentum_buffer": torch.empty_like(parameter).copy_(kept)}
    optimiser.load_state_dict({"state": buffers, "param_groups": settings})


def _is_whole(state: State) -> bool:
    """Return whether this is the state of one run or of several: other versions may differ."""
    histories: Any = state.get("history")
    parts = ["stack", "optimiser"]
    if "network" in state:
        histories, parts = [histories], ["network", "optimiser", "scaler"]
    lists = isinstance(histories, list) and all(isinstance(rows, list) for rows in histories)
    if not lists or not any(histories):  # it is written after an epoch, so there is one
        return False
    try:
        for row, number in ((row, n) for rows in histories for n, row in enumerate(rows, start=1)):
            check_epoch(row, number)
        numbers = [[Epoch(**row).number for row in rows] for rows in histories]
    except (TypeError, DataError):
        return False
    in_order = all(found == list(range(1, len(found) + 1)) for found in numbers)
    return in_order and all(isinstance(state.get(part), dict) for part in parts)


def read_tensors(path: Path, device: torch.device | str = "cpu") -> State | None:
    """Return the dict that ``torch.save`` wrote, nothing in it executed; None where it is none.

    A file with a damaged part is none: torch reads one changed bit as another weight.
    """
    files.check_plain(path)
    buffer = io.BytesIO(path.read_bytes())
    try:
        with zipfile.ZipFile(buffer) as file:
            parts = file.infolist()
            packed = any(part.compress_type != zipfile.ZIP_STORED for part in parts)
            overlap = sum(part.file_size for part in parts) > buffer.getbuffer().nbytes
            if packed or overlap:  # torch does neither: it may be a bomb
                return None
            if file.testzip() is not None:
                return None
        buffer.seek(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of strange files before it refuses them
            content = torch.load(buffer, map_location=device, weights_only=True)
    except MemoryError:
        raise
    except Exception:  # a damaged file can raise anything at all
        return None
    return content if isinstance(content, dict) else None
