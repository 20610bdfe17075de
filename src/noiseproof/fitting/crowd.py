"""Fit to the answers of a crowd: agree on soft labels, learn from them, judge the annotators."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.crowd.aggregate import aggregate
from noiseproof.crowd.annotators import Annotators
from noiseproof.crowd.answers import Answers, Floats
from noiseproof.crowd.ask import Asking, ask
from noiseproof.crowd.judged import Annotator, judge
from noiseproof.crowd.with_features import Consensus, agree, explained, fitting
from noiseproof.errors import ParameterError
from noiseproof.learn.folds import deal
from noiseproof.learn.learn import FEW
from noiseproof.learn.learner import Problem
from noiseproof.learn.learners import Linear, Trees
from noiseproof.learn.linear import WIDE
from noiseproof.learn.matrix import Scale
from noiseproof.learn.trials import Folds, Setting
from noiseproof.prepare.answers import Asked, of_frame, read_long, read_wide
from noiseproof.prepare.checks import Checked, check
from noiseproof.progress import Progress

#: Agree by the answers and the features.
FEATURES = "features"
#: Annotators whose names a line tells, and rows of the tables on the page.
TOLD, SHOWN = 5, 50
#: Decays of the linear models that agree on labels: their mean is steadier than the best one.
DECAYS = (3e-2, 1e-2, 3e-3)


@dataclass(frozen=True, eq=False)
class Crowd:
    """What a crowd's answers say.

    Args:
        answers: the answers.
        consensus: what they agree on.
        annotators: each annotator, those with most answers first.
        asking: the items to ask about again.
        labels: (N,) the class that the answers alone suggest.
        names: the names of the classes.
    """

    answers: Answers
    consensus: Consensus
    annotators: list[Annotator]
    asking: Asking
    labels: NDArray[np.int64]
    names: tuple[str, ...]

    @property
    def suspicious(self) -> list[Annotator]:
        """The annotators whose answers are worth nothing."""
        return [one for one in self.annotators if one.verdict]

    def table(self) -> Any:
        """Return the annotators as a DataFrame."""
        import pandas as pd

        return pd.DataFrame(
            {
                "annotator": [one.name for one in self.annotators],
                "answers": [one.answers for one in self.annotators],
                "accuracy": [round(one.accuracy, 4) for one in self.annotators],
                "low": [round(one.low, 4) for one in self.annotators],
                "high": [round(one.high, 4) for one in self.annotators],
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

        at, soft = self.asking.items, self.consensus.soft
        needed = np.zeros(len(at), dtype=np.int64)
        needed[: len(self.asking.needed)] = self.asking.needed
        return pd.DataFrame(
            {
                "row": [rows[i] for i in at],
                "label": [self.names[k] for k in soft[at].argmax(axis=1)],
                "confidence": soft[at].max(axis=1).round(4),
                "answers": self.answers.votes[at].sum(axis=1).astype(np.int64),
                "gain": self.asking.gain.round(4),
                "more_answers": [n or "" for n in needed.tolist()],
            }
        )

    @property
    def lines(self) -> Iterator[str]:
        """What there is to say, a line each."""
        answers, right = self.answers, self.asking.right
        yield (
            f"{len(answers.item):,} answers of {len(answers.names):,} annotators, "
            f"{answers.per_item:.1f} an item; {self.accuracy:.1%} of them are right"
        )
        bad = self.suspicious
        if bad:
            names = ", ".join(f"{one.name} ({one.verdict})" for one in bad[:TOLD])
            more = f" and {len(bad) - TOLD} more" if len(bad) > TOLD else ""
            yield f"annotators whose answers are worth nothing: {names}{more}"
        yield (
            f"{right[0]:.1%} of the agreed labels are right; one more answer an item would make it "
            f"{right[1]:.1%}, two {right[2]:.1%}"
        )

    @property
    def accuracy(self) -> float:
        """The estimated share of right answers."""
        given = self.consensus.soft[self.answers.item, self.answers.code]
        return float(given.mean())

    def summary(self) -> dict[str, Any]:
        """Return the findings as a dict for JSON."""
        return {
            "answers": len(self.answers.item),
            "right_answers": round(self.accuracy, 6),
            "right_labels_after_more_answers": [round(p, 6) for p in self.asking.right],
            "annotators": [one.to_dict(self.names) for one in self.annotators],
        }


def gather(
    X: Any, y: Any, answers: Any, annotator: str | None, item: str | None, **options: Any
) -> Asked | None:
    """Read items and answers in whichever form they come; None if there is no crowd."""
    if annotator is None and item is not None:
        raise ParameterError("--item: expected --annotator beside it")
    if annotator is not None and answers is not None:
        raise ParameterError("--answers: not beside --annotator; answers are long or wide")
    if annotator is not None:
        return read_long(X, y, annotator, item, **options)
    if answers is None:
        return None
    if hasattr(answers, "columns"):
        return of_frame(X, y, answers, **options)
    return read_wide(X, y, answers, **options)


def checked(asked: Asked) -> tuple[Checked, NDArray[np.int64], Answers]:
    """Return what the checks of the data find, the majority of the answers, and the answers."""
    answers = Answers(asked.item, asked.annotator, asked.codes, asked.names, len(asked.classes))
    votes = answers.votes.argmax(axis=1)
    return check(asked.samples, votes, asked.classes, asked.unlabelled), votes, answers


def consult(
    answers: Answers,
    matrix: Any,
    names: tuple[str, ...],
    *,
    method: str = FEATURES,
    seed: int = 0,
    folds: int = 5,
    progress: Progress,
) -> Crowd:
    """Agree on labels and judge the annotators.

    Args:
        answers: the answers.
        matrix: (N, D) the features.
        names: the names of the classes.
        method: :data:`FEATURES`, or one of crowd-kit's by the answers alone.
        seed: seeds everything random.
        folds: the number of folds.
        progress: receives the step.
    """
    progress.step("agree on labels")
    if method == FEATURES:
        few = answers.items < FEW
        consensus = agree(answers, None if few else _Predict(answers, matrix, folds, seed))
    else:
        consensus = Consensus.of(answers, aggregate(answers, method))
    per_annotator = np.bincount(answers.annotator, minlength=len(answers.names)).astype(float)
    return Crowd(
        answers, consensus, judge(answers, consensus), ask(consensus, per_annotator, seed),
        consensus.by_answers.argmax(axis=1), names,
    )  # fmt: skip


class _Predict:
    """Trains on soft labels and predicts held-out rows.

    Linear models and trees are compared by how well they explain the answers. A rule is a function
    of the features, and trees would learn the rules and not the classes: answers of rules are left
    to linear models.
    """

    #: Rounds in which they are compared; afterwards the better ones are kept.
    COMPARED = 2

    def __init__(self, answers: Answers, matrix: Any, folds: int, seed: int) -> None:
        self.answers, self.round = answers, 0
        labels = answers.votes.argmax(axis=1)
        weights = np.ones(len(labels), dtype=np.float32)
        self.problem = Problem(matrix, labels, answers.classes, weights, seed)
        self.fold = deal(labels, folds, seed)
        shape = self.problem.shape
        scale: Scale = "common" if shape.columns >= WIDE and not shape.sparse else "standard"
        self.choices = [[Setting(Linear("CE", decay, scale)) for decay in DECAYS]]
        if Trees.suits(shape) and not answers.one_sided:
            self.choices.append([Setting(Trees())])

    def __call__(self, soft: Floats) -> Floats:
        folds = Folds(replace(self.problem, soft=soft.astype(np.float32)), self.fold)
        if len(self.choices) > 1 and self.round == self.COMPARED:
            self.choices = [self.best]
        self.round += 1
        found = [
            np.mean([trial.probabilities for trial in folds.run(settings)], axis=0, dtype=float)
            for settings in self.choices
        ]
        if len(found) == 1:
            return found[0]
        likelihood = Annotators.of(self.answers, soft).log_likelihood(self.answers)
        worth = [explained(fitting(p, likelihood), likelihood) for p in found]
        at = int(np.argmax(worth))
        self.best = self.choices[at]
        return found[at]
