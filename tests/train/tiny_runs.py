"""Runs that take a fraction of a second: blobs of pixels, a few epochs, one thread."""

import numpy as np
import torch

from noiseproof.data import Dataset, TrainTest
from noiseproof.train import Machine, Recipe, prepare

ONE = Machine(threads=1)
TINY = Recipe(network="linear", epochs=3, batch=32, lr=0.05, exact=True)


def blobs(count=200, side=8, classes=4, channels=1):
    """Images with a bright square whose place is the class, in noise."""
    random = np.random.default_rng(5)
    labels = np.arange(count) % classes
    images = random.integers(0, 120, (count, channels, side, side), dtype=np.uint8)
    half = side // 2
    for i, label in enumerate(labels):
        top, left = half * (label // 2), half * (label % 2)
        images[i, :, top : top + half, left : left + half] += 60
    return images, labels.astype(np.int64)


def tiny_data(**options):
    images, labels = (torch.from_numpy(a) for a in blobs(**options))
    names = tuple("abcd"[: int(labels.max()) + 1])
    whole = Dataset(images, labels, names, "blobs")
    cut = torch.arange(len(whole)) % 5 == 4
    return TrainTest(whole.subset(~cut), whole.subset(cut))


def tiny(loss="CE", noise="symmetric:0.4", seed=1, data=None, **fields):
    return prepare(data or tiny_data(), TINY.override(**fields), loss, noise, seed)


def measured(outcome):
    """Everything in a history but how long it took."""
    return [{k: v for k, v in row.to_dict().items() if k != "seconds"} for row in outcome.history]


def write_npz(path, **options):
    images, labels = blobs(**options)
    np.savez(path, X=images, y=labels)
    return path
