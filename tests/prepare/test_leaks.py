"""Labels among the inputs are found under any name, in any spelling and in every form."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from noiseproof.errors import DataWarning
from noiseproof.fitting.fit import fit
from noiseproof.prepare.leaks import labels_among
from noiseproof.prepare.samples import Samples

RNG = np.random.default_rng(0)
CODES = np.resize([0, 1, 2], 3000)
NUMBERS = RNG.normal(size=(3000, 3)).round(1)


def found(inputs, codes=CODES):
    return labels_among(Samples("", inputs), codes)


@pytest.mark.parametrize("values", [CODES, 7.5 - CODES, np.array([np.nan, 4, 2])[CODES]])
def test_matrices(values):
    X = np.column_stack([NUMBERS, values, np.ones(3000)]).astype(np.float32)
    assert found(X) == ("column 3",)
    if not np.isnan(values).any():
        assert found(sparse.csr_matrix(X)) == ("column 3",)
    X[-1, 3] = X[0, 3]  # one other row, the last
    assert found(X) == found(sparse.csr_matrix(np.nan_to_num(X))) == ()


@pytest.mark.parametrize(
    "values", [CODES, ["a", None, "b"], [True, False, None], pd.Categorical(list("xyz"))]
)
def test_tables(values):
    column = pd.Series(values).take(CODES) if len(values) == 3 else pd.Series(values)
    frame = pd.DataFrame(NUMBERS).assign(kind=column.to_numpy(), lists=[[1]] * 3000)
    assert found(frame) == ("kind",)
    assert found(frame, np.append(CODES[:-1], 0)) == ()


def test_what_merely_helps_is_no_label():
    finer = CODES * 2 + RNG.integers(2, size=3000)  # two values for each class
    coarser = np.minimum(CODES, 1)
    assert found(np.column_stack([finer, coarser])) == ()
    assert found(pd.DataFrame({"finer": finer, "coarser": coarser})) == ()
    assert found(CODES[:6, None], CODES[:6]) == ()  # so few may be chance


def test_a_fit_warns_of_them():
    labels = (NUMBERS[:60, 0] > 0) ^ (RNG.random(60) < 0.2)
    for X in (
        np.column_stack([NUMBERS[:60], labels]),
        pd.DataFrame(NUMBERS[:60]).assign(code=np.where(labels, "y", "n")),
    ):
        with pytest.warns(DataWarning, match="columns that tell every label"):
            fit(X, labels, learners="linear", folds=2)
