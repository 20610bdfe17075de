"""A pointwise loss as a function l on [0, 1], read to full relative precision at both ends."""

import copy
import math
from typing import TypeGuard

import torch
from torch import Tensor

from noiseproof import kernels
from noiseproof.errors import ParameterError, TheoryError
from noiseproof.losses import Loss, Pointwise, expression
from noiseproof.losses.combine import PointwiseSum
from noiseproof.losses.own import is_shipped

#: exp(-DEEP) is far below any scale of a loss, and a float64 with room for a power of it.
DEEP = 600.0
SHALLOW = 18.0
#: A log u that stands for u = 0: its square is a float64 still.
ZERO = -1e60
_LEAST = 1e-300


def as_loss(given: Loss | str, classes: int = 5) -> Loss:
    """Return a loss that is a function of the probabilities, read from text where it is text.

    It is tried on so many ``classes``: a user's may be made for one number of them.
    """
    loss = expression.as_loss(given)
    try:
        loss.check_formula("the theory")
    except ParameterError as error:
        raise TheoryError(str(error)) from None
    if loss.learns:  # as it stands
        loss = copy.deepcopy(loss).requires_grad_(False)
    z = _three_rows(classes)
    if not (loss.random or is_shipped(loss)):
        _check_rows(loss, z)
    if loss.transforms:
        here, shifted = loss.class_rows(z), loss.class_rows(z + 1.5)
        if not torch.allclose(here, shifted, rtol=1e-6, atol=1e-9):
            raise TheoryError(
                f"{loss} is not a function of the probabilities: adding 1.5 to all logits changes "
                "it, and the theory is about losses L(u, i)"
            )
    return loss


def _three_rows(classes: int) -> Tensor:
    return torch.linspace(-2, 3, 3 * classes, dtype=torch.float64).sin().reshape(3, classes) * 4


def check_alike(loss: Loss, classes: int) -> None:
    """Raise a :class:`TheoryError` where a loss does not treat all classes alike.

    What is found for one class is said of all, which would take a search for each.
    """
    if loss.random or is_shipped(loss):
        return
    z = _three_rows(classes)
    here = losses_at(loss, z.log_softmax(-1))
    for order in (torch.arange(classes).roll(1), torch.arange(classes).flip(0)):
        turned = losses_at(loss, z[:, order].log_softmax(-1))
        if not torch.allclose(turned, here[:, order], rtol=1e-6, atol=1e-9, equal_nan=True):
            raise TheoryError(
                f"{loss} does not treat all classes alike, so that no ratio or rate holds for "
                "every class: ask is_asymmetric with the weights of the labels of one class"
            )


def _check_rows(loss: Loss, z: Tensor) -> None:
    """Raise a :class:`TheoryError` where L is no function of one row of probabilities."""
    try:
        together = loss.class_rows(z)
    except (RuntimeError, IndexError) as error:
        said = " ".join(str(error).split())
        raise TheoryError(f"{loss} fails on {z.shape[1]} classes: {said}") from None
    if together.shape != z.shape:
        raise TheoryError(f"{loss}: per_class(log_p) has to be a tensor of the shape of log_p")
    alone = torch.cat([loss.class_rows(z[row : row + 1]) for row in range(len(z))])
    if not torch.allclose(together, alone, rtol=1e-6, atol=1e-9, equal_nan=True):
        raise TheoryError(
            f"{loss} of a row depends on the other rows of the batch, or on chance, and the theory "
            "is about losses L(u, i)"
        )


def is_pointwise(loss: Loss) -> TypeGuard[Pointwise]:
    """Whether L(u, i) = l(u_i), of the softmax of the logits as they are."""
    return isinstance(loss, Pointwise) and not loss.transforms


def losses_at(loss: Loss, log_p: Tensor) -> Tensor:
    """Return L(u, k) for every k, at log u; log-probabilities are logits of themselves."""
    with kernels.undetached():  # to minimise the value, whatever gradient it is trained with
        return loss.class_rows(log_p) if loss.transforms else loss.per_class(log_p)


def as_pointwise(loss: Loss | str, question: str) -> Pointwise:
    """Return a loss L(u, i) = l(u_i), or say that ``question`` has no answer for another."""
    loss = as_loss(loss)
    if not is_pointwise(loss):
        raise TheoryError(f"{question} is defined for l(u_i) alone, and {loss} is not pointwise")
    return loss


