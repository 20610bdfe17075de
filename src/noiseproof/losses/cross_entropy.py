"""Cross entropy."""

import math
from dataclasses import field
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from noiseproof import kernels
from noiseproof.losses.pointwise import Pointwise
from noiseproof.losses.targets import Batch, class_weights, without_ignored


class CE(Pointwise):
    """Cross entropy, l(u) = -log u: fits everything, wrong labels included.

    Equal to ``torch.nn.functional.cross_entropy`` in value and gradient in all of its modes.

    Example:
        >>> CE()(torch.zeros(1, 10), torch.tensor([3]))  # log 10
        tensor(2.3026)
    """

    # Positional, as nn.CrossEntropyLoss has it.
    weight: Tensor | None = field(default_factory=lambda: None, kw_only=False)

    bounded: ClassVar[bool] = False
    infinite: ClassVar[bool] = True
    is_cross_entropy: ClassVar[bool] = True

    def _of_labels(self, batch: Batch) -> Tensor:
        z, y = batch.z, batch.y
        small = z.dim() == 2 and 0 < z.numel() <= kernels.SMALL and z.device.type == "cpu"
        if (
            small
            and self.reduction != "none"
            and batch.w is None
            and z.dtype in (torch.float32, torch.float64)
            and kernels.is_plain(z)
        ):
            without_ignored(y, z.shape[1], self.ignore_index)  # names a wrong label
            weight = None if self.weight is None else class_weights(z, self.weight)
            value = cross_entropy(
                z, y, weight, ignore_index=self.ignore_index, reduction=self.reduction
            )
            if math.isfinite(value.item()):  # torch has infinity for finite logits far apart
                return value
        return super()._of_labels(batch)

    def value(self, log_u: Tensor) -> Tensor:
        """Return -log u."""
        return -log_u

    def with_slope(self, log_u: Tensor) -> tuple[Tensor, Tensor]:
        """Slope: -1."""
        return -log_u, torch.full_like(log_u, -1.0)
