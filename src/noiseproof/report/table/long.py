"""One cell per line, every number in full and in per cent, for programs."""

import csv
import io
from typing import Any

from noiseproof.files.spreadsheet import escape, quoting
from noiseproof.report.table.content import Entry, Row, Table
from noiseproof.shown import printable_json


def as_csv(table: Table) -> str:
    """Return comma-separated lines, names first; missing values are empty.

    A text that a spreadsheet would run as a formula has an apostrophe before it.
    """
    lines = [[*table.about.values(), *cell.values()] for cell in _cells(table)]
    how = quoting(value for line in lines for value in line)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n", quoting=how)
    writer.writerow([*table.about, *_cell(Row("", "", ()), "", Entry(), False)])
    for line in lines:
        writer.writerow([escape(v) if isinstance(v, str) else v for v in line])
    return file.getvalue()


def as_json(table: Table) -> str:
    """Return a JSON object: what the table is about, its caption, and its cells."""
    content = {
        **table.about,
        "title": table.title,
        "caption": list(table.caption),
        "columns": list(table.columns),
        "cells": _cells(table),
    }
    return printable_json(content) + "\n"


def _cells(table: Table) -> list[dict[str, Any]]:
    return [
        _cell(row, noise, row.entries[column], table.is_bold(row, column))
        for row in table.rows
        for column, noise in enumerate(table.columns)
    ]


def _cell(row: Row, noise: str, entry: Entry, bold: bool) -> dict[str, Any]:
    return {
        "method": row.name,
        "loss": row.loss,
        "noise": noise,
        "state": entry.state,
        "mean": entry.mean,
        "std": entry.std,
        "count": entry.count,
        "planned": entry.planned,
        "failed": entry.failed,
        "bold": bold,
        "paper_mean": entry.paper and entry.paper.mean,
        "paper_std": entry.paper and entry.paper.std,
        "difference": entry.difference,
    }
