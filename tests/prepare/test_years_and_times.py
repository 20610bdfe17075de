"""Years, days and times are the same numbers in every type that holds them."""

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from noiseproof.prepare.columns.values import as_numbers
from noiseproof.prepare.features import learn_features
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.samples import Samples

YEARS = np.arange(1950, 2020, 3) % 41 + 1980
SECONDS = np.arange(7, 5000, 91) % 1013
TIMES = pd.Series(pd.to_timedelta(SECONDS, "s"))
FORMS = {
    "years": {
        "integers": pd.Series(YEARS),
        "texts": pd.Series(YEARS.astype(str)),
        "periods": pd.Series(pd.PeriodIndex(YEARS.astype(str), freq="Y")),
        "objects": pd.Series([pd.Period(year=y, freq="Y") for y in YEARS], dtype=object),
        "categories": pd.Series(pd.PeriodIndex(YEARS.astype(str), freq="Y")).astype("category"),
    },
    "times": {
        "integers": pd.Series(SECONDS),
        "times": TIMES,
        "Python's": pd.Series([datetime.timedelta(seconds=int(s)) for s in SECONDS], dtype=object),
        "numpy's": pd.Series([np.timedelta64(int(s), "s") for s in SECONDS], dtype=object),
        "categories": TIMES.astype("category"),
    },
}


@pytest.mark.parametrize(("what", "form"), [(w, form) for w in FORMS for form in FORMS[w]])
def test_a_model_of_numbers_reads_every_form_of_them(what, form):
    def rows(column):
        return Samples(
            "t.csv", pd.DataFrame({"x": column, "other": np.sin(np.arange(len(column)))})
        )

    numbers = rows(FORMS[what]["integers"])
    features, notes = learn_features(numbers, [], 0, Notes()), Notes()
    found = features.transform(rows(FORMS[what][form]), notes)
    np.testing.assert_array_equal(found, features.transform(numbers, Notes()))
    assert notes.lines == []


@pytest.mark.parametrize(
    "value",
    [
        pd.Timestamp("2020-05-03"), datetime.datetime(2020, 5, 3), datetime.date(2020, 5, 3),
        np.datetime64("2020-05-03"), pd.Period("2020-05-03"), pd.NaT, None, datetime.time(1, 2),
    ],
)  # fmt: skip
def test_days_are_no_numbers_of_what_passed_since_1970(value):
    assert np.isnan(as_numbers(pd.Series([value, value], dtype=object))).all()
    assert as_numbers(pd.Series([1.5, value], dtype=object))[0] == 1.5
    one = datetime.timedelta(seconds=90)
    if value is None or value is pd.NaT:
        assert as_numbers(pd.Series([one, value], dtype=object))[0] == 90


DAYS = np.arange(30_011, 900_000, 30_011).tolist()  # pandas' own spans end at 106,752 days
YEAR = 365.2425
LONG = {
    "Python's": ([datetime.timedelta(days=n) for n in DAYS], DAYS),
    "the longest": ([datetime.timedelta.max], [datetime.timedelta.max.total_seconds() / 86400]),
    "numpy's": ([np.timedelta64(n, "D") for n in DAYS], DAYS),
    "years": ([np.timedelta64(n, "Y") for n in DAYS], YEAR * np.array(DAYS)),
    "beside a number": ([datetime.timedelta.max, 86400.0], [datetime.timedelta.max.days + 1, 1]),
    "years beside a number": ([np.timedelta64(3, "Y"), 86400.0], [3 * YEAR, 1]),
}


@pytest.mark.parametrize("gap", [None, pd.NaT, np.timedelta64("NaT")])
@pytest.mark.parametrize("form", LONG)
def test_spans_of_centuries_are_seconds(form, gap):
    values, days = LONG[form]
    check_seconds(pd.Series([gap, *values], dtype=object), days)


def test_arrows_spans_of_centuries_are_seconds():
    spans = pa.array([None, *(n * 86400 for n in DAYS)], pa.duration("s"))
    check_seconds(pd.Series(spans, dtype=pd.ArrowDtype(spans.type)), DAYS)


def check_seconds(column, days):
    frame = as_samples(pd.DataFrame({"x": column}), labelled=False).inputs
    found = as_numbers(frame["x"])
    assert np.isnan(found[0])
    np.testing.assert_allclose(found[1:], 86400.0 * np.asarray(days), rtol=1e-12)
