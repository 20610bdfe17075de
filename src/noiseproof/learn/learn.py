"""Learn a model from features and noisy labels; say why it was chosen and how noisy they are."""

import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noiseproof.errors import DataError
from noiseproof.learn import evidence
from noiseproof.learn.choice import Chosen
from noiseproof.learn.compare import compare
from noiseproof.learn.curve import unlearnt
from noiseproof.learn.decide import Candidate
from noiseproof.learn.ensemble import Ensemble, sharpness_for
from noiseproof.learn.folds import alike, deal, joined
from noiseproof.learn.gathered import gathered
from noiseproof.learn.grow import Rest, grown, more_rows_help, rows_to_compare, sampled
from noiseproof.learn.learner import Floats, Labels, Problem
from noiseproof.learn.options import check, kinds_for
from noiseproof.learn.review import Review
from noiseproof.learn.told import held_out_whole, noise_in
from noiseproof.learn.trials import Folds
from noiseproof.noise import EstimatedTransition
from noiseproof.noise.clustered import units_of
from noiseproof.parallel import one_thread
from noiseproof.progress import SILENT, Progress

MINUTES = 5.0
#: What settings are compared by, without checked rows and with some.
NOISY, CHECKED = "held-out noisy labels", "held-out and checked labels"
#: What a comparison shows: by labels, and by a judge, which knows classes with some probability.
SHARE = "share predicted of"
LIKELY = "mean probability of held-out predictions"
#: The most that can be said against the label of a class that no model knew: less than even odds.
UNKNOWN = 0.49
LATE = "the time was up before everything was tried; --minutes allows more"


class Suspects(NamedTuple):
    """Rows with a doubtful label, the most doubtful first.

    ``confidence`` is the probability that the given label is wrong.
    """

    rows: NDArray[np.int64]
    proposed: NDArray[np.int64]
    confidence: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Learned:
    """The result of :func:`learn`; only the model is saved.

    Args:
        model: the model that was chosen.
        baseline: the best model trained by plain cross entropy, for comparison.
        chosen: the name of the model.
        plain: the baseline's row of the comparison.
        why: the reason for the choice, in one sentence.
        rows: the number of rows that the model was trained on.
        notes: what could not be tried, a line each.
        estimate: the estimated noise of the labels.
        comparison: everything that was compared, the best first.
        probabilities: (N, K) predictions for held-out rows.
        predicted: (N,) the classes that are predicted for held-out rows, each by what was picked
            without it: to measure the model by.
        plainly: (N,) the classes that the baseline predicts for the same rows.
        labels: (N,) the given labels.
        unknown: (N,) rows whose class no model knew while they were held out.
        review: the checked rows; None if there are none.
        checked: for each checked row drawn at random, whether a model chosen and trained without
            it gets it right; None if there are none.
        checked_share: how much of the comparison went by checked rows, from 0 to 1.
        judged: whether models were compared by class probabilities instead of labels.
        units: (N,) a number for each row, equal for rows that belong together; None without such.
        places: (N,) the numbers of the rows among all; None if no row was left out.
    """

    model: Ensemble
    baseline: Ensemble
    chosen: str
    plain: Candidate
    why: str
    rows: int
    notes: tuple[str, ...]
    estimate: EstimatedTransition
    comparison: tuple[Candidate, ...]
    probabilities: Floats
    predicted: Labels
    plainly: Labels
    labels: Labels
    unknown: NDArray[np.bool_]
    review: Review | None = None
    checked: NDArray[np.bool_] | None = None
    checked_share: float = 0.0
    judged: bool = False
    units: Labels | None = None
    places: Labels | None = None

    @property
    def checked_units(self) -> Labels | None:
        """For each row of ``checked`` a number, equal for those that belong together."""
        units, review = self.units, self.review
        return None if units is None or review is None else units[review.judges]

    @property
    def compared_by(self) -> str:
        """The labels that were compared by, in words."""
        return CHECKED if self.checked_share else NOISY

    @property
    def compared_as(self) -> str:
        """What the figures of the comparison are."""
        return LIKELY if self.judged else f"{SHARE} {self.compared_by}"

    def suspects(self) -> Suspects:
        """Return the rows whose labels are doubtful; checked rows are not among them."""
        wrong, proposed = self.estimate.doubt(self.labels, self.probabilities)
        wrong = np.where(self.unknown, np.minimum(wrong, UNKNOWN), wrong)
        doubtful = proposed != self.labels
        if self.review is not None:
            doubtful &= ~self.review.known
        rows = np.flatnonzero(doubtful)
        rows = rows[np.argsort(-wrong[rows], kind="stable")]
        named = rows if self.places is None else self.places[rows]
        return Suspects(named, proposed[rows], wrong[rows])


