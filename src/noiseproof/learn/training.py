"""Training any mix of learners at once, and what they have to answer."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from noiseproof import parallel
from noiseproof.errors import ParameterError
from noiseproof.learn.learner import Floats, Problem, Shape, Task, Trained

#: Models with more weights than this are trained one by one.
LARGE = 1_000_000
#: How far the probabilities of a row may be from summing to 1.
SUMS = 0.01


def checked(p: Any, name: str, rows: int, classes: int) -> Floats:
    """Return what a learner says; raise ParameterError if it has another form."""
    wanted = (rows, classes)
    if not isinstance(p, np.ndarray) or p.shape != wanted or p.dtype.kind != "f":
        found = f"{p.dtype} {p.shape}" if isinstance(p, np.ndarray) else type(p).__name__
        raise ParameterError(f"{name}: expected probabilities, floats {wanted}, got {found}")
    if not (np.abs(p.sum(axis=1) - 1) <= SUMS).all() or p.min(initial=0) < -SUMS:  # or NaN
        raise ParameterError(f"{name}: expected probabilities, got rows that do not sum to 1")
    return p


def train_all(problem: Problem, tasks: Sequence[Task]) -> list[Trained]:
    """Train tasks of any mix of learners, in parallel."""
    groups = together(tasks, problem.shape)
    found = parallel.run([partial(type(g[0].learner).train, problem, g) for g in groups])
    pairs = zip(groups, found, strict=True)
    made = {id(t): m for g, models in pairs for t, m in zip(g, models, strict=True)}
    return [made[id(task)] for task in tasks]


def together(tasks: Sequence[Task], shape: Shape) -> list[list[Task]]:
    """Return the groups of tasks that are best trained together.

    Where a model is large, each is trained alone: no job starts once the time is up, and a group
    of a dozen would take minutes.
    """
    if shape.columns * shape.classes > LARGE:
        return [[task] for task in tasks]
    groups: list[list[Task]] = []
    for kind in dict.fromkeys(type(task.learner) for task in tasks):
        groups += kind.together([task for task in tasks if type(task.learner) is kind])
    return groups
