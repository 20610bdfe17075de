"""Tables say the same in every format, and the files beside this test show how.

``python tests/report/test_table_formats.py`` writes the files anew: read the difference.
"""

import csv
import io
import json
import re
from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example as such_as
from hypothesis import given
from hypothesis import strategies as st
from latex import complaints

from noiseproof.errors import ParameterError, ShapeError
from noiseproof.files.spreadsheet import unescape
from noiseproof.paper import PaperNumber, printed
from noiseproof.report.table import FORMATS, Entry, Row, Table, render
from noiseproof.report.table.text import one_line

GOLDEN = Path(__file__).parent / "golden_tables"

THREE = {"count": 3, "planned": 3}


def example():
    """A table with a cell of every kind."""
    paper = PaperNumber
    return Table(
        title="MNIST & friends: 100% noise_free",
        columns=("none", "symmetric:0.4", "symmetric:0.8"),
        rows=(
            Row(
                "CE",
                "CE",
                (
                    Entry(99.12345, 0.0512, **THREE, paper=paper(99.15, 0.05, False)),
                    Entry(73.1, 0.5, count=2, planned=3, paper=paper(73.98, 0.27, False)),
                    Entry(22.66, None, count=1, planned=3, paper=paper(22.66, 0.61, False)),
                ),
            ),
            Row(
                "GCE",
                "GCE(q=0.7)",
                (
                    Entry(99.27, 0.1, **THREE, paper=paper(99.27, 0.05, False)),
                    Entry(97.2, 0.2, count=2, planned=3, failed=1, paper=paper(97.16, 0.03, False)),
                    Entry(planned=3, failed=3, paper=paper(33.95, 0.82, False)),
                ),
            ),
            Row(
                "AGCE",
                "AGCE(a=4, q=0.2)",
                (
                    Entry(99.1, 0.11, **THREE, paper=paper(99.05, 0.11, False)),
                    Entry(98.801, 0.1, **THREE, paper=paper(98.83, 0.06, True)),
                    Entry(96.3, 0.2, **THREE, paper=paper(96.59, 0.12, True)),
                ),
            ),
            Row(
                "AEL",
                "AEL(a=3.5)",
                (
                    Entry(99.0, 0.11, **THREE, paper=paper(99.03, 0.05, False)),
                    Entry(planned=3, paper=paper(98.78, 0.13, True)),
                    Entry(96.4, 0.2, **THREE, paper=paper(96.4, 0.11, True)),
                ),
            ),
            Row(
                "*MY_LOSS|<b>",
                "AGCE(a=2, q=1.2) + 0.5*MAE",
                (Entry(99.1, 0.2, **THREE), Entry(98.8, 0.2, **THREE), Entry(planned=3)),
            ),
        ),
        notes=("Recipe quick: epochs 18 (not 50), train_size 8000 (not 0).",),
        about={"grid": "mnist-symmetric", "recipe": "quick"},
    )


@pytest.mark.parametrize("name", FORMATS)
def test_golden_files(name):
    expected = (GOLDEN / f"table.{name}").read_text("utf-8")
    assert render(example(), name) == expected


