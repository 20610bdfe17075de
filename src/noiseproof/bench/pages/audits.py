"""What the theory says about the losses of a grid, beside their results."""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from noiseproof.bench.collect import Collected
from noiseproof.bench.grid import Grid, Row
from noiseproof.errors import NoiseproofError, TheoryError
from noiseproof.known import KNOWN
from noiseproof.losses import Loss
from noiseproof.losses import loss as read_loss
from noiseproof.losses.own import is_shipped
from noiseproof.noise import TransitionMatrix, parse
from noiseproof.theory import Audit, audit
from noiseproof.theory.options import effective
from noiseproof.theory.tolerance import margins

Classes = tuple[str, ...] | int | None


@dataclass(frozen=True)
class AuditedRow:
    """A row of a grid and what the theory says about its loss.

    Args:
        row: its name and loss.
        audit: what is known of the loss.
        tolerates: a word a noise: True, False, or None where that was not decided.
        accuracy: the mean test accuracy a noise, a share; None where nothing was run.
    """

    row: Row
    audit: Audit
    tolerates: tuple[bool | None, ...]
    accuracy: tuple[float | None, ...]


def audit_row(collected: Collected, row: Row) -> AuditedRow | None:
    """Check the loss of a row against every noise; None where the theory has no answer."""
    grid = collected.grid
    classes = class_count(grid)
    if classes is None:
        return None
    found = (collected.summary(row, noise) for noise in grid.noises)
    try:
        return AuditedRow(
            row,
            _audit(row.loss, classes),
            tuple(tolerates(grid, row.loss, noise) for noise in grid.noises),
            tuple(summary.mean if summary else None for summary in found),
        )
    except NoiseproofError:
        return None


def class_count(grid: Grid) -> int | None:
    """Return K; None for a data set whose classes are known only once it is loaded."""
    for noise in ("none", *grid.noises):
        T = _matrix(noise, _classes(grid), grid.source.name)
        if T is not None:
            return len(T)
    return None


def _classes(grid: Grid) -> Classes:
    entry = KNOWN.get(grid.source.name)
    return grid.source.classes or (entry.classes if entry else None)


def tolerates(grid: Grid, loss: str, noise: str) -> bool | None:
    """Return whether a loss is asymmetric on every row of a noise; None where that is undecided."""
    T = _matrix(noise, _classes(grid), grid.source.name)
    return None if T is None else _tolerates(loss, len(T), T.matrix.tobytes())


def smallest_margin(grid: Grid, loss: str, noise: str) -> float | None:
    """Return the margin c * r of the class it is least for; None where r or c is not known."""
    T = _matrix(noise, _classes(grid), grid.source.name)
    if T is None:
        return None
    try:
        return _smallest_margin(loss, len(T), T.matrix.tobytes())
    except NoiseproofError:
        return None


@lru_cache(maxsize=4096)
def _smallest_margin(loss: str, classes: int, matrix: bytes) -> float | None:
    found = _audit(loss, classes)
    if found.ratio is None:
        return None
    weighed = effective(found.loss, np.frombuffer(matrix).reshape(classes, classes))
    right, wrong = weighed.diagonal(), np.where(np.eye(classes, dtype=bool), 0, weighed).max(1)
    levels = [float(a / b) for a, b in zip(right, wrong, strict=True) if b > 0]
    return min(levels) * found.ratio if levels else math.inf


@lru_cache(maxsize=4096)
def _tolerates(loss: str, classes: int, matrix: bytes) -> bool | None:
    T = TransitionMatrix(np.frombuffer(matrix).reshape(classes, classes))
    found = _audit(loss, classes)
    with _as_theory_errors(found.loss):
        words = {margin.tolerated for margin in margins(found.loss, found.ratio, T)}
    return False if False in words else None if None in words else True


@lru_cache(maxsize=1024)
def _audit(loss: str, classes: int) -> Audit:
    built = read_loss(loss)
    with _as_theory_errors(built):
        return audit(built, classes=classes)


@contextmanager
def _as_theory_errors(loss: Loss) -> Iterator[None]:
    """Take whatever the code of a user's own loss raises for: the theory has no answer."""
    try:
        yield
    except NoiseproofError:
        raise
    except Exception as error:
        if is_shipped(loss):
            raise
        raise TheoryError(f"{loss}: {type(error).__name__}: {error}") from error


def _matrix(noise: str, classes: Classes, dataset: str) -> TransitionMatrix | None:
    try:
        return parse(noise, classes, dataset).transition
    except NoiseproofError:
        return None
