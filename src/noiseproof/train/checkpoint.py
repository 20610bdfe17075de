"""Checkpoints: the state of a run after an epoch, in one file that is always whole."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from noiseproof.errors import DataError
from noiseproof.train.meter import are_numbers
from noiseproof.train.outcome import Epoch
from noiseproof.train.possible import check_epoch
from noiseproof.train.tensors import State, read_tensors, write_tensors


def save_checkpoint(path: Path, identity: str, state: State) -> None:
    """Write the state of a run, under the hash of what makes it this run and no other."""
    write_tensors(path, state | {"identity": identity})


def load_checkpoint(path: Path, identity: str, device: torch.device | str = "cpu") -> State | None:
    """Return the state of the run ``identity``; None where there is none yet.

    A file that cannot be read, or is of another run, is an error: nothing is overwritten.
    """
    if not path.exists():
        return None
    state = read_tensors(path, device) or {}
    found = whose(state)
    if found and found != identity:
        raise DataError(
            f"{path}: belongs to another run ({found[:12]}, not {identity[:12]}); "
            "--restart begins anew, --out elsewhere keeps it"
        )
    if not found or not _is_whole(state):
        raise DataError(f"{path}: not a checkpoint; --restart begins anew")
    return state


def whose(state: State) -> str:
    """Return the identity of the run that a state is of; empty where it is of none."""
    found = state.get("identity")
    return found if isinstance(found, str) else ""


class UnfitError(DataError):
    """A state that does not fit what it is loaded into."""

    def __init__(self, path: Path | None = None) -> None:
        """Say which file it is, where that is known."""
        super().__init__(
            f"{path or 'the checkpoint'}: does not fit this run; remove it, or begin anew with "
            "--restart"
        )


@contextmanager
def restoring() -> Iterator[None]:
    """Raise UnfitError for what goes wrong while a state is loaded: other versions may differ."""
    try:
        yield
    except (DataError, RuntimeError, ValueError, TypeError, LookupError, AttributeError):
        raise UnfitError from None


def restore(
    network: torch.nn.Module,
    weights: State,
    optimiser: torch.optim.Optimizer,
    state: State,
    alive: Sequence[int] | None = None,
) -> None:
    """Load what a network and its optimiser were; raise UnfitError if that is of another kind.

    torch would convert other types, and take other settings than the recipe's. All numbers are
    finite; of a stack, those of the networks that are ``alive``.
    """
    _check_alike(weights, network.state_dict(), alive)
    network.load_state_dict(weights)
    for number, own in enumerate(optimiser.state.values()):
        kept = {name: state["state"][number][name] for name in own}
        _check_alike(kept, own, alive)
        for name, value in kept.items():
            own[name].copy_(value)


def _check_alike(
    found: Mapping[str, Tensor], own: Mapping[str, Tensor], alive: Sequence[int] | None
) -> None:
    """Raise UnfitError for tensors of other shapes or types, or with numbers that are none."""
    for name, value in found.items():  # the shape first: a small file may claim a huge one
        if (value.shape, value.dtype) != (own[name].shape, own[name].dtype):
            raise UnfitError
    if not are_numbers(found if alive is None else {n: v[alive] for n, v in found.items()}):
        raise UnfitError


def restore_scaler(scaler: torch.amp.GradScaler, state: State) -> None:
    """Load the scale of the gradients; raise UnfitError if no run could have come to it."""
    own = scaler.state_dict()  # empty unless gradients are scaled
    kept = own | {name: state[name] for name in ("scale", "_growth_tracker") if name in own}
    if own and not (
        type(kept["scale"]) is float
        and 0 < kept["scale"] <= torch.finfo(torch.float32).max
        and type(kept["_growth_tracker"]) is int
        and 0 <= kept["_growth_tracker"] < own["growth_interval"]
    ):
        raise UnfitError
    scaler.load_state_dict(kept)


def _is_whole(state: State) -> bool:
    """Return whether this is the state of one run or of several: other versions may differ."""
    histories: Any = state.get("history")
    parts = ["stack", "optimiser"]
    if "network" in state:
        histories, parts = [histories], ["network", "optimiser", "scaler"]
    lists = isinstance(histories, list) and all(isinstance(rows, list) for rows in histories)
    if not lists or not any(histories):  # it is written after an epoch, so there is one
        return False
    if len(histories) != len(whose(state).split()):
        return False
    try:
        for row, number in ((row, n) for rows in histories for n, row in enumerate(rows, start=1)):
            check_epoch(row, number)
        numbers = [[Epoch(**row).number for row in rows] for rows in histories]
    except (TypeError, DataError):
        return False
    in_order = all(found == list(range(1, len(found) + 1)) for found in numbers)
    return in_order and all(isinstance(state.get(part), dict) for part in parts)
