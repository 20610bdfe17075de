"""Which labels to correct: what a person decided, and what a fit proposes."""

import csv
import io
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from noiseproof import files
from noiseproof.errors import DataError, DataWarning, ParameterError
from noiseproof.files.spreadsheet import escape, unescape
from noiseproof.fitting.model import UNREADABLE
from noiseproof.fitting.output import SUMMARY, SUSPECTS
from noiseproof.fitting.review.reviewed import match
from noiseproof.prepare.classes import MISSING, Classes, Codes

#: The columns of a suspect row.
PROPOSAL = "row", "given_label", "proposed_label"


@dataclass(frozen=True)
class Change:
    """A label that was changed.

    Args:
        row: the row as in suspect_rows.csv: its number from 0, or the name of its picture.
        old: the label as given.
        new: the label written.
        why: the reason.
    """

    row: int | str
    old: str
    new: str
    why: str


@dataclass(frozen=True, eq=False)
class Given:
    """Rows and their labels as they are now.

    Args:
        names: the names of all rows.
        codes: (N,) their labels.
        classes: the classes.
        data: what the data are called.
        fingerprint: what tells these rows from others.
    """

    names: Sequence[int | str]
    codes: Codes
    classes: Classes
    data: str
    fingerprint: str

    def label(self, row: int) -> str:
        """Return the label of a row; "" where it has none."""
        return "" if self.codes[row] == MISSING else self.classes.names[self.codes[row]]


def check_sources(reviewed: str | Path | None, proposals: float | None) -> None:
    """Raise ParameterError if there is nothing to correct by."""
    if reviewed is None and proposals is None:
        raise ParameterError("nothing to correct by: give --reviewed, --proposals or both")
    if proposals is not None and not 0 < proposals <= 1:
        raise ParameterError(f"--proposals: expected more than 0 and at most 1, got {proposals:g}")


def corrections(
    given: Given, reviewed: str | Path | None, folder: Path, proposals: float | None
) -> dict[int, Change]:
    """Return the labels to change, by the place of the row.

    Args:
        given: the rows.
        reviewed: the decisions that the review page exported.
        folder: the folder of the fit.
        proposals: take the fit's own proposals from this confidence on, for rows that nobody
            looked at.
    """
    changes: dict[int, Change] = {}
    looked: set[int] = set()
    if reviewed is not None:
        looked = _reviewed(given, reviewed, changes)
    if proposals is not None:
        _proposed(given, folder, proposals, changes, looked)
    return dict(sorted(changes.items()))


def _reviewed(given: Given, reviewed: str | Path, changes: dict[int, Change]) -> set[int]:
    """Collect the labels that a person corrected; return all rows that they looked at."""
    places = np.flatnonzero(given.codes != MISSING)
    names = [given.names[at] for at in places.tolist()]
    found = match(
        reviewed, names, given.codes[places], given.classes, given.data, given.fingerprint
    )
    at = {str(given.names[place]): place for place in places.tolist()}
    for one in found.decisions:
        row = at[one.row]
        old = given.label(row)
        if one.label and one.label != old:
            why = {"proposal": "reviewed: proposal taken", "other": "reviewed: another class"}
            told = why.get(one.decision, "reviewed: kept")
            changes[row] = Change(given.names[row], old, one.label, told)
    return {at[one.row] for one in found.decisions}


def _proposed(
    given: Given, folder: Path, least: float, changes: dict[int, Change], looked: set[int]
) -> None:
    """Collect proposals of a fit for rows that nobody looked at."""
    parts = [folder / name for name in (files.MANIFEST, SUMMARY, SUSPECTS)]
    with files.unchanged(folder, lambda: parts):
        rows, theirs, decisive = _read_proposals(folder)
    if theirs != given.fingerprint:
        raise DataError(f"{folder}: is the fit of other data than {given.data}")
    if not decisive:
        warnings.warn(
            f"{folder}: the fit cannot tell noise from difficulty, and no proposal is more likely "
            "right than wrong; review some rows instead",
            DataWarning,
            stacklevel=5,
        )
    at = {str(name): place for place, name in enumerate(given.names)}
    known = set(given.classes.names)
    for (name, old, new), sure in rows:
        row = at.get(name)
        if row is None or not sure >= least or row in looked or given.label(row) != old:
            continue
        if new not in known:
            raise DataError(
                f"{folder}: proposes {new!r} for row {name}, and {given.data} has no such "
                "class; give the file that was fitted, and its --encoding"
            )
        why = f"proposed by the fit, {sure:.1%} sure"
        changes[row] = Change(given.names[row], old, new, why)


def _read_proposals(folder: Path) -> tuple[list[tuple[list[str], float]], str, bool]:
    """Return the proposals of a fit, the fingerprint of its rows, and whether it is decisive."""
    listed = folder / SUSPECTS
    try:
        for file in (folder / SUMMARY, listed):
            files.check_plain(file)
        summary = json.loads((folder / SUMMARY).read_text("utf-8"))
        lines = csv.DictReader(io.StringIO(listed.read_bytes().decode("utf-8"), newline=""))
        rows = [
            ([unescape(line[name]) for name in PROPOSAL], float(line["confidence"]))
            for line in lines
        ]
        theirs, decisive = summary["data"]["fingerprint"], summary["noise"]["decisive"]
    except (*UNREADABLE, csv.Error):
        raise DataError(
            f"{folder}: no fit of this noiseproof's here, for --proposals; fit again, or give --fit"
        ) from None
    if changed := files.not_ours(folder, among=[SUMMARY, SUSPECTS]):
        raise DataError(f"{folder / max(changed)}: has changed since the fit; fit again")
    return rows, theirs, decisive


def listed(changes: list[Change]) -> str:
    """Return changes as the text of a CSV file."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["row", "old_label", "new_label", "why"])
    for one in changes:
        writer.writerow([escape(str(one.row)), escape(one.old), escape(one.new), one.why])
    return text.getvalue()
