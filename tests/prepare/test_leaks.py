"""Labels among the inputs are found under any name, in any spelling and in every form."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from noiseproof.errors import DataWarning
from noiseproof.fitting.fit import fit
from noiseproof.prepare.leaks import counting_among, labels_among
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


SPELT = np.array(["cat", "Dog", "eel", "CAT", "dog", "Eel"])


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (np.where(np.arange(3000) % 7, CODES, None), CODES),  # some are missing
        (np.where(np.arange(3000) % 100, None, CODES), CODES),  # most are
        (SPELT[CODES + 3 * (RNG.random(3000) < 0.5)], CODES),
        (np.where(CODES == 1, np.arange(3000), None), np.minimum(CODES, 1) * (CODES == 1)),
    ],
    ids=["gaps", "few", "spelling", "filled or not"],
)  # fmt: skip
def test_labels_with_gaps_or_in_several_spellings_are_found(values, codes):
    assert found(pd.DataFrame({"x": NUMBERS[:, 0], "late": values}), codes) == ("late",)
    other = codes.copy()
    filled = np.flatnonzero(pd.notna(values))
    other[filled[-1]] = (codes[filled[-1]] + 1) % (codes.max() + 1)
    assert found(pd.DataFrame({"late": values}), other) == ()


CASES = np.cumsum(RNG.integers(1, 9, 3000))


@pytest.mark.parametrize("rises", [CASES, -CASES / 7, pd.Timestamp("2020") + CASES.astype("m8[h]")])
def test_numbers_of_rows_that_are_sorted_by_label_are_found(rises):
    labels, frame = np.sort(CODES), pd.DataFrame(NUMBERS, columns=list("abc")).assign(case=rises)
    wrong = np.where(RNG.random(3000) < 0.3, CODES, labels)
    for codes in (labels, wrong):
        assert counting_among(Samples("", frame), codes) == ("case",)
        assert counting_among(Samples("", frame.astype(str)), codes) == ("case",)
    assert counting_among(Samples("", frame), CODES) == ()
    assert counting_among(Samples("", frame[::-1].reset_index(drop=True)), labels) == ("case",)
    assert counting_among(Samples("", frame.sample(frac=1, random_state=0)), labels) == ()
    if rises.dtype.kind == "f":
        assert counting_among(Samples("", np.column_stack([NUMBERS, rises])), wrong) == (
            "column 3",
        )


def test_a_fit_warns_of_numbers_of_rows():
    frame = pd.DataFrame({"x": NUMBERS[:60, 0], "case": CASES[:60]})
    with pytest.warns(
        DataWarning, match="together, and columns that rise from row to row are learnt from: case"
    ):
        fit(frame, np.arange(60) // 30, learners="linear", folds=2)
