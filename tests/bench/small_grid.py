"""A grid of cells that take a fraction of a second: blobs in a file, a linear network."""

import numpy as np

TOML = """
title = "blobs"
dataset = "blobs.npz"
noises = ["none", "symmetric:0.4"]
seeds = [1, 2, 3]

[rows]
CE = "CE"
MINE = "NCE+RCE"

[overrides]
network = "linear"
epochs = {epochs}
batch = 16
"""


def write_blobs(path, seed=5, count=200):
    random = np.random.default_rng(seed)
    labels = np.arange(count) % 4
    points = random.normal(size=(count, 8)) + 2 * np.eye(8)[labels]
    np.savez(path, X=points.astype(np.float32), y=labels)


def write_grid(folder, epochs=2, **options):
    write_blobs(folder / "blobs.npz", **options)
    path = folder / "small.toml"
    path.write_text(TOML.format(epochs=epochs))
    return path


def results(store):
    """Everything measured in the records of a store, by key, but for how long it took."""
    return {key: [_measured(row) for row in r.history] for key, r in store.records().items()}


def _measured(row):
    return {name: value for name, value in row.to_dict().items() if name != "seconds"}
