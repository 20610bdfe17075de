"""The parameters of a loss: declared once, with their domain, on the class."""

import dataclasses
import math
from dataclasses import MISSING, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from noiseproof.errors import ParameterError


@dataclass(frozen=True)
class Interval:
    """An interval of real numbers with open (``above``, ``below``) or closed ends."""

    above: float = -math.inf
    at_least: float = -math.inf
    below: float = math.inf
    at_most: float = math.inf

    def __contains__(self, x: float) -> bool:
        return self.above < x < self.below and self.at_least <= x <= self.at_most

    def describe(self, name: str) -> str:
        """Write the domain as a condition on ``name``.

        >>> Interval(above=0, at_most=1).describe("q")
        '0 < `q` <= 1'
        """
        lower = (
            (f"{self.above:g}", "<", ">")
            if self.above > -math.inf
            else (f"{self.at_least:g}", "<=", ">=")
        )
        upper = f" < {self.below:g}" if self.below < math.inf else f" <= {self.at_most:g}"
        has_lower, has_upper = "inf" not in lower[0], "inf" not in upper
        if has_lower and has_upper:
            return f"{lower[0]} {lower[1]} `{name}`{upper}"
        if has_lower:
            return f"`{name}` {lower[2]} {lower[0]}"
        return f"`{name}`{upper}" if has_upper else f"`{name}` finite"


def parameter(
    *,
    default: Any = MISSING,
    above: float = -math.inf,
    at_least: float = -math.inf,
    below: float = math.inf,
    at_most: float = math.inf,
) -> Any:
    """Declare a parameter of a loss, as in ``a: float = parameter(above=0)``.

    A parameter annotated ``float`` is checked against the interval when a loss is built, printed
    by ``str(loss)`` and read back by :func:`noiseproof.loss`.
    """
    interval = Interval(above, at_least, below, at_most)
    return dataclasses.field(default=default, metadata={"domain": interval})


def checked(name: str, number: Any, domain: Interval) -> float:
    """Return ``number`` as a float of ``domain``, or say what was expected."""
    x = as_number(name, number)
    if not math.isfinite(x) or x not in domain:
        raise ParameterError(f"expected {domain.describe(name)}, got {write_number(x)}")
    return x


def as_number(name: str, number: Any) -> float:
    """Return ``number`` as a float, or say that it is none."""
    if _is_no_number(number):
        raise ParameterError(f"expected `{name}` to be a number, got {number!r}")
    if isinstance(number, Tensor) and number.requires_grad:
        raise ParameterError(f"expected `{name}` to be a number, got a tensor that is to be learnt")
    try:
        return float(number)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        said = "one too large" if isinstance(number, int) else repr(number)
        raise ParameterError(f"expected `{name}` to be a number, got {said}") from None


def _is_no_number(given: Any) -> bool:
    """Whether ``float`` would make a number of what is none, or half of one that is complex."""
    if isinstance(given, Tensor):
        return given.dtype == torch.bool or given.is_complex()
    if isinstance(given, np.ndarray | np.generic):
        return given.dtype.kind not in "fiuO"
    return isinstance(given, bool | str | bytes)


def is_whole(given: Any) -> bool:
    """Whether it is an integer; to numpy times are integers too, and to Python truths.

    >>> is_whole(np.int64(3)), is_whole(np.timedelta64(3)), is_whole(True)
    (True, False, False)
    """
    return isinstance(given, int | np.integer) and not isinstance(given, bool | np.timedelta64)


def check_flag(name: str, given: Any) -> bool:
    """Return True or False, or say that it is neither: any text would count as True."""
    if not isinstance(given, bool | np.bool_):
        raise ParameterError(f"expected `{name}` to be True or False, got {given!r}")
    return bool(given)


def check_float32(loss: object, number: float) -> None:
    """Say that a parameter is too extreme for float32, by a ``number`` that follows from it."""
    if not 1e-30 < number < 1e30:
        raise ParameterError(f"{loss} is not finite in float32")


def write_number(x: float) -> str:
    """Write a float as short as possible, so that reading it gives the same float.

    >>> write_number(4.0), write_number(0.1), write_number(1e-5)
    ('4', '0.1', '1e-05')
    """
    return repr(x).removesuffix(".0")
