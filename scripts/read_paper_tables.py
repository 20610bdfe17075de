"""Read the benchmark tables out of the paper's LaTeX: src/noiseproof/paper/benchmarks.csv.

    python scripts/read_paper_tables.py PAPER.tex --out src/noiseproof/paper/benchmarks.csv

Whatever it does not understand is an error: no line is skipped, no number is guessed. Slips of the
paper's typesetting are listed in SLIPS, each read as it was meant, and each must be there.
"""

import argparse
import csv
import io
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from noiseproof.errors import DataError
from noiseproof.paper import METHODS

COLUMNS = ("part", "table", "dataset", "method", "noise", "mean", "std", "bold")

#: By its \label: in which part of the paper a table is, and the kind of its noise.
TABLES = {
    "symmetric-noise": ("main", "symmetric"),
    "asymmetric-noise": ("main", "asymmetric"),
    "webvision": ("main", ""),
    "full-symmetric-noise": ("supplement", "symmetric"),
    "full-asymmetric-noise": ("supplement", "asymmetric"),
    "a-webvision": ("supplement", ""),
}

#: By table and cell as printed, the cell as it was meant.
SLIPS = {
    ("full-symmetric-noise", r"78,86 $\pm$ 0.66"): r"78.86 $\pm$ 0.66",
    ("full-symmetric-noise", r"\textbf{99.14 $\pm$ 0.0}5"): r"\textbf{99.14 $\pm$ 0.05}",
}

DATASETS = {"MNIST": "mnist", "CIFAR10": "cifar10", "CIFAR100": "cifar100"}
RATES = {"symmetric": ("0.2", "0.4", "0.6", "0.8"), "asymmetric": ("0.1", "0.2", "0.3", "0.4")}

_NUMBER = r"(\d{1,2}\.\d{2,3})"
_BOLD = re.compile(r"\\textbf\{([^{}]*)\}")
_BRACES = re.compile(r"\{([^{}]*)\}")
_MEAN_AND_STD = re.compile(rf"(?:\\ )*{_NUMBER} ?\$\\pm\$ {_NUMBER}")
_DATASET = re.compile(r"\\multirow\{\d+\}\*\{(\w+)\}")
_RULES = re.compile(r"(?:\\hline|\\cline\{\d-\d\}|\s)+")


@dataclass(frozen=True)
class Number:
    """One cell: the digits as printed, and whether it is bold."""

    mean: str
    std: str
    bold: bool


