"""Columns go by their names, whatever these are; labels among the inputs are told."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noiseproof as nf
from noiseproof.errors import DataError, DataWarning
from noiseproof.integrations.sklearn import RobustClassifier

numbers = np.random.default_rng(0)
X = numbers.normal(size=(120, 4)) * [1, 10, 100, 1000]
Y = np.where(X[:, 0] > 0, "up", "down")
ORDER = [2, 0, 3, 1]

NAMES: dict[str, list[Any]] = {
    "counted": [0, 1, 2, 3],
    "numbers": [7, 5, 3, 1],
    "wavelengths": [400.5, 401.0, 402.5, 404.0],
    "text": list("abcd"),
    "text that is numbers": ["3", "2", "1", "0"],
    "levels": [("a", 1), ("a", 2), ("b", 1), ("b", 2)],
}


def frame(names: list[Any]) -> pd.DataFrame:
    columns = pd.MultiIndex.from_tuples(names) if isinstance(names[0], tuple) else names
    return pd.DataFrame(X, columns=columns)


@pytest.mark.parametrize("kind", NAMES)
def test_a_fit_to_a_table_goes_by_names(kind: str) -> None:
    table = frame(NAMES[kind])
    fitted = nf.fit(table, Y, learners="linear")
    expected = fitted.predict_proba(table)
    assert np.array_equal(fitted.predict_proba(table.iloc[:, ORDER]), expected)


@pytest.mark.parametrize("kind", NAMES)
def test_the_classifier_refuses_columns_in_another_order(kind: str) -> None:
    table = frame(NAMES[kind])
    model = RobustClassifier("CE").fit(table, Y)
    expected = model.predict_proba(table)
    with pytest.raises(ValueError, match=r"(?i)order|feature names"):
        model.predict(table.iloc[:, ORDER])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scikit-learn's, of names that are missing
        assert np.array_equal(model.predict_proba(X), expected)


@pytest.mark.parametrize("form", [int, float, str, np.int64, np.float32, lambda at: f"{at}.0"])
@pytest.mark.filterwarnings("ignore:X has feature names")  # scikit-learn's
def test_models_of_an_array_are_not_misled_by_numbered_columns(form: Any) -> None:
    counted, other = frame([form(at) for at in range(4)]), frame(NAMES["numbers"])
    fitted = nf.fit(X, Y, learners="linear")
    expected = fitted.predict_proba(X)
    for table in (counted, counted.iloc[:, ORDER], other):
        assert np.array_equal(fitted.predict_proba(table), expected)
    model = RobustClassifier("CE").fit(X, Y)
    assert np.array_equal(model.predict_proba(counted), model.predict_proba(X))
    assert np.array_equal(model.predict_proba(other), model.predict_proba(X))
    with pytest.raises(DataError, match="give them in the same order, or as an array"):
        model.predict(counted.iloc[:, ORDER])


@pytest.mark.parametrize("name", [4, 4.5, "4", ("y", ""), np.int64(4)])
def test_the_column_of_labels_may_be_named_by_anything(name: Any) -> None:
    table = frame(NAMES["levels"] if isinstance(name, tuple) else NAMES["counted"])
    table[name] = Y
    fitted = nf.fit(table, name, learners="linear")
    assert len(fitted.model.features.names) == 4
    beside = nf.fit(table, table[name], learners="linear")  # the labels are in X once more
    assert len(beside.model.features.names) == 4
    rows = table.drop(columns=[name])
    assert np.array_equal(fitted.predict_proba(rows), beside.predict_proba(rows))


@pytest.mark.parametrize("name", [4, "y"])
def test_the_classifier_warns_of_labels_left_in_x(name: Any) -> None:
    codes = (Y == "up").astype(int)
    names = NAMES["counted"] if name == 4 else NAMES["text"]
    table = frame(names).assign(**{"last": codes}).set_axis([*names, name], axis=1)
    for inputs in (table, table.to_numpy()):
        with pytest.warns(DataWarning, match=r"columns that tell every label.*(4|y)"):
            RobustClassifier("CE").fit(inputs, table[name])
    with pytest.warns(DataWarning, match="y has the name of the labels"):
        RobustClassifier("CE").fit(
            frame(NAMES["text"]).set_axis([*"abc", "y"], axis=1), pd.Series(codes, name="y")
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RobustClassifier("CE").fit(frame(NAMES["counted"]), pd.Series(codes, name=0))
        RobustClassifier("CE").fit(X, codes, sample_weight=np.arange(120) % 2)
