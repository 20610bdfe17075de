"""Parts of a data set, drawn by the seed, and what instance noise sees of one."""

from dataclasses import replace

import torch
from torch import Tensor

from noiseproof.data import Dataset, LazyImages
from noiseproof.errors import NoiseError, ParameterError
from noiseproof.noise import stream

Data = Dataset | LazyImages


def positions(count: int, size: int, seed: int, name: str) -> Tensor | None:
    """Return ``size`` positions of ``count`` in rising order; None for all of them.

    >>> positions(10, 3, seed=1, name="training subset").shape
    torch.Size([3])
    """
    if size == 0 or size >= count:
        return None
    return torch.from_numpy(stream(seed, name).permutation(count)[:size]).sort().values


def subset(dataset: Data, rows: Tensor | None) -> Data:
    """Return the samples at ``rows`` of a data set, in memory or of files; all for None."""
    if rows is None:
        return dataset
    if isinstance(dataset, Dataset):
        return dataset.subset(rows)
    paths = tuple(dataset.paths[i] for i in rows.tolist())
    return replace(dataset, paths=paths, labels=dataset.labels[rows])


def hold_out(count: int, size: int, seed: int) -> Tensor | None:
    """Return which of ``count`` samples are trained with, (count,) bool; None for all of them.

    It depends on the seed alone, so that the same samples are held back under every noise.
    """
    if not size:
        return None
    held = positions(count, size, seed, "held-out subset")
    if held is None:
        raise ParameterError(f"{size} samples to hold out, but only {count} in all")
    return torch.ones(count, dtype=torch.bool).index_fill(0, held, False)


def split(dataset: Data, kept: Tensor | None) -> tuple[Data, Data | None]:
    """Return the samples that are kept, and the others; all of them and None for None."""
    if kept is None:
        return dataset, None
    return subset(dataset, kept.nonzero().flatten()), subset(dataset, (~kept).nonzero().flatten())


def features(dataset: Data) -> Tensor:
    """Return the inputs as vectors, float32 (N, d), pixels in 0..1."""
    if not isinstance(dataset, Dataset):
        raise NoiseError(f"instance noise needs features in memory, which {dataset.name} has not")
    flat = dataset.inputs.flatten(1).float()
    return flat / 255 if dataset.inputs.dtype == torch.uint8 else flat
