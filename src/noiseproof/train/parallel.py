"""Several processes, one batch: what torchrun starts, each with its part of every batch.

The gradients are those of one process with the whole batch: losses are weighted by how many
samples each process has, and batch norm takes its statistics over all of them. They are equal but
for rounding, which is amplified only where it decides which of two equal pixels a pooling takes.
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, distributed, nn
from torch.nn.modules.batchnorm import _BatchNorm

from noiseproof.errors import ParameterError

STOPPING = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class World:
    """Which process this is, of how many.

    >>> World(rank=1, size=2).part(5)
    slice(2, 5, None)
    """

    rank: int = 0
    size: int = 1

    @property
    def is_main(self) -> bool:
        """Whether this is the process that writes and speaks."""
        return self.rank == 0

    def part(self, count: int) -> slice:
        """Return which of ``count`` samples are this process's."""
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def sum(self, values: Tensor) -> Tensor:
        """Return the sum of ``values`` over all processes."""
        if self.size == 1:
            return values
        total = values.clone()
        distributed.all_reduce(total)
        return total

    def wait(self) -> None:
        """Wait until all processes have come here."""
        if self.size > 1:
            distributed.barrier()


def world_size() -> int:
    """Return how many processes torchrun started; 1 without it."""
    told = os.environ.get("WORLD_SIZE", "1")
    if not (told.isascii() and told.isdigit()):
        raise ParameterError(f"expected WORLD_SIZE to be a whole number, got {told!r}")
    return int(told)


@contextmanager
def joined(device: torch.device) -> Iterator[World]:
    """Join the processes torchrun started, with gloo on a CPU and NCCL on CUDA."""
    if world_size() == 1:
        yield World()
        return
    try:
        with _heard():
            distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    except (ValueError, RuntimeError) as error:  # WORLD_SIZE is set, but not by torchrun
        told = str(error).splitlines()[0]
        raise ParameterError(f"the processes of torchrun cannot be joined: {told}") from None
    try:
        yield World(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()


@contextmanager
def _heard() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the process: torch may wait for others where Python hears none."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.SIG_DFL) for number in STOPPING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def spread(network: nn.Module, device: torch.device) -> nn.Module:
    """Return ``network`` with gradients averaged over the processes."""
    ids = [device.index] if device.type == "cuda" else None
    return nn.parallel.DistributedDataParallel(network, device_ids=ids)


def synchronise(network: nn.Module, device: torch.device) -> nn.Module:
    """Return ``network`` with batch norms that see the whole batch; its state stays as it is."""
    if device.type == "cuda":
        synced: nn.Module = nn.SyncBatchNorm.convert_sync_batchnorm(network)  # type: ignore[no-untyped-call]
        return synced
    for name, child in network.named_children():
        if isinstance(child, _BatchNorm):
            setattr(network, name, _WholeBatchNorm.like(child))
        else:
            synchronise(child, device)
    return network


class _Sum(torch.autograd.Function):
    """The sum over all processes, of values and of the gradients that come back."""

    @staticmethod
    def forward(ctx: object, values: Tensor) -> Tensor:
        total = values.clone()
        distributed.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: object, gradient: Tensor) -> Tensor:
        total = gradient.contiguous().clone()
        distributed.all_reduce(total)
        return total


def _summed(values: Tensor) -> Tensor:
    total: Tensor = _Sum.apply(values)  # type: ignore[no-untyped-call]
    return total


class _WholeBatchNorm(_BatchNorm):
    """Batch norm over all processes' samples, where ``nn.SyncBatchNorm`` has no implementation."""

    @classmethod
    def like(cls, norm: _BatchNorm) -> "_WholeBatchNorm":
        new = cls(norm.num_features, norm.eps, norm.momentum, norm.affine)
        new.load_state_dict(norm.state_dict())
        return new.to(norm.running_mean.device if norm.running_mean is not None else None)

    def _check_input_dim(self, input: Tensor) -> None:
        """Take whatever the norm this one replaces took."""

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return super().forward(x)
        assert self.running_mean is not None
        assert self.running_var is not None
        assert self.num_batches_tracked is not None
        given, x = x.dtype, x.float()  # as torch's own does under autocast
        dims = [d for d in range(x.ndim) if d != 1]
        view = [1, -1, *[1] * (x.ndim - 2)]
        here = x.new_full((1,), x.numel() / x.shape[1])
        # The mean first and then the squares about it: their difference would lose the digits.
        sums = _summed(torch.cat([here, x.sum(dims)]))
        count = sums[:1]
        mean = sums[1:] / count
        centred = x - mean.view(view)
        variance = _summed(centred.square().sum(dims)) / count
        with torch.no_grad():
            rate = self.momentum if self.momentum is not None else 0.1
            self.num_batches_tracked += 1
            self.running_mean.lerp_(mean, rate)
            self.running_var.lerp_(variance * (count / (count - 1)), rate)
        scale = (variance + self.eps).rsqrt() * self.weight
        return (centred * scale.view(view) + self.bias.view(view)).to(given)
