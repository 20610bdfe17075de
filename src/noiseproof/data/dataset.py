"""A data set: one tensor of inputs, one of labels, the names of the classes, a fingerprint."""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, NamedTuple, TypeVar

import torch
from torch import Tensor

from noiseproof.errors import DataError
from noiseproof.known import Known


class Normalisation(NamedTuple):
    """What to subtract and divide by: one number a channel (images in 0..1) or a column."""

    mean: tuple[float, ...]
    std: tuple[float, ...]

    @classmethod
    def of(cls, entry: Known) -> "Normalisation | None":
        """Return the published constants of a data set, None where it has none."""
        return cls(entry.mean, entry.std) if entry.mean else None


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Labelled samples, whole and in memory.

    Args:
        inputs: images as uint8 (N, C, H, W), or vectors as float32 (N, d).
        labels: int64 (N,), each in 0..K-1.
        classes: the K names.
        name: what to call it.
        normalisation: known constants; None computes them from ``inputs`` when asked.
        features: the names of the d columns, where they have names.

    >>> two = Dataset(torch.eye(2), torch.tensor([0, 1]), ("no", "yes"), "two")
    >>> two.shape, two.mean, two.std
    ((2,), (0.5, 0.5), (0.5, 0.5))
    >>> two.fingerprint[:8]
    '3ec2eb9b'
    """

    inputs: Tensor
    labels: Tensor
    classes: tuple[str, ...]
    name: str
    normalisation: Normalisation | None = None
    features: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        x, y = self.inputs, self.labels
        image = x.dtype == torch.uint8 and x.ndim == 4
        if not image and not (x.dtype == torch.float32 and x.ndim == 2):
            raise DataError(
                f"{self.name}: expected images as uint8 (N, C, H, W) or vectors as float32 (N, d), "
                f"got {str(x.dtype).removeprefix('torch.')} {tuple(x.shape)}"
            )
        if y.dtype != torch.int64 or y.ndim != 1:
            raise DataError(
                f"{self.name}: expected labels as int64 (N,), "
                f"got {str(y.dtype).removeprefix('torch.')} {tuple(y.shape)}"
            )
        if len(x) != len(y):
            raise DataError(f"{self.name}: {len(x)} inputs but {len(y)} labels")
        if len(x) == 0:
            raise DataError(f"{self.name}: there are no samples")
        if x.numel() == 0:
            raise DataError(f"{self.name}: an input has no values, its shape is {self.shape}")
        low, high = int(y.min()), int(y.max())
        if low < 0 or high >= len(self.classes):
            wrong = low if low < 0 else high
            raise DataError(
                f"{self.name}: label {wrong} is out of range 0..{len(self.classes) - 1}"
            )
        if not image and not bool(torch.isfinite(x).all()):
            row, column = (~torch.isfinite(x)).nonzero()[0].tolist()
            raise DataError(
                f"{self.name}: the input of row {row}, column {column} is not a finite number "
                "of float32"
            )

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        kind = "images" if self.inputs.ndim == 4 else "vectors"
        size = "x".join(map(str, self.shape))
        return f"Dataset({self.name!r}, {len(self)} {kind} of {size}, {len(self.classes)} classes)"

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one input: (C, H, W) or (d,)."""
        return tuple(self.inputs.shape[1:])

    @property
    def mean(self) -> tuple[float, ...]:
        """The mean of each channel (of pixels in 0..1) or column."""
        return self.constants.mean

    @property
    def std(self) -> tuple[float, ...]:
        """The standard deviation of each channel or column; 1 where nothing varies."""
        return self.constants.std

    @cached_property
    def constants(self) -> Normalisation:
        """The known normalisation constants, or those of ``inputs``."""
        return self.normalisation or _statistics(self.inputs)

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of shapes, dtypes and bytes of inputs and labels."""
        digest = hashlib.sha256()
        for tensor in (self.inputs, self.labels):
            digest.update(f"{tensor.dtype} {tuple(tensor.shape)}\n".encode())
            digest.update(tensor.contiguous().numpy().data)
        return digest.hexdigest()

    def subset(self, index: Tensor) -> "Dataset":
        """Return the samples at ``index`` (int64 positions, or a mask)."""
        return replace(self, inputs=self.inputs[index], labels=self.labels[index])


D = TypeVar("D")


@dataclass(frozen=True, eq=False)
class TrainTest(Generic[D]):
    """A training set and the set to test on.

    Args:
        train: what to learn from.
        test: what to be judged by.
        held_out: the test set was taken out of the training set here, so its labels are as noisy.
        encoded: where the inputs are features of pictures, which encoder made them of which
            pictures, as text.
    """

    train: D
    test: D
    held_out: bool = False
    encoded: str = ""


def hold_out(dataset: Dataset, every: int = 5) -> TrainTest[Dataset]:
    """Take the fifth, tenth, ... sample of every class, in their order, as the test set.

    No random number is involved: the same data give the same parts on every platform and with
    every version of numpy and torch.

    Args:
        dataset: what to divide.
        every: one sample in how many.

    >>> ten = Dataset(torch.zeros(10, 1), torch.arange(10) % 2, ("a", "b"), "ten")
    >>> hold_out(ten).test
    Dataset('ten', 2 vectors of 1, 2 classes)
    """
    order = torch.argsort(dataset.labels, stable=True)
    counts = torch.bincount(dataset.labels, minlength=len(dataset.classes))
    starts = counts.cumsum(0) - counts
    rank = torch.empty_like(order)
    rank[order] = torch.arange(len(order)) - starts[dataset.labels[order]]
    chosen = rank % every == every - 1
    if not bool(chosen.any()):
        raise DataError(
            f"{dataset.name}: no class has {every} samples, too few to hold any out for testing"
        )
    train, test = dataset.subset(~chosen), dataset.subset(chosen)
    return TrainTest(train, replace(test, normalisation=train.constants), held_out=True)


def _statistics(inputs: Tensor) -> Normalisation:
    if inputs.dtype == torch.uint8:
        # A histogram a channel is exact and needs no floating-point copy of the images.
        levels = torch.arange(256, dtype=torch.float64) / 255
        means, variances = [], []
        for channel in range(inputs.shape[1]):
            counts = torch.bincount(inputs[:, channel].reshape(-1), minlength=256).double()
            share = counts / counts.sum()
            mean = (share * levels).sum()
            means.append(mean)
            variances.append((share * (levels - mean).square()).sum())
        mean, std = torch.stack(means), torch.stack(variances).sqrt()
    else:
        std, mean = torch.std_mean(inputs.double(), dim=0, correction=0)
    std = torch.where(std > 0, std, torch.ones_like(std))
    return Normalisation(tuple(mean.tolist()), tuple(std.tolist()))
