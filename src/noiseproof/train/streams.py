"""Random numbers of a run: a stream for each use, and of each a part for every epoch.

No generator outlives its epoch, so a run that is taken up after an epoch needs no state of any,
and nothing drawn in one place moves what is drawn in another.
"""

import numpy as np
import torch

from noiseproof.noise import stream


def epoch_stream(seed: int, name: str, epoch: int) -> np.random.Generator:
    """Return the part of stream ``name`` that belongs to an epoch.

    >>> epoch_stream(1, "order", 0).random() == epoch_stream(1, "order", 1).random()
    False
    """
    return stream(seed, f"{name} of epoch {epoch}")


def torch_generator(
    numbers: np.random.Generator, device: torch.device | str = "cpu"
) -> torch.Generator:
    """Return a generator of torch's, seeded from a stream.

    >>> torch.rand(1, generator=torch_generator(stream(1, "initialisation"))).shape
    torch.Size([1])
    """
    generator = torch.Generator(device)
    generator.manual_seed(int(numbers.integers(2**63)))
    return generator
