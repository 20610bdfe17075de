"""The table of annotators, and the items to ask about again."""

from dataclasses import replace

import numpy as np
import pytest
from crowds import ask_crowd, blobs, centroids

from noiseproof.crowd.answers import Answers
from noiseproof.crowd.ask import ask
from noiseproof.crowd.judged import AGAINST, RANDOM, SAME, judge
from noiseproof.crowd.with_features import agree


def counts(answers):
    return np.bincount(answers.annotator).astype(float)


def test_spammers_are_named_and_others_are_not():
    _, true = blobs(600, 3)
    answers = ask_crowd(true, [0.9, 0.85, 0.8, 0.7, 1 / 3, 0.8, 0.02], 5)
    same = answers.annotator == 5
    answers = Answers(
        answers.item, answers.annotator, np.where(same, 1, answers.code), answers.names, 3
    )
    table = judge(answers, agree(answers))
    verdicts = {one.name: one.verdict for one in table}
    assert [one.confused for one in table if one.verdict == SAME] == [()]
    assert verdicts == {
        "w0": "", "w1": "", "w2": "", "w3": "", "w4": RANDOM, "w5": SAME, "w6": AGAINST,
    }  # fmt: skip


def test_few_answers_are_no_reason_for_a_verdict():
    _, true = blobs(300, 3)
    answers = ask_crowd(true, [0.9, 0.9, 0.9], 2)
    more = Answers(
        np.append(answers.item, [0, 1, 2]), np.append(answers.annotator, [3, 3, 3]),
        np.append(answers.code, (true[:3] + 1) % 3), (*answers.names, "new"), 3,
    )  # fmt: skip
    new = next(one for one in judge(more, agree(more)) if one.name == "new")
    assert new.verdict == ""
    assert new.high - new.low > 0.2


def test_annotators_who_all_agree_have_an_interval():
    _, true = blobs(60, 3)
    answers = ask_crowd(true, [1.0, 1.0, 1.0], 3)
    for one in judge(answers, agree(answers)):
        assert 0.9 < one.low < one.accuracy <= one.high <= 1


def test_intervals_hold_the_true_accuracy():
    inside = []
    for seed in range(4):
        X, true = blobs(500, 3, seed=seed)
        answers = ask_crowd(true, np.linspace(0.4, 0.95, 20), 2, seed=seed)
        right = np.bincount(answers.annotator, answers.code == true[answers.item])
        share = dict(zip(answers.names, right / counts(answers), strict=True))
        table = judge(answers, agree(answers, centroids(X)))
        inside += [one.low <= share[one.name] <= one.high for one in table]
    assert np.mean(inside) > 0.9


def test_answers_about_items_that_belong_together_say_less_of_an_annotator():
    _, true = blobs(600, 3)
    answers = ask_crowd(true, [0.95, 0.95, 0.95, 0.95, 0.95], 5)
    document = np.arange(600) // 20
    rng = np.random.default_rng(1)
    hard = rng.random((30, 5)) < 0.3  # each finds documents of their own hard, as a whole
    missed = hard[document[answers.item], answers.annotator]
    code = np.where(missed, (true[answers.item] + 1) % 3, answers.code)
    plain = Answers(answers.item, answers.annotator, code, answers.names, 3)
    grouped = replace(plain, groups=document)
    consensus = agree(grouped)
    wide = [one.high - one.low for one in judge(grouped, consensus)]
    narrow = [one.high - one.low for one in judge(plain, consensus)]
    assert min(np.divide(wide, narrow)) > 2
    assert max(len(set(grouped.parts()[document == d])) for d in range(30)) == 1


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_few_groups_of_items_leave_every_annotator_an_estimate(groups):
    X, true = blobs(60, 3)
    answers = replace(ask_crowd(true, [0.9, 0.8, 0.7], 2), groups=np.arange(60) % groups)
    for one in judge(answers, agree(answers, centroids(X))):
        assert 0 <= one.low <= one.accuracy <= one.high <= 1


def test_the_pair_of_classes_that_an_annotator_confuses():
    _, true = blobs(600, 3)
    answers = ask_crowd(true, [0.9, 0.9, 0.9, 1.0], 4)
    rng = np.random.default_rng(0)
    taken = (answers.annotator == 3) & (answers.code == 2) & (rng.random(len(answers.item)) < 0.4)
    answers = Answers(
        answers.item, answers.annotator, np.where(taken, 0, answers.code), answers.names, 3
    )
    found = next(one for one in judge(answers, agree(answers)) if one.name == "w3")
    ((true_class, said, share),) = found.confused
    assert (true_class, said) == (2, 0)
    assert 0.3 < share < 0.5
    assert found.to_dict(("a", "b", "c"))["confused"] == [["c", "a", round(share, 4)]]


def test_more_answers_help_and_doubtful_items_come_first():
    _, true = blobs(400, 3)
    answers = ask_crowd(true, [0.8, 0.75, 0.7, 0.6], 2)
    consensus = agree(answers)
    found = ask(consensus, counts(answers))
    assert list(found.gain) == sorted(found.gain, reverse=True)
    sure = consensus.soft.max(axis=1)
    assert sure[found.items[:50]].mean() < sure.mean()
    assert all(b > a for a, b in zip(found.right, found.right[1:], strict=False))
    assert abs(found.right[0] - sure.mean()) < 1e-9
    shares = [right for _, right in found.doubtful]
    assert shares == sorted(shares)


@pytest.mark.parametrize("items", [40, 150, 3000])
def test_one_more_answer_for_all_brings_the_sum_of_what_it_brings_each(items):
    _, true = blobs(items, 3)
    answers = ask_crowd(true, [0.7] * 6, 3)
    found = ask(agree(answers), counts(answers))
    assert found.right[1] == pytest.approx(found.right[0] + found.gain.sum() / items, abs=0.006)


def test_what_more_answers_are_said_to_bring_is_what_they_bring():
    _, true = blobs(2000, 3)
    skills = [0.8, 0.75, 0.7, 0.6, 0.65, 0.85]
    two, four = (agree(ask_crowd(true, skills, n, seed=5)) for n in (2, 4))
    said = ask(two, np.ones(6)).right
    got = [(one.soft.argmax(axis=1) == true).mean() for one in (two, four)]
    assert abs(said[0] - got[0]) < 0.03
    assert abs(said[2] - got[1]) < 0.03


def test_items_that_are_sure_and_those_that_never_will_be_are_told_apart():
    X, true = blobs(400, 10)
    answers = ask_crowd(true, [0.8] * 8, 3)
    consensus = agree(answers, centroids(X))
    found = ask(consensus, counts(answers))
    sure = consensus.soft[found.items].max(axis=1) >= 0.95
    assert sure.any()
    assert (found.needed < 0).any()
    assert ((found.needed == 0) == sure).all()
