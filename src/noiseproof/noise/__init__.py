"""How labels go wrong: transition matrices, the paper's noise models, and their receipts.

>>> import numpy as np
>>> T = symmetric(10, 0.4)
>>> noisy = T.corrupt(np.arange(1000) % 10, seed=1, exact=True)
>>> noisy.rate
0.4
"""

from noiseproof.noise.corruption import Corruption, human_corruption
from noiseproof.noise.estimate import estimate
from noiseproof.noise.estimated import EstimatedTransition
from noiseproof.noise.generate import asymmetric, identity, pair_flip, superclass, symmetric
from noiseproof.noise.instance import instance_dependent
from noiseproof.noise.neighbours import nearest
from noiseproof.noise.parse import parse
from noiseproof.noise.spec import Noise
from noiseproof.noise.streams import stream
from noiseproof.noise.transition import TransitionMatrix

__all__ = [
    "Corruption",
    "EstimatedTransition",
    "Noise",
    "TransitionMatrix",
    "asymmetric",
    "estimate",
    "human_corruption",
    "identity",
    "instance_dependent",
    "nearest",
    "pair_flip",
    "parse",
    "stream",
    "superclass",
    "symmetric",
]
