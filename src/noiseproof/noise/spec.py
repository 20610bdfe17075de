"""The results of ``parse``: named noises, to be applied to labels.

    Noise
    ├── RateNoise       none, symmetric:0.4, pair-flip:0.2, superclass:0.2, asymmetric:0.3,
    │                   asymmetric:0.3:released
    ├── MatrixNoise     matrix:T.csv
    ├── InstanceNoise   instance:0.3
    └── HumanNoise      human:worst

Each is frozen and has

    str(noise)          the text: ``str(parse(text)) == text``
    noise.transition    its TransitionMatrix; None for the last two, which have none
    noise.apply(labels, seed=1, exact=False, features=None, human=None) -> Corruption

``apply`` takes the same arguments everywhere, and each noise uses what it needs: ``exact`` is for
noises with a matrix, ``features`` for instance noise, ``human`` for human labels.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic

from noiseproof.errors import NoiseError
from noiseproof.losses.parameter import write_number
from noiseproof.noise.corruption import Corruption, human_corruption
from noiseproof.noise.generate import (
    Variant,
    asymmetric,
    identity,
    pair_flip,
    split_classes,
    superclass,
    symmetric,
)
from noiseproof.noise.instance import instance_dependent
from noiseproof.noise.labels import Labels
from noiseproof.noise.transition import TransitionMatrix


@dataclass(frozen=True)
class _Draw(Generic[Labels]):
    """The arguments of ``apply``."""

    labels: Labels
    seed: int
    exact: bool
    features: Any
    human: Any


class _Spec(ABC):
    """What the four kinds of noise have in common."""

    def apply(
        self,
        labels: Labels,
        *,
        seed: int,
        exact: bool = False,
        features: Any = None,
        human: Any = None,
    ) -> Corruption[Labels]:
        """Return ``labels`` after this noise, with a receipt of how they differ.

        Args:
            labels: (N,) integers.
            seed: seeds the draw.
            exact: whether each class gets exactly its expected number of flips.
            features: (N, ...) of the samples, for instance noise.
            human: (N,) the labels that people gave, for human noise.
        """
        return self._spoil(_Draw(labels, seed, exact, features, human))

    @abstractmethod
    def _spoil(self, draw: _Draw[Labels]) -> Corruption[Labels]:
        """Apply the noise."""


@dataclass(frozen=True)
class RateNoise(_Spec):
    """A noise whose matrix follows from a rate and the number of classes or the data set.

    >>> RateNoise("symmetric", 0.4, classes=10).transition
    TransitionMatrix(10 classes, rate 0.4, clean level 13.5, dominant)
    """

    kind: str
    rate: float = 0.0
    variant: Variant = "corrected"
    classes: int | tuple[str, ...] | None = None
    dataset: str | None = None

    def __str__(self) -> str:
        if self.kind == "none":
            return "none"
        end = "" if self.variant == "corrected" else f":{self.variant}"
        return f"{self.kind}:{write_number(self.rate)}{end}"

    @property
    def transition(self) -> TransitionMatrix:
        """The matrix; raises NoiseError if the classes or the data set are missing."""
        if self.kind in ("asymmetric", "superclass"):
            return self._from_dataset()
        K, names = split_classes(self.classes)
        if K is None:
            raise NoiseError(f"noise '{self}' needs the number of classes")
        if self.kind == "none":
            return identity(K, names)
        return (symmetric if self.kind == "symmetric" else pair_flip)(K, self.rate, names)

    def _from_dataset(self) -> TransitionMatrix:
        if self.dataset is None:
            raise NoiseError(f"noise '{self}' needs a data set whose confusions are known")
        if self.kind == "asymmetric":
            return asymmetric(self.dataset, self.rate, self.classes, self.variant)
        return superclass(self.dataset, self.rate, self.classes)

    def _spoil(self, draw: _Draw[Labels]) -> Corruption[Labels]:
        return self.transition.corrupt(draw.labels, draw.seed, draw.exact)


@dataclass(frozen=True)
class MatrixNoise(_Spec):
    """A transition matrix read from the file ``path``."""

    path: str
    transition: TransitionMatrix

    def __str__(self) -> str:
        return f"matrix:{self.path}"

    def _spoil(self, draw: _Draw[Labels]) -> Corruption[Labels]:
        return self.transition.corrupt(draw.labels, draw.seed, draw.exact)


@dataclass(frozen=True)
class InstanceNoise(_Spec):
    """Noise that depends on the features of each sample; see ``instance_dependent``."""

    rate: float
    classes: int | None = None

    def __str__(self) -> str:
        return f"instance:{write_number(self.rate)}"

    @property
    def transition(self) -> None:
        """None: the noise differs from sample to sample."""
        return None

    def _spoil(self, draw: _Draw[Labels]) -> Corruption[Labels]:
        if draw.features is None:
            raise NoiseError(f"noise '{self}' needs the features of the samples")
        return instance_dependent(draw.features, draw.labels, self.rate, draw.seed, self.classes)


@dataclass(frozen=True)
class HumanNoise(_Spec):
    """Labels that people gave; ``which`` is the publishers' name for the set."""

    which: str
    classes: int | None = None

    def __str__(self) -> str:
        return f"human:{self.which}"

    @property
    def transition(self) -> None:
        """None: the labels were given, not drawn."""
        return None

    def _spoil(self, draw: _Draw[Labels]) -> Corruption[Labels]:
        if draw.human is None:
            raise NoiseError(f"noise '{self}' needs the labels that people gave")
        return human_corruption(draw.labels, draw.human, self.classes)


Noise = RateNoise | MatrixNoise | InstanceNoise | HumanNoise
