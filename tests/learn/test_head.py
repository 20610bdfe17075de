"""Heads: they learn, many at once as one at a time, dense as sparse, the same bits every time."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from noiseproof import losses
from noiseproof.errors import DataError
from noiseproof.learn.few import optimum
from noiseproof.learn.head import Training, train
from noiseproof.learn.matrix import FAR, Matrix, Scaling
from noiseproof.learn.objective import Task, unit_slope

QUICK = Training(steps=120, epochs=1)


def blobs(rows: int = 200, classes: int = 3, seed: int = 0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(classes, size=rows)
    X = rng.standard_normal((rows, 4)) + 4 * np.eye(classes, 4)[labels]
    return X, labels


def every(labels, loss="CE", **options):
    return Task(losses.loss(loss), np.ones(len(labels), dtype=np.float32), **options)


@pytest.mark.parametrize("kind", ["linear", "mlp"])
@pytest.mark.parametrize("loss", ["CE", "MAE", "AGCE(a=6, q=1.5)", "NCE + AEL(a=2.5)"])
def test_learns_what_is_easy(kind, loss):
    X, labels = blobs()
    matrix = Matrix(X)
    training = dataclasses.replace(QUICK, kind=kind)
    heads = train(matrix, labels, 3, [every(labels, loss)], training, seed=0)
    assert (heads.mean(matrix).argmax(1) == labels).mean() > 0.97


def test_a_bounded_loss_starts_on_many_classes():
    # From the first step on, MAE has a slope of 2/K at most, and on 50 classes stays where it is.
    X, labels = blobs(1000, classes=4)
    labels = labels + 4 * (np.arange(1000) % 12)
    X = np.hstack([X, 4 * np.eye(12)[np.arange(1000) % 12]])
    matrix = Matrix(X)
    heads = train(matrix, labels, 48, [every(labels, "MAE")], Training(), seed=0)
    assert (heads.mean(matrix).argmax(1) == labels).mean() > 0.9


def test_heads_trained_together_are_those_trained_alone():
    X, labels = blobs()
    matrix = Matrix(X)
    half = (np.arange(len(labels)) % 2).astype(np.float32)
    tasks = [
        every(labels),
        every(labels, "GCE(q=0.7)", decay=1e-2),
        Task(losses.loss("CE"), half),
        every(labels, "GCE(q=0.7)", targets=np.full((len(labels), 3), 1 / 3, dtype=np.float32)),
        every(labels, transition=np.array([[0.8, 0.2, 0], [0, 1, 0], [0, 0.1, 0.9]])),
    ]
    together = train(matrix, labels, 3, tasks, QUICK, seed=1)
    for i, task in enumerate(tasks):
        alone = train(matrix, labels, 3, [task], QUICK, seed=1)
        np.testing.assert_allclose(together.pick([i]).mean(matrix), alone.mean(matrix), atol=2e-3)


def test_the_same_seed_gives_the_same_bits_and_another_seed_others():
    X, labels = blobs(600)
    matrix = Matrix(X)
    training = dataclasses.replace(QUICK, kind="mlp")
    first, again, other = (
        train(matrix, labels, 3, [every(labels)], training, seed).mean(matrix) for seed in (1, 1, 2)
    )
    assert (first == again).all()
    assert (first != other).any()


def test_sparse_inputs_are_the_dense_ones():
    X, labels = blobs()
    X = np.where(X > 1, X, 0)
    dense, thin = Matrix(X), Matrix(sparse.csr_matrix(X))
    dense.scaling = thin.scaling
    a = train(dense, labels, 3, [every(labels)], QUICK, 0).mean(dense)
    b = train(thin, labels, 3, [every(labels)], QUICK, 0).mean(thin)
    np.testing.assert_allclose(a, b, atol=1e-4)


def test_cross_entropy_comes_near_the_optimum_of_logistic_regression():
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600]
    matrix = Matrix(X)
    heads = train(matrix, y, 10, [every(y, decay=1e-2)], Training(steps=600), 0)
    reference = LogisticRegression(C=1 / (1e-2 * len(y)), max_iter=2000).fit(
        matrix.scaled(range(600)), y
    )
    ours, theirs = heads.mean(matrix), reference.predict_proba(matrix.scaled(range(600)))
    assert np.abs(ours - theirs).mean() < 0.005


def test_few_rows_get_the_optimum_whatever_their_order():
    X, labels = blobs(40, classes=2)
    order = np.random.default_rng(0).permutation(40)
    a = optimum(Matrix(X), labels, 2, np.ones(40), 1e-3).mean(Matrix(X))
    shuffled = Matrix(X[order])
    b = optimum(shuffled, labels[order], 2, np.ones(40), 1e-3).mean(shuffled)
    np.testing.assert_allclose(a[order], b, rtol=1e-7)


def test_rows_of_weight_0_count_nothing():
    X, labels = blobs()
    wrong = labels.copy()
    wrong[:100] = (labels[:100] + 1) % 3
    weights = (np.arange(200) >= 100).astype(np.float32)
    heads = train(Matrix(X), wrong, 3, [Task(losses.loss("CE"), weights)], QUICK, 0)
    assert (heads.mean(Matrix(X)).argmax(1) == labels).mean() > 0.95


def test_scaling_is_safe():
    X = np.column_stack([np.arange(10.0) + 1e9, np.full(10, 3.0), [0] * 9 + [1e6]])
    matrix = Matrix(X)
    scaled = matrix.scaled(slice(None))
    assert np.isfinite(scaled).all()
    np.testing.assert_allclose(scaled[:, 0].std(), 1)
    assert (scaled[:, 1] == 0).all()
    assert np.abs(scaled).max() <= FAR
    far = Matrix(np.full((1, 3), 1e30), matrix.scaling).scaled(slice(None))
    assert np.abs(far).max() <= FAR


def test_scaling_counts_weights_as_repeated_rows():
    X = np.random.default_rng(0).standard_normal((5, 2))
    counts = np.array([1, 2, 3, 1, 2])
    weighted, repeated = Scaling.of(X, counts), Scaling.of(np.repeat(X, counts, axis=0))
    np.testing.assert_allclose(weighted.mean, repeated.mean)
    np.testing.assert_allclose(weighted.factor, repeated.factor)


def test_inputs_of_another_width_are_refused():
    with pytest.raises(DataError, match="X has 3 features, expected 4"):
        Matrix(np.zeros((2, 3)), Matrix(blobs()[0]).scaling)


@pytest.mark.parametrize("loss", ["CE", "MAE", "AGCE(a=0.5, q=0.5)", "AUL(a=3, p=0.1)", "NCE"])
def test_every_loss_is_as_steep_as_cross_entropy(loss):
    rows, factor = unit_slope(losses.loss(loss), 5)
    import torch

    z = torch.zeros(2001, 5)
    z[:, 0] = torch.linspace(-20, 20, 2001)
    z.requires_grad_()
    (factor * rows(z, torch.zeros(2001, dtype=torch.int64)).sum()).backward()
    assert float(z.grad[:, 0].abs().max()) == pytest.approx(1, abs=0.02)
