"""Value, gradient and curvature of a loss in raw scores, as second-order learners want them."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from noiseproof.errors import ParameterError, ShapeError
from noiseproof.kernels import FLOATS
from noiseproof.losses.arrays import of_tensor
from noiseproof.losses.targets import (
    check_dense,
    check_probabilities,
    class_weights,
    compute_dtype,
    sample_weights,
    spread_evenly,
    without_ignored,
)

if TYPE_CHECKING:
    from noiseproof.losses.base import Loss

# Scores in a block: its temporaries stay in the caches.
_BLOCK = 2**16


class Derivatives(NamedTuple):
    """What :meth:`Loss.derivatives` returns: one value a row, one derivative a score."""

    value: Any
    gradient: Any
    curvature: Any


def derivatives(loss: "Loss", scores: Any, target: Any, weight: Any = None) -> Derivatives:
    """Return the derivatives of ``loss``; :meth:`Loss.derivatives` says which."""
    if loss.random:
        raise ParameterError(f"{loss} draws at random: it has no fixed derivatives")
    if loss.transforms:
        raise ParameterError(f"{loss} changes the logits: it has no derivatives in raw scores")
    in_torch = isinstance(scores, Tensor)
    z, y = _tensor("scores", scores), _tensor("target", target).detach()
    check_dense(scores=z, target=y)
    if z.dim() != 2 or z.dtype not in FLOATS or z.shape[1] == 0:
        raise ShapeError(f"expected scores (N, K), got {z.dtype} of shape {tuple(z.shape)}")
    if z.numel() and bool((z == -torch.inf).any()):
        raise ParameterError("a score of -inf: leave its class out, or call the loss itself")
    soft = y.is_floating_point()
    if y.shape != (z.shape if soft else z.shape[:1]) or y.is_complex():
        raise ShapeError(
            f"expected {len(z)} class indices or probabilities {tuple(z.shape)}, got {y.dtype} of "
            f"shape {tuple(y.shape)}"
        )
    if soft and not loss.is_cross_entropy:
        check_probabilities(y)
    w = None if weight is None else _tensor("weight", weight)
    if w is not None:
        if not w.is_nested and w.shape != z.shape[:1]:
            raise ShapeError(f"expected a weight for each of {len(z)} rows, got {tuple(w.shape)}")
        w = sample_weights(w, z.shape[:1], z).detach()
    z = z.detach().to(compute_dtype(z))
    if not soft:
        y, valid = without_ignored(y.long(), z.shape[1], loss.ignore_index)
        if valid is not None:
            w = valid.to(z.dtype) if w is None else w * valid
    value, gradient, curvature = z.new_empty(len(z)), torch.empty_like(z), torch.empty_like(z)
    step = max(1, _BLOCK // max(1, z.shape[1]))
    for start in range(0, len(z), step):
        here = slice(start, start + step)
        part = None if w is None else w[here]
        value[here] = _block(loss, z[here], y[here], part, gradient[here], curvature[here])
    if in_torch:
        return Derivatives(value, gradient, curvature)
    return Derivatives(value.numpy(), gradient.numpy(), curvature.numpy())


def _block(
    loss: "Loss", z: Tensor, y: Tensor, w: Tensor | None, gradient: Tensor, curvature: Tensor
) -> Tensor:
    """Write gradient and curvature of a block, and return its losses.

    With g_k = dL/dlog p_k: dL/dz_j = g_j - p_j sum_k g_k.
    """
    log_p = torch.log_softmax(z, 1).clamp_min_(torch.finfo(z.dtype).min * 2.0**-30)
    if y.is_floating_point() or loss.label_smoothing > 0:
        value, g = loss.slopes_of_mixture(log_p, mixture(loss, z, y))
        size = g.abs().sum(1, keepdim=True)
        total = g.sum(1, keepdim=True)
    else:
        value, g = loss.slopes_of_label(log_p, y)
        if loss.weight is not None:
            scale = class_weights(z, loss.weight)[y]
            w = scale if w is None else w * scale
        if g.shape[1] == 1:  # only log p_y has a slope
            size, total = g.abs(), g
        else:
            size, total = g.abs().sum(1, keepdim=True), g.sum(1, keepdim=True)
    if w is not None:
        value, g = value * w, g * w.unsqueeze(1)
        size, total = size * w.unsqueeze(1), total * w.unsqueeze(1)
    p = log_p.exp_()
    torch.mul(p, total.neg(), out=gradient)
    if g.shape[1] == 1 and p.shape[1] > 1:
        gradient.scatter_add_(1, y.unsqueeze(1), g)
    else:
        gradient.add_(g)
    torch.addcmul(p, p, p, value=-1, out=curvature).mul_(size)
    return value


def mixture(loss: "Loss", z: Tensor, y: Tensor) -> Tensor:
    """Return how much the loss of each class counts in each row."""
    if y.is_floating_point():
        t = y.to(z.dtype)
    else:
        t = torch.zeros_like(z).scatter_(1, y.unsqueeze(1), 1.0)
    if loss.label_smoothing > 0:
        even = spread_evenly(z, loss.infinite)
        t = t * (1 - loss.label_smoothing) + loss.label_smoothing * even
    return t if loss.weight is None else t * class_weights(z, loss.weight)


def as_array(name: str, given: Any) -> NDArray[Any]:
    """Return what was given as an array of numbers, or say that it is none."""
    if np.ma.is_masked(given):
        raise ShapeError(f"expected {name} without masked values: leave out their rows")
    try:
        array = of_tensor(name, given) if isinstance(given, Tensor) else np.asarray(given)
    except ShapeError:
        raise
    except ValueError:
        got = "rows of different lengths"
    except (TypeError, RuntimeError) as error:  # of a list of tensors, say
        got = f"{type(given).__name__}: {error}"
    else:
        if array.dtype.kind in "fiub":
            return array
        got = f"{type(given).__name__} of {array.dtype}"
    raise ShapeError(f"expected {name} as an array of numbers, got {got}")


def _tensor(name: str, given: Any) -> Tensor:
    if isinstance(given, Tensor):
        return given
    array = as_array(name, given)
    kind = array.dtype
    # What torch reads: no long double, no C long long (a type apart from int64), no other order.
    known = np.dtype(f"{kind.kind}{min(kind.itemsize, 8)}")
    foreign = kind.char != known.char or not kind.isnative
    if foreign or min(array.strides, default=0) < 0 or not array.flags.writeable:
        array = array.astype(known, order="C")
    return torch.from_numpy(array)
