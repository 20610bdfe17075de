"""HTML: a table element for any page, in ASCII so that no encoding can spoil it."""

import html

from noiseproof.report.table.content import Entry, Row, Table
from noiseproof.report.table.text import number, one_line, our_number


def as_html(table: Table) -> str:
    """Return a ``table`` element: in each cell our number, and below it the paper's."""
    caption = "<br>\n".join(_text(line) for line in table.caption)
    heads = "".join(f'<th scope="col">{_text(column)}</th>' for column in table.columns)
    text = "\n".join(
        [
            '<table class="results">',
            f"<caption><strong>{_text(table.title)}</strong><br>\n{caption}</caption>",
            f'<thead><tr><th scope="col">Method</th>{heads}</tr></thead>',
            "<tbody>",
            *(_row(table, row) for row in table.rows),
            "</tbody>",
            "</table>\n",
        ]
    )
    return text.encode("ascii", "xmlcharrefreplace").decode("ascii")


def _row(table: Table, row: Row) -> str:
    cells = [
        f'<td class="{entry.state}">{_cell(entry, table.is_bold(row, column))}</td>'
        for column, entry in enumerate(row.entries)
    ]
    name = f'<th scope="row" title="{_text(row.loss)}">{_text(row.name)}</th>'
    return "\n".join([f"<tr>{name}", *cells]) + "</tr>"


def _cell(entry: Entry, bold: bool) -> str:
    ours = our_number(entry)
    return (f"<b>{ours}</b>" if bold else ours) + _papers(entry)


def _papers(entry: Entry) -> str:
    if entry.paper is None:
        return ""
    text = number(entry.paper.mean, entry.paper.std)
    if entry.gap:
        text += f" ({entry.gap})".replace("-", "−")
    return f'<br><small class="paper">paper {text}</small>'


def _text(text: str) -> str:
    return html.escape(one_line(text))
