"""scikit-learn's digits: the data set that needs no file."""

import numpy as np
import torch

from noiseproof.data.dataset import Dataset, TrainTest, hold_out
from noiseproof.data.idx import DIGITS
from noiseproof.extras import need


def read_digits() -> TrainTest[Dataset]:
    """Read 1,797 handwritten digits, images uint8 (N, 1, 8, 8), grey levels 0..16 spread to 0..255.

    Every fifth sample of each class is for testing (:func:`~noiseproof.data.hold_out`). The
    labels are right, so the test set counts as published rather than held out.

    >>> digits = read_digits()
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
        DIGITS,
        "digits",
    )
    parts = hold_out(whole)
    return TrainTest(parts.train, parts.test)
