"""EfficientNet-lite0, the network whose ImageNet weights turn photos into features.

Tan and Le (2019), in the variant that Google released for small devices: inverted residual blocks
(1x1 convolution that widens, depthwise convolution, 1x1 convolution that narrows), ReLU6, no
squeeze-and-excitation.
"""

from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.fusion import fuse_conv_bn_eval

#: The stages: blocks, kernel, stride of the first block, expansion, output channels.
STAGES = (
    (1, 3, 1, 1, 16), (2, 3, 2, 6, 24), (2, 5, 2, 6, 40), (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112), (4, 5, 2, 6, 192), (1, 3, 1, 6, 320),
)  # fmt: skip
STEM, WIDTH = 32, 1280
#: How the published weights call our layers, each name before the ones that contain it.
_NAMES = (
    ("_blocks.", "blocks."), ("._expand_conv.", ".expand.convolve."), ("._bn0.", ".expand.norm."),
    ("._depthwise_conv.", ".spread.convolve."), ("._bn1.", ".spread.norm."),
    ("._project_conv.", ".project.convolve."), ("._bn2.", ".project.norm."),
    ("_conv_stem.", "stem.convolve."), ("_bn0.", "stem.norm."),
    ("_conv_head.", "head.convolve."), ("_bn1.", "head.norm."),
)  # fmt: skip


class Layer(nn.Module):
    """A convolution padded as TensorFlow does it, batch norm, and ReLU6 unless it is ``linear``."""

    def __init__(
        self, inputs: int, outputs: int, kernel: int = 1, stride: int = 1, *,
        groups: int = 1, linear: bool = False,
    ) -> None:  # fmt: skip
        """Take the numbers of channels and the shape of the convolution."""
        super().__init__()
        self.convolve = nn.Conv2d(inputs, outputs, kernel, stride, groups=groups, bias=False)
        self.norm: nn.Module = nn.BatchNorm2d(outputs, eps=1e-3)
        self.kernel, self.stride, self.linear = kernel, stride, linear

    def forward(self, x: Tensor) -> Tensor:
        """Return the output, (N, outputs, ceil(H / stride), ceil(W / stride))."""
        high, wide = (max(0, self.kernel - (side - 1) % self.stride - 1) for side in x.shape[2:])
        around = (high // 2, wide // 2)
        if high % 2 or wide % 2:  # an odd pixel goes to the right and the bottom
            x, around = F.pad(x, (wide // 2, wide - wide // 2, high // 2, high - high // 2)), (0, 0)
        c = self.convolve
        x = self.norm(F.conv2d(x, c.weight, c.bias, self.stride, around, 1, c.groups))
        return x if self.linear else F.relu6(x, inplace=not torch.is_grad_enabled())


class Block(nn.Module):
    """Widen, look around, narrow; the input is added where the shape allows it."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        """Take the numbers of channels, the kernel and how much wider the block is inside."""
        super().__init__()
        inner = inputs * expansion
        self.expand: nn.Module = Layer(inputs, inner) if expansion > 1 else nn.Identity()
        self.spread = Layer(inner, inner, kernel, stride, groups=inner)
        self.project = Layer(inner, outputs, linear=True)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output."""
        out: Tensor = self.project(self.spread(self.expand(x)))
        return out + x if self.adds else out


class EfficientNetLite0(nn.Module):
    """The network without its last layer: pictures to the means of 1,280 channels."""

    def __init__(self) -> None:
        """Build it with random weights."""
        super().__init__()
        self.stem = Layer(3, STEM, 3, 2)
        blocks, inputs = [], STEM
        for count, kernel, stride, expansion, outputs in STAGES:
            for position in range(count):
                first = stride if position == 0 else 1
                blocks.append(Block(inputs, outputs, kernel, first, expansion))
                inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.head = Layer(inputs, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Return (N, 1280) for pictures (N, 3, H, W) whose values are (pixel - 127) / 128."""
        x = self.head(self.blocks(self.stem(x)))
        return x.mean((2, 3))

    def load_published(self, state: Mapping[str, Tensor]) -> None:
        """Take the published weights; their last layer is left out."""
        own = {_ours(name): value for name, value in state.items() if not name.startswith("_fc.")}
        self.load_state_dict(own)

    def fuse(self) -> "EfficientNetLite0":
        """Fold batch norm into the convolutions, for inference alone: the same numbers, faster."""
        self.eval().requires_grad_(False)
        for layer in [m for m in self.modules() if isinstance(m, Layer)]:
            if isinstance(layer.norm, nn.BatchNorm2d):
                layer.convolve = fuse_conv_bn_eval(layer.convolve, layer.norm)
                layer.norm = nn.Identity()
        return self


def _ours(name: str) -> str:
    for theirs, ours in _NAMES:
        name = name.replace(theirs, ours)
    return name
