"""Noise has to show in more than what a treatment made sure. Probabilities alone tell."""

import numpy as np
import pytest

from noiseproof import noise
from noiseproof.learn.evidence import shows
from noiseproof.learn.folds import deal
from noiseproof.learn.learner import Problem
from noiseproof.learn.trials import Folds

N = 600


def folds_of(labels, classes):
    problem = Problem(np.zeros((N, 1), np.float32), labels, classes, np.ones(N, np.float32), seed=0)
    return Folds(problem, deal(labels, 5, 0))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("classes", [5, 10])
def test_noise_of_one_matrix_shows_though_untreated_predictions_look_like_overlap(seed, classes):
    """All rows of a class are labelled as the next one as often: .6 and .4 are all there is."""
    rng = np.random.default_rng(seed)
    true = rng.integers(classes, size=N)
    T = noise.pair_flip(classes, 0.4)
    labels = np.asarray(T.corrupt(true, seed=seed).labels)
    treated = (np.full((N, classes), 0.02 / classes) + 0.98 * np.eye(classes)[true]).astype("f4")
    # What was learnt of noisy labels is a little off in every row.
    off = rng.dirichlet(np.ones(classes), N)
    untreated = (0.8 * T.matrix[true] + 0.2 * off).astype("f4")
    assert shows(folds_of(labels, classes), treated, untreated)


@pytest.mark.parametrize("seed", range(5))
def test_overlap_that_a_treatment_cleared_away_is_none(seed):
    rng = np.random.default_rng(seed)
    chance = rng.beta(0.8, 0.8, size=N)
    labels = (rng.random(N) < chance).astype(np.int64)
    untreated = np.stack([1 - chance, chance], axis=1).astype("f4")
    sure = untreated**6 / (untreated**6).sum(axis=1, keepdims=True)
    assert not shows(folds_of(labels, 2), sure, untreated)


def test_where_nothing_was_treated_nothing_was_made_sure():
    labels = np.arange(N) % 2
    assert shows(folds_of(labels, 2), np.full((N, 2), 0.5, "f4"), None)
