"""What a run minimises, epoch by epoch: one loss, or the stages of NLNL."""

from typing import NamedTuple

import torch
from torch import Tensor

from noiseproof.errors import ParameterError
from noiseproof.losses import CE, NLNL, Loss
from noiseproof.losses.negative import seed_draws


class Term(NamedTuple):
    """The mean loss of the samples of a batch that count, and how many those are."""

    mean: Tensor
    samples: Tensor


class Method:
    """Minimise one loss over all samples; the base of methods that change either by epoch.

    Args:
        loss: what to minimise.
    """

    def __init__(self, loss: Loss) -> None:
        """Keep the loss."""
        self.loss = loss

    def start(self, epoch: int, generator: torch.Generator) -> None:
        """Begin an epoch, whose random numbers come from ``generator`` (on the run's device)."""
        seed_draws(self.loss, generator)

    def __call__(self, logits: Tensor, labels: Tensor) -> Term:
        """Return the loss of a batch."""
        return Term(self.loss(logits, labels), torch.tensor(len(labels), device=logits.device))


class StagedNLNL(Method):
    """Negative learning, then selective negative, then selective positive learning.

    Each has a third of the epochs, as its authors gave them, the first what is left over. In
    SelNL only samples whose label the model gives more than 1/K are trained on, and in SelPL, by
    cross entropy, those whose label it gives more than 1/2. The confidence is that of the forward
    pass the sample is trained with.

    Reference:
        Kim, Yim, Yun and Kim, NLNL: negative learning for noisy labels, ICCV 2019, sections 3.2
        to 3.4.

    >>> method = StagedNLNL(epochs=7)
    >>> [method.stage(epoch) for epoch in range(7)]
    ['NL', 'NL', 'NL', 'SelNL', 'SelNL', 'SelPL', 'SelPL']
    """

    def __init__(self, epochs: int) -> None:
        """Divide the epochs."""
        super().__init__(NLNL(reduction="none"))
        self.positive = CE(reduction="none")
        self.epochs = epochs
        self.now = "NL"

    def stage(self, epoch: int) -> str:
        """Return the stage an epoch belongs to: NL, SelNL or SelPL."""
        third = self.epochs // 3
        if epoch < self.epochs - 2 * third:
            return "NL"
        return "SelNL" if epoch < self.epochs - third else "SelPL"

    def start(self, epoch: int, generator: torch.Generator) -> None:
        """Begin an epoch of a stage."""
        super().start(epoch, generator)
        self.now = self.stage(epoch)

    def __call__(self, logits: Tensor, labels: Tensor) -> Term:
        """Return the mean loss over the samples that the stage selects."""
        losses = (self.positive if self.now == "SelPL" else self.loss)(logits, labels)
        if self.now == "NL":
            return Term(losses.mean(), torch.tensor(len(labels), device=logits.device))
        threshold = 1 / logits.shape[1] if self.now == "SelNL" else 0.5
        p = logits.detach().float().softmax(1)
        selected = p.gather(1, labels[:, None]).squeeze(1) > threshold
        count = selected.sum()
        # Where none is selected the loss is 0, with a gradient of 0, and the step is idle.
        return Term((losses * selected).sum() / count.clamp_min(1), count)


def make_method(name: str, loss: Loss, epochs: int) -> Method:
    """Return the method of a recipe: ``"loss"`` minimises ``loss``, ``"nlnl"`` has its own."""
    if name == "loss":
        return Method(loss)
    if not isinstance(loss, NLNL):
        raise ParameterError(f"the method nlnl trains with the loss NLNL, not with {loss}")
    return StagedNLNL(epochs)
