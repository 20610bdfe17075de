"""A fit is the same whatever its caller has set for NumPy and torch."""

from contextlib import contextmanager

import numpy as np
import pytest
import torch

import noiseproof as nf
from noiseproof.integrations.sklearn import RobustClassifier
from noiseproof.learn.learners import registry

LABELS = np.arange(300) % 3
X = 2 * np.eye(3, 5)[LABELS] + np.random.default_rng(0).normal(size=(300, 5))
WITH_LOSS = [name for name, kind in registry.items() if kind().with_loss("CE") is not None]


@contextmanager
def default_float64():
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


SETTINGS = {
    "errors of numpy": lambda: np.errstate(all="raise"),
    "torch float64": default_float64,
    "no gradients": torch.no_grad,
    "inference": torch.inference_mode,
    "another device": lambda: torch.device("meta"),
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("learner", WITH_LOSS)
def test_learners_with_a_loss(learner, setting):
    model = RobustClassifier("GCE(q=0.7)", learner=learner)
    expected = model.fit(X, LABELS).predict_proba(X)
    with SETTINGS[setting]():
        found = model.fit(X, LABELS).predict_proba(X)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_fit(setting):
    options = {"learners": ["linear", "discriminant"], "folds": 2, "losses": "GCE(q=0.7)"}
    expected = nf.fit(X[:120], LABELS[:120], **options)
    with SETTINGS[setting]():
        found = nf.fit(X[:120], LABELS[:120], **options)
        assert found.report
        answers = found.predict_proba(X)
    np.testing.assert_array_equal(answers, expected.predict_proba(X))
    assert found.estimate.rate_interval == expected.estimate.rate_interval