def read(latex: str) -> str:
    """Return the CSV text of all the benchmark tables in ``latex``."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    slips = dict(SLIPS)
    for label in TABLES:
        writer.writerows(_table(label, _rows(latex, label), slips))
    for label, cell in slips:
        raise DataError(f"{label}: the slip {cell!r} is not there: is this another edition?")
    return file.getvalue()


def _rows(latex: str, label: str) -> list[list[str]]:
    """Return the cells of the table of that label, rules left out."""
    found = re.findall(
        rf"\\label\{{{label}\}}\s*\\begin\{{tabular\}}\{{[c|]+\}}(.*?)\\end\{{tabular\}}",
        latex,
        re.DOTALL,
    )
    if len(found) != 1:
        raise DataError(f"expected one table labelled {label!r}, found {len(found)}")
    *lines, rest = found[0].split(r"\\")
    if not _RULES.fullmatch(rest):
        raise DataError(f"{label}: a last row without an end: {rest.strip()!r}")
    rows = []
    for line in lines:
        rule = _RULES.match(line)
        cells = line[rule.end() if rule else 0 :].split("&")
        rows.append([" ".join(cell.split()) for cell in cells])
    return rows


def _table(
    label: str, rows: list[list[str]], slips: dict[tuple[str, str], str]
) -> Iterator[Sequence[str]]:
    part, kind = TABLES[label]
    cells = _accuracies(label, rows, kind) if kind else _webvision(label, rows)
    seen = set()
    for dataset, method, noise, cell in cells:
        if (dataset, method, noise) in seen:
            raise DataError(f"{label}: {dataset} {method} is there twice")
        seen.add((dataset, method, noise))
        number = _number(label, slips.pop((label, cell), cell), spread=bool(kind))
        bold = "yes" if number.bold else "no"
        yield part, label, dataset, method, noise, number.mean, number.std, bold


def _accuracies(
    label: str, rows: list[list[str]], kind: str
) -> Iterator[tuple[str, str, str, str]]:
    """Yield data set, method, noise and cell of a table with a row a method."""
    noises = _heads(label, rows[:2], kind)
    dataset = ""
    for row in rows[2:]:
        if len(row) != 2 + len(noises):
            raise DataError(f"{label}: expected {2 + len(noises)} cells, got {row}")
        first, name, *cells = row
        if first != "~" or not dataset:
            dataset = _dataset(label, first)
        method = _method(label, name)
        for noise, cell in zip(noises, cells, strict=True):
            yield dataset, method, noise, cell


def _heads(label: str, rows: list[list[str]], kind: str) -> list[str]:
    """Return the noise of each column, having checked that the heads say so."""
    clean = [r"\multirow{2}*{Clean ($\eta=0.0$)}"] if kind == "symmetric" else []
    above = [r"\multirow{2}*{Datasets}", r"\multirow{2}*{Methods}", *clean]
    above.append(rf"\multicolumn{{4}}{{c}}{{{kind.title()} Noise Rate ($\eta$)}}")
    below = ["~", "~", *("~" for _ in clean), *RATES[kind]]
    if rows != [above, below]:
        raise DataError(f"{label}: not the columns of a table of {kind} noise: {rows}")
    return [*("none" for _ in clean), *(f"{kind}:{rate}" for rate in RATES[kind])]


def _webvision(label: str, rows: list[list[str]]) -> Iterator[tuple[str, str, str, str]]:
    """Yield the cells of a table with a column a method. The noise is the data set's own."""
    if len(rows) != 2 or len(rows[0]) != len(rows[1]):
        raise DataError(f"{label}: expected two rows of one length, got {rows}")
    if [row[0] for row in rows] != ["Loss", "Acc"]:
        raise DataError(f"{label}: expected rows Loss and Acc, got {rows}")
    for name, cell in zip(rows[0][1:], rows[1][1:], strict=True):
        yield "webvision", _method(label, name), "none", cell


def _dataset(label: str, cell: str) -> str:
    found = _DATASET.fullmatch(cell)
    if not found or found[1] not in DATASETS:
        raise DataError(f"{label}: expected a data set, got {cell!r}")
    return DATASETS[found[1]]


def _method(label: str, cell: str) -> str:
    bold = _BOLD.fullmatch(cell)
    name = bold[1] if bold else cell
    if name not in METHODS:
        raise DataError(f"{label}: expected a method, got {cell!r}")
    return name


def _number(label: str, cell: str, *, spread: bool) -> Number:
    bold = _BOLD.fullmatch(cell)
    plain = bold or _BRACES.fullmatch(cell)
    inner = plain[1] if plain else cell
    found = (_MEAN_AND_STD if spread else re.compile(_NUMBER)).fullmatch(inner)
    if not found:
        raise DataError(f"{label}: expected a number, got {cell!r}")
    return Number(found[1], found[2] if spread else "", bold is not None)


def main() -> int:
    """Read the arguments, then the paper."""
    parser = argparse.ArgumentParser(description="The benchmark tables of the paper, as CSV.")
    parser.add_argument("paper", type=Path, help="the LaTeX source")
    parser.add_argument("--out", type=Path, required=True, help="the CSV file to write")
    arguments = parser.parse_args()
    try:
        text = read(arguments.paper.read_text("utf-8"))
    except DataError as error:
        print(f"{arguments.paper}: {error}", file=sys.stderr)
        return 2
    arguments.out.write_text(text, "utf-8", newline="\n")
    print(f"wrote {text.count(chr(10)) - 1} numbers to {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
