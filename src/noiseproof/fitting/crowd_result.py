"""What a crowd's answers say: labels, annotators, items to ask about again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.crowd.answers import Answers
from noiseproof.crowd.ask import Asking
from noiseproof.crowd.judged import Annotator
from noiseproof.crowd.with_features import Checked, Consensus
from noiseproof.fitting.evaluate import Accuracy, exact
from noiseproof.noise.matrix import Doubles

#: Said of rules, which depend on each other.
BLIND = (
    "rules miss the same items, and no estimate sees what all of them miss: more labels are wrong "
    "than is said here; check some rows drawn at random, or give a --test file"
)
SHORT = "time ran out before the agreed labels had settled; allow more by --minutes"
MEASURED = "counted in checked items drawn at random, agreed on without the check; exact interval"
#: With a larger share of right labels, more answers would hardly help.
ENOUGH = 0.995
#: Annotators that a line names.
TOLD = 5
#: Rows of each table on the page; the CSV files have all.
SHOWN = 50


@dataclass(frozen=True, eq=False)
class Crowd:
    """What a crowd's answers say.

    Args:
        answers: the answers.
        consensus: what they agree on.
        annotators: each annotator, those with most answers first.
        asking: the items to ask about again.
        names: the names of the classes.
        checked: items that a person has checked; None without any.
    """

    answers: Answers
    consensus: Consensus
    annotators: Sequence[Annotator]
    asking: Asking
    names: tuple[str, ...]
    checked: Checked | None = None

    @property
    def soft(self) -> Doubles:
        """The soft labels to learn from, (N, K)."""
        return self.consensus.soft

    @property
    def judge(self) -> Doubles:
        """What models are compared by, (N, K): how likely each class is by the answers alone."""
        return self.consensus.judge

    @property
    def copies(self) -> NDArray[np.int64]:
        """(N,) a number for each item, equal for items that may be copies of one."""
        return self.answers.copies()

    @property
    def labels(self) -> NDArray[np.int64]:
        """The class that the answers alone suggest, (N,)."""
        return np.asarray(self.consensus.by_answers.argmax(axis=1), dtype=np.int64)

    @property
    def measured(self) -> Accuracy | None:
        """The share of agreed labels that are right, by items drawn at random and checked.

        Each was agreed on as if it had not been checked. None without such items.
        """
        if self.checked is None or not self.checked.random.any():
            return None
        rows, codes = (a[self.checked.random] for a in (self.checked.rows, self.checked.codes))
        units = None if self.answers.groups is None else self.answers.groups[rows]
        return exact(self.consensus.free[rows].argmax(axis=1) == codes, MEASURED, units)

    @property
    def accuracy(self) -> float:
        """The estimated share of right answers."""
        return float(self.soft[self.answers.item, self.answers.code].mean())

    @property
    def suspicious(self) -> list[Annotator]:
        """The annotators whose answers are worth nothing."""
        return [one for one in self.annotators if one.verdict]

    def table(self) -> Any:
        """Return the annotators as a DataFrame."""
        import pandas as pd

        numbers = ("accuracy", "low", "high")
        return pd.DataFrame(
            {
                "annotator": [one.name for one in self.annotators],
                "answers": [one.answers for one in self.annotators],
            }
            | {n: [round(getattr(one, n), 4) for one in self.annotators] for n in numbers}
            | {
                "answers_given": [one.verdict for one in self.annotators],
                "confuses": [self.confuses(one) for one in self.annotators],
            }
        )

    def confuses(self, one: Annotator) -> str:
        """Return the most frequent mistakes of an annotator as text."""
        told = [f"{self.names[z]} as {self.names[c]} ({p:.0%})" for z, c, p in one.confused]
        return ", ".join(told)

    def ask_again(self, rows: Sequence[int | str]) -> Any:
        """Return the items to ask about again as a DataFrame, the most valuable first."""
        import pandas as pd

        at = self.asking.items
        needed = np.full(len(at), -1)
        needed[: len(self.asking.needed)] = self.asking.needed
        return pd.DataFrame(
            {
                "row": [rows[i] for i in at],
                "label": [self.names[k] for k in self.soft[at].argmax(axis=1)],
                "confidence": self.soft[at].max(axis=1).round(4),
                "answers": self.answers.votes[at].sum(axis=1).astype(np.int64),
                "gain": self.asking.gain.round(4),
                "more_answers": [str(n) if n >= 0 else "" for n in needed.tolist()],
            }
        )

    @property
    def lines(self) -> Iterator[str]:
        """What there is to say, a line each."""
        yield self.about
        if self.consensus.cut_short:
            yield SHORT
        bad = self.suspicious
        if bad:
            names = ", ".join(f"{one.name} ({one.verdict})" for one in bad[:TOLD])
            more = f" and {len(bad) - TOLD} more" if len(bad) > TOLD else ""
            yield f"annotators whose answers are worth nothing: {names}{more}"
        if self.answers.one_sided:  # rules cannot be asked again
            yield BLIND
        else:
            yield self.more_answers
        if self.measured is not None:
            count = int(self.checked.random.sum()) if self.checked is not None else 0
            yield f"agreed labels that are right, measured on {count:,} checked: {self.measured}"

    @property
    def about(self) -> str:
        """How many answers there are, and how many of them are right."""
        answers = self.answers
        return (
            f"{len(answers.item):,} answers of {len(answers.names):,} annotators, "
            f"{answers.per_item:.1f} an item; about {self.accuracy:.0%} of them are right"
        )

    @property
    def settled(self) -> bool:
        """Whether further answers would change next to nothing."""
        return self.asking.right[0] > ENOUGH

    @property
    def more_answers(self) -> str:
        """What further answers would bring."""
        right = self.asking.right
        if self.settled:
            return (
                f"if annotators are wrong independently, over {ENOUGH:.1%} of the agreed labels "
                "are right: more answers would hardly help"
            )
        return (
            f"if annotators are wrong independently, {right[0]:.1%} of the agreed labels are "
            f"right; one more answer an item would make it {right[1]:.1%}, two {right[2]:.1%}"
        )

    def summary(self) -> dict[str, Any]:
        """Return the findings as a dict for JSON."""
        return {
            "answers": len(self.answers.item),
            "right_answers": round(self.accuracy, 6),
            "right_labels_measured": self.measured and self.measured.to_dict(),
            "right_labels_after_more_answers": [round(p, 6) for p in self.asking.right],
            "annotators": [one.to_dict(self.names) for one in self.annotators],
        }

    def page(self, rows: Sequence[int | str]) -> dict[str, Any]:
        """Return what the page shows."""
        again = self.ask_again(rows)
        return {
            "about": self.about,
            "more": self.more_answers,
            "blind": BLIND if self.answers.one_sided else "",
            "measured": self.measured,
            "count": len(self.annotators),
            "annotators": [(one, self.confuses(one)) for one in self.annotators[:SHOWN]],
            "suspicious": [(one, self.confuses(one)) for one in self.suspicious[:SHOWN]],
            "again": again.head(SHOWN).to_dict("records"),
            "again_count": len(again),
            "settled": self.settled,
            "right": self.asking.right,
            "doubtful": self.asking.doubtful,
        }
