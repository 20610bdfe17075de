"""The epsilon-softmax."""

import math

import torch
from torch import Tensor

from noiseproof.losses.base import log_softmax
from noiseproof.losses.parameter import parameter
from noiseproof.losses.transformed import Transformed


class EpsSoftmax(Transformed):
    """A loss of p' = (p + m e_top) / (m + 1), the largest probability pulled towards 1.

    Whatever m, the prediction is the same; the loss is near that of a one-hot prediction, which is
    what bounds the harm of wrong labels. The paper trains ``alpha*EpsSoftmax(CE, m) + beta*MAE``.

    Args:
        base: the loss of p'.
        m: how far; 0 is the softmax.

    Reference:
        Wang et al., Epsilon-softmax: approximating one-hot vectors for mitigating label noise,
        NeurIPS 2024.

    Example:
        >>> from noiseproof.losses import CE
        >>> EpsSoftmax(CE(), m=1)(torch.tensor([[0.0, -1000.0]]), torch.tensor([0]))
        tensor(0.)
    """

    m: float = parameter(default=1e5, at_least=0)

    def transform(self, z: Tensor) -> Tensor:
        """Return log p'."""
        masked = z == -torch.inf
        log_p = torch.where(masked, -torch.inf, log_softmax(z))
        top = log_p.detach().argmax(-1, keepdim=True)
        # log((p + m) / (m + 1)) = log(1 - (1 - p) / (m + 1)), to full precision for large m.
        pulled = torch.log1p(torch.expm1(log_p.gather(-1, top)) / (self.m + 1))
        return (log_p - math.log1p(self.m)).scatter(-1, top, pulled)
