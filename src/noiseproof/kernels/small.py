"""Small batches: what takes time is launching operations, so these do more in each."""

from functools import lru_cache

import torch
from torch import Tensor

# What torch.nn.functional's elu and nll_loss call, without their checks; elu takes more arguments
# here than there.
from torch._C._nn import elu, nll_loss  # type: ignore[attr-defined]

from noiseproof.kernels.state import is_plain

# Up to this many logits the cost is that of launching operations, not of computing them.
SMALL = 2**14
# Up to this many, a formula may as well be computed for every class: one operation less picks the
# label's and sums.
TINY = 2**11

#: What logits may be; torch computes nothing in narrower ones.
FLOATS = (torch.float32, torch.bfloat16, torch.float16, torch.float64)

# nll_loss must ignore some number. Not the least integer, which a missing value is cast to.
_NO_LABEL = -0x5BD1E9955BD1E995


def is_small(z: Tensor, target: Tensor) -> bool:
    """Whether these are a few rows of logits, and labels, on a CPU, that can be looked at."""
    return (
        is_plain(z)
        and z.is_cpu
        and z.dim() == 2
        and 0 < z.numel() <= SMALL
        and z.dtype in FLOATS
        and type(target) is Tensor
        and target.is_cpu
        and target.layout is torch.strided
        and not target.is_nested
        and target.shape == z.shape[:1]
        and not target.is_floating_point()
        and not target.is_complex()
    )


def is_near(log_p: Tensor) -> bool:
    """Whether no log-probability is so far from 0 that it has to be clamped."""
    return log_p.detach().min().item() > -1e30


def scaled_expm1(x: Tensor, by: float, factor: float) -> Tensor:
    """Return factor * (exp(by * x) - 1) for x <= 0, in one operation."""
    if not 1e-6 < abs(by) < 1e6 or not abs(factor) < 1e30:  # as numbers, torch would refuse them
        return torch.expm1(x * by) * factor
    return elu(x, 1 / by, factor * by, by)


def pick(values: Tensor, target: Tensor) -> Tensor | None:
    """Return the label's entry in each row of (N, K), or ``None`` where it is not in 0..K-1."""
    return _picked(values, target, 1.0, 0)


def sum_of_labels(values: Tensor, target: Tensor, factor: float) -> Tensor | None:
    """Return ``factor`` times the sum of the labels' entries; ``None`` as :func:`pick`."""
    return _picked(values, target, factor, 2)


def sum_of_classes(values: Tensor) -> Tensor:
    """Return the sums of the rows of (N, K), (N,)."""
    return torch.mv(values, _filled(values.shape[1], 1.0, values.dtype))


def sum_of_rows(rows: Tensor, factor: float) -> Tensor:
    """Return ``factor`` times the sum of (N,) row losses."""
    return torch.dot(rows, _filled(rows.shape[0], factor, rows.dtype))


def _picked(values: Tensor, target: Tensor, factor: float, reduction: int) -> Tensor | None:
    weights = _filled(values.shape[1], -factor, values.dtype)
    try:
        found: Tensor = nll_loss(values, target.long(), weights, reduction, _NO_LABEL)
    except IndexError:
        return None
    return found


@lru_cache(maxsize=64)
def _filled(size: int, value: float, dtype: torch.dtype) -> Tensor:
    with torch.inference_mode(False):  # else only inference could use it later on
        return torch.full((size,), value, dtype=dtype, device="cpu")