@contextmanager
def _labels_are_no_numbers() -> Iterator[None]:
    """Silence scikit-learn, which takes labels of many small classes for those of a regression.

    Warning filters belong to the process, and trees grow in threads: so once, around all of them.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        yield


@one_thread()
@_labels_are_no_numbers()
def learn(
    X: Any,
    y: ArrayLike,
    classes: int,
    *,
    sample_weight: ArrayLike | None = None,
    soft: ArrayLike | None = None,
    judge: ArrayLike | None = None,
    copies: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    trusted: tuple[ArrayLike, ArrayLike] | None = None,
    random: ArrayLike | None = None,
    learners: str | Sequence[str] | None = None,
    losses: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    seed: int = 0,
    folds: int = 5,
    search: int = 0,
    minutes: float = MINUTES,
    progress: Progress = SILENT,
) -> Learned:
    """Learn from noisy labels with the model that predicts held-out noisy labels best.

    :mod:`noiseproof.learn.compare` describes the comparison.

    Args:
        X: (N, D) features, dense or scipy-sparse.
        y: (N,) labels 0 to K-1, some of them wrong.
        classes: K.
        sample_weight: (N,) how much each row counts in training and comparing, not in the estimate.
        soft: (N, K) class probabilities to learn instead of y, such as the answers of a crowd
            suggest; treatments of doubtful labels are not tried then.
        judge: (N, K) class probabilities to judge held-out predictions by instead of y.
        copies: (N,) a number for each row, equal for copies of one case: they are held out
            together. By default, rows with equal features are copies.
        groups: (N,) a number for each row, equal for rows that belong together, such as the photos
            of one patient: they are held out together, too.
        trusted: the numbers of rows that a person has checked, and their true labels.
        random: for each trusted row, whether it was drawn at random (by default all were). Only
            such rows choose the model and tell how good it is.
        learners: the names of the learners to try; by default all that suit the data.
        losses: the losses to compare; by default those that suit the estimated noise.
        names: the names of the classes, for the estimate.
        seed: the same seed gives the same model, unless the time runs out first.
        folds: the number of folds.
        search: the number of further settings to try with Optuna.
        minutes: the time after which no further setting is started.
        progress: receives each step.
    """
    check(learners, losses, search, minutes, folds)
    deadline = time.monotonic() + 60 * minutes
    given = np.asarray(y, dtype=np.int64)
    labels, review = given, None
    if trusted is not None:
        labels, review = _reviewed(given, *trusted, random)
    weights = np.ones(len(labels)) if sample_weight is None else sample_weight
    targets, judges = (_certain(p, labels, review) for p in (soft, judge))
    equal = alike(X)
    of = equal if copies is None else np.asarray(copies, dtype=np.int64)
    if groups is not None:
        of = joined(of, np.asarray(groups, dtype=np.int64))
        folds = min(folds, _several(of))
    problem = Problem(X, labels, classes, np.asarray(weights), seed, targets, judges, review, of)
    learners = [learners] if isinstance(learners, str) else learners
    kinds, notes = kinds_for(problem, learners)
    part, kept = sampled(problem, rows_to_compare(problem.shape))
    if groups is not None:
        folds = min(folds, _several(of[kept]))
    fold = deal(part.labels, min(folds, len(kept)), seed, of[kept])
    units = units_of(of)
    used = few = Folds(part, fold, deadline, progress, units=units_of(of[kept]))
    rest = Rest(problem, few, kept, equal)
    chosen = compare(few, kinds, losses, search)
    untreated = None if chosen.opinions is None else chosen.opinions.whole.probabilities
    if few.late and len(kept) == len(labels):
        notes.append(LATE)
    told = 0.0 if part.review is None else float(chosen.plain.share[part.review.rows].sum())
    progress.step("train")
    if len(kept) == len(labels):
        members, rows = few.keep(chosen.settings, chosen.weights, chosen.opinions), len(labels)
    else:
        every = Folds(problem, deal(labels, folds, seed, of), np.inf, progress, units=units)
        helps = not few.late and more_rows_help(few, chosen)
        late = few.late  # before the training on the sample, which takes time as well
        if helps:
            few.forget()
            chosen, used, rows = chosen.bare(), every, len(labels)
            chosen, members = grown(every, chosen)
        else:
            members, rows = few.keep(chosen.settings, chosen.weights, chosen.opinions), len(kept)
            p = rest.held_out(Ensemble(members), chosen.probabilities, chosen.opinions)
            unbiased = p.argmax(axis=1)
            unbiased[kept] = chosen.predicted
            chosen = replace(chosen, probabilities=p, unbiased=unbiased)
        notes.append(_of_so_many(late, len(kept), len(labels), rows))
    known = None
    if review is not None and len(review.judges):
        known = review.judges, labels[review.judges]
    unknown = held_out_whole(labels, units)
    look = partial(noise_in, given, chosen.probabilities, unknown, names=names, units=units)
    noise = look(trusted=known)
    if known is None and noise.rate_interval[0] > 0:
        # What looks like noise may be what the model has not learnt yet, or cannot learn.
        p, hard = chosen.probabilities[kept], 1.0
        if evidence.shows(few, p, untreated):
            hard = max(unlearnt(few, chosen), gathered(few, p))
        noise = look(difficult=hard)
    sharpness = sharpness_for(chosen.probabilities, labels, noise.matrix, problem.weights)
    model = Ensemble(members, sharpness)
    same = chosen.settings == (chosen.plain.setting,)
    baseline = model if same else _baseline(used, chosen, noise)
    return Learned(
        model=model,
        baseline=baseline,
        chosen=chosen.name,
        plain=Candidate.of(chosen.plain),
        why=chosen.why,
        rows=rows,
        notes=tuple(notes),
        estimate=noise,
        comparison=chosen.comparison,
        probabilities=chosen.probabilities,
        predicted=chosen.predicted,
        plainly=(
            chosen.probabilities.argmax(1)
            if same
            else rest.held_out(baseline, chosen.plain.probabilities).argmax(1)
        ),
        labels=given,
        unknown=unknown,
        review=review,
        checked=chosen.checked,
        checked_share=told,
        judged=judges is not None,
        units=units,
    )


def _several(of: Labels) -> int:
    """Return how many groups there are; raise where no group can be held out."""
    count = len(np.unique(of))
    if count < 2:
        raise DataError("all rows are of one group, so none can be held out; leave groups out")
    return count


def _reviewed(
    given: Labels, rows: ArrayLike, true: ArrayLike, random: ArrayLike | None
) -> tuple[Labels, Review]:
    """Return the labels with those of checked rows put right, and the review."""
    at, codes = (np.asarray(part, dtype=np.int64) for part in (rows, true))
    drawn = np.ones(len(at), dtype=bool) if random is None else np.asarray(random, dtype=bool)
    order = np.argsort(at)
    labels = given.copy()
    labels[at] = codes
    return labels, Review(given, at[order], drawn[order])


def _certain(p: ArrayLike | None, labels: Labels, review: Review | None) -> Floats | None:
    """Return class probabilities in which the classes of checked rows are certain."""
    if p is None:
        return None
    out = np.array(p, dtype=np.float32)
    if review is not None:
        out[review.rows] = np.eye(out.shape[1], dtype=np.float32)[labels[review.rows]]
    return out


def _of_so_many(late: bool, compared: int, total: int, rows: int) -> str:
    """Say how many of the rows were used, and why."""
    if rows == total:
        return f"settings were compared on {compared:,} rows, and trained on all {total:,}"
    why = "the time was up" if late else "more of them did not help"
    return f"the model was trained on {rows:,} of {total:,} rows: {why}"


def _baseline(folds: Folds, chosen: Chosen, noise: EstimatedTransition) -> Ensemble:
    p, of = chosen.plain.probabilities, folds.problem
    members = folds.keep((chosen.plain.setting,), (1.0,), None)
    return Ensemble(members, sharpness_for(p, of.labels, noise.matrix, of.weights))
