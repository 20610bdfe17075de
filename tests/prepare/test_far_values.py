"""A number unlike all those of the fit does not outweigh everything else in its row."""

import numpy as np
import pandas as pd
import pytest

from noiseproof.prepare.features import learn_features
from noiseproof.prepare.notes import Notes, are_more
from noiseproof.prepare.samples import Samples

N = 100
TEXTS = [f"one {'good' if i % 2 else 'bad'} film of {i % 9} that we saw" for i in range(N)]
GAPS = np.arange(N) % 10 == 0


def one_value(value):
    return np.where(GAPS, np.nan, value)


COLUMNS = {
    "a tenth": (one_value(0.1), 0.2),
    "a temperature": (one_value(98.6), 98.7),
    "money": ([None if gap else "1.10 €" for gap in GAPS], "1.20 €"),
    "a date": ([None if gap else "2020-02-03 01:02:03" for gap in GAPS], "2020-02-04 01:02:03"),
    "sums that rounding tells apart": (np.where(GAPS, 0.3, 0.1 + 0.2), 0.4),
    "one that hardly moves": (5 + 1e-9 * np.arange(N) ** 0.5, 6.0),
    "one that moves": (np.sin(np.arange(N)), 1e9),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_new_number_is_no_longer_than_ten_deviations_beside_a_text(name):
    values, new = COLUMNS[name]
    seen = Samples("t.csv", pd.DataFrame({"text": TEXTS, "x": values}))
    features = learn_features(seen, ["text"], 0, Notes())
    later = Samples("t.csv", pd.DataFrame({"text": TEXTS[:1], "x": [new]}))
    assert np.abs(features.transform(later, Notes())).max() <= 10


@pytest.mark.parametrize("name", [name for name in COLUMNS if "moves" not in name])
def test_one_value_and_gaps_are_not_scaled_by_what_rounding_leaves(name):
    values, _ = COLUMNS[name]
    seen = Samples("t.csv", pd.DataFrame({"x": values, "other": np.sin(np.arange(N))}))
    features = learn_features(seen, [], 0, Notes())
    (column,) = (column for column in features.columns if column.name == "x")
    assert column.std == 1


def filled(seen, new, blocks=1):
    """Return what is said of new values of a column that was learnt from others."""
    columns = {"x": seen, "other": np.sin(np.arange(len(seen)))}
    features = learn_features(Samples("t.csv", pd.DataFrame(columns)), [], 0, Notes())
    frame, notes = pd.DataFrame({"x": new, "other": 0.5}), Notes()
    for part in np.array_split(np.arange(len(frame)), min(blocks, len(frame))):
        features.transform(Samples("t.csv", frame.iloc[part]), notes)
    return notes


SIZES = 170 + 10 * np.sin(np.arange(N))
UNITS = {
    "millimetres": 10 * SIZES,
    "seconds after days": 86_400 * SIZES,
    "an empty one and the rest in another unit": np.where(GAPS, np.nan, 1000 * SIZES),
    "one row alone": 1000 * SIZES[:1],
    "a word for no value": np.where(GAPS, -999, SIZES),
}


@pytest.mark.parametrize("blocks", [1, 25])
@pytest.mark.parametrize("name", UNITS)
def test_a_column_in_another_unit_is_a_warning(name, blocks):
    (line,) = filled(SIZES, UNITS[name], blocks).warnings
    assert line.startswith("x: ")
    assert line.endswith("another unit?")


@pytest.mark.parametrize(
    "new",
    [SIZES, SIZES + 50, np.where(np.arange(N) % 25 == 0, 1e9, SIZES), SIZES[:1]],
    ids=["the same", "further on", "a few outliers", "one row alone"],
)
def test_outliers_and_drift_are_none(new):
    assert filled(SIZES, new).warnings == []


@pytest.mark.parametrize("rows", [30, 100, 400])
def test_rows_of_one_kind_are_alike_whichever_of_them_the_fit_had(rows):
    """Of a hundred draws from one urn, hardly one is told as a change, in columns of every kind."""
    rng, told = np.random.default_rng(rows), 0
    for _ in range(40):
        frame = pd.DataFrame({
            "heavy": np.exp(3 * rng.normal(size=2 * rows)),
            "mostly 0": np.where(rng.random(2 * rows) < 0.06, rng.integers(1, 90, 2 * rows), 0),
            "gaps": np.where(rng.random(2 * rows) < 0.03, np.nan, rng.normal(size=2 * rows)),
            "kind": rng.zipf(1.6, 2 * rows).clip(max=10**6).astype(str),
            "damaged": np.where(rng.random(2 * rows) < 0.03, "6.2\x1a", "3.5"),
        }).astype({"kind": object})  # fmt: skip
        frame["kind"] = "k" + frame["kind"]
        features = learn_features(Samples("t", frame[:rows]), (), 0, Notes())
        for new in (frame[rows:], frame[rows : rows + 10], frame[rows : rows + 1]):
            notes = Notes()
            features.transform(Samples("t", new), notes)
            told += bool(notes.warnings)
    assert told <= 4


def test_a_column_of_huge_and_small_values_is_never_out_of_its_own_range():
    heavy = np.exp(12 * np.sin(np.arange(N)))
    assert filled(heavy, heavy).warnings == []


BITS = np.arange(N) % 3 == 0
DAYS = pd.date_range("2020-01-01", periods=N)


@pytest.mark.parametrize(
    ("seen", "new", "far"),
    [
        (BITS.astype(int), BITS + 1, True),  # 1 and 2, as in questionnaires
        (BITS.astype(int), BITS.astype(float), False),
        (BITS.astype(int), BITS[:1].astype(int), False),
        (np.arange(N) == 7, [True], False),  # rare, but seen
        (DAYS, DAYS - DAYS[0] + pd.Timestamp(0), True),  # milliseconds read as nanoseconds
        (DAYS, DAYS + pd.Timedelta(days=900), False),
        (DAYS.astype(str), ["2120-01-02"], True),
    ],
)
def test_values_of_another_range_are_a_warning(seen, new, far):
    found = filled(seen, new).warnings
    assert [line.split()[-2:] for line in found] == ([["another", "unit?"]] if far else [])


@pytest.mark.parametrize("codes", [(0, 1), (1, 2), (-1, 1), (5, 5.5), ("1 days", "2 days")])
def test_a_third_value_where_there_were_two_is_a_warning(codes):
    seen = pd.Series(np.resize(np.array(codes, dtype=object), 60)).infer_objects()
    assert filled(seen, seen).warnings == filled(seen, seen[:1]).warnings == []
    numbers = pd.to_timedelta(seen) if isinstance(codes[0], str) else seen
    assert len(filled(numbers, numbers + (numbers[1] - numbers[0])).warnings) == 1
    assert len(filled(numbers, numbers - (numbers[1] - numbers[0])).warnings) == 1


@pytest.mark.parametrize("codes", [(0.1, 0.2), (1.1, 3.3), (-0.3, 0.7), (1e9 + 1, 1e9 + 2)])
def test_two_values_in_single_precision_are_no_others(codes):
    seen = pd.Series(np.resize(codes, 60))
    assert filled(seen, seen.astype(np.float32)).warnings == []


def test_columns_of_an_array_in_another_unit_are_a_warning():
    X = np.stack([SIZES, np.sin(np.arange(N)), np.zeros(N), BITS], axis=1).astype(np.float32)
    features = learn_features(Samples("X", X), [], 0, Notes())
    for new, lines in (
        (X, []),
        (X[:1] * 1000, []),  # a single row: of many columns, one may be anywhere
        (np.where(np.arange(N)[:, None] * [1, 0, 0, 0] < 0.9 * N, X, np.nan), []),
        (
            np.where(np.arange(N)[:, None] * [1, 0, 0, 0] < 0.1 * N, X, np.nan),
            ["columns of which most values are missing, at the fit they were not: column 0"],
        ),
        (X + np.array([35, 1, 1, 0]), []),  # what never moved has no range
        (
            X * [10, 1, 1, 1],
            ["columns far out of the range of the fit: column 0; another unit?"],
        ),
    ):
        notes = Notes()
        for part in np.array_split(new.astype(np.float32), 2):
            features.transform(Samples("X", part), notes)
        assert notes.warnings == lines


def test_a_hundred_million_rows_are_weighed_as_quickly_as_a_few():
    assert are_more(10**8 // 4, 10**8, 2, 1000)
    assert not are_more(10**8 // 4, 10**8, 260, 1000)
