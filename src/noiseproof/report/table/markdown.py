"""Markdown, padded so that it reads well on a terminal too."""

import re

from noiseproof.report.table.content import Entry, Row, Table
from noiseproof.report.table.text import one_line, our_number

_MEANS_SOMETHING = re.compile(
    r"[\\|*<`$~]|(?<![^\W_])_|_(?![^\W_])"  # inside a word one underscore means nothing
    r"|!(?=\[)|\](?=[(\[:])"  # images and links
    r"|&(?=#?\w+;)|:(?=//)|(?<=www)\."
    r"|^[#>+=-]"  # at the beginning of a line
)


def as_markdown(table: Table) -> str:
    """Return title, caption and table, with a second line for methods that the paper has too."""
    lines = [["Method", *map(plain, table.columns)]]
    for row in table.rows:
        lines.append([plain(row.name), *_ours(table, row)])
        if row.has_paper:
            lines.append(["*paper*", *map(_papers, row.entries)])
    widths = [max(3, *map(len, cells)) for cells in zip(*lines, strict=True)]
    ruler = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    body = [_pad(cells, widths) for cells in (lines[0], ruler, *lines[1:])]
    # Two blanks at the end of a line keep it a line.
    caption = "  \n".join(plain(line) for line in table.caption)
    return "\n".join([f"## {plain(table.title)}", "", caption, "", *body]) + "\n"


def _ours(table: Table, row: Row) -> list[str]:
    return [
        f"**{text}**" if table.is_bold(row, column) else text
        for column, text in enumerate(map(our_number, row.entries))
    ]


def _papers(entry: Entry) -> str:
    if entry.paper is None:
        return ""
    return f"{entry.paper.mean:.2f}" + (f" ({entry.gap})" if entry.gap else "")


def _pad(cells: list[str], widths: list[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
    return f"| {' | '.join(padded)} |"


def plain(text: str) -> str:
    """Escape every sign where it means something in Markdown, and leave it where it does not."""
    escaped = _MEANS_SOMETHING.sub(r"\\\g<0>", one_line(text))
    return re.sub(r"^(\d+)([.)])", r"\1\\\2", escaped)  # a numbered list