def spread(reach: float, points: int) -> Tensor:
    """Return a grid from -reach to reach, fine about 0, with steps that grow like the distance."""
    return torch.sinh(torch.linspace(-1, 1, points, dtype=torch.float64) * math.asinh(reach))


def ends(loss: Pointwise) -> tuple[float, float]:
    """Return l(0), infinite where l grows without end, and l(1).

    >>> from noiseproof.losses import CE, MAE
    >>> ends(MAE()), ends(CE())
    ((2.0, 0.0), (inf, 0.0))
    """
    at = loss.value(torch.tensor([ZERO, -1e30, 0.0], dtype=torch.float64))
    zero, nearly, one = (float(x) for x in at)
    grows = not abs(zero - nearly) <= 1e-6 * max(abs(zero), abs(nearly))
    return (math.inf if grows else zero), one + 0.0


def is_linear(loss: Pointwise) -> bool:
    """Whether l is a straight line in u: then, and only then, L is symmetric."""
    u = torch.linspace(0.01, 1, 100, dtype=torch.float64)
    value = loss.value(u.log())
    line = torch.lerp(value[0], value[-1], (u - u[0]) / (u[-1] - u[0]))
    return bool((value - line).abs().max() <= 1e-9 * value.abs().max())


def log_slope(loss: Pointwise, log_u: Tensor) -> Tensor:
    """Return log s(u), s(u) = -dl/du, for any u however small; -inf where l is flat.

    What has lost its digits to underflow counts as flat.
    """
    with kernels.undetached():
        _, slope = loss.with_slope(log_u)
    # An infinite slope may have lost its sign: -expm1(0) is -0, and l decreases.
    falls = torch.where(slope.isinf(), torch.inf, slope.neg())
    return torch.where(falls > _LEAST, falls, 0.0).log() - log_u


def depth(loss: Pointwise) -> float:
    """Return how far down, in -log u, the slope of ``loss`` can be believed.

    That is :data:`DEEP` for a slope that is written out or that autograd takes through ``exp``.
    Through ``expm1`` autograd has 1e-16 to go by and then 0: it is believed down to 1e-8. In a sum
    one term would hide another's.
    """
    if isinstance(loss, PointwiseSum):
        return min(depth(term) for term in loss.losses)
    x = torch.tensor([-SHALLOW, 4 - SHALLOW, -50.0], dtype=torch.float64)
    low, high, lower = (float(g) for g in log_slope(loss, x) + x)
    if low == -math.inf or lower > -math.inf:
        return DEEP
    expected = low - (50 - SHALLOW) * (high - low) / 4
    return SHALLOW if expected > -300 else DEEP


def log_slope_at_zero(loss: Pointwise) -> float:
    """Return log s(0+): infinite where s grows without end, -inf where it vanishes.

    From e^-600 to e^-500, u s(u) = C u^k to rounding, for any l with a scale a float can hold:
    k < 1 is a slope that goes on growing (GCE has k = q, cross entropy 0), k > 1 one that
    goes on falling, however slowly.
    """
    deepest = depth(loss)
    step, rounding = (100.0, 1e-12) if deepest == DEEP else (4.0, 1e-3)
    x = torch.tensor([-deepest, step - deepest], dtype=torch.float64)
    low, high = (float(g) for g in log_slope(loss, x) + x)
    if low == high == -math.inf:
        return -math.inf
    exponent = (high - low) / step
    if abs(exponent - 1) <= rounding:
        return low + deepest
    return math.inf if exponent < 1 else -math.inf


def check_decreasing(loss: Pointwise) -> None:
    """Raise a :class:`TheoryError` that names the place where l is not a decreasing function."""
    log_u = torch.nn.functional.logsigmoid(spread(600, 801))
    value = loss.value(log_u)
    if value.isnan().any():
        u = float(log_u[int(value.isnan().int().argmax())].exp())
        raise TheoryError(f"{loss} is not a number at u = {u:.4g}")
    size = value.abs()
    noise = 1e-10 * torch.maximum(size[1:], size[:-1]) + 1e-13 * size.max()
    rises = value.diff() > noise
    if rises.any():
        u = float(log_u[int(rises.int().argmax())].exp())
        raise TheoryError(f"{loss} does not decrease: it rises at u = {u:.4g}; try is_asymmetric")
    if not (value.diff() < -noise).any():
        raise TheoryError(f"{loss} is constant, and the asymmetry ratio 0 / 0")
