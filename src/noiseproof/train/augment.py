"""Augmentation and normalisation of whole batches, with no loop over samples.

Each augmentation draws its numbers for a whole batch and applies them to any part of it, so that
processes which share a batch see together what one process would see alone.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F


class Augmentation(ABC):
    """Random changes of images, float (N, C, H, W)."""

    @abstractmethod
    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """Return what to do with each of ``count`` images, a row each."""

    @abstractmethod
    def apply(self, images: Tensor, drawn: Tensor) -> Tensor:
        """Return the images changed as ``drawn`` says."""


class Flip(Augmentation):
    """Mirror left and right, every other image on average."""

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """Return 0 or 1 for each image."""
        return torch.randint(2, (count, 1), generator=generator)

    def apply(self, images: Tensor, drawn: Tensor) -> Tensor:
        """Mirror the images with a 1."""
        width = images.shape[3]
        columns = torch.arange(width, device=images.device).expand(len(images), width)
        columns = torch.where(drawn == 1, columns.flip(1), columns)
        return _gather(images, None, columns)


class Crop(Augmentation):
    """Shift by up to ``pad`` pixels either way: a random crop of an image padded with black."""

    def __init__(self, pad: int = 4) -> None:
        """Take the width of the border."""
        self.pad = pad

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """Return the row and the column, 0 to 2 ``pad``, where each crop begins."""
        return torch.randint(2 * self.pad + 1, (count, 2), generator=generator)

    def apply(self, images: Tensor, drawn: Tensor) -> Tensor:
        """Cut the crops out."""
        height, width = images.shape[2:]
        padded = F.pad(images, (self.pad,) * 4)
        rows = drawn[:, :1] + torch.arange(height, device=images.device)
        columns = drawn[:, 1:] + torch.arange(width, device=images.device)
        return _gather(padded, rows, columns)


class Rotation(Augmentation):
    """Turn by an angle of up to ``degrees`` either way about the centre, black coming in."""

    def __init__(self, degrees: float = 20.0) -> None:
        """Take the largest angle."""
        self.degrees = degrees

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """Return the angle of each image in radians."""
        uniform = torch.rand((count, 1), generator=generator)
        return (2 * uniform - 1) * math.radians(self.degrees)

    def apply(self, images: Tensor, drawn: Tensor) -> Tensor:
        """Turn the images, each pixel the nearest one of the original."""
        height, width = images.shape[2:]
        cos, sin, zero = drawn.cos(), drawn.sin(), torch.zeros_like(drawn)
        # In the grid's coordinates both sides are 2 long, whatever the shape.
        top = torch.cat([cos, -sin * height / width, zero], 1)
        low = torch.cat([sin * width / height, cos, zero], 1)
        theta = torch.stack([top, low], 1).to(images.dtype)
        grid = F.affine_grid(theta, list(images.shape), align_corners=False)
        return F.grid_sample(images, grid, mode="nearest", align_corners=False)


class Colour(Augmentation):
    """Scale brightness, contrast and saturation by factors of up to 1 +- ``strength``, in turn."""

    def __init__(self, strength: float = 0.4) -> None:
        """Take the largest relative change."""
        self.strength = strength

    def draw(self, count: int, generator: torch.Generator) -> Tensor:
        """Return the three factors of each image."""
        uniform = torch.rand((count, 3), generator=generator)
        return 1 + (2 * uniform - 1) * self.strength

    def apply(self, images: Tensor, drawn: Tensor) -> Tensor:
        """Change the colours of images whose pixels are in 0..1, and keep them there."""
        factors = drawn.to(images.dtype)[..., None, None]
        brightness, contrast, saturation = factors[:, :1], factors[:, 1:2], factors[:, 2:]
        images = (images * brightness).clamp_(0, 1)
        middle = _grey(images).mean((2, 3), keepdim=True)
        images = torch.lerp(middle, images, contrast).clamp_(0, 1)
        return torch.lerp(_grey(images), images, saturation).clamp_(0, 1)


_KNOWN = {"crop": Crop, "shift": Crop, "flip": Flip, "rotation": Rotation, "colour": Colour}


class Pipeline:
    """Augmentations in their order, then normalisation: uint8 images in, float32 out.

    Args:
        names: of the augmentations; see :class:`~noiseproof.train.Recipe`.
        mean: of each channel (pixels in 0..1) or column.
        std: likewise.
        shape: of one input, which says how far a "shift" goes: an eighth of the side.
    """

    def __init__(
        self,
        names: Sequence[str],
        mean: Sequence[float],
        std: Sequence[float],
        shape: Sequence[int],
    ) -> None:
        """Make the steps."""
        sizes = {"shift": max(1, shape[-1] // 8)}
        self.steps: list[Augmentation] = [
            Crop(sizes[name]) if name in sizes else _KNOWN[name]() for name in names
        ]
        view = (1, -1, 1, 1) if len(shape) == 3 else (1, -1)
        self.mean = torch.tensor(mean, dtype=torch.float32).view(view)
        self.std = torch.tensor(std, dtype=torch.float32).view(view)

    def draw(self, count: int, generator: torch.Generator) -> list[Tensor]:
        """Return the random numbers for a batch: a tensor for each step, a row for each image."""
        return [step.draw(count, generator) for step in self.steps]

    def __call__(self, inputs: Tensor, drawn: Sequence[Tensor] = ()) -> Tensor:
        """Return the inputs augmented as ``drawn`` says (not at all without it) and normalised."""
        x = inputs.float() / 255 if inputs.dtype == torch.uint8 else inputs
        for step, numbers in zip(self.steps, drawn, strict=False):
            x = step.apply(x, numbers.to(x.device, non_blocking=True))
        return (x - self.mean.to(x.device)) / self.std.to(x.device)


def _gather(images: Tensor, rows: Tensor | None, columns: Tensor) -> Tensor:
    """Return images[n, :, rows[n, i], columns[n, j]], in the memory format of ``images``."""
    count, height = len(images), images.shape[2]
    device = images.device
    if rows is None:
        rows = torch.arange(height, device=device).expand(count, height)
    n = torch.arange(count, device=device)[:, None, None]
    # Indexing the channels-last view moves whole pixels, and leaves a channels-last image.
    return images.permute(0, 2, 3, 1)[n, rows[:, :, None], columns[:, None, :]].permute(0, 3, 1, 2)


def _grey(images: Tensor) -> Tensor:
    if images.shape[1] != 3:
        return images.mean(1, keepdim=True)
    weights = images.new_tensor([0.299, 0.587, 0.114]).view(1, 3, 1, 1)
    return (images * weights).sum(1, keepdim=True)
