"""Networks that turn pictures and texts into features; one file an encoder.

An encoder has an :class:`~noiseproof.encoders.encoder.Identity` (its name, the SHA-256 of
its weights, what it encodes and at which size) and ``encode(batch) -> float32 (n, d)``. Its file
says which words on the command line mean it (``claims``) and loads it (``load``); loading runs
nobody's code. :mod:`~noiseproof.encoders.choose` knows them all.
"""

from noiseproof.extras import need

need("fit", "PIL")
