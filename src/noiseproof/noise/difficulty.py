"""Noise or difficulty? What a classifier's agreement with the labels says about both.

A held-out prediction disagrees with a label because the label is wrong or because the prediction
is. Only the prediction's mistakes get rarer as its confidence grows:

    P(disagree | x) = 1 - (1 - e)(1 - r) - coincidence * e * r
    e(x) = 1 - max softmax(sharpness * log p(x))
    r(x) = rate * (1 - lean + lean * e(x) / mean of e)

The sharpness is free: a classifier may be over- or underconfident. So is how far the noise leans
towards hard rows, and how often two mistakes agree. A grid of all four is weighed by the likelihood
of what was seen: where the data cannot tell noise from difficulty, the posterior is wide.

Three things the likelihood cannot show are left open: whether a class is hard or its labels are
noisy, how many labels are wrong where the classifier errs in the same way, and whether a classifier
that hardly learned anything is to blame for everything. Their weights, and that of the confident
joint as a second opinion, were set once, on the sets of benchmarks/estimate_noise.py.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noiseproof.noise.labels import Integers
from noiseproof.noise.matrix import Doubles
from noiseproof.noise.predicted import Rows

FEW = 20  # rows of a class that is too small to tell
_MOST = 50_000  # rows that the curve is drawn from
_BINS = 40
_FLAT = 20  # rows of the average class that each class's scale is shrunk with
_SHARPNESS = np.exp(np.linspace(np.log(0.05), np.log(40), 24))
_USUAL, _SPREAD = np.log(2.0), 1.5  # of log sharpness, in medians of the margin
#: The rate in steps of a fortieth of the largest. Between the first two, where one label in a
#: hundred is wrong, by doubling: a rate of 0 would call all that is missed difficult.
_STEPS = np.concatenate([[0], 0.5 ** np.arange(4, 0, -1), np.arange(1, 40)])
_CLEAN = 6.0  # times as likely as a whole step: that no label is wrong
_COINCIDENCE = (0.3, 0.7)  # besides the chance of it
#: How far the noise leans towards rows that are hard for the classifier.
_LEAN = (0.0, 0.35, 0.7)
#: No more rows than this speak: the model is only nearly true, and many rows do not make it truer.
_ROWS = 1_500
#: Labels that are wrong where the classifier errs too do not show: their number, as a share of its
#: mistakes. Anything goes where labels and classifier confuse the same classes.
_SHARED = (0.0, 0.25, 0.5)
_CLASSWISE = 0.6  # the weight of margins on the scale of their class, beside those as they are
_SECOND = 0.6  # the weight of the second opinion, times how far noise looks like difficulty
_OF_TWO = 0.75
_SKILL = 0.5  # (Cohen's kappa) of a classifier that cannot be at fault for all disagreement
_MOSTLY = 0.6  # of what it misses is difficult: then the classifier may be at fault for all
_SEEMS = 0.5  # how likely that is if all of it is difficult
_ENOUGH = 100  # rows per class: with twice as many, confidence shows which rows are hard
_BLIND = 0.2  # below this, it may be whatever the labels are


@dataclass(frozen=True)
class Posterior:
    """A weighted grid of what may be.

    Args:
        rate: (G,) the share of wrong labels.
        seen: (G,) the part of it that shows where the classifier is sure.
        accuracy: (G,) of the classifier, on true labels.
        sharpness: (G,) by which log p is multiplied; NaN where the grid does not say.
        weight: (G,) sums to one.
    """

    rate: Doubles
    seen: Doubles
    accuracy: Doubles
    sharpness: Doubles
    weight: Doubles

    def mean(self, values: Doubles) -> float:
        """Return the posterior mean of one of the fields."""
        known = np.isfinite(values)
        return float(self.weight[known] @ values[known] / max(self.weight[known].sum(), 1e-300))


def posterior(
    given: Integers, rows: Rows, speaking: float = 1.0, difficult: float = 0.0
) -> Posterior:
    """Return what the labels and the predictions say of rate and accuracy.

    Args:
        given: (N,) labels.
        rows: what the classifier says.
        speaking: what a row counts; below 1 where rows belong together.
        difficult: the share of what the classifier misses that may be difficulty, as is seen from
            outside: more rows would teach it, or it lies in one part of the rows.
    """
    disagree = rows.predicted != given
    every = np.arange(len(given))
    if len(given) > _MOST:
        every = np.linspace(0, len(given) - 1, _MOST).astype(np.int64)
    odds, predicted, wrong = rows.odds[every], rows.predicted[every], disagree[every]
    scale = max(float(np.median(odds[:, 1])), 1e-9)
    alike, at_most = confusable(given, rows)
    shared = np.array(_SHARED) * alike
    parts: list[tuple[Doubles, ...]] = []
    for weight, unit in (
        (_CLASSWISE, _class_scale(odds[:, 1], predicted, rows.classes, scale)),
        (1 - _CLASSWISE, np.full(rows.classes, scale)),
    ):
        part = _weighed(odds / unit[predicted][:, None], wrong, rows.classes, shared, speaking)
        sharpness = part.sharpness / scale
        parts.append((part.rate, part.seen, part.accuracy, sharpness, weight * part.weight))
    # Noise at random shows by itself; a second opinion is for noise that looks like difficulty.
    weight, second = _SECOND * alike, confident_rate(given, rows)
    others = [(0 * r + second, 0 * r + second, *rest, weight * w) for r, _, *rest, w in parts]
    parts = [(*rest, (1 - weight) * w) for *rest, w in parts] + others
    missed = float(disagree.mean())
    difficult = max(difficult, _hidden(disagree, rows))
    seems = _SEEMS * max(difficult - _MOSTLY, 0.0) / (1 - _MOSTLY)
    small = _small(given, rows, alike)
    fault = max(_fault(missed, given, rows, at_most), seems, small)
    if fault:
        n, rate = len(shared), shared * missed
        blank = np.zeros(n), np.full(n, 1 - missed), np.full(n, np.nan)
        parts = [(*rest, (1 - fault) * w) for *rest, w in parts]
        parts.append((rate, *blank, np.full(n, fault / n)))
    return Posterior(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def confident_rate(given: Integers, rows: Rows) -> float:
    """Return a second estimate of the rate, from the rows that are predicted confidently.

    These are predicted at least as confidently as is usual for the class. A class's usual
    probability is the mean over the rows with that label; each label counts by its frequency. This
    is the confident joint of Northcutt et al., JAIR 2021, but for the classes after the first.
    """
    K = rows.classes
    every = np.bincount(given, minlength=K)
    usual = np.bincount(given, rows.own, K) / np.maximum(every, 1)
    sure = 1 / np.exp(-rows.odds).sum(axis=1) >= usual[rows.predicted]
    counted = np.bincount(given[sure], minlength=K)
    wrong = np.bincount(given[sure], rows.predicted[sure] != given[sure], K)
    return float(every @ (wrong / np.maximum(counted, 1)) / len(given))


def confusable(given: Integers, rows: Rows) -> tuple[float, float]:
    """Return how far wrong labels are the classifier's second choice: 1 if all, 0 if by chance.

    By the surer half of the rows, where most disagreement is the label's fault. Among two classes
    there is no telling. The second number is the most that it may be, by so few rows.
    """
    if rows.classes == 2:
        return _OF_TWO, _OF_TWO
    margin = rows.odds[:, 1]
    wrong = (rows.predicted != given) & (margin >= np.median(margin))
    near = float(rows.near[wrong].sum())
    count, chance = int(wrong.sum()) + 5, 1 / (rows.classes - 1)
    share = (near + 2.5) / count
    shares = np.array([share, share + 2 * np.sqrt(share * (1 - share) / count)])
    mean, most = np.sqrt(np.clip((shares - chance) / (1 - chance), 0, 1))
    return float(mean), float(most)


def _fault(missed: float, given: Integers, rows: Rows, alike: float) -> float:
    """Return how likely it is that the classifier, and not the labels, is wrong in all it misses.

    One that hardly beats guessing may be, unless the labels it misses are surely none that it
    considered. So may one that hardly beats guessing between its two likeliest classes (it tells
    species apart, but not their breeds), unless there are many rows of each class: then its
    confidence shows which rows are hard. Few rows of which many are labelled as one other class
    look the same.
    """
    shares = (np.bincount(codes, minlength=rows.classes) for codes in (given, rows.predicted))
    by_chance = 1 - float(np.dot(*shares)) / len(given) ** 2
    skill = 1 - missed / by_chance if by_chance > 0 else 1.0
    second = float(rows.near.sum())
    of_two = 1 - 2 * second / max(second + (1 - missed) * len(given), 1.0)
    few = float(np.clip(2 - len(given) / (_ENOUGH * rows.classes), 0, 1))
    weak, unsure, blind = (
        float(np.clip(1 - part / least, 0, 1))
        for part, least in ((skill, _SKILL), (of_two, _SKILL), (skill, _BLIND))
    )
    weak = max(weak, few * unsure)
    return max(0.5 * weak * alike, 0.9 * blind)


def _hidden(disagree: NDArray[np.bool_], rows: Rows) -> float:
    """Return the share of what the classifier misses among the rows it is surest of, all alike.

    Which of these are difficult it does not show, as where its probabilities are all 0 or 1.
    """
    margin = rows.odds[:, 1]
    surest = margin >= margin.max() * (1 - 1e-9)
    return float(disagree[surest].sum()) / max(float(disagree.sum()), 1.0)


def _small(given: Integers, rows: Rows, alike: float) -> float:
    """Return how likely it is that classes of a handful of rows are all there is to blame.

    Where one class ends and the next begins, as between grades, takes more rows to learn; what is
    missed then is the runner-up.
    """
    if rows.classes == 2:
        return 0.0
    sizes = np.bincount(given, minlength=rows.classes)
    return 0.5 * float(sizes[sizes < FEW].sum()) / len(given) * max(2 * alike - 1, 0.0)


def _class_scale(margin: Doubles, predicted: Integers, classes: int, usual: float) -> Doubles:
    """Return (K,) the median margin of each predicted class, small classes near the usual one.

    Labels of one class that are often wrong make the classifier less confident in it, which is not
    difficulty: on the class's own scale that cancels.
    """
    order = np.lexsort((margin, predicted))
    sizes = np.bincount(predicted, minlength=classes)
    middle = np.cumsum(sizes) - sizes + sizes // 2
    median = np.where(sizes > 0, margin[order[np.minimum(middle, len(order) - 1)]], usual)
    return np.asarray((sizes * median + _FLAT * usual) / (sizes + _FLAT))


def _weighed(
    odds: Doubles, disagree: NDArray[np.bool_], classes: int, shared: Doubles, speaking: float
) -> Posterior:
    """Return the posterior for margins in units of their median."""
    n = len(odds)
    order = np.argsort(np.exp(-odds).sum(axis=1), kind="stable")
    starts = np.unique(np.linspace(0, n, min(_BINS, max(2, n // 10)), endpoint=False).astype(int))
    # Rows that look alike are in one bin, else the order of the file would decide which are where.
    spread = np.exp(-odds).sum(axis=1)[order]
    starts = np.unique(np.searchsorted(spread, spread[starts]))
    sizes = np.diff(np.append(starts, n))
    missed = np.add.reduceat(disagree[order].astype(np.float64), starts)
    sorted_odds = odds[order]
    mistakes = np.stack(
        [
            np.add.reduceat(1 - 1 / np.exp(-s * sorted_odds).sum(axis=1), starts) / sizes
            for s in _SHARPNESS
        ]
    )
    chance = 1 / (classes - 1)
    coincidence = np.array([1.0]) if classes == 2 else np.array([chance, *_COINCIDENCE])
    steps = np.arange(len(_STEPS))
    axes = np.arange(len(_SHARPNESS)), steps, coincidence, np.array(_LEAN)
    s, step, same, lean = (grid.ravel() for grid in np.meshgrid(*axes, indexing="ij"))
    rate = _STEPS[step] / 40 * (1 - 1 / classes)
    e = mistakes[s]
    mean = np.maximum(e @ sizes / n, 1e-12)[:, None]
    r = rate[:, None] * (1 + lean[:, None] * (e / mean - 1))
    r = np.minimum(r, 0.9 * (1 - 1 / classes))
    p = np.clip(1 - (1 - e) * (1 - r) - same[:, None] * e * r, 1e-3, 1 - 1e-5)
    log_weight = (missed * np.log(p) + (sizes - missed) * np.log1p(-p)).sum(axis=1)
    log_weight *= min(speaking, _ROWS / n)
    log_weight += np.log(np.where(step == 0, _CLEAN, np.gradient(_STEPS)[step]))
    log_weight -= 0.5 * ((np.log(_SHARPNESS[s]) - _USUAL) / _SPREAD) ** 2
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    rate, accuracy = r @ sizes / n, 1 - mean[:, 0]
    kept = weight > 1e-6
    seen, right = (np.repeat(column[kept], len(shared)) for column in (rate, accuracy))
    unseen = np.tile(shared, int(kept.sum())) * (1 - right)
    return Posterior(
        np.minimum(seen + unseen, 1.0),
        seen,
        right,
        np.repeat(_SHARPNESS[s[kept]], len(shared)),
        np.repeat(weight[kept] / weight[kept].sum() / len(shared), len(shared)),
    )


def interval(
    values: Doubles, weight: Doubles, rows: float, level: float = 0.95
) -> tuple[float, float]:
    """Return the shortest interval that holds ``level`` of the weight.

    Widened by what the share among so many rows differs from its expectation by chance.
    """
    cells = 400
    mass = np.bincount(np.minimum((values * cells).astype(int), cells - 1), weight, cells)
    middle = (np.arange(cells) + 0.5) / cells
    mean = float(mass @ middle)
    sigma = max(np.sqrt(mean * (1 - mean) / rows), 0.5 / cells)
    reach = np.arange(cells)
    kernel = np.exp(-0.5 * ((reach[:, None] - reach) / cells / sigma) ** 2)
    mass = (kernel / kernel.sum(axis=0)) @ mass
    order = np.argsort(-mass, kind="stable")
    held = order[: int(np.searchsorted(np.cumsum(mass[order]), level)) + 1]
    return float(held.min() / cells), float((held.max() + 1) / cells)
