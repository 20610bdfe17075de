"""Labels come back byte for byte, whatever they look like and wherever they come from."""

import csv
import gzip
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from noiseproof.errors import DataError
from noiseproof.files.spreadsheet import escape, escaped, unescape
from noiseproof.prepare.checks import check
from noiseproof.prepare.classes import MISSING, Classes, encode
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.read import read
from noiseproof.prepare.samples import Samples
from noiseproof.tables.gaps import GAPS

#: What is not text (half a character) or not in a text file (NUL) cannot be in a CSV.
CHARACTERS = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70).map(str),
    st.integers(0, 999).map("{:05d}".format),
    st.floats(allow_nan=False, allow_infinity=False).map(str),
    st.sampled_from(["1E5", "1e5", "100000", "+1", "-0", "0", "00", "1.0", "1.", ".5", " 7", "7 "]),
    st.sampled_from(["900000000000207008", "900000000000207009", "9223372036854775808"]),
    st.text("12\u0661\u0662\uff11\uff12", min_size=1, max_size=2),  # digits of other scripts
)
WORDS = st.one_of(
    st.text(CHARACTERS, min_size=1, max_size=8),
    st.sampled_from(["caf\u00e9", "cafe\u0301", "Cat", "cat", "cat ", " cat", "ﬁ", "fi"]),
    st.sampled_from(["NA", "None", "nan", "true", "False", "=1+1", "@x", "'=x", "a,b", 'a"b']),
)  # fmt: skip
LABELS = st.one_of(NUMBERS, WORDS).filter(lambda text: text.strip())


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text and not any(c.isdigit() and not c.isascii() for c in text)


def expected(labels):
    """Return the labels with None for the missing ones: words for gaps, among numbers alone."""
    numbers = all(is_number(t) for t in labels if t.strip().lower() not in GAPS)
    gaps = GAPS if numbers else {""}
    return [None if t.strip().lower() in gaps else t for t in labels]


def back(codes, classes):
    """Return the labels as text, None where they are missing."""
    return [None if code == MISSING else str(classes.values[code]) for code in codes]


@settings(max_examples=150)
@given(
    different=st.lists(LABELS, min_size=2, max_size=6, unique=True),
    gaps=st.integers(0, 2),
    end=st.sampled_from(["\n", "\r\n"]),
    kind=st.sampled_from(["a.csv", "a.tsv", "a.csv.gz"]),
)
@example(["900000000000207008", "900000000000207009"], 1, "\n", "a.csv")
@example(["1E5", "100000"], 1, "\n", "a.csv")
@example(["007", "7"], 0, "\n", "a.csv")
@example(["1\u0663", "13"], 0, "\n", "a.csv")
def test_a_text_file_gives_every_label_back(tmp_path_factory, different, gaps, end, kind):
    labels = [*different, *[""] * gaps, *different]
    want = expected(labels)
    if len({t for t in want if t is not None}) < 2:
        return
    path = tmp_path_factory.mktemp("labels") / kind
    opener = gzip.open if kind.endswith("gz") else open
    with opener(path, "wt", encoding="utf-8", newline="") as file:
        separator = "\t" if "tsv" in kind else ","
        writer = csv.writer(file, delimiter=separator, lineterminator=end, quoting=csv.QUOTE_ALL)
        writer.writerows([["x", "y"], *([i, t] for i, t in enumerate(labels))])
    assert back(*encode(read(path, "y").labels, "here")) == want


@settings(max_examples=100)
@given(different=st.lists(LABELS, min_size=2, max_size=6, unique=True), gaps=st.integers(0, 2))
def test_texts_in_python_and_parquet_come_back_too(tmp_path_factory, different, gaps):
    labels = [*different, *[None] * gaps, *different]
    want = expected([label or "" for label in labels])
    if len({t for t in want if t is not None}) < 2:
        return
    path = tmp_path_factory.mktemp("labels") / "a.parquet"
    pd.DataFrame({"x": 0, "y": labels}).to_parquet(path)
    for form in (labels, pd.Series(labels), np.array(labels, dtype=object), read(path, "y").labels):
        assert back(*encode(form, "here")) == want


@settings(max_examples=100)
@given(
    different=st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=2, max_size=6, unique=True),
    gaps=st.integers(0, 2),
)
def test_integers_come_back_exactly(tmp_path_factory, different, gaps):
    labels = [*different, *[None] * gaps, *different]
    path = tmp_path_factory.mktemp("labels") / "a.parquet"
    frame = pd.DataFrame({"x": 0, "y": pd.array(labels, dtype="Int64")})
    frame.to_parquet(path)
    for form in (labels, frame["y"], np.array(labels, dtype=object), read(path, "y").labels):
        codes, classes = encode(form, "here")
        assert [None if c == MISSING else int(classes.values[c]) for c in codes] == labels


@pytest.mark.parametrize("gaps", [0, 1])
@pytest.mark.parametrize("dtype", ["float32", "float64", "Float64", "uint64", "UInt64"])
def test_whole_numbers_beyond_int64_come_back(dtype, gaps):
    missing = [] if dtype == "uint64" else [None] * gaps
    labels = pd.Series([2.0**63, 2.0**63 + 2**41, *missing] * 2, dtype="float64").astype(dtype)
    codes, classes = encode(labels, "here")
    assert (classes.values[codes[codes >= 0]] == labels.dropna().to_numpy()).all()
    assert len(classes) == 2


