"""How sure a model should be: the factor of its log-odds that held-out labels bear out."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from noiseproof.learn.learner import Floats

#: Factors for log-odds.
SHARPNESS: Sequence[float] = np.geomspace(0.03, 2, 19).tolist()
#: About how many numbers are copied at a time.
BLOCK = 10_000_000


class Sharpness:
    """Adds up how likely held-out labels are for each sharpness; the likeliest is ``best``."""

    def __init__(self) -> None:
        self._fits = np.zeros(len(SHARPNESS))

    def add(self, logits: Floats, soft: Floats, weights: NDArray[np.float64]) -> None:
        """Add rows that the model has not seen: log-odds and soft labels (n, K), weights (n,)."""
        for some in blocks(*logits.shape):
            z, label, weight = logits[some], soft[some], weights[some]
            self._fits += [
                float(weight @ (label * log_softmax(s * z, axis=1)).sum(1)) for s in SHARPNESS
            ]

    @property
    def best(self) -> float:
        """The sharpness under which the labels are likeliest."""
        return SHARPNESS[int(np.argmax(self._fits))]


def blocks(rows: int, columns: int) -> Iterator[slice]:
    """Cut rows into blocks of a bounded size, so that copies of them are small."""
    step = max(1, BLOCK // columns)
    for start in range(0, rows, step):
        yield slice(start, start + step)
