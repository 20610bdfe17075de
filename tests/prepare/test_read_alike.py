"""What the features read alike is one item, one repeated row, one value that tells a label."""

from dataclasses import replace
from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noiseproof.prepare import checks
from noiseproof.prepare.answers.items import items
from noiseproof.prepare.answers.long import read_long
from noiseproof.prepare.checks import check
from noiseproof.prepare.classes import Classes
from noiseproof.prepare.columns.kinds import as_read
from noiseproof.prepare.leaks import labels_among
from noiseproof.prepare.samples import Samples

ALIKE = [
    ["Rome", "Rome ", " Rome"],
    ["1.5", "1.50", " 1.5", "15e-1"],
    ["$1,200.50", "$1200.50 ", "1200.50 $"],
    ["2020-01-05", "2020/1/5"],
    ["31/12/2020", "31.12.2020", "2020-12-31"],
    ["True", "true", " TRUE"],
    ["NA", None, " ", ""],
    [0.0, -0.0],
    [1, "1", 1.0, b"1"],
    [[1, 2], [1, 2]],
    [{"b", "a"}, {"a", "b"}],
    [date(2020, 1, 5), "2020-01-05"],
    pd.Categorical(["k", "k "]),
    np.array([1, 1], np.float16),
]
DIFFERENT = [
    ["Rome", "rome"],
    ["900000000000207008", "900000000000207009", "?"],
    [900000000000207008, 900000000000207009],
    ["1.5", "1.05"],
    ["2020-01-05", "2020-05-01"],
    ["3 of 4", "3 of 5"],
    [[1, 2], [2, 1]],
    ["NA", "none of these"],
]


@pytest.mark.parametrize("values", ALIKE, ids=range(len(ALIKE)))
def test_values_read_alike_are_one(values):
    frame = pd.DataFrame({"n": 7, "c": pd.Series(values)})
    of, first = items(frame)
    assert of.tolist() == [0] * len(frame)
    assert first.tolist() == [0]
    found = check(Samples("x", frame), np.arange(len(frame)) % 2, Classes(("a", "b"), "text"), 0)
    assert (found.repeated, found.conflicting) == (len(frame), len(frame))


@pytest.mark.parametrize("values", DIFFERENT, ids=range(len(DIFFERENT)))
def test_different_values_stay_apart(values):
    frame = pd.DataFrame({"n": 7, "c": pd.Series(values)})
    assert len(items(frame)[1]) == len(frame)
    found = check(Samples("x", frame), np.arange(len(frame)) % 2, Classes(("a", "b"), "text"), 0)
    assert found.repeated == 0


@given(st.lists(st.text(max_size=6) | st.none() | st.integers() | st.floats(), min_size=1))
def test_any_column_is_read(values):
    spaced = [f" {value}\t" if isinstance(value, str) else value for value in values]
    read, again = (as_read(pd.Series(some, dtype=object)) for some in (values, spaced))
    assert len(read) == len(values)
    assert read.equals(again)


@pytest.mark.parametrize("change", [lambda t: t, lambda t: f"{t} ", lambda t: f"\t{t}"])
def test_a_column_that_tells_every_label_does_so_in_any_spelling(change):
    codes = np.arange(2000) % 2
    told = [("yes", "no")[code] for code in codes]
    for at in (7, 1500):  # among the first rows that are looked at, and among the others
        told[at] = change(told[at])
    frame = pd.DataFrame({"a": np.arange(2000) % 7, "told": told})
    assert labels_among(Samples("x", frame), codes) == ("told",)


def test_names_of_annotators_and_items_are_stripped():
    frame = pd.DataFrame(
        {
            "x": np.arange(60) // 3,
            "item": [f"{i // 3}{' ' * (i % 2)}" for i in range(60)],
            "who": [f"w{i % 3}{' ' * (i % 2)}" for i in range(60)],
            "y": ["a" if i // 3 % 2 else "b" for i in range(60)],
        }
    )
    for item in ("item", None):
        asked = read_long(frame if item else frame.drop(columns="item"), "y", "who", item)
        assert asked.names == ("w0", "w1", "w2")
        assert len(asked.samples) == 20


def test_rows_are_hashed_once(monkeypatch):
    made = []

    def counting(frame):
        made.append(len(frame))
        return table_hashes(frame)

    table_hashes = checks._table_hashes
    monkeypatch.setattr(checks, "_table_hashes", counting)
    samples = Samples("", pd.DataFrame({"when": ["2020-03-31", "1/4/2020"] * 20}))
    first = checks.hashes(samples)
    assert (checks.hashes(samples) == first).all()
    assert made == [40]
    few = samples.take(np.arange(3))
    assert (checks.hashes(few) == checks.hashes(replace(samples, inputs=few.inputs))).all()
    assert made == [40, 3, 3]  # other samples have other rows