@given(st.text())
def test_no_spreadsheet_runs_a_text_and_it_comes_back(text):
    written = escape(text)
    assert unescape(written) == text
    if not is_number(text):
        assert written[:1] not in tuple("=+-@\t\r\n＝＋－＠")


def test_a_table_of_texts_is_safe_too():
    frame = pd.DataFrame({"row": [1, -2], "given": ["=1+1", "-1"], "kind": [True, False]})
    assert escaped(frame)["given"].tolist() == ["'=1+1", "-1"]
    assert escaped(frame)["row"].tolist() == [1, -2]


@pytest.mark.parametrize(
    ("odd", "line"),
    [(Decimal("sNaN"), "label sNaN is no number"), (10**5000, "over 4,000 digits")],
    ids=["sNaN", "long"],
)
def test_numbers_that_cannot_be_compared_or_written_are_one_line(odd, line):
    for labels in ([odd, 1, 2, 1, 2, odd], pd.Series([odd, 1, 2, 1, 2, odd], dtype=object)):
        with pytest.raises(DataError, match=line):
            encode(labels, "here")


def test_labels_that_look_alike_are_told():
    labels = ["Cat", "cat", "cat ", "caf\u00e9", "cafe\u0301", "1", "1.0", "dog"] * 2
    codes, classes = encode(labels, "here")
    assert len(classes) == 8
    found = check(Samples("x", np.arange(16.0)[:, None]), codes, classes, 0).warnings
    line = next(line for line in found if line.startswith("labels that look alike are different"))
    for group in ("'1' and '1.0'", "'Cat' and 'cat' and 'cat '", "'cafe\u0301' and 'caf\u00e9'"):
        assert group in line
    assert "dog" not in line


@pytest.mark.parametrize("digits", [16, 18, 30, 400])
def test_long_numbers_look_alike_only_where_they_are_equal(digits):
    number = 9 * 10**digits + 207008
    same = (f"{number}", f"{number}.0", f"0{number}")
    for other in (f"{number + 1}", f"{number}.5", f"-{number}", f"{number}0", "1e9999999999"):
        assert Classes((*same, other), "text").lookalikes == [same]
    assert Classes((str(number), str(number + 1)), "integer").lookalikes == []


@pytest.mark.parametrize("gap", ["NA", "n/a", "None", "null", "NaN", "<NA>", " nan"])
def test_a_class_called_as_a_gap_is_told(gap):
    codes, classes = encode(["yes", "no", gap, "yes", "no", gap], "here")
    found = check(Samples("x", np.arange(6.0)[:, None]), codes, classes, 0).warnings
    assert any(line.startswith(f"{gap!r} is a class here, of 2 rows") for line in found)


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_a_second_column_of_labels_is_no_feature(tmp_path, name):
    frame = pd.DataFrame({"x": [1, 2, 3, 4], "y": list("abab"), "y.1": list("abab"), "y.z": 1})
    if name == "a.csv":
        (tmp_path / name).write_text("x,y,y,y.z\n1,a,a,1\n2,b,b,1\n3,a,a,1\n4,b,b,1\n")
    else:
        frame.to_parquet(tmp_path / name)
    samples = read(tmp_path / name, "y")
    assert list(samples.inputs.columns) == ["x", "y.z"]
    assert samples.notes == ("left out, labels once more: y.1",)
    other = read(tmp_path / name, "y.1")  # whichever of the two is named
    assert list(other.inputs.columns) == ["x", "y.z"]
    assert other.notes == ("left out, labels once more: y",)


def test_nor_beside_labels_that_are_given_themselves():
    frame = pd.DataFrame({"x": [1, 2, 3, 4], "y": list("abab"), "y.1": list("abab")})
    for name, again in (("y", "y, y.1"), ("y.1", "y.1, y")):
        samples = as_samples(frame, frame[name])
        assert list(samples.inputs.columns) == ["x"]
        assert samples.notes == (f"left out, labels once more: {again}",)
    with pytest.raises(DataError, match="no column beside 'y'"):
        as_samples(frame.drop(columns="x"), frame["y"])


@pytest.mark.parametrize("kind", ["i2", "i8", "u4", "f2", "f8", "M8[s]", "M8[ns]", "U3"])
def test_labels_with_their_bytes_in_another_order_are_as_others(kind):
    """Parquet and CSV writers take none of them, and a model would never have predicted."""
    labels = np.array([3, 1, 3, 2], dtype="i8").astype(kind)
    codes, classes = encode(labels, "here")
    for order in "<>":
        found, same = encode(labels.astype(labels.dtype.newbyteorder(order)), "here")
        assert found.tolist() == codes.tolist()
        assert same == classes
        assert same.values.dtype.isnative


def test_decimals_are_whole_or_not_by_all_their_digits():
    with pytest.raises(DataError, match=r"label 12345678901234567\.5 is a quantity"):
        encode([Decimal("12345678901234567.5"), Decimal("3.0")] * 2, "here")
    _, classes = encode([Decimal("12345678901234567.0"), Decimal("3.0")] * 2, "here")
    assert classes.names == ("3", "12345678901234567")
