"""Quadratic discriminant analysis: what scikit-learn finds, on the columns that tell most."""

import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from noiseproof.learn.learner import Problem, Shape, Task
from noiseproof.learn.learners.quadratic import Quadratic, QuadraticModel


def spreads(rows: int, columns: int = 4, seed: int = 0):
    """Return classes with one mean: they differ in spread and in how columns go together."""
    numbers = np.random.default_rng(seed)
    labels = np.arange(rows) % 3
    turn = np.random.default_rng(9).normal(size=(3, columns, columns))
    X = np.einsum("nd,nde->ne", numbers.normal(size=(rows, columns)), turn[labels])
    return X.astype(np.float32), labels


def trained(X, labels, columns: int = 30, **task) -> QuadraticModel:
    problem = Problem(X, labels, int(labels.max()) + 1, np.ones(len(X)))
    (model,) = Quadratic.train(problem, [Task(Quadratic(columns), problem.weights, **task)])
    assert isinstance(model, QuadraticModel)
    return model


def test_with_many_rows_it_is_what_scikit_learn_finds() -> None:
    X, labels = spreads(6000)
    new, true = spreads(3000, seed=1)
    ours = trained(X, labels).probabilities(new)
    theirs = QuadraticDiscriminantAnalysis().fit(X, labels)
    assert (ours.argmax(1) == theirs.predict(new)).mean() > 0.98
    assert (ours.argmax(1) == true).mean() == pytest.approx(theirs.score(new, true), abs=0.01)
    assert np.abs(ours - theirs.predict_proba(new)).mean() < 0.03


def test_it_uses_the_columns_that_tell_most_by_mean_or_by_spread() -> None:
    numbers = np.random.default_rng(0)
    X, labels = numbers.normal(size=(400, 50)), np.arange(400) % 2
    X[:, 7] += 2 * labels
    X[:, 31] *= 1 + 3 * labels
    X[:, 12] = 5  # says nothing at all
    assert trained(X.astype(np.float32), labels, columns=2).columns.tolist() == [7, 31]


def test_it_is_as_sure_as_rows_it_has_not_seen_bear_out() -> None:
    numbers = np.random.default_rng(2)
    X, new = numbers.normal(size=(90, 40)), numbers.normal(size=(4000, 40))
    labels, true = np.arange(90) % 3, np.arange(4000) % 3
    X[np.arange(90), labels] += 1
    new[np.arange(4000), true] += 1
    p = trained(X.astype(np.float32), labels).probabilities(new.astype(np.float32))
    assert p.max(1).mean() < (p.argmax(1) == true).mean() + 0.1


def test_a_class_without_rows_is_never_predicted() -> None:
    X, labels = spreads(120)
    soft = np.eye(5, dtype=np.float32)[labels]
    problem = Problem(X, labels, 5, np.ones(120))
    (model,) = Quadratic.train(problem, [Task(Quadratic(4), problem.weights, targets=soft)])
    assert set(model.probabilities(X).argmax(1)) <= {0, 1, 2}


def test_odd_columns_and_single_rows_give_finite_probabilities() -> None:
    same = np.zeros((60, 3), dtype=np.float32)
    assert np.isfinite(trained(same, np.arange(60) % 2).probabilities(same)).all()
    X, labels = spreads(30)
    problem = Problem(X, labels, 3, np.ones(30))
    one = np.eye(30, dtype=np.float32)[0]
    (model,) = Quadratic.train(problem, [Task(Quadratic(4), one)])
    assert np.isfinite(model.probabilities(X)).all()


def test_it_is_for_dense_data_with_rows_enough() -> None:
    assert Quadratic.suits(Shape(300, 20, 3, sparse=False))
    assert not Quadratic.suits(Shape(300, 20, 3, sparse=True))
    assert not Quadratic.suits(Shape(300, 20, 30, sparse=False))
    assert not Quadratic.suits(Shape(10**6, 20, 1000, sparse=False))
    assert [one.columns for one in Quadratic.first(Shape(300, 7, 3, sparse=False))] == [4, 7]
    assert [one.columns for one in Quadratic.first(Shape(300, 90, 3, sparse=False))] == [4, 10, 30]


def test_few_rows_of_classes_that_only_it_follows() -> None:
    X, y = make_classification(
        900, 20, n_informative=3, n_classes=3, n_clusters_per_class=1, class_sep=0.5, flip_y=0,
        random_state=2,
    )  # fmt: skip
    p = trained(X[:300].astype(np.float32), y[:300], columns=4).probabilities(X[300:])
    assert (p.argmax(1) == y[300:]).mean() > 0.85


def test_blocks_of_rows_give_what_all_rows_give(monkeypatch: pytest.MonkeyPatch) -> None:
    X, labels = spreads(200)
    whole = trained(X, labels).probabilities(X)
    monkeypatch.setattr("noiseproof.learn.learners.sharpness.BLOCK", 50)
    np.testing.assert_allclose(trained(X, labels).probabilities(X), whole, atol=1e-5)


def test_many_classes_take_no_more_memory_than_their_probabilities() -> None:
    rows, classes = 20_000, 60
    X = np.random.default_rng(0).normal(size=(rows, 20)).astype(np.float32)
    model = trained(X, np.arange(rows) % classes, columns=20)
    tracemalloc.start()
    found = model.probabilities(X)
    assert tracemalloc.get_traced_memory()[1] < 4 * found.nbytes + 4 * X.nbytes
    tracemalloc.stop()
