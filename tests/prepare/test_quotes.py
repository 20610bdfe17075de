"""Quotes in text tables: no row disappears into the field of another without a word."""

import csv

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noiseproof.errors import DataError
from noiseproof.prepare.read import read, read_blocks
from noiseproof.prepare.reading import Reading

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


def test_the_message_names_the_lines_and_the_way_out(tmp_path):
    (tmp_path / "a.tsv").write_text('text\ty\nfine\ta\n"great\tb\nbad\ta\n"so so\tb\n')
    with pytest.raises(DataError, match=r"a quote in line 3 ends in line 5, .* as \"\", with"):
        read(tmp_path / "a.tsv", "y")


@pytest.mark.parametrize("last", ["1,2,x,7", "1,2,x,,"])
def test_one_row_longer_than_the_others_is_one_line(tmp_path, last):
    (tmp_path / "a.csv").write_text(f"a,b,y\n1,2,x,\n1,3,y,\n{last}\n")
    with pytest.raises(DataError, match=r"more fields than|Expected 4 fields"):
        read(tmp_path / "a.csv", "y")
