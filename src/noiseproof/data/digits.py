"""scikit-learn's digits: the data set that needs no file."""

from pathlib import Path

import numpy as np
import torch

from noiseproof.data.dataset import Dataset, TrainTest, hold_out
from noiseproof.extras import need
from noiseproof.known import Known


def read(entry: Known, place: Path) -> TrainTest[Dataset]:
    """Read 1,797 handwritten digits, images uint8 (N, 1, 8, 8), grey levels 0..16 spread to 0..255.

    Every fifth sample of each class is for testing (:func:`~noiseproof.data.hold_out`). The
    labels are right, so the test set counts as published rather than held out.

    >>> from noiseproof.known import known
    >>> digits = read(known("digits"), Path())
    >>> len(digits.train), len(digits.test), int(digits.train.inputs.max())
    (1442, 355, 255)
    """
    need("fit", "sklearn")
    # Imported here because scikit-learn takes a second that nobody else should pay.
    from sklearn.datasets import load_digits

    bunch = load_digits()
    pixels = np.rint(bunch.images * (255 / 16)).astype(np.uint8)
    whole = Dataset(
        torch.from_numpy(pixels).unsqueeze(1),
        torch.from_numpy(bunch.target.astype(np.int64)),
        entry.classes,
        entry.name,
    )
    parts = hold_out(whole)
    return TrainTest(parts.train, parts.test)
