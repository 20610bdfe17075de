"""Fit to the answers of a crowd: read them, agree on soft labels, judge the annotators."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from noiseproof.crowd.aggregate import MAJORITY, aggregate, check_method
from noiseproof.crowd.annotators import together, unseen
from noiseproof.crowd.answers import Answers
from noiseproof.crowd.ask import ask
from noiseproof.crowd.judged import judge
from noiseproof.crowd.with_features import Checked, Consensus, agree, explained, fitting
from noiseproof.errors import ParameterError
from noiseproof.fitting.crowd_result import Crowd
from noiseproof.learn.folds import deal, joined
from noiseproof.learn.learner import Problem
from noiseproof.learn.learners import Linear, Trees
from noiseproof.learn.learners.linear import WIDE
from noiseproof.learn.matrix import Scale
from noiseproof.learn.trials import Folds, Setting
from noiseproof.noise.matrix import Doubles
from noiseproof.prepare.answers.asked import Asked
from noiseproof.prepare.answers.frames import of_frame
from noiseproof.prepare.answers.long import read_long
from noiseproof.prepare.answers.wide import read_wide
from noiseproof.prepare.checks import Checked as Looked
from noiseproof.prepare.checks import check
from noiseproof.prepare.classes import Codes
from noiseproof.progress import Progress

#: Agree by the answers and the features.
FEATURES = "features"
#: With fewer items, a model of the features says too little about whose answers are right.
FEW = 100
#: Said where neither answers nor features tell who is right: answers would confirm themselves.
SINGLE = (
    f"fewer than {FEW} items, one answer each, do not tell how good annotators are: a plain fit"
)
#: Decays of the linear models that agree on labels: their mean is steadier than the best one.
DECAYS = (3e-2, 1e-2, 3e-3)


def gather(
    X: Any,
    y: Any,
    answers: Any,
    annotator: str | None,
    item: str | None,
    aggregation: str,
    **options: Any,
) -> Asked | None:
    """Read items and answers in whichever form they come; None if there is no crowd."""
    if annotator is None and item is not None:
        raise ParameterError("--item: expected --annotator beside it")
    if annotator is not None and answers is not None:
        raise ParameterError("--answers: not beside --annotator; answers are either wide or long")
    if annotator is None and answers is None:
        if aggregation != FEATURES:
            raise ParameterError("--aggregation: expected --annotator or --answers beside it")
        return None
    if aggregation != FEATURES:
        check_method(aggregation)  # fail now rather than after reading
    if annotator is not None:
        return read_long(X, y, annotator, item, **options)
    if hasattr(answers, "columns"):
        return of_frame(X, y, answers, **options)
    return read_wide(X, y, answers, **options)


def check_items(asked: Asked) -> tuple[Codes, Codes, Looked]:
    """Return what most annotators say about each item, the places of the items, and the checks."""
    votes = _answers(asked).votes.argmax(axis=1)
    checked = check(asked.samples, votes, asked.classes, asked.unlabelled)
    return votes, np.arange(len(votes)), checked


def consult(
    asked: Asked | None,
    matrix: Any,
    method: str,
    folds: int,
    seed: int,
    minutes: float,
    checked: Checked | None,
    progress: Progress,
) -> Crowd | None:
    """Agree on labels and judge the annotators; None if nothing tells how good they are.

    Args:
        asked: the answers.
        matrix: (N, D) the features.
        method: :data:`FEATURES`, or one of crowd-kit's by the answers alone.
        folds: the number of folds.
        seed: seeds everything random.
        minutes: the time after which no further round is started.
        checked: items that a person has checked; None without any.
        progress: receives the step.
    """
    if asked is None or len(asked.names) == 1:
        return None
    progress.step("agree on labels")
    answers = _answers(asked)
    if method == FEATURES and answers.per_item == 1 and answers.items < FEW:
        progress.say(SINGLE)
        return None
    if method != FEATURES:
        consensus = Consensus.of(answers, aggregate(answers, method), checked)
        if method == MAJORITY:  # it takes annotators for equally good
            consensus = replace(consensus, annotators=agree(answers, checked=checked).annotators)
    elif answers.items < FEW:
        consensus = agree(answers, checked=checked)
    elif answers.one_sided and sparse.issparse(matrix):
        # Rules go by words. A model of the words predicts what the rules say and not what is right,
        # and would confirm them round by round.
        consensus = Consensus.of(answers, answers.start(), checked)
    else:
        predict = Predict(answers, matrix, folds, seed)
        consensus = agree(answers, predict, minutes, checked)
    count = np.bincount(answers.annotator, minlength=len(answers.names)).astype(np.float64)
    return Crowd(
        answers, consensus, judge(answers, consensus), ask(consensus, count, seed),
        asked.classes.names, checked,
    )  # fmt: skip


def _answers(asked: Asked) -> Answers:
    groups = None if asked.samples.groups is None else asked.samples.groups.numbers
    return Answers(
        asked.item, asked.annotator, asked.codes, asked.names, len(asked.classes), groups
    )


class Predict:
    """Trains on soft labels and predicts held-out rows.

    Linear models and trees are compared by how well they explain the answers. A rule is a function
    of the features, and trees would learn the rules and not the classes: answers of rules are left
    to linear models.
    """

    #: Rounds in which they are compared; afterwards the better ones are kept.
    COMPARED = 2

    def __init__(self, answers: Answers, matrix: Any, folds: int, seed: int) -> None:
        self.answers, self.round, self.best = answers, 0, 0
        labels = answers.votes.argmax(axis=1)
        weights = np.ones(len(labels), dtype=np.float32)
        self.problem = Problem(matrix, labels, answers.classes, weights, seed)
        of = answers.copies()
        if answers.groups is not None:
            of = joined(of, answers.groups)
            folds = min(folds, len(np.unique(of)))
        self.fold = deal(labels, folds, seed, of)
        shape = self.problem.shape
        scale: Scale = "common" if shape.columns >= WIDE and not shape.sparse else "standard"
        self.choices = [[Setting(Linear("CE", decay, scale)) for decay in DECAYS]]
        if Trees.suits(shape) and not answers.one_sided:
            self.choices.append([Setting(Trees())])

    def __call__(self, soft: Doubles) -> Doubles:
        """Return probabilities (N, K) for rows that were held out."""
        folds = Folds(replace(self.problem, soft=soft.astype(np.float32)), self.fold)
        if len(self.choices) > 1 and self.round == self.COMPARED:
            self.choices = [self.choices[self.best]]
        self.round += 1
        found = [
            np.mean([trial.probabilities for trial in folds.run(settings)], axis=0, dtype=float)
            for settings in self.choices
        ]
        if len(found) == 1:
            return np.asarray(found[0])
        each = unseen(self.answers, soft, self.answers.parts())
        likelihood = together(self.answers, each)
        worth = [explained(fitting(p, likelihood), likelihood) for p in found]
        self.best = int(np.argmax(worth))
        return np.asarray(found[self.best])
