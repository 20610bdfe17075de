"""Money and percentages are numbers where a whole column is written one way."""

import math
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import noiseproof as nf
from noiseproof.errors import DataWarning
from noiseproof.prepare.columns.amounts import Amounts
from noiseproof.prepare.columns.column import Number
from noiseproof.prepare.columns.kinds import understand
from noiseproof.prepare.features import learn_features
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.notes import Notes

#: A way to write amounts: where the unit stands, the mark of thousands, the decimal mark.
WAYS = [
    ("${}", ",", "."), ("{} €", ".", ","), ("€ {}", "\u00a0", ","), ("{}\u202f€", "\u202f", ","),
    ("CHF {}", "'", "."), ("{} EUR", "", "."), ("£{}", ",", "."), ("{}%", "", "."),
    ("{} %", ".", ","), ("¥{}", ",", "."), ("{}‰", "", ","),
]  # fmt: skip
CENTS = st.lists(st.integers(-(10**12), 10**12), min_size=3, max_size=20)


def written(cents: int, way: tuple[str, str, str], minus: str = "-") -> str:
    shape, thousands, mark = way
    whole, part = divmod(abs(cents), 100)
    text = shape.format(f"{whole:,}".replace(",", thousands) + f"{mark}{part:02d}")
    if cents >= 0:
        return text
    return f"({text})" if minus == "(" else minus + text


@pytest.mark.parametrize("way", WAYS)
@given(cents=CENTS, minus=st.sampled_from(["-", "\u2212", "("]))
def test_amounts_are_read_as_they_are_written(
    way: tuple[str, str, str], cents: list[int], minus: str
) -> None:
    texts = [written(one, way, minus) for one in cents]
    found = Amounts.of(texts, np.ones(len(texts), dtype=np.int64), len(texts))
    assert found is not None
    values = found.read(pd.Series(texts))
    assert values == pytest.approx(np.array(cents) / 100, rel=1e-15)


PRICES = [f"{1 + at * 37.5:,.2f}" for at in range(40)]


@pytest.mark.parametrize(
    "texts",
    [
        [f"${p}" for p in PRICES[:20]] + [f"€{p}" for p in PRICES[20:]],  # two currencies
        [f"${p}" for p in PRICES[:39]] + ["€3.00"],  # one other is enough
        [f"{at}%" for at in range(20)] + [f"{at / 100}" for at in range(20)],  # half are shares
        [f"{at},125 €" for at in range(20)] + [f"{at}.125 €" for at in range(20)],  # two marks
        [f"$ {at} off" for at in range(40)],
    ],
)
def test_columns_that_are_not_of_one_form_are_no_numbers(texts: list[str | None]) -> None:
    frame = pd.DataFrame({"x": texts, "more": np.random.default_rng(0).normal(size=len(texts))})
    kinds = {column.name: column for column in understand(frame, (), Notes())}
    assert not isinstance(kinds.get("x"), Number)


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        (["$1,200", "$950", "$12,000", "$1,250"], 1200.0),
        (["1.200 €", "950 €", "12.000 €", "1.250 €"], 1200.0),
        (["53,125 %", "7 %", "3,500 %", "2 %"], 53.125),
        (["₹1,20,000", "₹95,000", "₹12,00,000.50", "₹2"], 120000.0),
        (["$.50", "$1.25", "$3", "$2"], 0.5),
        (["1 200 €", "950 €", "3 000 000 €", "2 €"], 1200.0),
    ],
)
def test_marks_that_may_be_either_go_by_what_is_usual(texts: list[str], first: float) -> None:
    found = Amounts.of(texts, np.ones(len(texts), dtype=np.int64), len(texts))
    assert found is not None
    assert found.read(pd.Series(texts))[0] == first


def rows() -> tuple[pd.DataFrame, np.ndarray]:
    numbers = np.random.default_rng(0)
    price, share = 2000 * numbers.random(120), 100 * numbers.random(120)
    euros = [f"{p:,.2f} €".translate(str.maketrans(",.", ".,")) for p in price]
    euros[::10] = [""] * 12
    return pd.DataFrame({"price": euros, "share": [f"{s:.1f}%" for s in share]}), share > 50


