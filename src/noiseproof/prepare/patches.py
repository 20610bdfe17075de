"""Features of small images without a GPU: how much each part looks like each of many patches."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from noiseproof.noise import stream

#: Images with no side longer than this are taken pixel by pixel.
TINY = 12
#: Images with a longer side are reduced to this one.
SIDE = 32
PATCH = 6
CENTRES = 256
SAMPLE = 40_000
BLOCK = 128


def reduce(images: NDArray[np.uint8]) -> Tensor:
    """Return images as floats in 0..1, no side longer than SIDE."""
    x = torch.from_numpy(images.astype(np.float32)) / 255  # a copy: images may be read-only
    longest = max(x.shape[2:])
    if longest <= SIDE:
        return x
    size = [max(PATCH, round(side * SIDE / longest)) for side in x.shape[2:]]
    return F.interpolate(x, size=size, mode="area")


@dataclass(frozen=True, eq=False)
class Patches:
    """k-means on whitened patches (Coates, Lee and Ng, 2011): (N, 4 x centres).

    Args:
        whiten: (P, P) the matrix that decorrelates a patch.
        mean: (P,) the mean patch.
        centres: (M, P) the centres, in the whitened space.
    """

    whiten: NDArray[np.float32]
    mean: NDArray[np.float32]
    centres: NDArray[np.float32]

    @classmethod
    def learn(cls, images: NDArray[np.uint8], seed: int) -> "Patches":
        """Learn the whitening and the centres from a sample of patches."""
        from sklearn.cluster import MiniBatchKMeans

        numbers = stream(seed, "patches")
        chosen = np.sort(numbers.choice(len(images), min(len(images), 2000), replace=False))
        found = _unfold(reduce(images[chosen]))
        found = found.reshape(-1, found.shape[-1])
        found = found[torch.from_numpy(numbers.permutation(len(found))[:SAMPLE])]
        sample = _contrast(found).numpy()
        mean = sample.mean(0)
        values, vectors = np.linalg.eigh(np.cov(sample - mean, rowvar=False))
        whiten = vectors @ np.diag(1 / np.sqrt(np.maximum(values, 0) + 0.1)) @ vectors.T
        white = ((sample - mean) @ whiten).astype(np.float32)
        means = MiniBatchKMeans(
            min(CENTRES, len(white)), random_state=int(numbers.integers(2**31)), n_init=1,
            batch_size=4096, max_iter=20,
        )  # fmt: skip
        centres = means.fit(white).cluster_centers_
        return cls(whiten.astype(np.float32), mean.astype(np.float32), centres.astype(np.float32))

    def features(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return for each quarter of an image how near its patches are to each centre."""
        whiten, mean = torch.from_numpy(self.whiten), torch.from_numpy(self.mean)
        centres = torch.from_numpy(self.centres)
        length = centres.square().sum(1)
        out = np.empty((len(images), 4 * len(centres)), dtype=np.float32)
        for start in range(0, len(images), BLOCK):
            x = reduce(images[start : start + BLOCK])
            patches = (_contrast(_unfold(x)) - mean) @ whiten
            # |p|^2 - 2 p c + |c|^2, in place
            far = (patches @ centres.T).mul_(-2).add_(length)
            far = far.add_(patches.square().sum(-1, keepdim=True)).clamp_min_(0).sqrt_()
            near = far.mean(-1, keepdim=True).sub(far).clamp_min_(0)
            rows, columns = (side - PATCH + 1 for side in x.shape[2:])
            grid = near.view(len(x), rows, columns, -1).permute(0, 3, 1, 2)
            pooled = F.adaptive_avg_pool2d(grid, 2).flatten(1)
            out[start : start + BLOCK] = pooled.numpy()
        return out

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what has to be kept."""
        return {"whiten": self.whiten, "mean": self.mean, "centres": self.centres}


def _unfold(x: Tensor) -> Tensor:
    """Return every patch of the images, (N, places, P)."""
    return F.unfold(x, PATCH).transpose(1, 2)


def _contrast(patches: Tensor) -> Tensor:
    """Return patches with mean 0 and deviation about 1, flat ones left nearly flat."""
    centred = patches - patches.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + (10 / 255) ** 2).sqrt()
