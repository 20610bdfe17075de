"""What a comparison keeps in memory, and what it leaves out, where there are many classes."""

import numpy as np
import pytest

from noiseproof.learn import choice, compare, grow
from noiseproof.learn.folds import deal
from noiseproof.learn.learn import learn
from noiseproof.learn.learner import Problem
from noiseproof.learn.learners.linear import Linear
from noiseproof.learn.trials import Folds, Setting

K, N = 12, 600


def rows():
    numbers = np.random.default_rng(0)
    true = numbers.permutation(np.arange(N) % K)
    X = numbers.standard_normal((N, 8), dtype=np.float32)
    X += numbers.normal(size=(K, 8)).astype(np.float32)[true]
    wrong = numbers.random(N) < 0.5
    return X, np.where(wrong, numbers.integers(K, size=N), true)


def folds() -> Folds:
    X, y = rows()
    return Folds(Problem(X, y, K, np.ones(N, np.float32), 0), deal(y, 5, 0))


def test_a_first_look_is_kept_once_and_used_again():
    looked, settings = folds(), [Setting(Linear("CE", decay)) for decay in (0.01, 0.1)]
    for trial in looked.run(settings, 2):
        for fold in range(2):
            assert looked._looks[trial.setting, fold].probabilities is trial.probabilities
    again, anew = looked.run(settings), folds().run(settings)
    for one, other in zip(again, anew, strict=True):
        np.testing.assert_allclose(one.probabilities, other.probabilities, rtol=1e-4)


def test_looks_are_freed_before_all_folds_are_run(monkeypatch):
    kept, run = [], Folds.run

    def watched(self, settings, folds=None, *args, **kwargs):
        if folds is None:
            kept.append(({setting for setting, _ in self._looks}, set(settings)))
        return run(self, settings, folds, *args, **kwargs)

    monkeypatch.setattr(Folds, "run", watched)
    X, y = rows()
    learn(X, y, K, learners=["linear", "neighbours"])
    looks, settings = kept[0]
    assert looks
    assert looks <= settings


@pytest.mark.parametrize("most", [K, K - 1])
def test_no_noise_matrix_is_fitted_where_classes_have_too_few_labels(monkeypatch, most):
    fitted, explained = [], choice.explained

    def watched(*args):
        fitted.append(args)
        return explained(*args)

    monkeypatch.setattr(choice, "MOST_EXPLAINED", most)
    monkeypatch.setattr(choice, "explained", watched)
    monkeypatch.setattr(choice, "much_told", lambda trials, labels: True)
    for module in (choice, compare):
        monkeypatch.setattr(module, "may_mislead", lambda noise: True)
    X, y = rows()
    why = learn(X, y, K, learners=["linear", "neighbours"]).why
    assert "Right labels may not dominate" in why
    assert bool(fitted) == ("how well they explain" in why) == (most == K)


def test_a_mean_of_models_on_all_rows_is_the_mean_of_each(monkeypatch):
    monkeypatch.setattr(grow, "BLOCK", 7)
    every = folds()
    settings = (Setting(Linear("CE", 0.01)), Setting(Linear("GCE(q=0.7)", 0.1)))
    one, other = every.run(settings)
    chosen = choice.Chosen("both", settings, (0.25, 0.75), one.probabilities, "", one, ())
    found, members = grow.grown(folds(), chosen)
    expected = 0.25 * one.probabilities + 0.75 * other.probabilities
    np.testing.assert_allclose(found.probabilities, expected, rtol=1e-5)
    np.testing.assert_array_equal(found.plain.probabilities, one.probabilities)
    assert [member.weight for member in members] == [0.05] * 5 + [0.15] * 5
