"""A recipe: everything that decides a training run, but for the data, the loss and the seed."""

import dataclasses
import hashlib
import json
import math
from dataclasses import dataclass
from numbers import Integral, Real
from sys import float_info
from typing import Any, ClassVar, Self, get_args, get_type_hints

from noiseproof.errors import ParameterError, did_you_mean
from noiseproof.models import NAMES as NETWORKS

SCHEDULES = ("cosine", "exponential", "constant")
#: What a field of each type may be given as, and how to ask for it.
WORDS: dict[type, tuple[type, str]] = {
    str: (str, "text"), int: (Integral, "a whole number"), float: (Real, "a number"),
    bool: (bool, "true or false"),
}  # fmt: skip
PRECISIONS = ("float32", "bfloat16", "float16")
METHODS = ("loss", "nlnl")
#: A wider hidden layer is a slip of the finger, and more memory than any machine has.
WIDEST, DEEPEST = 1_000_000, 100
#: So many epochs, samples or the like at most: more would never end.
MOST = 1_000_000_000
#: Fields that have an effect only with one value of another field.
_ONLY_WITH = {"hidden": ("network", "mlp"), "decay": ("schedule", "exponential")}
AUGMENTATIONS = ("crop", "shift", "flip", "rotation", "colour")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to train: frozen, printable, and hashed over all that can change the result.

    Args:
        name: ``"paper"``, ``"quick"``; a label, not part of the hash.
        network: a name :func:`noiseproof.models.build` knows.
        epochs: passes over the training set.
        batch: samples a step.
        lr: the learning rate of the first epoch.
        momentum: of SGD.
        nesterov: whether the momentum is Nesterov's.
        weight_decay: of SGD, on all parameters.
        schedule: of the learning rate, stepped after each epoch: ``"cosine"`` to 0 at the end,
            ``"exponential"`` times ``decay``, or ``"constant"``.
        decay: the factor of the exponential schedule.
        clip: the largest norm of the gradient; 0 clips nothing.
        augment: in this order, of ``crop``, ``shift``, ``flip``, ``rotation``, ``colour``.
        mean: subtracted from pixels in 0..1 (one number a channel) or columns; empty is the data
            set's own.
        std: divided by after that; empty is the data set's own.
        exact: flip the same number of labels in every class, rather than each independently.
        train_size: train on so many samples, drawn by the seed; 0 is all.
        test_size: test on so many samples, drawn by the seed; 0 is all.
        hidden: widths of the hidden layers, for ``mlp``.
        precision: ``"float32"``, or what autocast computes in: ``"bfloat16"``, ``"float16"``.
        method: ``"loss"`` minimises the one loss; ``"nlnl"`` has NLNL's three stages.
        held_out: hold back so many samples besides, with their noisy labels, to choose parameters
            by. Such a run is one of many, so it is measured once, after its last epoch.

    >>> recipe = Recipe(name="paper", network="cnn4", epochs=50, lr=0.01, weight_decay=1e-3)
    >>> short = recipe.override(epochs=10, lr=0.02)
    >>> short.changes(recipe)
    ('epochs 10 (not 50)', 'lr 0.02 (not 0.01)')
    >>> short.hash == recipe.hash, short.override(epochs=50, lr=0.01).hash == recipe.hash
    (False, True)
    """

    name: str = "own"
    network: str
    epochs: int
    batch: int = 128
    lr: float = 0.01
    momentum: float = 0.9
    nesterov: bool = False
    weight_decay: float = 0.0
    schedule: str = "cosine"
    decay: float = 1.0
    clip: float = 5.0
    augment: tuple[str, ...] = ()
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    exact: bool = False
    train_size: int = 0
    test_size: int = 0
    hidden: tuple[int, ...] = (256, 256)
    precision: str = "float32"
    method: str = "loss"
    held_out: int = 0

    #: Raised whenever the loop itself changes the numbers a recipe gives.
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        for name, kind in _KINDS.items():
            object.__setattr__(self, name, _of_kind(name, kind, getattr(self, name)))
        self._check_numbers()
        for field, known in (
            ("schedule", SCHEDULES),
            ("precision", PRECISIONS),
            ("method", METHODS),
        ):
            value = getattr(self, field)
            if value not in known:
                raise ParameterError(f"unknown {field} {value!r}{did_you_mean(value, known)}")
        for name in self.augment:
            if name not in AUGMENTATIONS:
                hint = did_you_mean(name, AUGMENTATIONS)
                raise ParameterError(f"unknown augmentation {name!r}{hint}")
        if len(self.mean) != len(self.std):
            raise ParameterError(f"{len(self.mean)} numbers in mean, but {len(self.std)} in std")
        if self.nesterov and self.momentum == 0:
            raise ParameterError("Nesterov's momentum needs a momentum above 0")

    def _check_numbers(self) -> None:
        counts = {"epochs": 1, "batch": 2, "train_size": 0, "test_size": 0, "held_out": 0}
        rates = dict.fromkeys(("lr", "momentum", "weight_decay", "decay", "clip"), 0)
        for field, least in (counts | rates).items():
            value, most = getattr(self, field), MOST if field in counts else float_info.max
            if not least <= value <= most:
                limit = f"<= {most:g}" if most < value < float("inf") else f">= {least}"
                raise ParameterError(f"expected {field} {limit}, got {value}")
        if (
            self.decay > 1
            and (self.epochs - 1) * math.log10(self.decay) > float_info.max_10_exp - 1
        ):
            raise ParameterError(
                f"decay: a learning rate multiplied by {self.decay:g} each epoch soon overflows"
            )
        if self.momentum >= 1:
            raise ParameterError(f"expected momentum < 1, got {self.momentum}")
        if len(self.hidden) > DEEPEST:
            raise ParameterError(
                f"expected at most {DEEPEST} hidden layers, got {len(self.hidden)}"
            )
        for width in self.hidden:
            if not 1 <= width <= WIDEST:
                raise ParameterError(f"expected hidden layers of 1 to {WIDEST}, got {width}")
        for value in self.mean:
            if not -float("inf") < value < float("inf"):
                raise ParameterError(f"expected a finite mean, got {value}")
        for value in self.std:
            if not 0 < value < float("inf"):
                raise ParameterError(f"expected std > 0, got {value}")

    @property
    def hash(self) -> str:
        """The SHA-256 of every field but the name, and of the version of the loop."""
        decisive = self.to_dict() | {"version": self.version}
        del decisive["name"]
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()

    def override(self, **fields: Any) -> Self:
        """Return the recipe with other values in ``fields``; None leaves a field as it is."""
        known = [field.name for field in dataclasses.fields(self)]
        for name in fields:
            if name not in known:
                raise ParameterError(f"a recipe has no {name!r}{did_you_mean(name, known)}")
        given = {name: value for name, value in fields.items() if value is not None}
        network = given.get("network", self.network)
        if network not in NETWORKS:
            raise ParameterError(f"unknown network {network!r}{did_you_mean(network, NETWORKS)}")
        changed = dataclasses.replace(self, **given)
        for name, (field, only) in _ONLY_WITH.items():
            chosen = getattr(changed, field)
            if name in given and chosen != only:
                raise ParameterError(f"{name} has no effect with the {field} {chosen}: use {only}")
        return changed

    def changes(self, other: "Recipe") -> tuple[str, ...]:
        """Say where this recipe deviates from ``other``, a line each."""
        return tuple(
            f"{field.name} {_spell(mine)} (not {_spell(theirs)})"
            for field in dataclasses.fields(self)
            if field.name != "name"
            and (mine := getattr(self, field.name)) != (theirs := getattr(other, field.name))
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        values = dict(vars(self))  # flat: asdict would copy each value, for each of many records
        if not self.held_out:  # the first records were without it, and are still the same runs
            del values["held_out"]
        return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """Return the recipe that :meth:`to_dict` wrote."""
        known = {field.name for field in dataclasses.fields(cls)}
        if unknown := set(values) - known:
            raise ParameterError(
                f"a recipe has no {min(unknown)!r}{did_you_mean(min(unknown), known)}"
            )
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in values.items()
        }
        return cls(**fields)

    def __str__(self) -> str:
        fields = [name for name in self.to_dict() if name != "name"]
        lines = [f"  {field:<13}{_spell(getattr(self, field))}" for field in fields]
        return "\n".join([f"recipe {self.name} ({self.hash[:12]})", *lines])


_KINDS = get_type_hints(Recipe)
del _KINDS["version"]


def _of_kind(name: str, kind: Any, value: Any) -> Any:
    """Return a field in its own type, so that 1 and 1.0 are one recipe."""
    if kind in WORDS:
        accepted, word = WORDS[kind]
        if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
            raise ParameterError(f"expected {name} to be {word}, got {value!r}")
        try:
            return kind(value)
        except OverflowError:
            raise ParameterError(f"expected {name} <= {float_info.max:g}") from None
    if not isinstance(value, (tuple, list)):
        raise ParameterError(f"expected {name} to be a tuple, got {value!r}")
    return tuple(_of_kind(name, get_args(kind)[0], one) for one in value)


def _spell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(_spell, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
