"""The paper's convolutional networks for MNIST (cnn4) and CIFAR-10 (cnn8)."""

from torch import Tensor, nn

from noiseproof.models.network import Network


def block(inputs: int, outputs: int, pool: bool = False) -> nn.Sequential:
    """Make a block of 3x3 convolution, batch norm and ReLU, optionally with 2x2 max-pooling.

    Pooling comes before the ReLU. The two commute, so the result is that of pooling last, and the
    ReLU has a quarter of the work.
    """
    layers: list[nn.Module] = [nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs)]
    if pool:
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, nn.ReLU())


class CNN(Network):
    """Blocks of convolution, a linear layer with batch norm and ReLU, and the last layer."""

    def __init__(self, body: nn.Sequential, flat: int, width: int, classes: int) -> None:
        """Take the blocks, their number of outputs ``flat``, and the number of features."""
        super().__init__()
        self.body = body
        self.neck = nn.Sequential(nn.Linear(flat, width), nn.BatchNorm1d(width), nn.ReLU())
        self.head = nn.Linear(width, classes)

    def features(self, x: Tensor) -> Tensor:
        """Return the activations of the layer before last, shape (N, width)."""
        features: Tensor = self.neck(self.body(x).flatten(1))
        return features


def cnn4(classes: int, channels: int, height: int, width: int) -> CNN:
    """Make the network for MNIST: two convolutions, two linear layers; 422,090 parameters."""
    body = nn.Sequential(block(channels, 32, pool=True), block(32, 64, pool=True))
    return CNN(body, 64 * (height // 4) * (width // 4), 128, classes)


def cnn8(classes: int, channels: int, height: int, width: int) -> CNN:
    """Make the network for CIFAR-10: six convolutions, two linear layers; 1,639,794 parameters."""
    body = nn.Sequential(
        block(channels, 64),
        block(64, 64, pool=True),
        block(64, 128),
        block(128, 128, pool=True),
        block(128, 196),
        block(196, 196, pool=True),
    )
    return CNN(body, 196 * (height // 8) * (width // 8), 256, classes)
