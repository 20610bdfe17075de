"""The base class of networks: features, then one linear layer."""

import torch
from torch import Tensor, nn


class Network(nn.Module):
    """A classifier whose last layer is linear.

    A subclass defines :meth:`features` and sets ``head``. :func:`~noiseproof.models.build` makes
    networks and draws their initial weights.
    """

    head: nn.Linear

    def features(self, x: Tensor) -> Tensor:
        """Return the input of the last layer, shape (N, width)."""
        raise NotImplementedError(f"{type(self).__name__} does not say `features`")

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits, shape (N, K)."""
        logits: Tensor = self.head(self.features(x))
        return logits


@torch.no_grad()
def initialise(network: nn.Module, generator: torch.Generator) -> None:
    """Draw all weights: convolutions Kaiming-uniform (fan-in), linear layers Xavier-uniform.

    Biases become 0 and batch norms the identity. No other source of random numbers is used.

    Args:
        network: the network, which is changed in place.
        generator: a generator on the device of the network.
    """
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_uniform_(module.weight, nonlinearity="relu", generator=generator)
        elif isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight, generator=generator)
        elif isinstance(module, nn.BatchNorm1d | nn.BatchNorm2d):
            module.reset_parameters()
        if isinstance(module, nn.Conv2d | nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
