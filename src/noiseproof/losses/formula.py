"""Whether the formula that a class says is the one that is computed."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from noiseproof import kernels
from noiseproof.errors import ParameterError

if TYPE_CHECKING:
    from noiseproof.losses.pointwise import RowLoss

#: What a row loss, or one of its sums, may say besides its formula, for speed.
_SLOPES = ("with_slope", "with_slopes", "summed")


def check_asked(cls: type, base: type, formula: str, users: tuple[str, ...]) -> None:
    """Raise ParameterError where ``cls`` says a ``formula`` that it would not be asked for.

    ``users`` of ``base`` are made from the formula. A class in between may say them in another way,
    faster, for its own formula alone: gradients, or the values of small batches, would stay those.
    """
    if formula not in cls.__dict__:
        return
    for user in users:
        if user not in cls.__dict__ and getattr(cls, user) is not getattr(base, user):
            parent = next(p.__name__ for p in cls.__mro__[1:] if user in p.__dict__)
            raise ParameterError(
                f"{cls.__name__} says {formula} and inherits the {user} of {parent}, which is made "
                f"for another formula: derive {cls.__name__} from nf.{base.__name__}"
            )


def check_forward(loss: nn.Module, base: type[nn.Module], who: str) -> None:
    """Raise ParameterError where ``who`` asks the formula alone, and a ``forward`` does more."""
    for part in loss.modules():
        if isinstance(part, base) and type(part).forward is not base.forward:
            raise ParameterError(
                f"{type(part).__name__} says its own forward, which {who} does not call: "
                "say it as value, per_class or transform"
            )


def says_transform(cls: type) -> bool:
    """Whether the first to say so, a mixin perhaps, says ``transform`` and not ``transforms``."""
    names = (
        name for p in cls.__mro__ for name in ("transforms", "transform") if name in p.__dict__
    )
    return next(names) == "transform"


def check_slopes(loss: "RowLoss") -> None:
    """Raise ParameterError where slopes of a user's own, which no test has seen, are wrong.

    Batches that a kernel computes would have another gradient than small ones, which ask autograd.
    """
    try:
        said = [name for part in (loss, *loss.statistics) for name in _said_by_user(type(part))]
        tried = _tried(loss) if said and not loss.random else ()
    except Exception:  # what a subclass sets up after this, or another number of classes
        return
    for what, found, expected in tried:
        apart = (found - expected).abs()
        if apart.max() > 1e-4 * expected.abs().max():
            k = apart.argmax()
            raise ParameterError(
                f"{loss}: {said[0]} and the formula disagree: expected {what} of "
                f"{float(expected[k]):.4g}, as by autograd, got {float(found[k]):.4g}; mend "
                f"{said[0]} or leave it out"
            )


def _tried(loss: "RowLoss") -> tuple[tuple[str, Tensor, Tensor], ...]:
    """Return what a kernel makes of a few rows, and what autograd makes of the formula."""
    with kernels.recording(), kernels.made_on_cpu():
        z = torch.linspace(-4, 3, 12, dtype=torch.float64).sin().reshape(3, 4) * 3
        if not kernels.is_plain(z):  # while something is traced: no numbers to look at
            return ()
        y, leaf, gradient = torch.arange(3), kernels.leaf_of(z), torch.empty_like(z)
        rows = loss.rows(leaf, y).flatten()
        expected = kernels.gradient_of(rows.sum(), leaf)
        values = loss.block(z, y, 1.0, gradient)
    return (
        ("a value", values, rows.detach()),
        ("a gradient", gradient.flatten(), expected.flatten()),
    )


def _said_by_user(kind: type) -> list[str]:
    """Return which of the slopes are said by code outside of this package."""
    found = [(name, getattr(kind, name, None)) for name in _SLOPES]
    return [name for name, f in found if f and not f.__module__.startswith("noiseproof.")]
