"""What may be asked of :func:`~noiseproof.learn.learn.learn`, and which learners answer."""

import math
from collections.abc import Sequence

import numpy as np

from noiseproof.errors import ParameterError, did_you_mean
from noiseproof.extras import need
from noiseproof.learn.learner import Learner, Problem
from noiseproof.learn.learners import registry
from noiseproof.losses.parameter import is_whole

#: Minutes, but for infinity: Python's own integers may be larger than any float.
LONGEST = 1e300


def check(
    learners: str | Sequence[str] | None,
    losses: Sequence[str] | None,
    search: int,
    minutes: float,
    folds: int,
) -> None:
    """Raise ParameterError if options name what does not exist or do not go together."""
    is_number = is_whole(minutes) or isinstance(minutes, float | np.floating)
    if not is_number or not (0 <= minutes <= LONGEST or minutes == math.inf):
        raise ParameterError(f"minutes: expected 0 or more, got {minutes}")
    if not is_whole(search) or search < 0:
        raise ParameterError(f"search: expected 0 or more further settings, got {search!r}")
    if not is_whole(folds) or folds < 2:
        raise ParameterError(f"expected 2 folds or more, got {folds!r}")
    if search > 0:
        need("search", "optuna")  # fail now rather than after the comparison
    if losses is not None and len(losses) == 0:
        raise ParameterError(
            "losses: expected at least one; None compares those that suit the noise"
        )
    names = [learners] if isinstance(learners, str) else list(learners or registry)
    for name in names:
        if name not in registry:
            raise ParameterError(f"no learner is called {name!r}{did_you_mean(name, registry)}")
    lossless = all(registry[name]().with_loss("CE") is None for name in names)
    if lossless and (losses is not None or search > 0):
        what = "losses" if losses is not None else "search"
        raise ParameterError(f"{what}: {', '.join(names)} cannot train with another loss")


def kinds_for(
    problem: Problem, names: Sequence[str] | None
) -> tuple[list[type[Learner]], list[str]]:
    """Return the learners to try, and a note for each one that is not installed."""
    kinds, notes = [], []
    for name, kind in registry.items():
        if names is not None and name not in names:
            continue
        if names is not None:
            kind.check(problem.shape)
        elif not kind.suits(problem.shape):
            continue
        extra = kind.missing()
        if extra is None:
            kinds.append(kind)
        else:
            notes.append(f"{name} was not tried: pip install 'noiseproof[{extra}]'")
    if not kinds:
        raise ParameterError("; ".join(notes) or "no learner suits these data")
    return kinds, notes
