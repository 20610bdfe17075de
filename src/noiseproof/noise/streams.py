"""Independent, named streams of random numbers from one seed."""

import hashlib
import operator
import struct

import numpy as np

from noiseproof.errors import ParameterError


def stream(seed: int, name: str) -> np.random.Generator:
    """Return the stream ``name`` of a run's ``seed``: "noise", "initialisation", "order", ...

    Streams with different names or seeds are independent, so using one differently does not change
    the others. The generator is PCG64 with a spawn key from the SHA-256 of the name, which gives
    the same bits on every platform.

    Args:
        seed: the seed of the run, a whole number >= 0.
        name: the purpose of the numbers.

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
    if not isinstance(name, str):
        raise ParameterError(f"expected the name of a stream, got {name!r}")
    key = struct.unpack("<4I", hashlib.sha256(name.encode(errors="surrogatepass")).digest()[:16])
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy, spawn_key=key)))