@pytest.mark.parametrize("separator", [";", ",", "\t"])
def test_a_model_keeps_how_they_are_written(tmp_path: Path, separator: str) -> None:
    frame, high = rows()
    frame.assign(y=high).to_csv(tmp_path / "train.csv", sep=separator, index=False)
    fitted = nf.fit(tmp_path / "train.csv", "y", learners="linear")
    assert len(fitted.model.features.names) == 3  # price, whether it is missing, share
    assert fitted.noisy.value > 0.9
    assert any(note.startswith("read as numbers of one unit") for note in fitted.notes)
    fitted.save(tmp_path / "out")
    model, expected = nf.load(tmp_path / "out"), fitted.predict_proba(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(model.predict_proba(frame), expected)
        assert np.array_equal(model.predict_proba(frame[5:6]), expected[5:6])
        frame.to_parquet(tmp_path / "new.parquet")
        assert np.array_equal(model.predict_proba(tmp_path / "new.parquet"), expected)
        frame.to_csv(tmp_path / "new.csv", sep=separator, index=False)
        assert np.array_equal(model.predict_proba(tmp_path / "new.csv"), expected)


@pytest.mark.parametrize(
    "now",
    [
        [1200.5] * 40,
        ["1200.50"] * 40,
        ["$1,200.50"] * 40,
        ["1,200.50 €"] * 40,
        ["12 %"] * 40,
    ],
)
def test_amounts_that_are_written_another_way_are_told_and_not_guessed(now: list[object]) -> None:
    frame, high = rows()
    fitted = nf.fit(frame, high, learners="linear")
    other = frame[:40].assign(price=now)
    with pytest.warns(
        DataWarning, match=r"price: 40 of 40 .* cannot be read as numbers like 1234,5 €"
    ):
        fitted.predict(other)


def test_what_cannot_be_read_is_no_number_and_huge_ones_are_infinite() -> None:
    dollars = Amounts("$", ".")
    read = dollars.read(pd.Series(["$5", "5", "$5 €", "--$5", "($5", "$", "$1e5", None, "$1,5", 7]))
    assert read[0] == 5
    assert np.isnan(read[1:]).all()
    assert math.isinf(dollars.read(pd.Series(["$" + "9" * 60]))[0])


@pytest.mark.parametrize(("thousands", "mark"), [(",", "."), (".", ","), (" ", ","), ("'", ".")])
@given(cents=CENTS, minus=st.sampled_from(["-", "\u2212", "("]))
def test_marks_between_thousands_are_read_where_some_numbers_have_both(
    thousands: str, mark: str, cents: list[int], minus: str
) -> None:
    texts = [written(one, ("{}", thousands, mark), minus) for one in [*cents, 123456789]]
    found = Amounts.of(texts, np.ones(len(texts), dtype=np.int64), len(texts))
    assert found == ("", mark)
    values = np.array([*cents, 123456789]) / 100
    assert found.read(pd.Series(texts)) == pytest.approx(values, rel=1e-15)
    assert (
        found.read(pd.Series(values)).tolist() == values.tolist()
    )  # numbers that are some already
    assert found.read(pd.Series(list(values), dtype=object)).tolist() == values.tolist()


@pytest.mark.parametrize(
    "texts",
    [
        ["1,200", "950", "12,345", "3,400"],  # 1.2, or 1200
        ["101,102,103", "104", "101,102", "105"],  # a list
        ["1,3", "2,14", "3,5", "4"],
        ["192.168.100.200", "10.200.100.100", "123.456", "7"],
        ["1,200.50", "1.200,50", "1.300,50", "1,300.50"],
    ],
)
def test_marks_that_may_be_anything_are_not_read(texts: list[str]) -> None:
    assert Amounts.of(texts, np.ones(len(texts), dtype=np.int64), 0.95 * len(texts)) is None


@pytest.mark.parametrize("few", [False, True])
def test_a_model_reads_marks_between_thousands_in_every_form(tmp_path: Path, few: bool) -> None:
    price = np.random.default_rng(0).uniform(0, 1005 if few else 3000, 200)
    frame = pd.DataFrame({"price": [f"{p:,.2f}" for p in price], "y": price > 500})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "b.csv", index=False, sep=";")
    frame.to_parquet(tmp_path / "a.parquet")
    fitted = nf.fit(tmp_path / "a.csv", "y", learners="linear", minutes=0)
    assert fitted.noisy.value > 0.9
    assert "read as numbers, with a decimal point: price (" in " ".join(fitted.notes)
    expected = fitted.predict_proba(frame)
    model = nf.load(fitted.save(tmp_path / "out"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for form in ("a.csv", "b.csv", "a.parquet"):
            assert np.array_equal(model.predict_proba(tmp_path / form), expected)
        numbers = frame.assign(price=price.round(2))
        assert np.array_equal(model.predict_proba(numbers), expected)
        assert np.array_equal(model.predict_proba(numbers.astype(str)), expected)
    for form in (frame, tmp_path / "b.csv", tmp_path / "a.parquet"):
        again = nf.fit(form, "y", learners="linear", minutes=0)
        assert np.array_equal(again.predict_proba(frame), expected)


SPANS = pd.to_timedelta(np.random.default_rng(0).integers(0, 86400, 40), unit="s")
CLOCKS = [str(span)[-8:] for span in SPANS]


@pytest.mark.parametrize(
    "values",
    [
        SPANS, SPANS.astype(str), SPANS.to_pytimedelta(), [str(s) for s in SPANS.to_pytimedelta()],
        CLOCKS, [f" {text}" for text in CLOCKS], pd.to_datetime(CLOCKS, format="%H:%M:%S").time,
        pd.to_datetime(CLOCKS, format="%H:%M:%S").strftime("%I:%M:%S %p"),
    ],
)  # fmt: skip
def test_times_and_spans_are_seconds_in_every_form(values, tmp_path):
    frame = pd.DataFrame({"x": values, "z": np.arange(40) % 7})
    frame.to_csv(tmp_path / "t.csv", index=False)
    learnt = learn_features(as_samples(frame, labelled=False), (), 0, Notes())
    assert learnt.columns[0].median == pytest.approx(np.median(SPANS.total_seconds()))
    for other in (frame, tmp_path / "t.csv", pd.DataFrame({"x": SPANS, "z": frame["z"]})):
        notes = Notes()
        same = as_samples(other, labelled=False)
        assert learn_features(same, (), 0, Notes()).describe() == learnt.describe()
        learnt.transform(same, notes)
        assert notes.warnings == []


@pytest.mark.parametrize("text", ["-1 days +23:59:30", "-1 day, 23:59:30", "-00:00:30"])
def test_negative_spans(text):
    assert Amounts("h:mm:ss", ".").read(pd.Series([text])) == [-30]


def spoken(seconds):
    """Return a length as films and races have it: 59:30, and 1:02:05 from an hour on."""
    hours, rest = divmod(seconds, 3600)
    minutes, rest = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def kind_of(values):
    return understand(pd.DataFrame({"x": values}), (), Notes())[0]


def test_lengths_keep_their_order_though_only_long_ones_have_hours():
    lengths = np.arange(100, 9000, 37)
    column, texts = kind_of([*map(spoken, lengths)]), pd.Series([*map(spoken, lengths)])
    assert column.read(texts).tolist() == lengths.tolist()
    # Where none is long, or all are, what a length of the other kind means is not known.
    for part in (lengths < 3600, lengths >= 3600):
        column = kind_of(texts[part].tolist())
        assert (np.diff(column.read(texts[part])) > 0).all()
        assert np.isnan(column.read(texts[~part])).all()


def test_a_few_times_of_day_are_categories():
    shifts = ["06:00", "14:00", "22:00"] * 20
    assert kind_of(shifts).kind == "category"
    assert kind_of([*shifts, "holiday"]).kind == "category"
    assert kind_of(["1 day", "2 days", "7 days"] * 20).unit == "h:mm:ss"
    assert kind_of([f"{at // 2:02}:{at % 2}0" for at in range(48)]).kind == "number"
    few = pd.Series(pd.to_timedelta([1, 2, 40] * 20, unit="h"))
    assert kind_of(few) == kind_of(few.astype(str))


@pytest.mark.parametrize(
    "shape", ["{} kg", "{}kg", "{} km/h", "{}°C", "{} m²", "{} m", "{:+} mmol/l", "{} Stück"]
)
def test_numbers_with_any_one_unit_are_numbers(shape):
    values = np.arange(30) / 4 - 3
    column = understand(pd.DataFrame({"x": map(shape.format, values)}), (), Notes())[0]
    assert isinstance(column, Number)
    assert column.read(pd.Series([shape.format(2.5)])) == [2.5]
    other = pd.Series([shape.format(2.5).replace("m", "cm"), "2.5", "2.5 lbs"])
    assert np.isnan(column.read(other)[1:]).all()


@pytest.mark.parametrize(
    "texts",
    [
        [f"{at}a" for at in range(40)],  # numbers of houses
        [f"{at} kg" for at in range(20)],  # few
        [f"{at} MB" for at in range(20)] + [f"{at} GB" for at in range(20)],
        [f"1,{at:03} kg" for at in range(40)],  # 1.001 or 1001
    ],
)
def test_what_has_no_one_unit_or_may_mean_two_numbers_is_none(texts):
    assert Amounts.of(texts, np.ones(len(texts), dtype=np.int64), 0.95 * len(texts)) is None


def test_a_minus_behind_a_number_is_a_minus():
    texts = [f"{abs(at)}.25{'-' if at < 0 else ''}" for at in range(-20, 20)]
    for shape in ("{}", "{} EUR"):
        column = understand(pd.DataFrame({"x": [*map(shape.format, texts)]}), (), Notes())[0]
        assert isinstance(column, Number)
        assert column.read(pd.Series([shape.format("3.25-")])) == [-3.25]
    found = Amounts.of(["1,234.50-", "3.00"], np.array([1, 1]), 2)
    assert found is not None
    assert found.read(pd.Series(["1,234.50-", "3.00"])).tolist() == [-1234.5, 3]


TIMES_OF_DAY = [f"{at % 24}:{at * 7 % 60:02}" for at in range(100)]


@pytest.mark.parametrize(
    "values",
    [
        TIMES_OF_DAY, [f"{text}:30" for text in TIMES_OF_DAY], [*map(spoken, range(100, 9000, 89))],
        [f"{at} days 00:01:30" for at in range(30)], SPANS, SPANS.to_pytimedelta(),
        *([shape.format(at / 4) for at in range(90)] for shape in ("${}", "{} €", "{} %", "{} kg")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", [int, float, str, object])
def test_plain_numbers_where_the_fit_had_times_or_a_unit_are_unread(values, form):
    """1405 may be 14:05, minutes or seconds, and 5 may be another currency."""
    column, now = kind_of(values), pd.Series([1405, 845, 0, 7, 86399]).astype(form)
    assert column.unit
    notes = Notes()
    column.fill(now, np.empty((5, len(column.features)), np.float32), notes)
    assert "cannot be read as" in notes.warnings[0]


@pytest.mark.parametrize("unit", ["h:mm", "h:mm:ss", "m:ss"])
def test_spans_of_any_type_are_read_where_the_fit_had_texts(unit):
    spans = [SPANS[0].to_pytimedelta(), SPANS[0], SPANS[0].to_timedelta64(), 1405, "1405", None]
    read = Amounts(unit, ".").read(pd.Series(spans, dtype=object))
    assert read[:3].tolist() == [SPANS[0].total_seconds()] * 3
    assert np.isnan(read[3:]).all()
