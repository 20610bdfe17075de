"""Made-up crowds whose truth is known, and a learner that is quick."""

import numpy as np

from noiseproof.crowd.answers import Answers


def ask_crowd(true, skills, answers_each, seed=0, classes=None):
    """Return the answers of annotators who are right as often as their skill says."""
    rng = np.random.default_rng(seed)
    K = classes or int(true.max()) + 1
    item, annotator = [], []
    for i in range(len(true)):
        asked = rng.choice(len(skills), min(answers_each, len(skills)), replace=False)
        item += [i] * len(asked)
        annotator += asked.tolist()
    item, annotator = np.array(item), np.array(annotator)
    right = rng.random(len(item)) < np.asarray(skills)[annotator]
    wrong = (true[item] + rng.integers(1, K, len(item))) % K
    code = np.where(right, true[item], wrong)
    names, annotator = np.unique(annotator, return_inverse=True)
    return Answers(item, annotator, code, tuple(f"w{n}" for n in names), K)


def blobs(rows, classes, spread=1.0, seed=0):
    """Return features (N, 6) and true classes."""
    rng = np.random.default_rng(seed)
    true = np.arange(rows) % classes
    return 3 * np.eye(classes, 6)[true] + spread * rng.normal(size=(rows, 6)), true


def centroids(X, folds=5, of=None):
    """Return a learner: held-out distance to the class means; ``of`` is the fold of each row."""
    fold = np.arange(len(X)) % folds if of is None else of

    def predict(soft):
        p = np.zeros_like(soft)
        for f in range(folds):
            train, held = fold != f, fold == f
            weight = soft[train] / soft[train].sum(axis=0)
            means = weight.T @ X[train]
            z = -((X[held][:, None] - means) ** 2).sum(axis=2) / 2
            p[held] = np.exp(z - z.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    return predict