def own_lines(table):
    """Lines of the markdown by their first cell, the paper's left out."""
    lines = [line for line in render(table).splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {first: rest for first, *rest in cells if first != "*paper*"}


def test_three_best_of_each_column_are_bold_ties_too():
    lines = own_lines(example())
    assert [bool(re.search(r"\*\*", cell)) for cell in lines["AGCE"]] == [True, True, False]
    # 99.27, 99.12, then 99.10 twice.
    assert [first for first, cells in lines.items() if cells[0].startswith("**")] == [
        "CE", "GCE", "AGCE", r"\*MY_LOSS\|\<b>",
    ]  # fmt: skip
    # Only three numbers in the last column: bold would say nothing.
    assert not any(cells[2].startswith("**") for cells in lines.values())


def test_cells_of_every_kind():
    lines = own_lines(example())
    assert lines["CE"] == ["**99.12 ± 0.05**", "73.10 ± 0.50 [2]", "22.66"]
    assert lines["GCE"][1:] == ["**97.20 ± 0.20 [2, 1 failed]**", "failed"]
    assert lines["AEL"][1] == ""
    text = render(example())
    assert "Of 15 cells: 2 missing (left blank), 1 failed, 3 with fewer seeds than planned." in text
    assert "Recipe quick: epochs 18 (not 50)" in text


def test_the_papers_number_and_the_difference_of_what_is_printed():
    papers = [line for line in render(example()).splitlines() if "*paper*" in line]
    assert len(papers) == 4  # none for the row of the user's own
    assert "99.15 (-0.03)" in papers[0]
    assert "22.66 (+0.00)" in papers[0]
    assert papers[1].rstrip("| ").endswith("33.95")  # failed: nothing to compare
    assert "98.83 (-0.03)" in papers[2]


def test_lines_of_markdown_are_aligned():
    lines = [line for line in render(example()).splitlines() if line.startswith("|")]
    assert len({len(line) for line in lines}) == 1


@pytest.mark.parametrize(
    ("mine", "papers", "gap"),
    [(96.304, 96.59, "-0.29"), (79.318, 79.316, "+0.00"), (0.0, 0.004, "+0.00"), (5, 4, "+1.00")],
)
def test_differences_add_up_as_printed(mine, papers, gap):
    entry = Entry(mine, count=1, paper=PaperNumber(papers, None, False))
    assert entry.gap == gap
    assert entry.difference == mine - papers


def test_long_formats_have_everything_in_full():
    rows = list(csv.DictReader(io.StringIO(render(example(), "csv"))))
    cells = json.loads(render(example(), "json"))["cells"]
    assert len(rows) == len(cells) == 15
    for row, cell in zip(rows, cells, strict=True):
        assert (row["grid"], row["recipe"]) == ("mnist-symmetric", "quick")
        for name, value in cell.items():
            assert row[name] == ("" if value is None else str(value))
    first = cells[0]
    assert (first["mean"], first["std"], first["count"], first["planned"]) == (
        99.12345,
        0.0512,
        3,
        3,
    )
    assert first["difference"] == 99.12345 - 99.15
    assert [cell["state"] for cell in cells[:6]] == [
        "done", "partial", "partial", "done", "partial", "failed",
    ]  # fmt: skip
    assert (cells[2]["std"], cells[5]["mean"], cells[5]["failed"]) == (None, None, 3)


def test_latex_compiles_whatever_names_and_titles_hold(tmp_path):
    names = (
        r"""[x]*_{y} & 50% #1 ~^\ "é" <α> a|b -- '' `` ≤ −3 ∞ $x$ {""", "*", "[2]", "-", "λ·μ′",
    )  # fmt: skip
    entries = (Entry(97.25, 0.5, count=2, planned=3, failed=1), Entry(failed=1))
    rows = tuple(Row(name, "CE", entries) for name in names)
    odd = Table("Two lines,\n\nand a \\ & {", ("none", "matrix:my_T%.csv"), rows, notes=names)
    assert complaints(tmp_path, render(odd, "latex"), render(example(), "latex")) == []


def test_latex_escapes_balances_and_needs_no_package():
    text = render(example(), "latex")
    assert r"MNIST \& friends: 100\% noise\_free" in text
    body = text.partition(r"\begin{tabular}")[2]
    for line in body.splitlines():
        if line.endswith((r"\\", "[2pt]")):
            assert len(re.findall(r"(?<!\\)&", line)) == 3
    assert len(re.findall(r"(?<!\\)\{", text)) == len(re.findall(r"(?<!\\)\}", text))
    for line in text.splitlines():
        assert not re.search(r"(?<!\\)[%#_]", line)
        assert len(re.findall(r"(?<!\\)\$", line)) % 2 == 0
        assert not line.startswith(("[", "*"))  # an option of the \\ before it
    assert set(re.findall(r"\\([a-z]+)", text)) <= {
        "begin", "end", "centering", "small", "caption", "hline", "textbf", "pm", "quad",
        "footnotesize", "medskip", "setlength", "tabcolsep", "makebox", "textwidth",
    }  # fmt: skip


class Cells(HTMLParser):
    """Collect tags and text; every tag must be closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.cells = [], []

    def handle_starttag(self, tag, attributes):
        if tag != "br":
            self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "td" in self.open or "th" in self.open:
            self.cells[-1] += data


def test_html_is_ascii_well_formed_and_says_what_markdown_says():
    text = render(example(), "html")
    assert text.isascii()
    parser = Cells()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    assert len(parser.cells) == 4 * 6
    assert "99.12 ± 0.05paper 99.15 ± 0.05 (−0.03)" in [cell.strip() for cell in parser.cells]
    assert "*MY_LOSS|<b>" in parser.cells
    assert text.count("<b>") == text.count("</b>") == render(example()).count("**") // 2


def test_a_table_without_the_papers_numbers_has_one_line_a_method():
    table = Table("Digits", ("none",), (Row("CE", "CE", (Entry(97.2, count=1),)),))
    text = render(table)
    assert "paper" not in text
    assert "one seed" in text
    assert text.endswith("| CE     | 97.20 |\n")


@pytest.mark.parametrize("name", FORMATS)
def test_an_empty_table_can_be_written(name):
    assert render(Table("Nothing", (), ()), name).endswith("\n")


HOSTILE = st.text(
    st.sampled_from("ab |*_`<>[]()!#&~\\\n\r\t\x1b\x00\u202e\u2028=+-@'\"/:.w") | st.characters(),
    max_size=20,
)


@given(HOSTILE, HOSTILE, HOSTILE)
@such_as("__x__", "_ _a_", "a__b")
def test_no_name_breaks_a_markdown_table_or_reaches_the_terminal(title, column, name):
    parser = pytest.importorskip("markdown_it").MarkdownIt("commonmark")
    parser.enable(["table", "strikethrough"])
    entries = (Entry(1.0, count=1), Entry())
    table = Table(title, (column, "none"), (Row(name, "CE", entries),), notes=(name,))
    text = render(table, "md")
    assert all(line.isprintable() for line in text.split("\n"))
    tokens = [inner for token in parser.parse(text) for inner in (token, *(token.children or ()))]
    kinds = {token.type for token in tokens}
    assert kinds <= {
        "heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "text",
        "text_special", "hardbreak", "softbreak", "table_open", "table_close", "thead_open",
        "thead_close", "tbody_open", "tbody_close", "tr_open", "tr_close", "th_open", "th_close",
        "td_open", "td_close",
    }  # fmt: skip
    shown = ["".join(t.content for t in token.children) for token in tokens if token.children]
    assert one_line(title) in ("", *shown)
    assert shown[-5 + (not one_line(column)) + (not one_line(name)) :][:1] == ["Method"]
    assert one_line(column) in ("", *shown)
    assert one_line(name) in ("", *shown)


@given(HOSTILE, HOSTILE)
def test_no_name_ends_a_cell_of_html_or_runs_in_a_spreadsheet(title, name):
    table = Table(title, ("none",), (Row(name, name, (Entry(1.0, count=1),)),))
    seen = Reader()
    seen.feed(render(table, "html"))
    assert set(seen.tags) <= {
        "table",
        "caption",
        "strong",
        "br",
        "thead",
        "tr",
        "th",
        "tbody",
        "td",
    }
    rows = list(csv.reader(io.StringIO(render(table, "csv"), newline="")))
    assert len(rows) == 2
    assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in rows[1])
    assert unescape(rows[1][0]) == name


def test_a_carriage_return_in_a_name_ends_no_line_of_a_csv():
    """Python's writer leaves it bare, and its reader and pandas end a line there."""
    table = Table("t", ("none",), (Row("a\rb", "CE", (Entry(1.0, count=1),)),))
    (found,) = pd.read_csv(io.StringIO(render(table, "csv")))["method"]
    assert found == "a\rb"


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)


