"""Normalised losses L = l(u) / sum_k l(p_k) of any pointwise l."""

from collections.abc import Callable

import torch
from torch import Tensor

from noiseproof.kernels.blocked import Scale, least_divisor, lowest


def normalized_block(
    z: Tensor,
    target: Tensor,
    scale: Scale,
    out: Tensor,
    with_slope: Callable[[Tensor], tuple[Tensor, Tensor]],
) -> Tensor:
    """Block function of L = n / D with n = l(log_u) and D = sum_k l(log p_k).

    With s_j = l'(log p_j): dn/dz_j = s_y (1[j = y] - p_j) and dD/dz_j = s_j - p_j sum_k s_k, so
    dL/dz_j = (s_y 1[j = y] - L s_j + (L sum_k s_k - s_y) p_j) / D.
    """
    index = target.unsqueeze(1)
    log_p = torch.log_softmax(z, 1).clamp_min_(lowest(z.dtype))
    values, slopes = with_slope(log_p)
    denominator = values.sum(1, keepdim=True).clamp_min_(least_divisor(z.dtype))
    rows = values.gather(1, index) / denominator
    slope_y = slopes.gather(1, index)
    if not isinstance(scale, float):
        scale = scale.unsqueeze(1)
    factor = scale / denominator
    torch.mul(slopes, -rows * factor, out=out)
    out.addcmul_(log_p.exp_(), (rows * slopes.sum(1, keepdim=True) - slope_y) * factor)
    out.scatter_add_(1, index, slope_y * factor)
    return rows.squeeze(1)
