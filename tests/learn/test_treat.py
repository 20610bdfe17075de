"""What is done about doubtful labels: rows are trusted more or less, classes are not."""

import numpy as np
import pytest

from noiseproof.errors import ParameterError
from noiseproof.learn.objective import Task
from noiseproof.learn.treat import Nested
from noiseproof.losses import CE
from noiseproof.noise import TransitionMatrix


@pytest.fixture
def doubtful():
    """Labels of which a class is wrong far more often than the other, and who knows it."""
    true = np.arange(2000) % 2
    labels = TransitionMatrix([[0.6, 0.4], [0.05, 0.95]]).corrupt(true, seed=1).labels
    p = np.where(true[:, None] == [0, 1], 0.9, 0.1).astype(np.float32)
    fold = np.arange(2000) // 2 % 2
    return Nested.of(np.stack([p, p]), labels, fold), Task(CE(), (fold != 0).astype("f4")), true


@pytest.mark.parametrize("treatment", ["weigh", "drop"])
def test_wrong_rows_count_less_and_no_class_does(doubtful, treatment):
    nested, task, true = doubtful
    weights = nested.treated(task, treatment, fold=0).weights
    for k in (0, 1):
        of_class = nested.labels == k
        assert weights[of_class].sum() == pytest.approx(task.weights[of_class].sum(), rel=1e-5)
    seen = task.weights > 0
    wrong, right = (weights[seen & (one & (nested.labels == 1))] for one in (true == 0, true == 1))
    assert wrong.max() < 0.7 * right.min()
    assert (weights[~seen] == 0).all()


def test_a_class_that_is_never_trusted_is_left_without_rows(doubtful):
    nested, task, _ = doubtful
    nested.probabilities[0][:, 0] = 1e-6
    nested.probabilities[0][:, 1] = 1 - 1e-6
    weights = nested.treated(task, "drop", fold=0).weights
    assert np.isfinite(weights).all()
    assert weights[nested.labels == 0].sum() == 0


def test_soft_targets_and_noise(doubtful):
    nested, task, _ = doubtful
    np.testing.assert_allclose(nested.treated(task, "refine", 0).targets.sum(1), 1, rtol=1e-5)
    assert nested.treated(task, "forward", 0).transition.shape == (2, 2)
    with pytest.raises(ParameterError, match="no such treatment"):
        nested.treated(task, "pray", 0)
