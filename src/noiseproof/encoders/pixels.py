"""From pixels to what a model of Hugging Face reads, as its ``preprocessor_config.json`` says.

The steps are those of the image processors of transformers, in their order: pixels are scaled, blue
and red exchanged, mean and deviation removed. How a picture is cropped and resized is ours.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

#: ImageNet's, where there is no description at all.
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
#: Steps that make something else of a picture.
OTHERS = ("do_color_quantize", "do_grayscale")


@dataclass(frozen=True)
class Pixels:
    """Scales pixels.

    Args:
        factor: of a pixel in 0..255.
        mean: (3, 1, 1) or (1, 1, 1), of what that gives, and
        std: its deviation.
        flip: whether blue comes first.
    """

    factor: float
    mean: Tensor
    std: Tensor
    flip: bool

    @classmethod
    def of(cls, described: Mapping[str, Any]) -> Self:
        """Read a description; raise ValueError for one that cannot be followed.

        An empty one stands for ImageNet's.
        """
        if not described:
            described = {"image_mean": MEAN, "image_std": STD}
        if step := next((name for name in OTHERS if described.get(name)), None):
            raise ValueError(f"its preprocessor asks for {step}, which is not known here")
        factor, offset = 1.0, 0.0
        if described.get("do_rescale", True):
            factor = described.get("rescale_factor", 1 / 255)
            if not _is_number(factor) or factor == 0:
                raise ValueError(f"its preprocessor has the rescale_factor {factor!r:.40}")
            offset = -1.0 if described.get("rescale_offset") else 0.0
        mean, std = torch.zeros(1), torch.ones(1)
        # Some networks want no mean removed, and some descriptions say so by having none.
        given = any(described.get(name) is not None for name in ("image_mean", "image_std"))
        if described.get("do_normalize", given):
            mean, std = (_colours(described, name) for name in ("image_mean", "image_std"))
            if (std == 0).any():
                raise ValueError("its preprocessor has an image_std of 0")
        if described.get("include_top") and given:  # of EfficientNet, which divides twice
            std = std * _colours(described, "image_std")
        return cls(
            factor,
            (mean - offset)[:, None, None],
            std[:, None, None],
            bool(described.get("do_flip_channel_order")),
        )

    def __call__(self, pictures: Tensor) -> Tensor:
        """Return uint8 (n, 3, side, side) as the network reads it."""
        x = pictures.float() * self.factor
        if self.flip:
            x = x.flip(1)
        return (x - self.mean) / self.std


def _colours(described: Mapping[str, Any], name: str) -> Tensor:
    """Return one number for all colours, or three."""
    values = described.get(name)
    each = values if isinstance(values, (list, tuple)) else [values]
    if len(each) not in (1, 3) or not all(map(_is_number, each)):
        raise ValueError(f"its preprocessor normalizes by the {name} {values!r:.40}")
    return torch.tensor(each, dtype=torch.float32)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
