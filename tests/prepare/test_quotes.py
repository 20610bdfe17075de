"""Quotes in text tables: no row disappears into the field of another without a word."""

import csv

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noiseproof.errors import DataError
from noiseproof.prepare.formats.reading import Reading
from noiseproof.prepare.read import read, read_blocks
from noiseproof.tables.read import read_frame

KINDS = {"a.tsv": "\t", "a.csv": ",", "b.csv": ";"}
ROWS = st.lists(st.text('x"\t,;\n ', max_size=12), min_size=2, max_size=8)
#: Texts of a program that does not quote; a quote is before a letter, never at the end of a field.
PLAIN = st.lists(st.lists(st.sampled_from(["x", "yz", '"x', " "]), min_size=1, max_size=4).map(
    lambda parts: "".join(parts) + "x"), min_size=2, max_size=8)  # fmt: skip


@settings(max_examples=60)
@given(rows=ROWS, name=st.sampled_from(list(KINDS)))
def test_fields_that_are_quoted_come_back(tmp_path_factory, rows, name):
    path = tmp_path_factory.mktemp("quotes") / name
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=KINDS[name], quoting=csv.QUOTE_ALL)
        writer.writerows([["row", "text", "y"], *([i, t, "ab"[i % 2]] for i, t in enumerate(rows))])
    found = read(path, "y", Reading(texts=["text"])).inputs["text"].fillna("").tolist()
    assert found == rows


@settings(max_examples=60)
@given(rows=PLAIN, name=st.sampled_from(list(KINDS)))
def test_quotes_that_are_plain_text_swallow_no_row(tmp_path_factory, rows, name):
    path = tmp_path_factory.mktemp("quotes") / name
    lines = [["text", "y"], *([text, "ab"[i % 2]] for i, text in enumerate(rows))]
    path.write_text("".join(KINDS[name].join(line) + "\n" for line in lines))
    for rows_at_a_time in (None, 3):
        try:
            if rows_at_a_time is None:
                found = len(read(path, "y"))
            else:
                how = Reading(texts=["text"])
                found = sum(len(block) for block in read_blocks(path, "y", how, rows=3))
        except DataError as error:
            reason = str(error)
            assert any(
                w in reason for w in ("a quote in line", "inside string", "Error tokenizing")
            )
        else:
            assert found == len(rows)


#: Fields of several lines that are text, though some of it looks like rows.
LINES = st.lists(st.text("xa1,\n", max_size=12), min_size=6, max_size=8)


@settings(max_examples=60)
@given(rows=LINES, name=st.sampled_from(["a.csv", "b.csv"]))
def test_texts_of_several_lines_are_no_rows(tmp_path_factory, rows, name):
    path = tmp_path_factory.mktemp("quotes") / name
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=KINDS[name])
        writer.writerows([["text", "kind"], *([t, ("left", "right")[i % 2]] for i, t in
                                             enumerate(rows))])  # fmt: skip
    assert read(path, "kind", Reading(texts=["text"])).inputs["text"].fillna("").tolist() == rows


@settings(max_examples=60)
@given(
    start=st.integers(0, 38), length=st.integers(1, 30), at=st.integers(0, 2),
    name=st.sampled_from(list(KINDS)), whole=st.booleans(),
    end=st.sampled_from(["\n", "\r\n"]),
)  # fmt: skip
def test_a_stray_quote_that_ends_with_a_field_swallows_no_row(
    tmp_path_factory, start, length, at, name, whole, end
):
    path = tmp_path_factory.mktemp("quotes") / name
    lines = [[str(i), f"w{i % 5}", "ab"[i % 2]] for i in range(40)]
    last = min(39, start + length)
    lines[start][at] = '"' + lines[start][at]
    lines[last][at] += '"'
    path.write_text(end.join(KINDS[name].join(line) for line in [["n", "word", "y"], *lines]))
    how = Reading(numbers=["n"], texts=["word"])
    with pytest.raises(DataError, match=f"a quote in line {start + 2} ends in line {last + 2}"):
        read(path, "y") if whole else list(read_blocks(path, None, how))


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("label_first", [False, True])
def test_a_quotation_over_two_rows_of_two_columns_swallows_none(tmp_path, name, label_first):
    """Sentences of a dialogue, a row each: what is between has one value beside the texts."""
    spoken = [f"sentence {i} is here" for i in range(40)]
    spoken[7], spoken[8] = '"I came home.', 'I saw nothing."'
    rows = [[text, "ab"[i % 2]][:: -1 if label_first else 1] for i, text in enumerate(spoken)]
    names = ["text", "y"][:: -1 if label_first else 1]
    lines = (KINDS[name].join(row) + "\n" for row in [names, *rows])
    (tmp_path / name).write_text("".join(lines))
    with pytest.raises(DataError, match="a quote in line 9 ends in line 10"):
        read(tmp_path / name, "y")


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ("y,text", "Did you like it?\nno, not at all"),
        ("text,y", "It cost 1,000\nand broke"),
        ("text,y", "It was heavy: 3,5\nkg"),
    ],
)
def test_a_line_of_a_text_that_begins_or_ends_like_a_row_is_none(tmp_path, names, text):
    kinds = ["no", "yes"] if names == "y,text" else ["3", "5"]
    with (tmp_path / "a.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names.split(","))
        for i in range(40):
            row = [text if i % 8 == 0 else f"comment {i}", kinds[i % 2]]
            writer.writerow(row if names == "text,y" else row[::-1])
    found = read(tmp_path / "a.csv", "y", Reading(texts=["text"]))
    assert found.inputs["text"].tolist()[::8] == [text] * 5


def test_the_message_names_the_lines_and_the_way_out(tmp_path):
    (tmp_path / "a.tsv").write_text('text\ty\nfine\ta\n"great\tb\nbad\ta\n"so so\tb\n')
    with pytest.raises(DataError, match=r"a quote in line 3 ends in line 5, .* as \"\", with"):
        read(tmp_path / "a.tsv", "y")


@pytest.mark.parametrize("last", ["1,2,x,7", "1,2,x,,"])
def test_one_row_longer_than_the_others_is_one_line(tmp_path, last):
    (tmp_path / "a.csv").write_text(f"a,b,y\n1,2,x,\n1,3,y,\n{last}\n")
    with pytest.raises(DataError, match=r"more fields than|Expected 4 fields"):
        read(tmp_path / "a.csv", "y")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("x\n0,126\n3,8\n", [0.126, 3.8]),
        ("x\r\n3\r\n2,5\r\n", [3, 2.5]),
        ("x\n1.500\n2.250\n", [1.5, 2.25]),
        ("x\n1,\n2,\n", [1, 2]),
        ('"x"\n"1",0.5\n"2",0.7\n', [0.5, 0.7]),  # R's names of rows
        ("x\nGood film, really\nBad\n", ["Good film, really", "Bad"]),
        ("x\nGood; film, really\nBad\n", ["Good; film, really", "Bad"]),
        ('x\n"Good, yes"\n"Bad, no"\n', ["Good, yes", "Bad, no"]),
    ],
)
def test_one_column_alone_keeps_what_would_separate_columns(tmp_path, text, values):
    (tmp_path / "a.csv").write_text(text, newline="")
    assert read_frame(tmp_path / "a.csv").frame.to_dict("list") == {"x": values}


@pytest.mark.parametrize("text", ["x\na;b,c\td\n", 'x\n5" nail, good\n6" nail\n'])
def test_one_column_that_cannot_be_told_from_several_is_one_line(tmp_path, text):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(DataError, match="around each field"):
        read_frame(tmp_path / "a.csv")
