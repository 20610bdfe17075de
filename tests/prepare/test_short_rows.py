"""Rows of a text table that have too few fields, or end in the middle of a field."""

import csv
import gzip
import io

import numpy as np
import pytest

from noiseproof.errors import DataError
from noiseproof.prepare.formats.reading import Reading
from noiseproof.prepare.read import read, read_blocks

PIECES = ["red", "", " ", '"', '""', ",", '5" pipe', "a;b", "NA", "\n", "x\r\ny", "žluť"]


def table(seed, rows=40):
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(PIECES, 3)) for _ in range(3 * rows)]
    return [[f"{i}", *texts[3 * i : 3 * i + 2], "ab"[i % 2], texts[3 * i + 2]] for i in range(rows)]


def written(rows, header=("x", "s", "t", "y", "end"), **how):
    file = io.StringIO(newline="")
    csv.writer(file, **how).writerows([header, *rows])
    return file.getvalue()


def lines_of(text):
    return len(text.replace("\r\n", "\n").replace("\r", "\n").split("\n")) - 1


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_row_with_too_few_fields_is_one_line_whichever_is_missing(
    tmp_path, seed, quoting, end, separator
):
    rows, path = table(seed), tmp_path / "a.csv"
    how = {"quoting": quoting, "lineterminator": end, "delimiter": separator}
    path.write_bytes(written(rows, **how).encode())
    assert list(read(path, "y").labels) == ["a", "b"] * 20
    rng = np.random.default_rng(seed)
    for at in rng.choice(40, 3, replace=False):
        short = [row.copy() for row in rows]
        for _ in range(rng.integers(1, 3)):
            del short[at][rng.integers(len(short[at]))]
        if short[at] == [""]:
            continue
        path.write_bytes(written(short, **how).encode())
        line = lines_of(written(short[: at + 1], **how))
        match = f"a.csv: line {line} has too few fields, {len(short[at])} of 5; add the missing"
        with pytest.raises(DataError, match=match):
            read(path, "y")
        with pytest.raises(DataError, match=match):
            list(read_blocks(path, None, Reading(numbers={"x"}, texts={"s"}), rows=10))


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz"])
def test_a_file_cut_off_in_its_last_line_is_one_line(tmp_path, suffix):
    path, separator = tmp_path / f"a{suffix}", "\t" if suffix == ".tsv" else ","
    rows = [[f"{i}", "ab"[i % 2], "0.5"] for i in range(2000)]
    text = written(rows, "xyz", delimiter=separator).removesuffix(f"{separator}0.5\r\n")
    path.write_bytes(gzip.compress(text.encode()) if suffix == ".csv.gz" else text.encode())
    with pytest.raises(DataError, match="line 2001 has too few fields, 2 of 3"):
        read(path, "y")


def test_what_excel_leaves_out_of_a_last_column_of_gaps_is_named(tmp_path):
    """It writes no separators at the end of 16 rows whose last fields are all empty."""
    rows = [f"{i},{'ab'[i % 2]}" + (",x" if i < 3 else "," if i < 16 else "") for i in range(40)]
    (tmp_path / "a.csv").write_text("\n".join(["x,y,note", *rows]))
    with pytest.raises(DataError, match=r"line 18 has too few fields, 2 of 3; .*\(Excel leaves"):
        read(tmp_path / "a.csv", "y")


