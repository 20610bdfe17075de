"""A date is the same day however a program writes it."""

import time
import warnings

import numpy as np
import pandas as pd
import pytest

from noiseproof.errors import DataError
from noiseproof.prepare.columns.dates import as_days, which_first
from noiseproof.prepare.features import learn_features
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.samples import Samples

RNG = np.random.default_rng(0)
TIMES = pd.Timestamp("2019-01-01") + pd.to_timedelta(RNG.integers(0, 10**8, 80), unit="s")
#: How databases, spreadsheets, logs, mails and people write days, and times.
DAYS = [
    "%Y-%m-%d", "%d-%b-%y", "%d-%b-%Y", "%d%b%Y", "%d %B %Y", "%d. %B %Y", "%B %d, %Y", "%b %d %Y",
    "%a, %d %b %Y", "%d/%b/%Y",
]  # fmt: skip
MOMENTS = [
    "%Y-%m-%dT%H:%M:%SZ", "%Y%m%dT%H%M%SZ", "%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d %H:%M:%S CEST",
    "%Y-%m-%d %H:%M:%S Europe/Berlin", "%Y-%m-%dT%H:%M:%S[Europe/Berlin]", "%d%b%Y:%H:%M:%S",
    "[%d/%b/%Y:%H:%M:%S +0000]", "%a, %d %b %Y %H:%M:%S +0000", "%d-%b-%Y %I:%M:%S %p",
    "%B %d, %Y, %I:%M:%S %p", "%m/%d/%Y %I:%M:%S %p",
    "%a %b %d %H:%M:%S %Y", "[%a %b %d %H:%M:%S.000000 %Y]", "%a %b %e %H:%M:%S UTC %Y",
    "%a %b %d %H:%M:%S +0000 %Y",
]  # fmt: skip


def learnt(values):
    frame = pd.DataFrame({"when": values, "z": np.arange(len(values)) % 7})
    features = learn_features(Samples("t", frame), (), 0, Notes())
    return features, features.transform(Samples("t", frame), Notes())


@pytest.mark.parametrize(
    ("way", "case"),
    [(day, case) for day in DAYS for case in (str, str.upper, str.lower)]
    + [(moment, str) for moment in MOMENTS],
)
def test_every_way_to_write_a_date_gives_the_same_features(way, case):
    known = TIMES.normalize() if way in DAYS else TIMES
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        features, matrix = learnt([case(text) for text in known.strftime(way)])
    assert features.columns[0].kind == "date"
    np.testing.assert_allclose(matrix, learnt(known)[1], atol=1e-5)


@pytest.mark.parametrize(
    "text",
    ["31 Feb 2020", "June 2022", "may 12", "12 mars 2020", "1 Jan", "2020-01-01 often", "A1"],
)
def test_what_is_no_day_is_none(text):
    assert np.isnan(as_days(pd.Series([text]), True)).all()


@pytest.mark.parametrize("here", ["UTC", "Europe/Berlin", "Europe/London", "America/New_York"])
def test_a_moment_is_the_same_on_every_machine(monkeypatch, here):
    """Versions of pandas before 3 look up the names of zones among those of the machine."""
    monkeypatch.setenv("TZ", here)
    time.tzset()
    try:
        zones = ["", " CET", " CEST", " EST", " GMT", " BST", " UTC", "Z", " Europe/Berlin"]
        offsets = ["+0200", "+02:00", " +0200", " GMT+0200", " UTC+02:00", " UTC+2", "GMT+0200"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            same, east = (
                as_days(pd.Series([f"2020-07-05 10:00:00{end}" for end in ends]), None)
                for ends in (zones, offsets)
            )
            twelve = as_days(pd.Series(["2020-07-05 10:00 PM", "5/7/2020 10:00pm"]), True)
    finally:
        monkeypatch.undo()
        time.tzset()
    day = (pd.Timestamp("2020-07-05") - pd.Timestamp(0)).days
    np.testing.assert_allclose((same - day) * 24, 10, atol=1e-6)
    np.testing.assert_allclose((east - day) * 24, 8, atol=1e-6)
    np.testing.assert_allclose((twelve - day) * 24, 22, atol=1e-6)


def test_a_model_reads_dates_with_names_of_months_and_tells_of_none_that_it_cannot():
    features, _ = learnt(TIMES.strftime("%Y-%m-%d"))
    notes = Notes()
    frame = pd.DataFrame({"when": TIMES.strftime("%d-%b-%y"), "z": 1})
    features.transform(Samples("t", frame), notes)
    assert notes.warnings == []


def test_what_only_begins_like_a_date_is_none():
    """The terms of senators: two dates each, but for those in office."""
    days = pd.date_range("1970-01-01", periods=90, freq="99D").strftime("%Y.%m.%d")
    terms = [f"{day} - {end}" for day, end in zip(days, days[9:], strict=False)]
    terms += [f"{day} -" for day in days[-9:]]
    with pytest.raises(DataError, match="left out, a name for each row: when"):
        learn_features(Samples("t", pd.DataFrame({"when": terms})), (), 0, Notes())


MONTHS = pd.Series(pd.date_range("2020-01-01", periods=60, freq="MS"))


@pytest.mark.parametrize(("mark", "year"), [("/", "%Y"), ("/", "%y"), ("-", "%Y")])
@pytest.mark.parametrize("day_first", [True, False])
def test_the_day_is_what_is_always_1(mark, year, day_first):
    way = mark.join(["%d", "%m", year] if day_first else ["%m", "%d", year])
    for step in (1, 3, 5):
        texts = pd.Series(MONTHS[::step].dt.strftime(way), dtype=object)
        assert which_first(texts) == day_first
        np.testing.assert_array_equal(as_days(texts, day_first), as_days(MONTHS[::step], None))


@pytest.mark.parametrize("mark", ["/", "-", "."])
@pytest.mark.parametrize(
    "texts",
    [
        ["1/2/2020", "1/3/2020", "1/9/2020"], ["1/2/2020", "2/1/2021", "9/1/2021"],
        ["11/2/2004", "11/4/2008", "11/8/2016"],  # elections
        ["01/02/2019", "01/02/2020", "01/04/2021"],  # the first day of trade
    ],
)  # fmt: skip
def test_where_either_may_be_the_day_the_mark_decides(mark, texts):
    assert which_first(pd.Series(texts).str.replace("/", mark)) == (mark != "/")
