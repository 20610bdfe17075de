"""Small tables with known noise, quick to fit."""

import numpy as np
import pandas as pd

from noiseproof.noise import symmetric

#: What to compare, to be quick.
QUICK = {"learners": "linear", "losses": ["GCE(q=0.7)"]}


def blobs(rows=240, rate=0.2, seed=0, classes=("cat", "dog", "eel")):
    """Return a table of three well separated classes, its true labels, and which are wrong."""
    numbers = np.random.default_rng(seed)
    true = np.arange(rows) % len(classes)
    centres = 4 * np.eye(len(classes), 4)
    X = numbers.normal(size=(rows, 4)) + centres[true]
    noisy = symmetric(len(classes), rate).corrupt(true, seed=seed)
    frame = pd.DataFrame(X, columns=["length", "weight", "age", "speed"])
    frame["kind"] = np.array(classes, dtype=object)[noisy.labels]
    return frame, np.array(classes)[true], np.asarray(noisy.changed)
