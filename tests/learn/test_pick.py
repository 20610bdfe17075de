"""Greedy selection of the trials that are averaged."""

from types import SimpleNamespace

import numpy as np
import pytest

from noiseproof.learn.choice import choose
from noiseproof.learn.decide import ENSEMBLE
from noiseproof.learn.learner import Problem
from noiseproof.learn.learners.linear import Linear
from noiseproof.learn.pick import ENOUGH, MOST, STEPS, mixed, picked, steps_for
from noiseproof.learn.trials import Folds, Setting, Trial


def problem_of(labels: np.ndarray) -> Problem:
    rows = len(labels)
    return Problem(np.zeros((rows, 1)), labels, 2, np.ones(rows, dtype=np.float32))


def trial_of(problem: Problem, number: int, of_one: np.ndarray) -> Trial:
    p = np.stack([1 - of_one, of_one], axis=1).astype(np.float32)
    share = np.full(len(p), 1 / len(p))
    return Trial(
        Setting(Linear(decay=10.0**-number)), p, problem.right(p.argmax(axis=1)), share, 0.0
    )


@pytest.fixture
def guesses() -> tuple[Problem, list[Trial]]:
    """Return trials that know nothing."""
    numbers = np.random.default_rng(0)
    problem = problem_of(numbers.integers(0, 2, 600))
    return problem, [trial_of(problem, i, numbers.random(600)) for i in range(20)]


def test_a_trial_that_knows_what_others_do_not_is_added() -> None:
    labels = np.arange(600) % 2
    problem, rows = problem_of(labels), np.arange(600)
    # Each is right and sure on its own third, and wrong but unsure elsewhere.
    trials = [
        trial_of(problem, i, np.where(rows % 3 == i, labels, 0.5 - 0.1 * (labels - 0.5)))
        for i in range(3)
    ]
    mix = picked(trials[:1], trials, problem, trials[0].share)
    assert {id(trial) for trial, _ in mix} == {id(trial) for trial in trials}
    assert problem.right(mixed(mix).argmax(axis=1)).all()


def test_a_trial_may_count_more_than_once() -> None:
    labels = np.arange(600) % 2
    problem, rows = problem_of(labels), np.arange(600)
    sure = trial_of(problem, 0, np.where(rows < 200, labels, 1 - labels))
    right = trial_of(problem, 1, 0.5 + 0.3 * (labels - 0.5))
    # One wrong and sure, one right and unsure: it takes several of the second to outvote the first.
    mix = {trial.setting: weight for trial, weight in picked([sure], [right], problem, sure.share)}
    assert mix[right.setting] > 2 * mix[sure.setting]
    assert sum(mix.values()) == pytest.approx(1)


def test_members_are_limited_and_no_label_is_predicted_less_often(guesses) -> None:
    problem, trials = guesses
    share = trials[0].share
    before = problem.right(mixed([(trial, 0.2) for trial in trials[:5]]).argmax(axis=1)) @ share
    mix = picked(trials[:5], trials, problem, share)
    assert len(mix) <= MOST
    assert problem.right(mixed(mix).argmax(axis=1)) @ share >= before
    assert picked(trials[:5], trials, problem, share, steps=0) == [(t, 0.2) for t in trials[:5]]


def test_the_accuracy_of_an_ensemble_is_that_on_labels_which_did_not_pick_it(guesses) -> None:
    problem, trials = guesses
    noise = SimpleNamespace(
        rate=0.3, rate_interval=(0.0, 0.5), clean_level_interval=(2.0, 3.0), decisive=False
    )
    chosen = choose(Folds(problem, np.arange(600) % 5), trials, None, noise)
    (own,) = [row for row in chosen.comparison if row.name == ENSEMBLE]
    flattered = float(problem.right(chosen.probabilities.argmax(axis=1)).mean())
    assert flattered > 0.58
    assert abs(own.noisy_accuracy - 0.5) < 3 * own.standard_error
    assert own.noisy_accuracy == pytest.approx(float(problem.right(chosen.predicted).mean()))


def test_few_labels_pick_nothing() -> None:
    problem = problem_of(np.zeros(2 * ENOUGH, dtype=np.int64))
    share = np.full(2 * ENOUGH, 0.5 / ENOUGH)
    assert steps_for(problem, share) == STEPS
    assert steps_for(problem, np.where(np.arange(2 * ENOUGH) < ENOUGH - 1, share, 0)) == 0
