"""How features are scaled."""

import numpy as np
import pytest
from scipy import sparse

from noiseproof.learn.learn import learn
from noiseproof.learn.matrix import LENGTH, Matrix


def words(rows=600, columns=1500):
    """Sparse rows, the first ten columns of which tell the label."""
    rng = np.random.default_rng(0)
    X = sparse.random(rows, columns, 0.02, random_state=0, format="lil")
    X[:, :10] = rng.random((rows, 10)) < 0.2
    y = (X[:, :5].sum(axis=1) > X[:, 5:10].sum(axis=1)).astype(np.int64)
    return X, np.asarray(y).ravel()


@pytest.mark.parametrize("giants", [(1e6,), (1e6, 1e6), (1e3, 1e9), (1e30,)])
def test_sparse_columns_in_another_unit_do_not_drown_the_others(giants):
    X, y = words()
    plain = learn(X.tocsr(), y, 2, learners=["linear"])
    expected = (plain.predicted == y).mean()
    for at, size in enumerate(giants):
        X[:, 100 + at] = size * (np.random.default_rng(at).random(600) < 0.5)
    found = learn(X.tocsr(), y, 2, learners=["linear"])
    assert (found.predicted == y).mean() > expected - 0.03 > 0.8


@pytest.mark.parametrize("rare", [1, 0.1, 0.002])
def test_sparse_columns_of_one_unit_have_one_factor(rare):
    """However rare what is in some of them: it would be learnt by heart."""
    X, _ = words()
    X[:, 0] *= 5
    X[:, 1] *= 1e-9  # next to nothing is no reason to shrink all others
    X[round(600 * rare) :, 12:] = 0
    made = Matrix(X.tocsr())
    assert len(np.unique(made.scaling.factor)) == 1
    squares = made.all.multiply(made.all).sum(axis=1).mean()
    assert squares == pytest.approx(LENGTH, rel=1e-5)
