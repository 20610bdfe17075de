"""Negative learning, and the source of the draws of losses that draw."""

from typing import Any, ClassVar

import torch
from torch import Tensor

from noiseproof.errors import ShapeError
from noiseproof.losses.base import Loss


class NLNL(Loss):
    """Negative learning, -log(1 - p_k) for a class k drawn at random from the wrong ones.

    "This is *not* a k" is right more often than "this is a y". The draw comes from
    ``generator`` where one is set, else from torch's global one. :meth:`per_class`, and with it
    soft targets, smoothing and the theory, is the expectation over the draw. A masked class may be
    drawn too: that it is not the label costs nothing.

    Reference:
        Kim et al., NLNL: negative learning for noisy labels, ICCV 2019 (its first stage).

    Example:
        >>> NLNL()(torch.zeros(1, 10), torch.tensor([3]))  # -log 0.9, whatever is drawn
        tensor(0.1054)
    """

    bounded: ClassVar[bool] = False
    random: ClassVar[bool] = True

    def per_sample(self, log_p: Tensor, target: Tensor) -> Tensor:
        """Return -log(1 - p_k) for a wrong class k of each row."""
        classes = _at_least_two(log_p)
        # Given a generator, even None, randint takes no symbolic number of classes.
        source: dict[str, Any] = {} if self.generator is None else {"generator": self.generator}
        shift = torch.randint(1, classes, target.shape, device=target.device, **source)
        wrong = ((target + shift) % classes).unsqueeze(-1)
        # 1 - p_k is the sum of the others: as a difference it would round to 0 as p_k nears 1.
        return -log_p.scatter(-1, wrong, -torch.inf).logsumexp(-1)

    def per_class(self, log_p: Tensor) -> Tensor:
        """Return the mean of -log(1 - p_j) over all j != k, for every k."""
        classes = _at_least_two(log_p)
        # Only the largest p can come near 1.
        top = log_p.detach().argmax(-1, keepdim=True)
        rest = log_p.scatter(-1, top, -torch.inf)
        not_j = torch.log1p(-rest.exp()).scatter(-1, top, rest.logsumexp(-1, keepdim=True))
        return (not_j - not_j.sum(-1, keepdim=True)) / (classes - 1)


def _at_least_two(log_p: Tensor) -> int:
    if log_p.shape[-1] < 2:
        raise ShapeError("NLNL needs at least 2 classes: with one there is no wrong one to draw")
    return log_p.shape[-1]


def seed_draws(loss: Loss, generator: torch.Generator | None) -> None:
    """Let every part of a loss that draws at random do so by ``generator``."""
    for part in loss.modules():
        if isinstance(part, Loss) and part.random:
            part.generator = generator  # type: ignore[misc]
