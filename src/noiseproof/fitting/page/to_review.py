"""The rows that a person should look at, and what the review page needs to know about them."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from noiseproof.fitting.page.looks import Content
from noiseproof.fitting.review.reviewed import LABELS, label_print
from noiseproof.learn.learn import Suspects
from noiseproof.noise import stream

if TYPE_CHECKING:
    from noiseproof.fitting.fitted import Fitted

#: Rows of the random sample.
SAMPLE = 60
#: Doubtful rows on the page; suspect_rows.csv has all of them.
MOST = 10_000
#: Pairs of classes in the montage, and pictures of each.
PAIRS, EACH = 8, 12


class Lists(NamedTuple):
    """The two lists of rows to review, by place; both in the order to review them in."""

    doubtful: list[int]
    random: list[int]


def lists(fitted: "Fitted") -> Lists:
    """Return the doubtful rows, the surest first, and a random sample of all rows.

    The sample is the beginning of one shuffle of all rows, without those that were reviewed as
    part of a sample before: all samples together are again a random one.
    """
    shuffled = stream(fitted.seed, "review").permutation(len(fitted.rows))
    done = set[str]()
    if fitted.reviewed is not None:
        done = {one.row for one in fitted.reviewed.decisions if one.random}
    fresh = [int(row) for row in shuffled if str(fitted.rows[row]) not in done]
    found = fitted.learned.suspects().rows[:MOST]
    return Lists([int(row) for row in found], fresh[:SAMPLE])


def review_data(fitted: "Fitted") -> dict[str, Any]:
    """Return everything that the page needs to know, for JSON."""
    doubtful, random = lists(fitted)
    rows = list(dict.fromkeys([*doubtful, *random]))
    place = {row: i for i, row in enumerate(rows)}
    learned, names = fitted.learned, fitted.model.coding.names
    wrong, proposed = learned.estimate.doubt(learned.labels, learned.probabilities)
    contents = fitted.looks.contents(rows, learned.labels, proposed, len(names))
    predicted = learned.probabilities.argmax(axis=1)
    entries = [
        _entry(content, str(fitted.rows[row]), learned.labels[row], proposed[row], wrong[row],
               predicted[row], "" if learned.units is None else int(learned.units[row]))
        for row, content in zip(rows, contents, strict=True)
    ]  # fmt: skip
    data = {
        "fingerprint": _fingerprint(fitted),
        "classes": list(names),
        "rows": entries,
        "doubtful": [place[row] for row in doubtful],
        "random": [place[row] for row in random],
        "before": _before(fitted),
    }
    told = json.dumps([data["fingerprint"], fitted.seed, names, doubtful, random])
    return data | {"key": f"noiseproof-review-{hashlib.sha256(told.encode()).hexdigest()[:16]}"}


def _before(fitted: "Fitted") -> list[dict[str, Any]]:
    """Return what was decided before, about the labels as they are in this fit."""
    reviewed = fitted.reviewed
    if reviewed is None:
        return []
    if reviewed.sampled:
        return [vars(one) for one in reviewed.decisions]
    names, labels = fitted.model.coding.names, fitted.learned.labels
    now = {str(row): names[label] for row, label in zip(fitted.rows, labels, strict=True)}
    return [vars(one) | {"given": now[one.row], "random": False} for one in reviewed.decisions]


def _fingerprint(fitted: "Fitted") -> str:
    """Return what tells the data from others, and their labels too where these are given."""
    if fitted.crowd is not None:  # its labels are estimates
        return fitted.fingerprint
    told = label_print(fitted.learned.labels, fitted.model.coding.names)
    return f"{fitted.fingerprint}{LABELS}{told}"


def _entry(
    content: Content,
    name: str,
    given: int,
    proposed: int,
    wrong: float,
    predicted: int,
    unit: int | str,
) -> dict[str, Any]:
    """Return one row for the page, without what is empty."""
    found = {
        "n": name, "g": int(given), "p": int(proposed), "q": int(predicted),
        "c": round(float(wrong), 4), "i": content.picture, "t": content.texts, "w": content.words,
        "k": content.columns, "u": unit,
    }  # fmt: skip
    return {key: value for key, value in found.items() if value not in ("", ())}


def montage(suspects: Suspects, given: Any, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the pairs of classes with most doubtful rows, and the first rows of each.

    ``rows`` are places in the list of doubtful rows.
    """
    shown = len(suspects.rows[:MOST])
    pairs = [
        (int(given[row]), int(p)) for row, p in zip(suspects.rows, suspects.proposed, strict=True)
    ]
    often = Counter(pairs).most_common(PAIRS)
    found = []
    for (one, other), count in often:
        rows = [at for at, pair in enumerate(pairs[:shown]) if pair == (one, other)]
        found.append({
            "given": names[one], "proposed": names[other], "count": count, "rows": rows[:EACH],
        })  # fmt: skip
    return found
