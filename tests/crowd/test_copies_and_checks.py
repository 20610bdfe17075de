"""Copies of items, and items that a person has checked."""

import numpy as np
import pytest
from crowds import ask_crowd, blobs, centroids

from noiseproof.crowd.answers import Answers
from noiseproof.crowd.with_features import Checked, agree


def certainty_and_accuracy(soft, true):
    return soft.max(axis=1).mean(), (soft.argmax(axis=1) == true).mean()


def repeated(answers, times):
    """Return the answers about ``times`` copies of each item, one after the other."""
    item = (answers.item[:, None] * times + np.arange(times)).ravel()
    people, code = (np.repeat(part, times) for part in (answers.annotator, answers.code))
    return Answers(item, people, code, answers.names, answers.classes)


def test_copies_of_an_item_are_known_by_their_answers():
    _, true = blobs(200, 4)
    answers = ask_crowd(true, [0.7] * 40, 3)
    copies = repeated(answers, 5).copies()
    assert (copies.reshape(200, 5) == copies[::5, None]).all()
    assert len(np.unique(copies[::5])) > 190  # other items had other people
    parts = repeated(answers, 5).parts()
    assert (parts.reshape(200, 5) == parts[::5, None]).all()
    assert np.bincount(parts).min() > 100


def test_items_that_few_people_answer_alike_are_no_copies():
    _, true = blobs(300, 3)
    answers = ask_crowd(true, [0.9, 0.9, 0.9], 3)
    copies = answers.copies()
    sure = (answers.votes == 3).any(axis=1)
    assert len(np.unique(copies[sure])) == sure.sum()


@pytest.mark.parametrize("times", [1, 4])
def test_certainties_hold_for_people_with_few_answers_and_for_copies(times):
    """An annotator known by little but the answer in question would explain it, right or wrong."""
    rng = np.random.default_rng(0)
    X, true = blobs(400, 4, spread=1.6)
    answers = repeated(ask_crowd(true, rng.uniform(0.4, 0.9, 80), 1), times)
    X = np.repeat(X, times, axis=0) + 0.1 * rng.normal(size=(400 * times, 6))
    found = agree(answers, centroids(X, of=answers.parts()))
    sure, right = certainty_and_accuracy(found.soft, np.repeat(true, times))
    assert right > (answers.votes.argmax(axis=1) == np.repeat(true, times)).mean() + 0.1
    assert abs(sure - right) < 0.06


def liars(rows=600):
    """Return true classes, and the answers of one honest person and of two who lie alike."""
    true = np.arange(rows) % 3
    rng = np.random.default_rng(0)
    lie = np.where(rng.random(rows) < 0.7, (true + 1) % 3, true)
    honest = np.where(rng.random(rows) < 0.95, true, (true + 2) % 3)
    said = np.stack([honest, lie, lie], axis=1)
    item, who = np.nonzero(said >= 0)
    return true, Answers(item, who, said[item, who], ("honest", "lie", "too"), 3)


def test_checked_items_tell_who_is_right():
    true, answers = liars()
    rows = np.arange(0, 600, 10)
    checked = Checked(rows, true[rows], np.ones(60, dtype=bool))
    without, given = agree(answers), agree(answers, checked=checked)
    others = np.setdiff1d(np.arange(600), rows)
    wrong = [(one.soft.argmax(axis=1) != true)[others].mean() for one in (without, given)]
    assert wrong[0] > 0.5
    assert given.annotators.accuracy[0] > without.annotators.accuracy[0] + 0.05
    assert (given.soft[rows].argmax(axis=1) == true[rows]).all()
    assert (given.soft[rows].max(axis=1) == 1).all()
    assert (given.free[rows].max(axis=1) < 1).all()


def test_checked_items_tell_how_sure_to_be():
    """Five people see the same wrong class in a fifth of the items: no answer can show it."""
    rng = np.random.default_rng(0)
    true = np.arange(1000) % 2
    seen = np.where(rng.random(1000) < 0.2, 1 - true, true)
    answers = ask_crowd(seen, [0.95] * 5, 5, classes=2)
    rows = rng.permutation(1000)[:80]
    off = []
    for checked in (None, Checked(rows, true[rows], np.ones(80, dtype=bool))):
        sure, right = certainty_and_accuracy(agree(answers, checked=checked).soft, true)
        off.append(sure - right)
    assert off[0] > 0.15
    assert abs(off[1]) < 0.08
    doubtful = Checked(rows, true[rows], np.zeros(80, dtype=bool))  # stand for nothing else
    assert certainty_and_accuracy(agree(answers, checked=doubtful).free, true)[0] > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_a_check_says_nothing_of_its_own_item_where_it_measures(seed):
    """Below 100 items, answers alone decide: labels seemed to be right ten points too often."""
    _, true = blobs(40, 3)
    answers = ask_crowd(true, [0.6] * 8, 2, seed)
    rows = np.arange(0, 40, 2)
    one, other = (
        agree(answers, checked=Checked(rows, codes, np.ones(20, dtype=bool)))
        for codes in (true[rows], np.where(rows == 8, (true[rows] + 1) % 3, true[rows]))
    )
    assert (one.free[8] == other.free[8]).all()
    assert not np.allclose(one.free, other.free)
