"""Tables of results beside the paper's numbers, in the formats people and programs read."""

from collections.abc import Callable

from noiseproof.errors import ParameterError, did_you_mean
from noiseproof.report.table.content import Entry, Row, Table
from noiseproof.report.table.html import as_html
from noiseproof.report.table.latex import as_latex
from noiseproof.report.table.long import as_csv, as_json
from noiseproof.report.table.markdown import as_markdown

__all__ = ["FORMATS", "Entry", "Row", "Table", "render"]

#: How a table is written, by the name of the format.
FORMATS: dict[str, Callable[[Table], str]] = {
    "md": as_markdown,
    "latex": as_latex,
    "html": as_html,
    "csv": as_csv,
    "json": as_json,
}


def render(table: Table, format: str = "md") -> str:
    """Return the text of a table, which ends in a new line.

    Args:
        table: what to write.
        format: ``"md"`` also reads well in a terminal; ``"latex"`` needs no package; ``"html"`` is
            a fragment for any page, in ASCII; ``"csv"`` and ``"json"`` have every number in full,
            one cell a line.

    >>> row = Row("CE", "CE", (Entry(97.25, count=1), Entry()))
    >>> table = Table("Digits", ("none", "symmetric:0.4"), (row,))
    >>> print(render(table).splitlines()[-1])
    | CE     | 97.25 |               |
    """
    if format not in FORMATS:
        raise ParameterError(f"unknown format {format!r}{did_you_mean(format, FORMATS)}")
    return FORMATS[format](table)
