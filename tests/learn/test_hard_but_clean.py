"""Labels that are all right, and hard to tell: no fit calls them noisy."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_moons

from noiseproof.learn.learn import learn


def clusters(seed: int, classes: int, informative: int, each: int, apart: float):
    return make_classification(
        300, 20, n_informative=informative, n_classes=classes, n_clusters_per_class=each,
        class_sep=apart, flip_y=0, random_state=seed,
    )  # fmt: skip


def chequered(seed: int):
    numbers = np.random.default_rng(seed)
    X = numbers.uniform(0, 4, (300, 5))
    return X, np.floor(X[:, :2]).sum(axis=1).astype(int) % 2


def shells(seed: int):
    X = np.random.default_rng(seed).normal(size=(300, 6))
    return X, np.digitize((X[:, :4] ** 2).sum(axis=1), [2, 5])


def rings(seed: int):
    """Rings of two classes in turn: half of the rows know far less of them than all."""
    X = np.random.default_rng(seed).normal(size=(300, 2))
    return X, np.floor(2 * np.hypot(*X.T)).astype(int) % 2


def spreads(seed: int):
    """Few rows of three classes about one centre."""
    numbers = np.random.default_rng(seed)
    rows = int(numbers.integers(40, 99))
    y = numbers.integers(0, 3, rows)
    return numbers.normal(size=(rows, 4)) * (1 + 2 * y[:, None]), y


def grades(seed: int):
    """A score cut into many classes of a handful of rows: what is missed is the grade beside it."""
    numbers = np.random.default_rng(seed)
    X = numbers.normal(size=(272, 4))
    score = X @ numbers.normal(size=4)
    return X, np.searchsorted(np.quantile(score, np.arange(1, 15) / 15), score)


def half_parity(seed: int):
    """One sign in one half of the rows, the parity of four in the other, which nothing learns."""
    X = np.random.default_rng(seed).normal(size=(800, 12))
    return X, np.where(X[:, 0] > 0, X[:, 1] > 0, X[:, 2:6].prod(axis=1) > 0).astype(int)


def half_parities(seed: int):
    """The same with four classes: two signs, or two parities of four."""
    X = np.random.default_rng(seed).normal(size=(1200, 12))
    easy = 2 * (X[:, 1] > 0) + (X[:, 2] > 0)
    hard = 2 * (X[:, 3:7].prod(axis=1) > 0) + (X[:, 7:11].prod(axis=1) > 0)
    return X, np.where(X[:, 0] > 0, easy, hard)


def kinds(seed: int):
    """Three kinds that are easily told apart, each of two sorts that overlap: breeds of species."""
    numbers = np.random.default_rng(seed)
    kind, sort = numbers.integers(0, 3, 300), numbers.integers(0, 2, 300)
    X = numbers.normal(size=(300, 4))
    X[np.arange(300), kind] += 5
    X[:, 3] += 0.8 * sort
    return X, 2 * kind + sort


HARD = {
    "moons": lambda: make_moons(300, noise=0.5, random_state=0),
    "three clusters": lambda: clusters(2, 3, 3, 1, 0.5),
    "two of two clusters": lambda: clusters(2, 2, 3, 2, 0.5),
    "chequered": lambda: chequered(0),
    "shells": lambda: shells(0),
    "rings": lambda: rings(102),
    "spreads": lambda: spreads(10046),
    "grades": lambda: grades(2),
    "kinds": lambda: kinds(4),
    "half parity": lambda: half_parity(0),
    "half parities": lambda: half_parities(0),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_classes_are_not_called_noisy(name: str) -> None:
    X, y = HARD[name]()
    learned = learn(X.astype(np.float32), y, int(y.max()) + 1)
    assert learned.estimate.rate_interval[0] == 0
    assert learned.suspects().confidence.max(initial=0) <= 0.8


def test_noise_is_told_where_more_rows_would_not_help() -> None:
    X, y = make_moons(300, noise=0.2, random_state=1)
    wrong = np.random.default_rng(1000).random(300) < 0.2
    learned = learn(X.astype(np.float32), np.where(wrong, 1 - y, y), 2, learners=["neighbours"])
    low, high = learned.estimate.rate_interval
    assert 0 < low < wrong.mean() < high


@pytest.mark.parametrize("seed", range(2))
def test_noise_between_two_classes_is_told_where_they_are_clear(seed: int) -> None:
    numbers = np.random.default_rng(seed)
    true = numbers.integers(0, 6, 600)
    wrong = numbers.random(600) < 0.3
    X = 3 * np.eye(6, dtype=np.float32)[true] + numbers.normal(size=(600, 6)).astype(np.float32)
    learned = learn(X, np.where(wrong, true ^ 1, true), 6, learners=["linear", "discriminant"])
    low, high = learned.estimate.rate_interval
    assert 0 < low < wrong.mean() < high
