"""Heads drawn to naive Bayes: where they begin, where decay holds them, what they cannot read."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import MultinomialNB

from noiseproof import losses
from noiseproof.errors import ParameterError
from noiseproof.learn.bayes import SMOOTHING, naive_bayes
from noiseproof.learn.head import Heads, Training, train
from noiseproof.learn.learn import learn
from noiseproof.learn.matrix import Matrix
from noiseproof.learn.objective import Task


def documents(rows: int, words: int = 400, classes: int = 3, noise: float = 0.0, seed: int = 0):
    """Draw texts of a dozen words: most are common to all classes, some of the rare ones tell."""
    rng = np.random.default_rng(seed)
    taste = np.random.default_rng(99).lognormal(sigma=1, size=(classes, words))
    language = taste / np.arange(5, words + 5)
    language /= language.sum(axis=1, keepdims=True)
    labels = rng.integers(classes, size=rows)
    X = sparse.csr_matrix(np.stack([rng.multinomial(12, language[k]) for k in labels]), dtype="f4")
    wrong = rng.random(rows) < noise
    given = np.where(wrong, (labels + rng.integers(1, classes, size=rows)) % classes, labels)
    return X, labels, given


def as_heads(matrix: Matrix, classes: int, weight, bias) -> Heads:
    layer = (
        weight.reshape(matrix.shape[1], -1, classes).transpose(1, 0, 2),
        bias.reshape(-1, classes),
    )
    return Heads(matrix.scaling, classes, (layer,))


def test_the_closed_form_is_that_of_scikit_learn():
    X, labels, _ = documents(300)
    X = X / np.sqrt((X.multiply(X)).sum() / 300)  # rows of length 1, about
    half = (np.arange(300) % 2).astype(np.float32)
    soft = np.random.default_rng(1).dirichlet(np.ones(3), 300).astype(np.float32)
    every = np.ones(300, dtype=np.float32)
    tasks = [
        Task(losses.CE(), every),
        Task(losses.CE(), half),
        Task(losses.CE(), every, targets=soft),
    ]
    matrix = Matrix(X)
    heads = as_heads(matrix, 3, *naive_bayes(matrix, labels, 3, tasks))
    as_grams, as_tons = (naive_bayes(Matrix(X * unit), labels, 3, tasks)[0] for unit in (1e6, 1))
    np.testing.assert_allclose(as_grams, as_tons, rtol=1e-3, atol=1e-5)
    thrice, classes = sparse.vstack([X] * 3), np.repeat(np.arange(3), 300)
    for i, (rows, target, weight) in enumerate(
        [(X, labels, every), (X, labels, half), (thrice, classes, soft.T.ravel())]
    ):
        frequency = np.bincount(target, weight) + 1
        theirs = MultinomialNB(
            alpha=SMOOTHING * X.data.mean(), class_prior=frequency / frequency.sum()
        )
        theirs.fit(rows, target, weight)
        ours = heads.pick([i]).mean(matrix)
        np.testing.assert_allclose(ours, theirs.predict_proba(X), atol=1e-4)


def test_decay_holds_the_head_to_naive_bayes_and_without_it_it_goes_its_own_way():
    X, labels, _ = documents(300)
    matrix, every = Matrix(X), np.ones(300, dtype=np.float32)
    tasks = [Task(losses.CE(), every, decay) for decay in (0, 10.0)]
    start = as_heads(matrix, 3, *naive_bayes(matrix, labels, 3, tasks)).pick([0]).mean(matrix)
    heads = train(matrix, labels, 3, tasks, Training(kind="bayes"), seed=0)
    free, held = (np.abs(heads.pick([i]).mean(matrix) - start).mean() for i in (0, 1))
    assert held < 0.03 < free


def test_few_noisy_texts_are_learned_better_than_by_a_linear_head():
    X, _, given = documents(600, words=2000, noise=0.4)
    X_test, test, _ = documents(2000, words=2000, seed=1)

    def accuracy(kind):
        learned = learn(X, given, 3, losses=["CE"], head=kind)
        assert learned.kind == (kind or "bayes")
        return (learned.predict_proba(X_test).argmax(1) == test).mean()

    chosen, linear = accuracy(None), accuracy("linear")
    assert chosen > linear + 0.01


def test_columns_that_are_no_counts_are_left_to_training():
    X, labels, _ = documents(300)
    matrix = Matrix(sparse.hstack([X, labels[:, None] - 1.0], format="csr", dtype="f4"))
    task = Task(losses.CE(), np.ones(300, dtype=np.float32))
    weight, _ = naive_bayes(matrix, labels, 3, [task])
    alone, _ = naive_bayes(Matrix(X), labels, 3, [task])
    assert (weight[-1] == 0).all()
    assert np.corrcoef(weight[:-1].ravel(), alone.ravel())[0, 1] > 0.999
    heads = train(matrix, labels, 3, [task], Training(kind="bayes"), 0)
    assert (heads.mean(matrix).argmax(1) == labels).mean() > 0.99  # the last column says it all


def test_nothing_but_zeros():
    matrix = Matrix(sparse.csr_matrix((60, 3), dtype="f4"))
    labels = np.arange(60) % 4 // 3
    task = Task(losses.CE(), np.ones(60, dtype=np.float32))
    heads = train(matrix, labels, 2, [task], Training(kind="bayes"), 0)
    assert heads.mean(matrix)[0] == pytest.approx([0.75, 0.25], abs=0.02)


def test_dense_inputs_are_not_counted():
    X, labels, _ = documents(50)
    task = Task(losses.CE(), np.ones(50, dtype=np.float32))
    with pytest.raises(ParameterError, match="needs sparse inputs"):
        train(Matrix(X.toarray()), labels, 3, [task], Training(kind="bayes"), 0)
