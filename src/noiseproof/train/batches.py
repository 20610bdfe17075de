"""Batches: a data set in memory is one tensor, cut up by an index; files are decoded by workers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from noiseproof.data import Dataset, LazyImages
from noiseproof.errors import DataError, ParameterError
from noiseproof.train.augment import Pipeline
from noiseproof.train.parallel import World
from noiseproof.train.streams import epoch_stream, torch_generator


class Batch(NamedTuple):
    """This process's part of a batch: which samples, and their inputs ready for the network."""

    rows: Tensor
    inputs: Tensor


class Batches(Protocol):
    """What the loop reads: a data set in random order for an epoch, or in its own."""

    def __len__(self) -> int:
        """How many samples there are."""

    def shuffled(self, seed: int, epoch: int) -> Iterator[Batch]:
        """Yield the epoch's batches, augmented."""

    def in_order(self) -> Iterator[Batch]:
        """Yield every sample once, as it is; this process's part of them."""


def check_batch(count: int, batch: int, world: World) -> None:
    """Raise ParameterError where not one batch of an epoch would be trained on.

    >>> check_batch(1000, 4, World(size=2))
    """
    for number, what in ((count, "samples to train on"), (batch, "samples a batch")):
        if number < 2 * world.size:
            shared = f" for {world.size} processes" if world.size > 1 else ""
            raise ParameterError(f"expected at least {2 * world.size} {what}{shared}, got {number}")


def _plan(
    count: int, batch: int, world: World, pipeline: Pipeline, seed: int, epoch: int
) -> Iterator[tuple[Tensor, list[Tensor]]]:
    """Yield for each batch which samples are this process's, and the numbers to augment them by."""
    order = torch.from_numpy(epoch_stream(seed, "order", epoch).permutation(count))
    generator = torch_generator(epoch_stream(seed, "augmentation", epoch))
    for index in torch.split(order, batch):
        if len(index) < 2 * world.size:
            return  # the last batch of the epoch: batch norm needs two samples of every process
        part = world.part(len(index))
        yield index[part], [numbers[part] for numbers in pipeline.draw(len(index), generator)]


class MemoryBatches:
    """Batches of a data set that is in memory.

    Args:
        dataset: what to cut up.
        pipeline: augmentation and normalisation.
        batch: samples a batch, over all processes.
        device: where the data set is kept, and the batches with it.
        world: the processes that share the batches.
    """

    def __init__(
        self,
        dataset: Dataset,
        pipeline: Pipeline,
        batch: int,
        device: torch.device,
        world: World,
    ) -> None:
        """Move the inputs to the device, pixels of a place side by side."""
        self.pipeline, self.batch, self.device, self.world = pipeline, batch, device, world
        # Kept as (N, H, W, C), so that what index_select copies is channels last already.
        x = dataset.inputs.permute(0, 2, 3, 1) if dataset.inputs.ndim == 4 else dataset.inputs
        self.inputs = x.contiguous().to(device)

    def __len__(self) -> int:
        return len(self.inputs)

    def shuffled(self, seed: int, epoch: int) -> Iterator[Batch]:
        """Yield the epoch's batches, augmented."""
        for index, drawn in _plan(len(self), self.batch, self.world, self.pipeline, seed, epoch):
            here = index.to(self.device, non_blocking=True)
            yield Batch(here, self.pipeline(self._images(self.inputs.index_select(0, here)), drawn))

    def in_order(self) -> Iterator[Batch]:
        """Yield every sample once, as it is; this process's part of them."""
        part = self.world.part(len(self))
        for index in torch.split(torch.arange(part.start, part.stop, device=self.device), 500):
            rows = self.inputs[int(index[0]) : int(index[-1]) + 1]
            yield Batch(index, self.pipeline(self._images(rows)))

    @staticmethod
    def _images(rows: Tensor) -> Tensor:
        return rows.permute(0, 3, 1, 2) if rows.ndim == 4 else rows


class FileBatches:
    """Batches of images that worker processes decode as they are wanted.

    Args:
        dataset: the files.
        pipeline: augmentation and normalisation.
        batch: samples a batch, over all processes.
        device: where the batches go.
        world: the processes that share the batches.
        workers: how many decode for this process.
    """

    def __init__(
        self,
        dataset: LazyImages,
        pipeline: Pipeline,
        batch: int,
        device: torch.device,
        world: World,
        workers: int = 2,
    ) -> None:
        """Keep them; the workers start with each epoch."""
        self.dataset, self.pipeline, self.batch = dataset, pipeline, batch
        self.device, self.world, self.workers = device, world, workers

    def __len__(self) -> int:
        return len(self.dataset)

    def shuffled(self, seed: int, epoch: int) -> Iterator[Batch]:
        """Yield the epoch's batches, augmented."""
        plan = list(_plan(len(self), self.batch, self.world, self.pipeline, seed, epoch))
        images = self._decoded([index for index, _ in plan])
        for (index, drawn), rows in zip(plan, images, strict=True):
            yield Batch(index.to(self.device), self.pipeline(rows, drawn))

    def in_order(self) -> Iterator[Batch]:
        """Yield every sample once, as it is; this process's part of them."""
        part = self.world.part(len(self))
        plan = torch.split(torch.arange(part.start, part.stop), 100)
        for index, rows in zip(plan, self._decoded(list(plan)), strict=True):
            yield Batch(index.to(self.device), self.pipeline(rows))

    def _decoded(self, plan: list[Tensor]) -> Iterator[Tensor]:
        loader = DataLoader(
            self.dataset,
            batch_sampler=[index.tolist() for index in plan],
            num_workers=self.workers,
            pin_memory=self.device.type == "cuda",
        )
        with _as_told_by_workers():
            for images, _ in loader:
                moved = images.to(self.device, non_blocking=True)
                yield moved.contiguous(memory_format=torch.channels_last)


@contextmanager
def _as_told_by_workers() -> Iterator[None]:
    """Raise the error of a worker without the traceback that torch puts before its words."""
    try:
        yield
    except DataError as error:
        raise DataError(str(error).rpartition(f"{DataError.__name__}: ")[2].strip()) from None


def open_batches(
    dataset: Dataset | LazyImages,
    pipeline: Pipeline,
    batch: int,
    device: torch.device,
    world: World,
) -> Batches:
    """Return the batches of a data set, in memory or of files."""
    kind = FileBatches if isinstance(dataset, LazyImages) else MemoryBatches
    return kind(dataset, pipeline, batch, device, world)  # type: ignore[arg-type]
