"""The reason for a choice: always one, in the words of what models were compared by."""

import numpy as np
import pytest

from noiseproof.learn.learners import Linear, Trees
from noiseproof.learn.trials import Setting, Trial
from noiseproof.learn.why import (
    BEST,
    LIKELIER,
    STEADY,
    TRUE_CLASSES,
    ensemble_reason,
    hardly_told,
    reason,
)

REASONS = (STEADY, TRUE_CLASSES, LIKELIER, BEST)


def trial(setting, right, rows=400):
    values = (np.arange(rows) < right * rows).astype(float)
    return Trial(setting, np.zeros((rows, 2)), values, np.full(rows, 1 / rows), 0.0)


@pytest.mark.parametrize("by", ["labels", "answers", "likelihood"])
@pytest.mark.parametrize("ours", [0.5, 0.79, 0.7999, 0.8, 0.8001, 0.81, 0.95])
@pytest.mark.parametrize("treatment", ["none", "em", "drop", "weigh", None])
def test_what_is_not_ahead_has_a_reason(by, ours, treatment):
    plain = trial(Setting(Linear()), 0.8, 10_000)
    chosen = trial(Setting(Trees(), treatment or "none"), ours, 10_000)
    if treatment is None:
        gain, error = plain.mean(chosen.right - plain.right)
        told = ensemble_reason([chosen, plain], plain, gain, error, by)
    else:
        told = reason(chosen, plain, by)
    assert " is used: " in told
    assert told.endswith(".")
    assert " 0.0 points" not in told
    assert sum(one in told for one in REASONS) == (ours - 0.8 < 0.0005)
    if by == "likelihood" and ours < 0.8:
        assert LIKELIER in told
    if by == "answers":
        assert "of the held-out labels" not in told


@pytest.mark.parametrize("by", ["labels", "answers", "likelihood"])
def test_plain_cross_entropy_has_a_reason_too(by):
    plain = trial(Setting(Linear()), 0.8)
    told = reason(plain, plain, by)
    assert told.startswith("Plain cross entropy is used: it")
    assert ("predicts held-out labels best" in told) == (by == "labels")


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("gain", [-0.1, 0.0, 0.02, 0.3])
def test_features_that_tell_nothing_are_said_to(classes, gain):
    usual = trial(Setting(Linear()), 1 / classes)
    numbers = np.random.default_rng(0)
    right = (numbers.random(400) < 1 / classes + gain).astype(float)
    told = hardly_told(usual, right, usual.right)
    assert ("tell nothing" in told) == (gain < 0.1)
    assert not told or f"{right @ usual.share:.1%}" in told
