"""What a person decided about rows: reviewed.csv, read, checked against the data, and used.

The page that ``noiseproof fit`` writes exports one line for each row that was looked at:

    row,given_label,decision,label,list,fingerprint
    17,cat,proposal,dog,doubtful,table-5f0c0b1d2e3a4958.1c9a77e0

``decision`` is keep, proposal, other or skip; ``list`` says through which list of the page the row
came. Only rows of the random list stand for all rows.
"""

import csv
import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.errors import DataError, did_you_mean
from noiseproof.files import below, check_plain
from noiseproof.files.spreadsheet import unescape
from noiseproof.fitting.evaluate import Accuracy, exact
from noiseproof.prepare.checks import hashes
from noiseproof.prepare.classes import Classes, Codes
from noiseproof.prepare.formats.file_names import shown
from noiseproof.prepare.samples import Samples
from noiseproof.progress import counted
from noiseproof.tables.first_line import separator_of

COLUMNS = ("row", "given_label", "decision", "label", "list", "fingerprint")
KEEP, PROPOSAL, OTHER, SKIP = DECISIONS = ("keep", "proposal", "other", "skip")
DOUBTFUL, RANDOM = LISTS = ("doubtful", "random")
#: What comes between the fingerprint of the rows and that of their labels.
LABELS = "."
#: Longest file that is read: a million rows.
LONGEST = 200_000_000


@dataclass(frozen=True)
class Decision:
    """A line of reviewed.csv; ``label`` is "" where the row was skipped."""

    row: str
    given: str
    decision: str
    label: str
    random: bool


