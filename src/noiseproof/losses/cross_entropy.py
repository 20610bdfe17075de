"""Cross entropy."""

import math
from dataclasses import field
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from noiseproof.losses.pointwise import Pointwise


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

    def _of_few(self, input: Tensor, target: Tensor) -> Tensor | None:
        """Return torch's own value where it is right; the general way says what is wrong."""
        plain = self.is_cross_entropy and not self.transforms  # and not a subclass with more to say
        if (
            not plain
            or self.reduction == "none"
            or input.dtype not in (torch.float32, torch.float64)
        ):
            return super()._of_few(input, target)
        try:
            value = cross_entropy(
                input,
                target if target.dtype == torch.int64 else target.long(),
                ignore_index=self.ignore_index,
                reduction=self.reduction,
            )
        except IndexError:
            return None
        # torch has infinity for finite logits far apart
        return value if math.isfinite(value.item()) else None

    def value(self, log_u: Tensor) -> Tensor:
        """Return -log u."""
        return -log_u

    def with_slope(self, log_u: Tensor) -> tuple[Tensor, Tensor]:
        """Slope: -1."""
        return -log_u, torch.full_like(log_u, -1.0)
