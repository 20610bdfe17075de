"""Folds: even, honest, and blind to the rows they hold out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noiseproof.errors import DataError
from noiseproof.learn.folds import deal, held_out, out_of_fold


@given(
    counts=st.lists(st.integers(1, 30), min_size=1, max_size=5),
    folds=st.integers(2, 7),
    seed=st.integers(0, 100),
)
def test_every_class_is_spread_evenly(counts, folds, seed):
    labels = np.repeat(np.arange(len(counts)), counts)
    fold = deal(labels, folds, seed)
    for k, count in enumerate(counts):
        inside = np.bincount(fold[labels == k], minlength=folds)
        assert inside.sum() == count
        assert inside.max() - inside.min() <= 1
    sizes = np.bincount(fold, minlength=folds)
    assert sizes.max() - sizes.min() <= 1


def test_one_fold_is_none():
    with pytest.raises(DataError, match="expected 2 folds or more, got 1"):
        deal(np.zeros(4, dtype=np.int64), 1, 0)


def test_held_out_rows_count_nothing():
    fold = np.array([0, 1, 2, 0])
    assert held_out(np.ones(4, dtype=np.float32), fold, 0, 2).tolist() == [0, 1, 0, 0]


def test_probabilities_know_nothing_of_the_labels_they_are_for():
    # Labels that have nothing to do with the inputs: whoever saw them would be right too often.
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 100)), rng.integers(2, size=300)
    probabilities = out_of_fold(X, y, 2)
    assert abs((probabilities.argmax(1) == y).mean() - 0.5) < 0.12
    np.testing.assert_allclose(probabilities.sum(1), 1, rtol=1e-5)