@dataclass(frozen=True, eq=False)
class Reviewed:
    """Decisions about rows of a fit.

    Args:
        rows: (M,) the rows that were decided, by place.
        given: (M,) their given labels.
        true: (M,) their labels as decided.
        random: (M,) whether a row is of the random list.
        skipped: how many of each list were skipped: doubtful, random.
        decisions: the lines of the file, for the page to go on from.
        labels: what :func:`label_print` said of the labels at the review; "" if it is not known.
        sampled: whether the random list tells about the labels as they are.
        units: (M,) a number for each row, equal for rows that belong together; None without such.
    """

    rows: Codes
    given: Codes
    true: Codes
    random: NDArray[np.bool_]
    skipped: tuple[int, int] = (0, 0)
    decisions: tuple[Decision, ...] = ()
    labels: str = ""
    sampled: bool = True
    units: Codes | None = None

    @property
    def changed(self) -> int:
        """How many labels were corrected."""
        return int((self.given != self.true).sum())

    @property
    def rate(self) -> Accuracy | None:
        """The share of wrong labels in the random list, with its exact interval."""
        wrong = (self.given != self.true)[self.random]
        units = None if self.units is None else self.units[self.random]
        return exact(wrong, WRONG, units) if len(wrong) else None

    @property
    def trusted(self) -> tuple[Codes, Codes] | None:
        """The rows and their labels as decided; None where nothing was."""
        return (self.rows, self.true) if len(self.rows) else None

    @property
    def lines(self) -> list[str]:
        """What was decided, a line each."""
        random, skipped = int(self.random.sum()), sum(self.skipped)
        line = f"reviewed: {counted(len(self.rows), 'row')}, {random:,} of them drawn at random; "
        line += f"corrected: {counted(self.changed, 'label')}"
        found = [f"{line}; skipped: {counted(skipped, 'row')}" if skipped else line]
        if self.rate is not None:
            found.append(
                f"wrong labels among the {counted(random, 'random row')}, measured: {self.rate}"
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return what was decided as a dict for JSON."""
        return {
            "rows": len(self.rows),
            "random": int(self.random.sum()),
            "corrected": self.changed,
            "skipped": sum(self.skipped),
            "wrong_among_random": self.rate and self.rate.to_dict(),
        }

    def as_given(self, codes: Codes) -> Codes:
        """Return the labels as they were at the review: a file may have been cleaned since."""
        labels = codes.copy()
        labels[self.rows] = self.given
        return labels

    def without_sample(self, codes: Codes) -> "Reviewed":
        """Return the decisions about labels that have changed since: none counts as random.

        How many of the labels were wrong at the review says nothing about those that there are
        now.
        """
        none = np.zeros(len(self.rows), dtype=bool)
        return replace(self, given=codes[self.rows], random=none, sampled=False)


WRONG = "counted in the reviewed rows of the random list; exact 95% interval"


def fingerprint(
    seen: Samples | None, rows: int, folder: Path | None, names: Sequence[int | str] = ()
) -> str:
    """Return what tells these rows from those of another file; labels do not matter.

    Args:
        seen: all rows, as a person knows them; None where there is nothing beside the labels.
        rows: how many there are.
        folder: where the rows are pictures in a folder.
        names: what items are called: those named by the row of their first answer have other
            names once further answers stand between them.
    """
    made = hashlib.sha256()
    if seen is None:
        return f"labels-{rows}"
    if folder is not None and seen.rows is not None:
        files = [file for file in below(folder, hidden=False) if file.is_file()]
        sizes = {shown(file.relative_to(folder)): file.stat().st_size for file in files}
        for name in sorted({*seen.rows, *seen.unusable}):  # another encoder may use all of them
            made.update(f"{name}\t{sizes.get(name, 0)}\n".encode())
        return f"pictures-{made.hexdigest()[:16]}"
    made.update(hashes(seen).tobytes())
    made.update("\n".join(map(str, names)).encode("utf-8", "surrogatepass"))
    return f"{seen.kind}-{made.hexdigest()[:16]}"


def label_print(codes: Codes, names: Sequence[str]) -> str:
    """Return what tells labels from others: after a review, some may have been changed."""
    made = hashlib.sha256("\0".join(names).encode("utf-8", "surrogatepass"))
    made.update(codes.astype("<i8").tobytes())
    return made.hexdigest()[:8]


def read_decisions(path: str | Path) -> tuple[tuple[Decision, ...], str]:
    """Return the lines of a reviewed.csv, and the fingerprint of the data it is about."""
    path = Path(path)
    text = read_text(path)
    try:
        lines = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=separator_of(text)))
    except csv.Error as error:
        raise DataError(f"{path}: cannot be read as CSV ({error})") from None
    if (lines and any(name not in lines[0] for name in COLUMNS)) or not text.strip():
        raise DataError(
            f"{path}: expected the columns {', '.join(COLUMNS)}, as the review page exports them"
        )
    # A spreadsheet writes rows that were emptied as separators alone.
    filled = {n: line for n, line in enumerate(lines, 2) if any(line[name] for name in COLUMNS)}
    if not filled:
        raise DataError(f"{path}: no row has been decided")
    return _decisions(filled, path)


def read_text(path: Path) -> str:
    """Return a small text file that a person made; none is read that is far too long for that."""
    check_plain(path)
    try:
        with path.open("rb") as file:
            content = file.read(LONGEST + 1)
        if len(content) > LONGEST:
            raise DataError(f"{path}: longer than {LONGEST // 10**6} MB")
        return content.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise DataError(f"{path}: cannot be read as a UTF-8 CSV") from None


def _decisions(
    lines: Mapping[int, dict[str, str | None]], path: Path
) -> tuple[tuple[Decision, ...], str]:
    found: dict[str, Decision] = {}
    prints = {line["fingerprint"] for line in lines.values()}
    if len(prints) > 1:
        raise DataError(f"{path}: has lines about different data")
    for number, line in lines.items():
        row, given, decision, label, which = (unescape(line[c] or "") for c in COLUMNS[:5])
        for what, known in ((decision, DECISIONS), (which, LISTS)):
            if what not in known:
                hint = did_you_mean(what, known)
                raise DataError(f"{path}, line {number}: {what!r} is not known{hint}")
        if not given:
            raise DataError(f"{path}, line {number}: given_label is empty")
        if (decision == SKIP) == bool(label):
            raise DataError(f"{path}, line {number}: a label for every row but those skipped")
        if decision == KEEP and label != given:
            raise DataError(
                f"{path}, line {number}: {given!r} is kept, but the label is {label!r}; make the "
                "decision other, or the label the given one"
            )
        made = Decision(row, given, decision, label, which == RANDOM)
        if found.setdefault(row, made) != made:
            raise DataError(f"{path}, line {number}: row {row} was decided twice, differently")
    return tuple(found.values()), str(prints.pop())


def match(
    path: str | Path,
    names: Sequence[int | str],
    codes: Codes | None,
    classes: Classes,
    data: str,
    own: str,
) -> Reviewed:
    """Return the decisions of a reviewed.csv about these rows; one of another file is an error.

    Args:
        path: the reviewed.csv.
        names: the name of each labelled row.
        codes: (N,) their labels; None if these may have changed since.
        classes: the classes.
        data: what the data are called.
        own: their fingerprint.
    """
    decisions, theirs = read_decisions(path)
    rows_print, _, labels = theirs.partition(LABELS)
    if rows_print != own:
        raise DataError(
            f"{path}: was made from other data than {data}; fit and review {data} first"
        )
    at = {str(name): place for place, name in enumerate(names)}
    code = {name: k for k, name in enumerate(classes.names)}
    rows, given, true, random = [], [], [], []
    skipped = [0, 0]
    for one in decisions:
        if one.row not in at:
            raise DataError(f"{path}: {data} has no labelled row {one.row!r}")
        if one.given not in code and one.label in code:  # the review left none of that class
            raise DataError(
                f"{path}: row {one.row} was labelled {one.given!r}, and {data} has no such class "
                "any more; give the file that was reviewed"
            )
        for label in filter(None, (one.given, one.label)):
            if label not in code:
                hint = did_you_mean(label, classes.names)
                raise DataError(f"{path}: row {one.row}: label {label!r} is no class{hint}")
        place = at[one.row]
        now = one.given if codes is None else classes.names[codes[place]]
        if now not in (one.given, one.label):  # a cleaned file has the label as decided
            raise DataError(
                f"{path}: row {one.row} was labelled {one.given!r}, and is {now!r} in {data}"
            )
        if one.decision == SKIP:
            skipped[one.random] += 1
            continue
        rows.append(place)
        given.append(code[one.given])
        true.append(code[one.label])
        random.append(one.random)
    order = np.argsort(rows, kind="stable")
    places, old, new = (np.array(part, dtype=np.int64)[order] for part in (rows, given, true))
    drawn = np.array(random, dtype=bool)[order]
    return Reviewed(places, old, new, drawn, (skipped[0], skipped[1]), decisions, labels)
