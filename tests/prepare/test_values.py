"""What the values of a column are read as depends on them alone, not on the rows beside them."""

import csv
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import noiseproof as nf
from noiseproof.cli import main
from noiseproof.errors import DataError
from noiseproof.integrations.sklearn import RobustClassifier
from noiseproof.prepare.columns.values import as_numbers, as_text, text_of

#: Values of which many are equal, and are written differently.
EQUAL = [
    1, True, 1.0, Decimal("1.10"), Decimal("1.1"), 0, False, -0.0, 0.5, Fraction(1, 2), "1", "x ",
    b"x", (1,), (True,), [1], np.int64(1), np.bool_(True), np.array([1, 2]), "",
    pd.Timestamp("2020-01-01", tz="UTC"), pd.Timestamp("2020-01-01 01:00", tz="Europe/Paris"),
]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(range(len(EQUAL))), max_size=12), st.data())
def test_the_text_of_a_value_is_its_own(places, data):
    column = pd.Series([EQUAL[at] for at in places], dtype=object)
    codes, texts = as_text(column)
    found = [texts[code] for code in codes]
    assert found == [text_of(EQUAL[at]).strip() for at in places]
    order = data.draw(st.permutations(range(len(places))))
    codes, texts = as_text(column.iloc[order])
    assert [texts[code] for code in codes] == [found[at] for at in order]


@pytest.mark.parametrize("kinds", [["x", 1, True], [True, 1, "x"], [0, False, "x"]])
def test_a_row_is_predicted_alike_alone_and_among_others(kinds):
    frame = pd.DataFrame({"c": pd.Series([kinds[i % 3] for i in range(60)], dtype=object)})
    y = np.array(["b" if kinds[i % 3] is kinds[1] else "a" for i in range(60)])
    fitted = nf.fit(frame, y)
    assert fitted.predict(frame).tolist() == y.tolist()
    assert fitted.predict(frame[::-1]).tolist() == y[::-1].tolist()
    assert [fitted.predict(frame[i : i + 1])[0] for i in range(3)] == y[:3].tolist()


DIGITS = (38, 39, 308, 309, 310, 1000, 4000, 4300, 4301, 5000)


@pytest.mark.parametrize("digits", DIGITS)
@pytest.mark.parametrize("sign", ["", "-"])
def test_integers_of_any_length_are_numbers_or_too_large(digits, sign, tmp_path, capsys):
    long = sign + "9" * digits
    path, numbers = tmp_path / "t.csv", np.random.default_rng(0)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["x", "c", "y"])
        for i in range(60):
            x = i % 2 + 0.1 * numbers.normal()
            rows.writerow([f"{x:.3f}", long if i == 5 else i % 7, "ab"[i % 2]])
    out, predicted = tmp_path / "fit", tmp_path / "p.csv"
    quick = ["--learner", "linear", "--quiet"]
    assert main(["fit", str(path), "--label", "y", "--out", str(out), *quick]) == 0
    assert main(["predict", str(out), str(path), "--out", str(predicted), "--quiet"]) == 0
    told = pd.read_csv(predicted)
    frame = pd.read_csv(path, dtype={"c": str})
    in_memory = nf.load(out).predict(frame.drop(columns="y"))
    assert told["prediction"].tolist() == in_memory.tolist() == frame["y"].tolist()
    capsys.readouterr()


@pytest.mark.parametrize("digits", DIGITS)
def test_integers_of_any_length_in_memory(digits):
    long = 10**digits
    column = pd.Series([long, -long, 3], dtype=object)
    expected = [1e38, -1e38, 3] if digits == 38 else [np.inf, np.inf, 3]
    assert as_numbers(column).tolist() == expected
    x, y = np.arange(60.0) ** 0.5, ["a", "b"] * 30
    frame = pd.DataFrame({"c": [long if i % 10 == 0 else i % 7 for i in range(60)], "x": x})
    assert len(nf.fit(frame, y, learners="linear").predict(frame)) == 60
    if digits > 38:
        for fit in (nf.fit, RobustClassifier().fit):
            with pytest.raises(DataError, match="beyond what float32 holds"):
                fit([[long, 1.0], *([1, 2.0], [3, 4.0]) * 30], ["c", *y])


def test_a_decimal_that_signals_is_a_gap():
    column = [Decimal("sNaN") if i % 10 == 0 else Decimal(i % 7) for i in range(60)]
    plain = [None if i % 10 == 0 else Decimal(i % 7) for i in range(60)]
    x, y = np.arange(60.0) ** 0.5, ["a", "b"] * 30
    one, other = (pd.DataFrame({"c": pd.Series(c, dtype=object), "x": x}) for c in (column, plain))
    assert np.array_equal(nf.fit(one, y).predict_proba(one), nf.fit(other, y).predict_proba(other))
