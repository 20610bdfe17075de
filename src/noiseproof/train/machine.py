"""Where a run computes: device, threads, precision, compiled or not."""

import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from noiseproof import kernels
from noiseproof.errors import ParameterError, did_you_mean
from noiseproof.train.memory import kept_memory
from noiseproof.train.parallel import World, spread, synchronise

DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16}


def pick_device(name: str = "auto") -> torch.device:
    """Return the device of a name; ``auto`` is the fastest there is.

    >>> pick_device("cpu")
    device(type='cpu')
    """
    if name not in DEVICES:
        raise ParameterError(f"unknown device {name!r}{did_you_mean(name, DEVICES)}")
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if name == "auto":
        name = next(device for device, is_there in there.items() if is_there)
    if not there[name]:
        raise ParameterError(f"no {name} device here: use --device auto")
    return torch.device(f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if name == "cuda" else name)


def default_threads(network: str) -> int:
    """Return how many threads a run of one process does best with.

    A step of a network for vectors takes a millisecond: sharing it costs more than it saves, and
    waiting for a thread that another program has put aside many times as much.

    >>> default_threads("mlp")
    1
    """
    return 1 if network in ("mlp", "linear") else torch.get_num_threads()


@dataclass(frozen=True)
class Machine:
    """What a run computes with. It may change the last bits of a result, never its meaning.

    Nothing is chosen by timing it at the start: a choice by the clock would make the bits of a run
    depend on what else the machine was doing, and a resumed run unlike one that was never stopped.

    Args:
        device: where.
        threads: of this process on the CPU; 0 leaves torch's choice.
        compile: run the network through ``torch.compile``. It is a loss for the paper's networks
            on a CPU (``benchmarks/train_speed.py``), so nothing chooses it by itself.
        world: the processes that share each batch.
    """

    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    threads: int = 0
    compile: bool = False
    world: World = field(default_factory=World)

    def place(self, network: nn.Module) -> nn.Module:
        """Move a network here, in the memory format that is fastest."""
        if self.world.size > 1:
            network = synchronise(network, self.device)
        # Channels last: convolutions, batch norms and pools all run 1.5 to 2 times as fast.
        moved: nn.Module = network.to(self.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        return moved

    def forward(self, network: nn.Module) -> nn.Module:
        """Return what to call in place of ``network`` for training."""
        if self.compile:
            network.compile()
        return spread(network, self.device) if self.world.size > 1 else network

    def check_alike(self, done: int) -> None:
        """Wait for all processes; raise ParameterError where they found different files of a run.

        Args:
            done: how far this process finds the run to be.
        """
        numbers = torch.tensor([done, done * done], device=self.device)
        total, squares = self.world.sum(numbers).tolist()
        if self.world.size * squares != total * total:  # equal if and only if all are the same
            raise ParameterError(
                "the processes do not find the same checkpoint or record: "
                "--out has to be one folder that all of them see"
            )

    @contextmanager
    def settled(self) -> Iterator[None]:
        """Set threads, denormals, memory and determinism for a run; put back the threads after.

        The caller's own settings of torch, such as no gradients or another type, do not count.
        """
        before, dtype = torch.get_num_threads(), torch.get_default_dtype()
        if self.threads:
            torch.set_num_threads(self.threads)
        # Vanishing gradients of a loss that has converged become denormal numbers, which a CPU
        # computes ten times as slowly, and which add nothing.
        torch.set_flush_denormal(True)
        if self.device.type == "cuda":
            torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = True, False
        try:
            torch.set_default_dtype(torch.float32)
            precision = torch.autocast(self.device.type, enabled=False)  # the recipe says which
            with kept_memory(), kernels.recording(), kernels.made_on_cpu(), precision:
                yield
        finally:
            torch.set_default_dtype(dtype)
            torch.set_flush_denormal(False)
            torch.set_num_threads(before)

    def to_dict(self) -> dict[str, Any]:
        """Return what a record says of it, as plain JSON values."""
        return {
            "device": self.device.type,
            "threads": self.threads or torch.get_num_threads(),
            "compile": self.compile,
            "processes": self.world.size,
            "torch": str(torch.__version__),
            "python": platform.python_version(),
            "system": f"{platform.system()} {platform.machine()}",
        }
