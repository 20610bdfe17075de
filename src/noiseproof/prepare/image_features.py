"""Small images as features."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.data.images import has_colour
from noiseproof.errors import DataError
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.patches import PATCH, TINY, Patches
from noiseproof.prepare.samples import Samples
from noiseproof.progress import SILENT, Progress

#: Pixels: no side of a picture that Pillow reads is longer.
LONGEST = 1 << 16


@dataclass(frozen=True, eq=False)
class ImageFeatures:
    """Small images: their pixels where they are tiny, else what their patches look like.

    Args:
        shape: (C, H, W) of the images.
        patches: None takes the pixels.
    """

    shape: tuple[int, int, int]
    patches: Patches | None

    @property
    def width(self) -> int:
        """How many features there are."""
        if self.patches is None:
            return int(np.prod(self.shape))
        (size,), (centres, _) = self.patches.mean.shape, self.patches.centres.shape
        shapes = (self.patches.whiten.shape, self.patches.centres.shape)
        if size != self.shape[0] * PATCH**2 or shapes != ((size, size), (centres, size)):
            raise ValueError("patches of the images")
        return 4 * int(centres)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        if self.patches is None:
            return tuple("pixel {} {} {}".format(*at) for at in np.ndindex(*self.shape))
        parts, width = ("top left", "top right", "bottom left", "bottom right"), self.width // 4
        return tuple(f"patch {i} {part}" for part in parts for i in range(width))

    @property
    def indicators(self) -> NDArray[np.bool_]:
        """(D,) which features are 0 or 1: none."""
        return np.zeros(self.width, dtype=np.bool_)

    @classmethod
    def learn(cls, samples: Samples, seed: int, notes: Notes) -> "ImageFeatures":
        """Learn patches from the images, where they are large enough to have any."""
        images = samples.inputs if has_colour(samples.inputs) else samples.inputs[:, :1]
        channels, height, width = images.shape[1:]
        shape = (int(channels), int(height), int(width))
        if max(height, width) <= TINY or min(height, width) < TINY:
            notes.add("images as their pixels", f"{channels}x{height}x{width}")
            return cls(shape, None)
        patches = Patches.learn(images, seed)
        notes.add("images as likeness to learnt 6x6 patches", f"{len(patches.centres)} patches")
        return cls(shape, patches)

    def transform(self, samples: Samples, notes: Notes, progress: Progress = SILENT) -> Any:
        """Return the features of images of the same size, grey or coloured."""
        samples.note_unread(notes)
        if samples.kind != "images":
            raise DataError(f"{samples.name}: the model reads images, these are none")
        images = samples.inputs
        if images.shape[2:] != self.shape[1:]:
            this, wanted = ("x".join(map(str, s)) for s in (images.shape[2:], self.shape[1:]))
            raise DataError(f"{samples.name}: images of {this} pixels, the model reads {wanted}")
        if images.shape[1] != self.shape[0]:
            grey = images[:, :1]
            if has_colour(images):
                grey = images.mean(axis=1, keepdims=True).astype(np.uint8)
            images = np.repeat(grey, self.shape[0], axis=1)
        if self.patches is not None:
            return self.patches.features(images)
        return images.reshape(len(images), -1).astype(np.float32) / 255

    def describe(self) -> dict[str, Any]:
        """Return the shape."""
        return {"kind": "images", "shape": list(self.shape)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the patches."""
        return {} if self.patches is None else self.patches.arrays()

    @classmethod
    def load(
        cls, description: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> "ImageFeatures":
        """Undo :meth:`describe` and :meth:`arrays`."""
        channels, height, width = description["shape"]
        for size, most in ((channels, 3), (height, LONGEST), (width, LONGEST)):
            if type(size) is not int or not 1 <= size <= most:
                raise ValueError(f"shape: expected numbers of pixels, got {description['shape']}")
        if any(array.dtype != np.float32 for array in arrays.values()):
            raise ValueError("expected patches of type float32")
        return cls((channels, height, width), Patches(**arrays) if arrays else None)


def one_or_three(X: Any, features: Any) -> tuple[str, ...]:
    """Return a line where an array may be one coloured image, and is read as three grey ones."""
    shape: tuple[int, ...] = tuple(getattr(X, "shape", ()))
    grey = isinstance(features, ImageFeatures) and features.shape[0] == 1
    if len(shape) != 3 or shape[0] != 3 or grey:
        return ()
    return (f"X of shape {shape} is read as three grey images; put a single one in a list",)
