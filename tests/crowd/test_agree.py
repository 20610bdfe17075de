"""Agreeing on labels: who is believed, who is not, and what the features add."""

from dataclasses import replace

import numpy as np
import pytest
from crowds import ask_crowd, blobs, centroids

from noiseproof.crowd.aggregate import METHODS, aggregate
from noiseproof.crowd.answers import Answers
from noiseproof.crowd.with_features import agree
from noiseproof.errors import DataError, ParameterError


def wrong(consensus, true):
    return (consensus.soft.argmax(axis=1) != true).mean()


def joined(*parts):
    """Join the answers of different annotators about the same items."""
    before = np.cumsum([0, *(len(part.names) for part in parts)])
    return Answers(
        np.concatenate([part.item for part in parts]),
        np.concatenate([part.annotator + n for part, n in zip(parts, before, strict=False)]),
        np.concatenate([part.code for part in parts]),
        tuple(f"{k}:{name}" for k, part in enumerate(parts) for name in part.names),
        parts[0].classes,
    )


@pytest.mark.parametrize("features", [False, True])
def test_permuting_annotators_and_answers_changes_nothing(features):
    X, true = blobs(300, 3)
    answers = ask_crowd(true, [0.9, 0.8, 0.6, 0.4, 1 / 3], 2)
    rng = np.random.default_rng(1)
    people, order = rng.permutation(5), rng.permutation(len(answers.item))
    permuted = Answers(
        answers.item[order], people[answers.annotator[order]], answers.code[order],
        tuple(answers.names[k] for k in np.argsort(people)), 3,
    )  # fmt: skip
    predict = centroids(X) if features else None
    one, other = agree(answers, predict), agree(permuted, predict)
    assert np.allclose(one.soft, other.soft, atol=1e-6)
    assert np.allclose(one.annotators.accuracy, other.annotators.accuracy[people], atol=1e-6)


def test_permuting_classes_permutes_the_labels():
    _, true = blobs(300, 3)
    answers = ask_crowd(true, [0.9, 0.8, 0.6, 0.5], 3)
    turned = replace(answers, code=(answers.code + 1) % 3)
    assert np.allclose(np.roll(agree(answers).soft, 1, axis=1), agree(turned).soft, atol=1e-6)


def test_a_perfect_annotator_is_believed():
    _, true = blobs(400, 4)
    poor = ask_crowd(true, [0.45, 0.5, 0.55, 0.5, 0.4], 4, seed=1)
    perfect = ask_crowd(true, [1.0], 1)
    found = agree(joined(poor, perfect))
    assert wrong(agree(poor), true) > 0.1
    assert wrong(found, true) < 0.02
    assert found.annotators.accuracy[-1] > 0.9


def test_a_random_annotator_is_ignored():
    _, true = blobs(400, 4)
    good = ask_crowd(true, [0.8, 0.85, 0.75], 3, seed=1)
    alone = agree(good)
    for seed in (2, 3):
        noise = ask_crowd(true, [0.25], 1, seed=seed)
        found = agree(joined(good, noise))
        assert found.annotators.accuracy[-1] == pytest.approx(0.25, abs=0.08)
        assert (found.soft.argmax(axis=1) != alone.soft.argmax(axis=1)).mean() < 0.04


def test_items_with_one_answer_are_served_by_the_features():
    X, true = blobs(600, 3)
    answers = ask_crowd(true, [0.9, 0.7, 0.6, 0.5, 1 / 3, 1 / 3], 1)
    majority = (answers.votes.argmax(axis=1) != true).mean()
    assert majority > 0.4
    found = agree(answers, centroids(X))
    assert wrong(found, true) < 0.1
    assert not found.cut_short
    assert agree(answers, centroids(X), minutes=0).cut_short


def test_annotators_with_few_answers_are_drawn_towards_the_others():
    _, true = blobs(300, 3)
    many = ask_crowd(true, [0.9, 0.85, 0.8, 0.9], 3)
    few = Answers(np.array([0, 1]), np.array([0, 0]), true[:2], ("new",), 3)
    found = agree(joined(many, replace(few, item=few.item)))
    assert 0.8 < found.annotators.accuracy[-1] < 0.97


def test_rules_that_know_one_answer_are_told_by_when_they_fire():
    """One rule fires everywhere and says nothing; Dawid and Skene would believe it."""
    X, true = blobs(600, 3, spread=0.8)
    rng = np.random.default_rng(0)
    item, rule, code = [np.arange(600)], [np.zeros(600, int)], [np.zeros(600, int)]
    for k in range(3):
        fires = np.flatnonzero(rng.random(600) < np.where(true == k, 0.5, 0.03))
        item.append(fires)
        rule.append(np.full(len(fires), k + 1))
        code.append(np.full(len(fires), k))
    parts = [np.concatenate(part) for part in (item, rule, code)]
    answers = Answers(*parts, ("everywhere", "a", "b", "c"), 3)
    assert answers.one_sided
    assert (answers.votes.argmax(axis=1) != true).mean() > 0.4
    assert wrong(agree(answers, centroids(X)), true) < 0.1


