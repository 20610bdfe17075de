"""Checked rows: they are trained on as they are, and those drawn at random judge."""

from types import SimpleNamespace

import numpy as np
import pytest

from noiseproof.learn.choice import choose
from noiseproof.learn.learn import learn
from noiseproof.learn.learner import Problem
from noiseproof.learn.learners.linear import Linear
from noiseproof.learn.learners.trees import Trees
from noiseproof.learn.posterior import Posterior
from noiseproof.learn.review import SOUND, UNSOUND, Review, stakes
from noiseproof.learn.trials import Folds, Setting, Trial


@pytest.mark.parametrize("count", [1, 20, 60, 500])
@pytest.mark.parametrize("misled", [SOUND, UNSOUND])
def test_stakes_sum_to_one_and_judges_never_count_less_than_other_rows(count, misled):
    weights = np.random.default_rng(0).random(1000) + 0.5
    share = stakes(weights, np.arange(count), misled)
    assert share.sum() == pytest.approx(1)
    each = share / weights
    assert np.ptp(each[:count]) < 1e-12
    assert np.ptp(each[count:]) < 1e-12
    assert each[0] >= each[-1] - 1e-12


def test_more_judges_and_worse_labels_give_the_judges_more_say():
    weights = np.ones(5000)
    say = [stakes(weights, np.arange(n), SOUND)[:n].sum() for n in (20, 60, 300)]
    assert say == sorted(say)
    assert stakes(weights, np.arange(60), UNSOUND)[:60].sum() > 2 * say[1]


def test_a_review_of_some_rows_has_the_same_rows_and_labels():
    given = np.arange(100) % 7
    review = Review(given, np.array([3, 40, 41, 99]), np.array([True, False, True, True]))
    kept = np.array([0, 3, 41, 50, 99])
    part = review.within(kept)
    assert kept[part.rows].tolist() == [3, 41, 99]
    assert part.random.all()
    assert (part.given == given[kept]).all()


def rivals(noisy: tuple[int, int], true: tuple[int, int], misled: float, units=None) -> str:
    """Return which of two trials is chosen, by how many of 940 noisy and 60 checked rows are
    right for each."""
    labels = np.zeros(1000, dtype=np.int64)
    judges = np.arange(60)
    review = Review(labels, judges, np.ones(60, dtype=bool))
    problem = Problem(np.zeros((1000, 1)), labels, 2, np.ones(1000, np.float32), review=review)
    folds = Folds(problem, np.arange(1000) % 5, misled=misled, units=units)
    trials = []
    for name, k, checked in zip((Linear("CE", 1e-3), Trees()), noisy, true, strict=True):
        right = np.zeros(1000)
        right[:checked], right[60 : 60 + k] = 1, 1
        p = np.stack([right, 1 - right], axis=1).astype(np.float32)
        trials.append(Trial(Setting(name), p, right, folds.share(5), 0.0))
    noise = SimpleNamespace(rate=0.3, rate_interval=(0.2, 0.4), clean_level_interval=(1.0, 2.0))
    chosen = choose(folds, trials, None, noise)
    assert chosen.checked.sum() in true
    return chosen.settings[0].learner.name


@pytest.mark.parametrize("each", [3, 1000])
def test_checked_rows_that_belong_together_judge_what_none_of_them_chose(each, monkeypatch):
    unit, halves = np.arange(1000) // each, []
    share = Folds.share

    def seen(self, folds, but=None):
        halves.extend([] if but is None else [but])
        return share(self, folds, but)

    monkeypatch.setattr(Folds, "share", seen)
    rivals((700, 660), (50, 58), UNSOUND, unit)
    assert sorted(np.concatenate(halves)) == list(range(60))
    of = [set(unit[half]) for half in halves]
    assert sum(map(len, of)) == len(set().union(*of))


def test_checked_rows_overrule_noisy_labels_where_those_may_mislead():
    # As on a crowd-labelled set: 4 points fewer of the noisy labels, 13 more of the true ones.
    assert rivals((700, 660), (50, 58), UNSOUND) == "trees"
    assert rivals((700, 500), (57, 58), UNSOUND) == "linear"
    assert rivals((700, 660), (55, 56), SOUND) == "linear"


def test_the_label_of_a_checked_row_is_certain_and_says_nothing_about_the_noise():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=600)
    p = np.full((600, 3), 0.1)
    p[np.arange(600), labels] = 0.8
    wrong = np.arange(60)
    labels[wrong] = (labels[wrong] + 1) % 3
    known = np.zeros(600, dtype=bool)
    known[:30] = True
    found = Posterior.of(p, labels, known=known)
    assert (found.true[:30] == np.eye(3)[labels[:30]]).all()
    np.testing.assert_array_equal(found.noise, Posterior.of(p[30:], labels[30:]).noise)


def test_learning_with_checked_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 5)).astype(np.float32)
    true = (X[:, 0] > 0).astype(np.int64)
    given = np.where(rng.random(600) < 0.3, 1 - true, true)
    rows = rng.choice(600, 100, replace=False)
    learned = learn(X, given, 2, trusted=(rows, true[rows]), learners="linear")
    assert (learned.labels == given).all()
    assert len(learned.checked) == 100
    assert learned.checked.mean() > 0.9
    assert not np.isin(learned.suspects().rows, rows).any()
    alone = learn(X, given, 2, learners="linear")
    low, high = learned.estimate.rate_interval
    assert low < (given != true).mean() < high
    assert high - low < np.ptp(alone.estimate.rate_interval)


def test_rows_that_were_not_drawn_at_random_do_not_judge():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).astype(np.float32)
    true = (X[:, 0] > 0).astype(np.int64)
    rows = np.arange(50)
    random = np.zeros(50, dtype=bool)
    learned = learn(X, true, 2, trusted=(rows, true[rows]), random=random, learners="linear")
    assert learned.checked is None


def test_where_every_row_was_checked_nothing_is_sharpened():
    p, labels = np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([0, 1])
    found = Posterior.of(p, labels, known=np.ones(2, dtype=bool))
    assert found.p == pytest.approx(p)
    assert (found.true == np.eye(2)).all()


@pytest.mark.parametrize("rows", [60, 99, 120])
def test_checked_rows_measure_however_few_rows_there_are(rows):
    rng = np.random.default_rng(0)
    true = np.arange(rows) % 2
    X = (rng.normal(size=(rows, 2)) + 4 * true[:, None]).astype(np.float32)
    checked = np.arange(20), true[:20]
    learned = learn(X, true, 2, learners=["linear"], minutes=0, trusted=checked)
    assert learned.checked is not None
    assert len(learned.checked) == 20
    assert learned.checked.mean() > 0.9
