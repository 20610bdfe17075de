"""Independent streams of random numbers that grow from one seed, each under its own name."""

import hashlib
import operator
import struct

import numpy as np

from noiseproof.errors import ParameterError


def stream(seed: int, name: str) -> np.random.Generator:
    """Return the stream ``name`` of a run's ``seed``: "noise", "initialisation", "order", ...

    Streams of different names, or of different seeds, are independent, so that a change in how one
    is used moves none of the others. The bits are those of PCG64 with a spawn key made of the
    SHA-256 of the name: the same on every platform.

    Args:
        seed: the seed of the run, a whole number >= 0.
        name: what the numbers are for.

    >>> stream(1, "noise").random() == stream(1, "noise").random()
    True
    >>> stream(1, "noise").random() == stream(1, "order").random()
    False
    """
    try:
        entropy = operator.index(seed)
    except TypeError:
        raise ParameterError(f"expected seed to be a whole number, got {seed!r}") from None
    if entropy < 0:
        raise ParameterError(f"expected seed >= 0, got {entropy}")
    key = struct.unpack("<4I", hashlib.sha256(name.encode()).digest()[:16])
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy, spawn_key=key)))
