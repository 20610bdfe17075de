"""The model that a fit saves: trained learners, their weights, and a sharpness."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from noiseproof.errors import DataError
from noiseproof.learn.learner import Floats, Learner, Trained, of_name
from noiseproof.learn.learners import registry

MEMBERS = "members.json"
#: Probabilities that are sharpened at a time, and the most that a sharpness is chosen by.
BLOCK, MOST = 1 << 21, 20_000_000
#: The standard deviation of the prior of log(sharpness), whose mean is 0. Without the prior, models
#: of few rows are far too sure: over 99 fits of 20 to 90 rows the mean log loss on true labels was
#: 0.82 nats, with it 0.58 (unsharpened 0.58); over 18 of 120 and 300 rows, 0.38 and 0.35
#: (unsharpened 0.38).
SPREAD = 0.3


@dataclass(frozen=True, eq=False)
class Member:
    """A trained learner.

    Args:
        learner: the setting it was trained with.
        treatment: the treatment of doubtful labels.
        weight: the weight of its probabilities.
        trained: the trained model.
    """

    learner: Learner
    treatment: str
    weight: float
    trained: Trained

    @property
    def described(self) -> dict[str, Any]:
        """Everything but the trained model, as a dict for JSON."""
        return {
            "learner": self.learner.name,
            "settings": self.learner.settings,
            "treatment": self.treatment,
            "weight": self.weight,
        }


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The weighted mean of its members' probabilities, sharpened.

    Args:
        members: one or more.
        sharpness: s; probabilities are proportional to the mean to the power s, which makes them
            those of the true class. Models trained on noisy labels are less sure than they should
            be, so s is usually above 1.
    """

    members: tuple[Member, ...]
    sharpness: float = 1.0

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of features and of classes, (D, K)."""
        return self.members[0].trained.sizes

    def probabilities(self, X: Any) -> Floats:
        """Return the probabilities of the true class, (N, K)."""
        mean = sum(m.weight * m.trained.probabilities(X) for m in self.members)
        return sharpened(np.asarray(mean), self.sharpness)

    def save(self, folder: Path) -> None:
        """Write each member into its own folder."""
        described = {
            "sharpness": self.sharpness,
            "members": [member.described for member in self.members],
        }
        (folder / MEMBERS).write_text(json.dumps(described, indent=1) + "\n", encoding="utf-8")
        for i, member in enumerate(self.members):
            (folder / f"member{i}").mkdir()
            member.trained.save(folder / f"member{i}")

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what :meth:`save` wrote.

        Raises:
            DataError: for a learner that nobody has registered.
            ValueError: if the parts do not fit together.
        """
        described = json.loads((folder / MEMBERS).read_text(encoding="utf-8"))
        members = []
        for i, entry in enumerate(described["members"]):
            name = str(entry["learner"])
            if name not in registry:
                raise DataError(
                    f"{folder}: no learner is called {name[:40]!r}; import the code that "
                    "registers it before the model is loaded"
                )
            learner = of_name(name, entry["settings"])
            weight = float(entry["weight"])
            if not 0 < weight <= 1:
                raise ValueError(f"a weight of {weight}")
            trained = type(learner).trained.load(folder / f"member{i}")
            members.append(Member(learner, str(entry["treatment"]), weight, trained))
        sharpness = float(described["sharpness"])
        if not members or not 0 < sharpness < 1e6:
            raise ValueError("expected members and a sharpness above 0")
        if len({member.trained.sizes for member in members}) > 1:
            raise ValueError("the members are of different sizes")
        return cls(tuple(members), sharpness)


def sharpened(p: Floats, sharpness: float) -> Floats:
    """Return probabilities raised to a power, with rows summing to 1.

    >>> sharpened(np.array([[0.8, 0.2]]), 2.0).round(3)
    array([[0.941, 0.059]], dtype=float32)
    """
    out = np.empty(p.shape, dtype=np.float32)
    step = max(1, BLOCK // max(1, p.shape[1]))
    for start in range(0, len(p), step):
        part = np.asarray(p[start : start + step], dtype=np.float64)
        part = (part / np.maximum(part.max(axis=1, keepdims=True), 1e-300)) ** sharpness
        out[start : start + step] = part / part.sum(axis=1, keepdims=True)
    return out


def sharpness_for(p: Floats, labels: Any, noise: Floats, weights: Floats) -> float:
    """Return the power that makes held-out probabilities those of the true class.

    It maximises the likelihood of the noisy labels, sum_i p_i^s T_ij / sum_i p_i^s for label j,
    times a prior: T explains the noise in the labels, and s the doubt about the class. Few rows say
    little about s, and the prior keeps it near 1. Of many rows and classes, an even part of the
    rows says as much.

    Args:
        p: (N, K) held-out probabilities.
        labels: (N,) noisy labels.
        noise: T (K, K).
        weights: (N,) how much each row counts.
    """
    every = -(-p.size // MOST)
    p, labels, weights = p[::every], np.asarray(labels)[::every], weights[::every]
    seen = np.maximum(noise, 1e-6).T[labels]
    grid: Sequence[float] = np.geomspace(0.25, 8, 31).tolist()
    fits = [
        float(weights @ np.log((sharpened(p, s) * seen).sum(axis=1)))
        - 0.5 * (math.log(s) / SPREAD) ** 2
        for s in grid
    ]
    return grid[int(np.argmax(fits))]
