"""Features of small colour images that a CPU can make: whitened patches and k-means.

Coates and Ng (2011): 6 x 6 patches, normalised and ZCA-whitened; k-means centres as a dictionary;
the soft "triangle" response of every patch of an image to every centre, pooled over four quarters.
Nothing here sees a label.
"""

import numpy as np
import torch
from sklearn.cluster import MiniBatchKMeans
from torch import Tensor
from torch.nn.functional import unfold

SIZE = 6


def patch_features(train: Tensor, test: Tensor, centres: int = 400, seed: int = 0) -> tuple:
    """Return (N, 4 * centres) float32 arrays for uint8 images (N, 3, H, W)."""
    rng = np.random.default_rng(seed)
    sample = torch.from_numpy(rng.choice(len(train), min(10000, len(train)), replace=False))
    patches = patches_of(train[sample]).reshape(-1, 3 * SIZE * SIZE)
    patches = normalised(patches[torch.from_numpy(rng.choice(len(patches), 50000, replace=False))])
    mean = patches.mean(0)
    values, vectors = torch.linalg.eigh(torch.cov((patches - mean).T))
    whiten = vectors @ torch.diag((values + 0.1).rsqrt()) @ vectors.T
    means = MiniBatchKMeans(centres, batch_size=4096, n_init=1, max_iter=20, random_state=seed)
    means.fit(((patches - mean) @ whiten).numpy())
    middle = torch.from_numpy(means.cluster_centers_.astype(np.float32))
    return tuple(pooled(images, mean, whiten, middle) for images in (train, test))


def patches_of(images: Tensor) -> Tensor:
    """Return every patch (N, P, 108) of some images."""
    parts = [unfold(part.float(), SIZE).transpose(1, 2)[:, ::37] for part in images.split(500)]
    return torch.cat(parts)


def normalised(patches: Tensor) -> Tensor:
    """Return patches with their brightness and contrast taken out."""
    centred = patches - patches.mean(-1, keepdim=True)
    return centred / (centred.var(-1, keepdim=True) + 10).sqrt()


def pooled(images: Tensor, mean: Tensor, whiten: Tensor, centres: Tensor) -> np.ndarray:
    """Return the responses of all patches, summed over each quarter of the image."""
    side = images.shape[-1] - SIZE + 1
    half, out = side // 2, np.empty((len(images), 4 * len(centres)), dtype=np.float32)
    squares = (centres**2).sum(1)
    for start in range(0, len(images), 64):
        x = unfold(images[start : start + 64].float(), SIZE).transpose(1, 2)
        x = (normalised(x) - mean) @ whiten
        distance = (
            ((x**2).sum(-1, keepdim=True) - 2 * x @ centres.T + squares).clamp_min_(0).sqrt_()
        )
        z = torch.relu(distance.mean(-1, keepdim=True) - distance)
        z = z.view(len(z), side, side, -1)
        quarters = [z[:, r, c].sum((1, 2)) for r in (slice(half), slice(half, None))
                    for c in (slice(half), slice(half, None))]  # fmt: skip
        out[start : start + 64] = torch.cat(quarters, 1).numpy()
    return out