def test_rules_are_not_followed_away_from_their_votes():
    true = np.arange(300) % 3
    rules = Answers(np.arange(300), true, true, ("a", "b", "c"), 3)

    def drifts():
        shares = iter((0.2, 0.25, *[1.0] * 6))  # of the items, predicted to be of another class

        def predict(_):
            moved = np.arange(300) < 300 * next(shares)
            return np.eye(3)[(true + moved) % 3] * 0.97 + 0.01

        return predict

    found = agree(rules, drifts())
    assert (found.soft.argmax(axis=1) == true).mean() > 0.7


def test_annotators_who_err_together_count_for_less():
    _, true = blobs(500, 2)
    apart = ask_crowd(true, [0.8] * 5, 5)
    # All five see the same wrong class in a fifth of the items.
    seen = np.where(np.random.default_rng(0).random(500) < 0.2, 1 - true, true)
    together = ask_crowd(seen, [0.9] * 5, 5)
    easy = np.random.default_rng(1).random(500) < 0.5
    skill = np.where(easy[apart.item], 0.99, 0.55)
    hard = np.random.default_rng(2).random(len(skill)) > skill
    varied = replace(apart, code=np.where(hard, 1 - true[apart.item], true[apart.item]))
    assert agree(apart).news >= 0.9
    assert agree(varied).news < agree(apart).news
    assert together.classes == 2


def test_an_answer_that_was_never_given_and_items_of_one_class():
    answers = Answers(np.arange(4), np.array([0, 0, 1, 1]), np.zeros(4, int), ("a", "b"), 3)
    found = agree(answers)
    assert np.isfinite(found.soft).all()
    assert (found.soft.argmax(axis=1) == 0).all()


def test_answers_that_do_not_fit_each_other_are_refused():
    with pytest.raises(DataError, match="at least one for each item"):
        Answers(np.array([0, 2]), np.array([0, 0]), np.array([0, 1]), ("a",), 2)
    with pytest.raises(DataError, match="there are none"):
        Answers(*(np.array([], dtype=np.int64),) * 3, (), 2)


def test_unknown_methods_are_refused_by_name():
    answers = ask_crowd(blobs(20, 2)[1], [0.9, 0.9], 2)
    with pytest.raises(ParameterError, match="did you mean 'majority'"):
        aggregate(answers, "majorty")


@pytest.mark.parametrize(("classes", "each"), [(2, 3), (2, 5), (5, 2), (5, 3), (5, 5)])
def test_a_majority_is_as_likely_right_as_it_says_and_so_are_the_answers(classes, each):
    true = np.random.default_rng(0).integers(0, classes, 1000)
    answers = ask_crowd(true, np.linspace(0.55, 0.9, 10), each, seed=1)
    soft = aggregate(answers, "majority")
    votes, told = answers.votes, soft.argmax(axis=1)
    assert (votes[np.arange(1000), told] == votes.max(axis=1)).all()
    assert soft.max(axis=1).mean() == pytest.approx((told == true).mean(), abs=0.03)
    right = (answers.code == true[answers.item]).mean()
    assert soft[answers.item, answers.code].mean() == pytest.approx(right, abs=0.03)


@pytest.mark.parametrize("method", METHODS)
def test_single_answers_do_not_tell_who_is_right(method):
    answers = ask_crowd(blobs(300, 3)[1], [0.9, 0.5, 0.4], 1)
    pytest.importorskip("crowdkit")
    with pytest.raises(DataError, match="no item has two answers"):
        aggregate(answers, method)


@pytest.mark.parametrize("method", ["majority", "dawid-skene", "one-coin"])
def test_the_methods_of_crowd_kit(method):
    pytest.importorskip("crowdkit")
    _, true = blobs(200, 3)
    answers = ask_crowd(true, [0.9, 0.8, 0.7, 0.4], 3)
    soft = aggregate(answers, method)
    assert soft.shape == (200, 3)
    assert np.allclose(soft.sum(axis=1), 1)
    theirs = (soft.argmax(axis=1) != true).mean()
    assert wrong(agree(answers), true) <= theirs + 0.02
    if method == "majority":
        best = answers.votes.max(axis=1)
        assert (answers.votes[np.arange(200), soft.argmax(axis=1)] == best).all()
    assert method in METHODS
