"""Rows of one group are never both trained on and held out, whatever is learnt and however."""

import numpy as np
import pytest
from numpy.typing import NDArray

from noiseproof.errors import DataError
from noiseproof.learn import grow
from noiseproof.learn import learn as learning
from noiseproof.learn.folds import deal, joined, with_copies
from noiseproof.learn.learn import learn
from noiseproof.learn.learner import Problem
from noiseproof.learn.learners import registry
from noiseproof.learn.learners.boosting import LEAST_HELD_OUT, _held_out
from noiseproof.learn.learners.discriminant import _Moments

GROUPS, EACH = 60, 6


def memorable() -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return rows that tell their group and no class, labels drawn for each group, and groups."""
    numbers = np.random.default_rng(1)
    group = np.repeat(np.arange(GROUPS), EACH)
    X = numbers.normal(size=(GROUPS, 8))[group] + 0.01 * numbers.normal(size=(len(group), 8))
    return X.astype(np.float32), (np.arange(GROUPS) % 2)[numbers.permutation(GROUPS)][group], group


def held_out_accuracy(learner: str, groups: NDArray[np.int64] | None) -> float:
    X, y, _ = memorable()
    learned = learn(X, y, 2, learners=[learner], groups=groups)
    return float((learned.probabilities.argmax(axis=1) == y).mean())


@pytest.mark.parametrize("learner", [name for name in registry if name != "bayes"])
def test_no_learner_predicts_a_group_that_it_has_not_seen(learner: str) -> None:
    if registry[learner].missing() is not None:
        pytest.skip("not installed")
    assert held_out_accuracy(learner, memorable()[2]) < 0.65


def test_without_groups_the_same_rows_are_remembered() -> None:
    assert held_out_accuracy("neighbours", None) > 0.95


@pytest.mark.parametrize("learner", ["neighbours", "linear", "discriminant"])
def test_rows_beside_a_sample_are_predicted_without_their_group(
    monkeypatch: pytest.MonkeyPatch, learner: str
) -> None:
    X, y, group = memorable()
    monkeypatch.setattr(learning, "rows_to_compare", lambda shape: len(y) // 2)
    monkeypatch.setattr(learning, "more_rows_help", lambda folds, chosen: False)
    learned = learn(X, y, 2, learners=[learner], groups=group)
    assert learned.rows < len(y)
    assert (learned.probabilities.argmax(axis=1) == y).mean() < 0.65
    assert (learned.plainly == y).mean() < 0.65


def test_a_group_that_is_not_in_the_sample_is_predicted_by_the_whole_model() -> None:
    X, y, group = memorable()
    problem = Problem(X, y, 2, np.ones(len(y)), copies=group)
    kept = np.flatnonzero(group >= 30)[::2]
    part, _ = grow.sampled(problem, len(y))
    assert np.array_equal(part.copies, group)
    few = grow.Rest(problem, None, kept, np.arange(len(y)))  # type: ignore[arg-type]
    near = few._in_sample(group)
    assert (near[group < 30] == -1).all()
    assert np.array_equal(group[kept][near[group >= 30]], group[group >= 30])


@pytest.mark.parametrize("seed", range(5))
def test_folds_share_rows_and_classes_evenly_though_groups_differ_in_size(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    group = np.repeat(np.arange(80), numbers.integers(1, 40, size=80))
    y = (numbers.random(80) < 0.4).astype(np.int64)[group]
    fold = deal(y, 5, seed, group)
    assert np.array_equal(fold, with_copies(fold, group))
    share = np.bincount(fold) / len(fold)
    assert share.min() > 0.14
    assert share.max() < 0.26
    ones = np.bincount(fold, weights=y) / y.sum()
    assert ones.min() > 0.12
    assert ones.max() < 0.28


def test_copies_link_groups_unless_they_would_link_most_rows() -> None:
    group = np.arange(100) // 2
    assert len(np.unique(joined(np.arange(100), group))) == 50
    copies = np.arange(100)
    copies[99] = 0  # one row of the last group is a copy of one of the first
    of = joined(copies, group)
    assert of[0] == of[1] == of[98] == of[99]
    assert len(np.unique(of)) == 49
    assert len(np.unique(joined(np.arange(100) % 3, group))) == 50
    assert len(np.unique(joined(np.arange(99) // 3, np.arange(99)))) == 33  # each of its own group


@pytest.mark.parametrize("groups", [2, 3])
def test_few_groups_are_held_out_one_by_one(groups: int) -> None:
    X, y, group = memorable()
    few = group % groups
    for learner in ("discriminant", "boosting"):
        if registry[learner].missing() is None:
            learned = learn(X, y, 2, learners=[learner], groups=few)
            assert np.isfinite(learned.probabilities).all()
    with pytest.raises(DataError, match="one group"):
        learn(X, y, 2, groups=np.zeros(len(y)))


@pytest.mark.parametrize("sizes", [(100,) * 5, (300, 20, 20), (1,) * 200, (500, 5), (30,)])
def test_boosting_holds_out_whole_groups_and_never_most_rows(sizes: tuple[int, ...]) -> None:
    group = np.repeat(np.arange(len(sizes)), sizes)
    for seed in range(20):
        drawn = np.random.default_rng(seed).random(len(sizes))[group]
        inside = _held_out(drawn)
        assert np.array_equal(inside, with_copies(inside, group))
        assert inside.mean() <= 0.5
        if sizes in ((100,) * 5, (1,) * 200):
            assert inside.sum() >= LEAST_HELD_OUT


def test_discriminant_deals_groups_into_parts_of_which_none_is_all_rows() -> None:
    X, y, group = memorable()
    for few in (group, group % 3, group % 2, np.zeros_like(group)):
        problem = Problem(X, y, 2, np.ones(len(y)), copies=few)
        directions = problem.matrix("standard").directions(0)
        moments = _Moments(directions, problem.weights, 8, few, 0)
        assert all(part.stop - part.start < len(y) for part in moments.parts)
        if len(np.unique(few)) > 1:
            inside = [set(few[moments.rows[part]].tolist()) for part in moments.parts]
            assert sum(map(len, inside)) == len(np.unique(few))
