"""Many rows: settings are compared on a sample, and trained on all rows where that helps."""

from dataclasses import dataclass, replace

import numpy as np

from noiseproof.learn.choice import Chosen
from noiseproof.learn.curve import halved
from noiseproof.learn.ensemble import Ensemble, Member
from noiseproof.learn.folds import held_together, sample
from noiseproof.learn.learner import Floats, Labels, Problem, Shape
from noiseproof.learn.opinions import opinions_of
from noiseproof.learn.treat import PLAIN, Opinions
from noiseproof.learn.trials import Folds, Setting, Trial

#: Numbers in the sample that settings are compared on, and the rows it has at least and at most.
SAMPLE, LEAST, MOST = 5_000_000, 10_000, 30_000
#: The most probabilities that a trial may have there: several trials are kept.
PROBABILITIES = 50_000_000
#: Rows that are added up at a time.
BLOCK = 1000


def rows_to_compare(shape: Shape) -> int:
    """Return how many rows settings are compared on.

    >>> [rows_to_compare(Shape(10**6, columns, 10, False)) for columns in (16, 300, 2000)]
    [30000, 16666, 10000]
    >>> rows_to_compare(Shape(10**6, 16, 4000, False))
    12500
    """
    most = min(MOST, SAMPLE // max(1, shape.columns), PROBABILITIES // shape.classes)
    return min(shape.rows, max(LEAST, most))


def sampled(problem: Problem, rows: int) -> tuple[Problem, np.ndarray]:
    """Return a problem of some of the rows, every class in proportion, and which they are."""
    kept = sample(problem.labels, rows, problem.seed)
    review = problem.review
    if review is not None:
        kept = np.union1d(kept, review.rows)
        review = review.within(kept)
    part = replace(
        problem,
        features=problem.features[kept],
        labels=problem.labels[kept],
        weights=problem.weights[kept],
        soft=None if problem.soft is None else problem.soft[kept],
        judge=None if problem.judge is None else problem.judge[kept],
        review=review,
        copies=None if problem.copies is None else problem.copies[kept],
    )
    return part, kept


@dataclass(frozen=True, eq=False)
class Rest:
    """The rows beside a sample, and how to predict them without having seen their labels.

    Args:
        problem: all rows.
        folds: the sample.
        kept: the rows of the sample, in order.
        equal: (N,) a number for each row, equal for rows of equal features.
    """

    problem: Problem
    folds: Folds
    kept: Labels
    equal: Labels

    def held_out(self, model: Ensemble, said: Floats, opinions: Opinions | None = None) -> Floats:
        """Return the held-out probabilities of all rows.

        The model has seen the label of a row whose copy is in the sample: such rows get what was
        said of the copy. Other rows of a group that is in the sample are predicted by models
        trained without the group.

        Args:
            model: trained on the sample.
            said: the held-out probabilities of the rows of the sample, or of all rows.
            opinions: what the treatments of the model went by.
        """
        X = self.problem.features
        if len(said) == len(self.equal):
            return said
        place = self._in_sample(self.equal)
        place[self.kept] = np.arange(len(self.kept))
        p, rest = said[place], np.flatnonzero(place < 0)
        near = self._in_sample(held_together(self.problem))[rest]
        fold = np.where(near < 0, -1, self.folds.fold[near])
        if (fold < 0).any():
            p[rest[fold < 0]] = model.probabilities(X[rest[fold < 0]])
        for f in np.unique(fold[fold >= 0]):
            rows = rest[fold == f]
            p[rows] = self.folds.without(int(f), model, opinions).probabilities(X[rows])
        return p

    def _in_sample(self, of: Labels) -> Labels:
        """Return, for each row, the first sample row with the same number, or -1."""
        known, first = np.unique(of[self.kept], return_index=True)
        at = np.minimum(np.searchsorted(known, of), len(known) - 1)
        return np.where(known[at] == of, first[at], -1)


def more_rows_help(folds: Folds, chosen: Chosen) -> bool:
    """Return whether the best plain setting predicts better with all rows than with half of them.

    A gain below half a standard error is none: the next doubling would gain less still.
    """
    setting = max(
        (s for s in (*chosen.settings, chosen.plain.setting) if s.treatment == PLAIN),
        key=lambda s: s in chosen.settings,
    )
    return any(gain > error / 2 for _, gain, error in halved(folds, setting))


def grown(folds: Folds, chosen: Chosen) -> tuple[Chosen, tuple[Member, ...]]:
    """Train what was chosen on all rows, fold by fold."""
    opinions = None
    if any(setting.treatment != PLAIN for setting in chosen.settings):
        (judge,) = folds.run([Setting(chosen.judge)])
        opinions = opinions_of(folds, judge)
    share = dict(zip(chosen.settings, chosen.weights, strict=True))
    members: dict[Setting, list[Member]] = {}
    # Of many classes, what one trial says is a gigabyte: it is added up as it comes.
    mixed = np.zeros((len(folds.fold), folds.problem.classes), dtype=np.float32)
    plain: Trial | None = None
    for kind in dict.fromkeys(type(setting.learner) for setting in chosen.settings):
        mine = [setting for setting in chosen.settings if type(setting.learner) is kind]
        for trial in folds.run(mine, opinions=opinions, keep=True):
            setting, weight = trial.setting, share[trial.setting]
            members[setting] = [
                Member(setting.learner, setting.treatment, weight / folds.count, model)
                for model in trial.models
            ]
            for start in range(0, len(mixed), BLOCK):
                rows = slice(start, start + BLOCK)
                mixed[rows] += weight * trial.probabilities[rows]
            if setting == chosen.plain.setting:
                plain = replace(trial, models=())
        folds.problem.forget()  # each kind has its own scaled copy of all rows
    if plain is None:
        (plain,) = folds.run([chosen.plain.setting])
    kept = tuple(member for setting in chosen.settings for member in members[setting])
    return replace(chosen, probabilities=mixed, plain=plain), kept
