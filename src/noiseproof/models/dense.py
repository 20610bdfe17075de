"""Networks for vectors; images are flattened."""

from collections.abc import Sequence

from torch import Tensor, nn

from noiseproof.models.network import Network


class Dense(Network):
    """Hidden layers, each linear with batch norm and ReLU, then the last layer.

    Without hidden layers, the network is a linear classifier.
    """

    def __init__(self, classes: int, inputs: int, hidden: Sequence[int] = ()) -> None:
        """Take the number of inputs, and the width of each hidden layer."""
        super().__init__()
        layers: list[nn.Module] = [nn.Flatten()]
        for width in hidden:
            layers += [nn.Linear(inputs, width), nn.BatchNorm1d(width), nn.ReLU()]
            inputs = width
        self.body = nn.Sequential(*layers)
        self.head = nn.Linear(inputs, classes)

    def features(self, x: Tensor) -> Tensor:
        """Return the activations of the last hidden layer, or the flat input."""
        features: Tensor = self.body(x)
        return features
