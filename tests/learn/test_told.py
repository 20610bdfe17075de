"""Classes that no model knows while they are held out say nothing of the noise."""

import numpy as np
import pytest

from noiseproof.learn.learn import learn
from noiseproof.learn.told import noise_in

ROWS = 300


def rows(lone, each, wrong=0.0):
    """Return three classes far apart and ``lone`` others of so many rows, far from everything.

    Of the three, a share of the labels is wrong. Last come the groups: each of the others is one.
    """
    numbers = np.random.default_rng(0)
    y = np.arange(ROWS) % 3
    X = numbers.normal(size=(ROWS, 4)) + 5 * y[:, None]
    given = np.where(numbers.random(ROWS) < wrong, (y + 1) % 3, y)
    others = np.repeat(np.arange(lone), each)
    far = -20 - 5 * others[:, None] + 0.01 * numbers.normal(size=(lone * each, 4))
    groups = np.append(np.arange(ROWS), ROWS + others)
    labels = np.append(given, 3 + others)
    return np.vstack([X, far]).astype(np.float32), labels, groups


@pytest.mark.parametrize(("lone", "each"), [(30, 1), (90, 1), (60, 2)])
@pytest.mark.parametrize("learner", ["linear", "discriminant"])
def test_clean_labels_of_classes_nobody_knows_are_not_called_wrong(lone, each, learner):
    """With 30 such rows of 330, the interval was 6 to 15 %."""
    X, y, groups = rows(lone, each)
    found = learn(X, y, 3 + lone, groups=groups if each > 1 else None, learners=learner)
    low, high = found.estimate.rate_interval
    assert low == 0
    assert high >= lone * each / len(y)  # but they may be
    assert (found.suspects().confidence < 0.5).all()


def test_noise_beside_them_is_found():
    X, y, _ = rows(6, 1, wrong=0.2)
    found = learn(X, y, 9, learners="discriminant")
    low, high = found.estimate.rate_interval
    assert 0.05 < low < 0.2 < high
    doubtful = found.suspects()
    assert (doubtful.confidence > 0.5).sum() > 0.1 * ROWS


def test_the_last_row_of_a_class_after_a_check_is_not_called_wrong():
    """By the labels as given the class had two rows; the one that was checked is of another."""
    X, y, _ = rows(1, 2, wrong=0.2)
    true, other = y.copy(), len(y) - 1
    X[other], true[other] = X[0], 0
    checked = np.append(np.arange(0, ROWS, 5), other)
    true[checked[:-1]] = checked[:-1] % 3
    found = learn(X, y, 4, trusted=(checked, true[checked]), learners="discriminant")
    doubtful = found.suspects()
    assert (doubtful.confidence[doubtful.rows == other - 1] < 0.5).all()
    assert (doubtful.confidence > 0.5).any()


def test_of_checked_rows_those_of_known_classes_count():
    numbers = np.random.default_rng(0)
    labels = numbers.integers(0, 2, 200)
    p = np.where(labels[:, None] == np.arange(3), 0.8, 0.1)
    labels[:2] = 2
    unknown = labels == 2
    checked = np.arange(40)
    one = noise_in(labels, p, unknown, trusted=(checked, labels[checked]))
    other = noise_in(labels[2:], p[2:], unknown[2:], trusted=(checked[:38], labels[2:40]))
    np.testing.assert_array_equal(one.matrix, other.matrix)
    assert one.rate_interval[1] == other.rate_interval[1] * 0.99 + 0.01