def test_gaps_blank_lines_and_a_column_alone_are_no_short_rows(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("\n\nx,y,z\n1,a,\n\n  \n2,b,NA\n,,\n3,a,5\n\n")
    assert len(read(path, "y").labels) == 4
    path.write_text("t\ngood film\n\nbad film\n")
    assert sum(map(len, read_blocks(path, None, Reading(texts={"t"}), rows=9))) == 3
    path.write_text("x,y,z,\n1,a,0,\n2,b,,\n3,a,1,\n")  # all lines end in a comma
    assert len(read(path, "y").labels) == 3
    path.write_text("x,y,z\n1,a,0,\n2,b,,\n3,a,1,\n")  # all but the first
    assert len(read(path, "y").labels) == 3


@pytest.mark.parametrize("before", [0, 10, 90_000])
@pytest.mark.parametrize("inside", ["\n", "\r\n"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_line_feed_inside_a_line_that_ends_in_a_carriage_return_tears_no_row(
    tmp_path, before, inside, place
):
    """Python's csv module leaves a line feed without quotes if lines end otherwise."""
    path, odd = tmp_path / "a.csv", ["3", "c", "0"]
    rows = ["x,y,z", *["1,a,0"] * before, *["2,b,0"] * 9]
    for quote in ("", '"'):
        odd[place] = f"{quote}good{inside}film{quote}"
        path.write_bytes("\r".join([*rows, ",".join(odd), "4,a,0"]).encode())
        if quote:
            assert len(read(path, "y").labels) == before + 11
            continue
        match = f"a line feed in the middle of line {before + 11} would end the row"
        with pytest.raises(DataError, match=match):
            read(path, "y")


@pytest.mark.parametrize("rows", [2, 3, 40])
def test_rows_and_names_may_end_in_a_separator_but_all_rows_alike(tmp_path, rows):
    path, values = tmp_path / "a.csv", [f"{i},{i % 7},{'ab'[i % 2]}" for i in range(rows)]
    for end_of_names, end_of_rows in (("", ","), (",", ""), (",", ",")):
        text = "\n".join([f"x,z,y{end_of_names}", *(row + end_of_rows for row in values)])
        path.write_text(text + "\n")
        samples = read(path, "y")
        assert samples.inputs["x"].tolist() == list(range(rows))
        assert list(samples.labels) == [*"ab" * rows][:rows]
    if rows > 2:
        path.write_text("\n".join(["x,z,y", f"{values[0]},", *values[1:]]))
        with pytest.raises(DataError, match="line 3 has too few fields, 3 of 4"):
            read(path, "y")
        path.write_text("x,z,y\nGood film, really,a,\n" + "\n".join(values[1:]))
        with pytest.raises(DataError, match="line 3 has too few fields, 3 of 4"):
            read(path, "y")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("blank", ["", " ", "\t"])
def test_a_row_below_a_blank_line_is_read_right_or_one_line(tmp_path, end, blank):
    path = tmp_path / "a.csv"
    path.write_bytes(end.join(["a,b,y", "1,2,p", blank, ",3,q", "4,5,p", "", ""]).encode())
    if end == "\r":
        with pytest.raises(DataError, match="line 3 is blank and ends in a carriage return"):
            read(path, "y")
    else:
        assert list(read(path, "y").labels) == ["p", "q", "p"]
        assert read(path, "y").inputs["b"].tolist() == [2, 3, 5]
    path.write_bytes(end.join(["a,b,y", "1,2,p", blank, "7,3,q", '"4",5,p', "", ""]).encode())
    assert read(path, "y").inputs["a"].tolist() == [1, 7, 4]  # the row below begins with a value


@pytest.mark.parametrize("rows", [["1,2,p", "\r,3,q", "4,5,p"], ["\r,2,p", "\r,3,q", "\r,5,p"]])
def test_a_carriage_return_before_a_row_moves_none_of_its_values(tmp_path, rows):
    path = tmp_path / "a.csv"  # pandas drops the empty first field below such a line
    path.write_bytes("\n".join(["a,b,y", *rows, ""]).encode())
    with pytest.raises(DataError, match=r"line [23] is blank and ends in a carriage return"):
        read(path, "y")


@pytest.mark.parametrize("blank", ["\f", "\u00a0", "\u3000"])
def test_a_line_of_odd_spaces_is_no_row(tmp_path, blank):
    (tmp_path / "a.csv").write_text(f"a,y\nx,1\n{blank}\nz,2\n")
    with pytest.raises(DataError, match="line 3 has too few fields, 1 of 2"):
        read(tmp_path / "a.csv", "y")


def test_two_carriage_returns_and_a_line_feed_make_no_rows_of_one_column(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"text\r\r\ngood\r\r\nbad\r\r\n")
    with pytest.raises(DataError, match="lines end in two carriage returns and a line feed"):
        read(tmp_path / "a.csv", labelled=False)
    (tmp_path / "b.csv").write_bytes(b"text,n\r\r\ngood,1\r\r\nbad,2\r\r\n")
    assert read(tmp_path / "b.csv", labelled=False).inputs["n"].tolist() == [1, 2]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_one_column_with_names_of_rows_as_r_writes_it(tmp_path, separator):
    rows = [f'"{i}"{separator}{i / 2}' for i in range(1, 5)]
    (tmp_path / "a.csv").write_text("\n".join(['"a"', *rows]))
    assert read(tmp_path / "a.csv", labelled=False).inputs["a"].tolist() == [0.5, 1, 1.5, 2]
