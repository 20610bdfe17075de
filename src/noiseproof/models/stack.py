"""Several dense networks of one shape, as one network that reads the same inputs for all."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from noiseproof.models.dense import Dense


class DenseStack(nn.Module):
    """H networks side by side: every parameter has one dimension more, of size H, in front.

    The first layer of all of them is one matrix product, which is what makes this fast. Nothing of
    one network reaches another: the logits and gradients are those of the networks alone, up to
    rounding.

    Args:
        networks: of the same layers and widths; their weights are copied.

    >>> from noiseproof.models import build
    >>> draw = torch.Generator().manual_seed(0)
    >>> two = DenseStack([build("linear", 3, (4,), generator=draw) for _ in range(2)])
    >>> two(torch.ones(5, 4)).shape
    torch.Size([2, 5, 3])
    """

    def __init__(self, networks: Sequence[Dense]) -> None:
        """Stack what the networks have."""
        super().__init__()
        states = [network.state_dict() for network in networks]
        learnt = dict(networks[0].named_parameters())
        self.count = len(networks)
        #: What the networks call each tensor, and the name of the stacked one here.
        self.names = {name: name.replace(".", "_") for name in states[0]}
        for name, here in self.names.items():
            stacked = torch.stack([state[name] for state in states])
            if name in learnt:
                self.register_parameter(here, nn.Parameter(stacked))
            else:
                self.register_buffer(here, stacked)
        layers = dict(networks[0].body.named_children())
        self.hidden = [f"body_{at}" for at, one in layers.items() if isinstance(one, nn.Linear)]
        self.norms = [f"body_{at}" for at, one in layers.items() if isinstance(one, nn.BatchNorm1d)]

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits of inputs (N, d): (H, N, K)."""
        x = x.flatten(1)
        for linear, norm in zip(self.hidden, self.norms, strict=True):
            x = self._normalised(self._linear(linear, x), norm).relu()
        return self._linear("head", x)

    def state(self, index: int) -> dict[str, Tensor]:
        """Return what ``load_state_dict`` of one of the networks takes."""
        return {name: getattr(self, here)[index].clone() for name, here in self.names.items()}

    def _linear(self, layer: str, x: Tensor) -> Tensor:
        """Return (H, N, out) for what all networks share, (N, in), or each has, (H, N, in)."""
        weight, bias = getattr(self, f"{layer}_weight"), getattr(self, f"{layer}_bias")
        if x.ndim == 3:
            return torch.baddbmm(bias[:, None], x, weight.mT)
        out = F.linear(x, weight.flatten(0, 1), bias.flatten())
        return out.view(len(x), self.count, -1).transpose(0, 1)

    def _normalised(self, x: Tensor, norm: str) -> Tensor:
        """Return (H, N, out) after a batch norm, which treats every feature by itself anyway."""
        values = {n: getattr(self, f"{norm}_{n}") for n in ("running_mean", "running_var")}
        flat = {n: value.flatten() for n, value in values.items()}  # views: updated in place
        out = F.batch_norm(
            x.transpose(0, 1).flatten(1),
            **flat,
            weight=getattr(self, f"{norm}_weight").flatten(),
            bias=getattr(self, f"{norm}_bias").flatten(),
            training=self.training,
        )
        if self.training:
            getattr(self, f"{norm}_num_batches_tracked").add_(1)
        return out.view(x.shape[1], self.count, -1).transpose(0, 1)
