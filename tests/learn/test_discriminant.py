"""Discriminant analysis: what scikit-learn finds, on any shape, and true classes from labels."""

import tracemalloc

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from noiseproof.learn import directions
from noiseproof.learn.directions import Directions
from noiseproof.learn.learner import Problem, Shape, Task
from noiseproof.learn.learners import discriminant, sharpness
from noiseproof.learn.learners.discriminant import Discriminant


def drawn(rows: int, columns: int, classes: int, seed: int = 0, apart: float = 1.0):
    numbers = np.random.default_rng(seed)
    labels = np.arange(rows) % classes
    X = numbers.normal(size=(rows, columns))
    X += apart * numbers.normal(size=(classes, columns))[labels]
    X[:, 1] += 2 * X[:, 0]  # the covariance is not a multiple of the identity
    return X.astype(np.float32), labels


def trained(X, labels, learner):
    problem = Problem(X, labels, int(labels.max()) + 1, np.ones(len(X), dtype=np.float32))
    (model,) = Discriminant.train(problem, [Task(learner, problem.weights)])
    return model, problem.matrix("standard").all


@pytest.mark.parametrize(("rows", "columns"), [(200, 6), (90, 80), (60, 300)])
def test_without_latent_classes_it_is_shrinkage_lda(rows: int, columns: int) -> None:
    X, labels = drawn(rows, columns, 3, apart=0.5)
    model, scaled = trained(X, labels, Discriminant(0.3))
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.3)
    theirs.fit(scaled.astype(np.float64), labels)
    odds = scaled.astype(np.float64) @ model.weight + model.bias
    expected = theirs.decision_function(scaled)
    odds, expected = (z - z.mean(axis=1, keepdims=True) for z in (odds, expected))
    sharpness = (odds * expected).sum() / (expected * expected).sum()
    assert np.allclose(odds, sharpness * expected, atol=1e-3 * np.abs(odds).max())


def test_log_odds_of_wide_rows_are_as_large_as_held_out_labels_bear_out() -> None:
    numbers = np.random.default_rng(7)
    labels, true = np.arange(120) % 2, np.arange(4000) % 2
    means = 0.15 * numbers.normal(size=(2, 100))
    X, new = (numbers.normal(size=(n, 100)) + means[c] for n, c in ((120, labels), (4000, true)))
    model, _ = trained(X.astype(np.float32), labels, Discriminant(0.01))
    p = model.probabilities(new.astype(np.float32))
    right = (p.argmax(axis=1) == true).mean()
    assert abs(p.max(axis=1).mean() - right) < 0.1


def test_coordinates_in_the_span_of_few_rows_are_exact() -> None:
    X, _ = drawn(40, 500, 2)
    found = Directions.of(X, seed=0)
    assert found.basis is not None
    assert found.rows.shape == (40, 40)
    assert np.allclose(found.rows @ found.rows.T, X @ X.T, rtol=1e-4, atol=1e-2)
    assert np.allclose(found.squares, (X * X).sum(axis=1), rtol=1e-5)


def test_the_directions_of_many_wide_rows_are_those_of_most_variance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(directions, "MOST_DIRECTIONS", 20)
    numbers = np.random.default_rng(1)
    X = numbers.normal(size=(80, 5)) @ numbers.normal(size=(5, 200)) * 10
    X = (X + numbers.normal(size=(80, 200))).astype(np.float32)
    found = Directions.of(X, seed=0)
    assert found.rows.shape == (80, 20)
    leading = np.linalg.svd(X)[2][:5].T
    assert found.basis is not None
    # The five leading directions lie in the space that was kept.
    assert np.linalg.norm(found.basis.T @ leading, axis=0).min() > 0.999


def test_latent_classes_mend_labels_that_take_one_class_for_another() -> None:
    numbers = np.random.default_rng(3)
    true = np.arange(900) % 3
    means = 1.2 * numbers.normal(size=(3, 60))
    X = (numbers.normal(size=(900, 60)) + means[true]).astype(np.float32)
    taken = numbers.random(900)
    labels = np.where((true == 1) & (taken < 0.55), 2, true)  # most of class 1 is called 2
    plain, _ = trained(X, labels, Discriminant(0.1))
    latent, _ = trained(X, labels, Discriminant(0.1, latent=True))
    right = [(m.probabilities(X).argmax(axis=1) == true).mean() for m in (plain, latent)]
    assert right[1] > 0.95 > right[0]


@pytest.mark.parametrize("columns", [2048, 8192, 25_000])
def test_wide_embeddings_of_a_thousand_rows_are_suited(columns: int) -> None:
    assert Discriminant.suits(Shape(1000, columns, 8, False))
    strengths = {one.shrinkage for one in Discriminant.first(Shape(1000, columns, 8, False))}
    assert max(strengths) >= 0.9


def test_many_classes_need_little_beside_their_labels(monkeypatch):
    rows, classes = 4000, 800
    rng = np.random.default_rng(0)
    labels = np.arange(rows) % classes
    X = (rng.normal(size=(classes, 20))[labels] + rng.normal(size=(rows, 20))).astype(np.float32)
    problem = Problem(X, labels, classes, np.ones(rows, np.float32))
    task = Task(Discriminant(0.1), problem.weights)
    (whole,) = Discriminant.train(problem, [task])
    monkeypatch.setattr("noiseproof.learn.learners.sharpness.BLOCK", 100_000)
    tracemalloc.start()
    (blocks,) = Discriminant.train(problem, [task])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 * (4 * rows * classes)  # the labels, and a part of the rows
    assert blocks.weight == pytest.approx(whole.weight, rel=1e-3, abs=1e-4)


def test_rows_that_are_not_copied_give_the_same_model(monkeypatch):
    numbers = np.random.default_rng(0)
    y = numbers.integers(3, size=400)
    X = (np.eye(3)[y] @ numbers.normal(size=(3, 6)) + numbers.normal(size=(400, 6))).astype(
        np.float32
    )
    weights = np.where(np.arange(400) % 4 == 0, 0, 1).astype(np.float32)
    found = []
    for most in (discriminant.MOST_COPIED, 0):
        monkeypatch.setattr(discriminant, "MOST_COPIED", most)
        monkeypatch.setattr(sharpness, "BLOCK", 60 if most == 0 else sharpness.BLOCK)
        problem = Problem(X, y, 3, np.ones(400, np.float32))
        tasks = [Task(Discriminant(0.1, latent), weights) for latent in (False, True)]
        found.append([m.probabilities(X) for m in Discriminant.train(problem, tasks)])
    for copied, read in zip(*found, strict=True):
        np.testing.assert_allclose(copied, read, atol=1e-4)
