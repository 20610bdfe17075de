"""Residual networks: resnet34 with the stem for 32x32 images, resnet50 with ImageNet's."""

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional as F

from noiseproof.models.network import Network


def _convolution(inputs: int, outputs: int, kernel: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(outputs),
    )


class Residual(nn.Module):
    """ReLU(path(x) + shortcut(x)); the shortcut is a 1x1 convolution if the shape changes."""

    def __init__(self, path: nn.Sequential, inputs: int, outputs: int, stride: int) -> None:
        """Take the path, its numbers of channels and its stride."""
        super().__init__()
        self.path = path
        self.shortcut: nn.Module = (
            nn.Identity()
            if stride == 1 and inputs == outputs
            else _convolution(inputs, outputs, 1, stride)
        )

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output, (N, outputs, H / stride, W / stride)."""
        return F.relu(self.path(x) + self.shortcut(x))


def basic(inputs: int, width: int, stride: int) -> Residual:
    """Make a block of two 3x3 convolutions with ``width`` output channels."""
    path = nn.Sequential(
        _convolution(inputs, width, 3, stride), nn.ReLU(), _convolution(width, width, 3)
    )
    return Residual(path, inputs, width, stride)


def bottleneck(inputs: int, width: int, stride: int) -> Residual:
    """Make a block of 1x1, 3x3 (strided) and 1x1 convolutions with 4 ``width`` output channels."""
    path = nn.Sequential(
        _convolution(inputs, width, 1),
        nn.ReLU(),
        _convolution(width, width, 3, stride),
        nn.ReLU(),
        _convolution(width, 4 * width, 1),
    )
    return Residual(path, inputs, 4 * width, stride)


class ResNet(Network):
    """A stem, four stages of residual blocks, a mean over the pixels, and the last layer."""

    def __init__(
        self,
        stem: nn.Sequential,
        block: Callable[[int, int, int], Residual],
        expansion: int,
        depths: tuple[int, int, int, int],
        classes: int,
    ) -> None:
        """Take a stem of 64 channels; a block outputs ``expansion`` times its width in channels."""
        super().__init__()
        self.stem = stem
        blocks, inputs = [], 64
        for stage, depth in enumerate(depths):
            width = 64 * 2**stage
            for position in range(depth):
                blocks.append(block(inputs, width, 2 if stage > 0 and position == 0 else 1))
                inputs = expansion * width
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(inputs, classes)

    def features(self, x: Tensor) -> Tensor:
        """Return the channels' means over the pixels, shape (N, 512 or 2048)."""
        return F.adaptive_avg_pool2d(self.blocks(self.stem(x)), 1).flatten(1)


def resnet34(classes: int, channels: int) -> ResNet:
    """Make the paper's network for CIFAR-100: 3x3 stem, no pooling; 21,328,292 parameters."""
    stem = nn.Sequential(_convolution(channels, 64, 3), nn.ReLU())
    return ResNet(stem, basic, 1, (3, 4, 6, 3), classes)


def resnet50(classes: int, channels: int) -> ResNet:
    """Make the paper's network for WebVision: 7x7 stem with stride 2, then pooling."""
    # Pool before the ReLU, as in the other networks: the result is the same, because padding is
    # never the maximum.
    stem = nn.Sequential(_convolution(channels, 64, 7, 2), nn.MaxPool2d(3, 2, 1), nn.ReLU())
    return ResNet(stem, bottleneck, 4, (3, 4, 6, 3), classes)
