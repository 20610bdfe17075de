"""Labels, groups and weights in a sparse column are its values, wherever they are taken."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse

from noiseproof.errors import NoiseproofError
from noiseproof.fitting.review.trusted import trusted_rows
from noiseproof.integrations.sklearn import RobustClassifier
from noiseproof.integrations.sklearn_inputs import labels_of
from noiseproof.noise.labels import as_labels
from noiseproof.prepare.classes import Classes, encode
from noiseproof.prepare.groups import Groups
from noiseproof.prepare.inputs import as_samples

Y = np.arange(30) % 2
X = np.random.default_rng(0).normal(size=(30, 2)) + 3 * Y[:, None]
COLUMNS = {
    "csr": sparse.csr_matrix(Y[:, None]),
    "csc array": sparse.csc_array(Y[:, None]),
    "lil": sparse.lil_matrix(Y[:, None]),
    "array (N,)": sparse.coo_array(Y),
    "tensor": torch.tensor(Y).to_sparse(),
    "tensor (N, 1)": torch.tensor(Y[:, None]).to_sparse(),
    "Series": pd.Series(pd.arrays.SparseArray(Y)),
}
WIDE = {
    "csr": sparse.csr_matrix(np.eye(2)[Y]),
    "of one row": sparse.csr_matrix(Y),
    "too large to be dense": sparse.coo_array((Y, (np.arange(30), np.arange(30))), (30, 10**12)),
    "tensor": torch.tensor(np.eye(2)[Y]).to_sparse(),
}
TAKEN = {
    "labels": lambda y: encode(as_samples(X, y).labels, "y")[0],
    "labels alone": lambda y: encode(y, "y")[0],
    "a known class": lambda y: encode(Y, "y")[1].codes(y, "y"),
    "checked": lambda y: trusted_rows((np.arange(30), y), range(30), encode(Y, "y")[1]).codes,
    "groups": lambda y: Groups.of_array(y, 30).numbers,
    "scikit-learn": labels_of,
    "noise": as_labels,
}


@pytest.mark.parametrize("place", TAKEN)
@pytest.mark.parametrize("form", COLUMNS)
def test_a_sparse_column_is_its_values(form, place):
    assert np.asarray(TAKEN[place](COLUMNS[form])).tolist() == Y.tolist()


def test_and_keeps_the_type_of_its_values():
    truth = sparse.csr_matrix(Y[:, None] == 1)
    assert encode(truth, "y")[1] == Classes(("False", "True"), "boolean")
    assert encode(COLUMNS["csr"], "y")[1].values.tolist() == [0, 1]


@pytest.mark.parametrize("place", TAKEN)
@pytest.mark.parametrize("form", WIDE)
def test_a_wider_one_is_refused_as_a_dense_one_is(form, place):
    shape = tuple(WIDE[form].shape)
    with pytest.raises(NoiseproofError) as error:
        TAKEN[place](WIDE[form])
    assert " a row, " in str(error.value)
    assert str(error.value).endswith(f"of shape {shape}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("form", ["csr", "tensor"])
def test_weights_may_be_a_sparse_column(form):
    model = RobustClassifier(learner="linear", loss="CE", random_state=0)
    weights = COLUMNS[form]
    named = np.where(Y == 1, np.where(X[:, 0] > 3, "a", "b"), "c")
    dense, other = (model.fit(X, named, w).predict_proba(X) for w in (Y, weights))
    assert np.array_equal(dense, other)
    assert model.score(X, named, weights) == model.score(X, named, Y)