def test_mistakes():
    with pytest.raises(ParameterError, match="unknown format 'markdwn'; known: csv, html"):
        render(example(), "markdwn")
    with pytest.raises(ShapeError, match="row CE: 1 cells, 2 columns"):
        Table("T", ("a", "b"), (Row("CE", "CE", (Entry(),)),))


# Where the paper's bold is not the best three: table, data set, noise, methods.
SLIPS = {
    # 89.21 twice in third place, one of them bold.
    ("symmetric-noise", "cifar10", "symmetric:0.2"): {"AUL"},
    ("full-symmetric-noise", "cifar10", "symmetric:0.2"): {"AUL"},
    ("asymmetric-noise", "cifar100", "asymmetric:0.3"): {"GCE", "NCE+AEL"},
    ("full-asymmetric-noise", "cifar10", "asymmetric:0.1"): {"AUL", "NCE+AUL"},
    ("full-asymmetric-noise", "cifar100", "asymmetric:0.4"): {"FL"},
    # Only the best two are bold.
    ("webvision", "webvision", "none"): {"CE"},
    ("a-webvision", "webvision", "none"): {"CE"},
}


def test_the_papers_own_numbers_are_bold_where_the_paper_has_them_bold():
    columns = defaultdict(list)
    for number in printed():
        columns[number.table, number.dataset, number.noise].append(number)
    assert len(columns) == 56
    for place, numbers in columns.items():
        if place[2] == "none" and place[1] != "webvision":
            assert not any(number.bold for number in numbers)  # the paper's clean column is plain
            continue
        rows = tuple(Row(n.method, "", (Entry(n.mean, n.std, 3, 3),)) for n in numbers)
        table = Table("", ("",), rows)
        unlike = {
            row.name
            for row, n in zip(rows, numbers, strict=True)
            if table.is_bold(row, 0) != n.bold
        }
        assert unlike == SLIPS.get(place, set()), place


if __name__ == "__main__":
    for format_name in FORMATS:
        (GOLDEN / f"table.{format_name}").write_text(render(example(), format_name), "utf-8")
