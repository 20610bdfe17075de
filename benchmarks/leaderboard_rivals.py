"""The rivals of the leaderboard: what a few lines of scikit-learn, LightGBM or cleanlab give.

Each takes a `Problem` and labels and returns an `Answer`. One core each: their seconds compare.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from cleanlab.classification import CleanLearning
from leaderboard_sets import Codes, Problem
from lightgbm import LGBMClassifier
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.decomposition import TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

LEAVES = (1, 3, 5, 10, 20)
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


@dataclass(frozen=True)
class Answer:
    """What a method says: probabilities of the test rows, suspect rows, the share of wrong labels.

    Args:
        probabilities: (N, K) of the test rows.
        suspects: training rows, the most doubtful first; None where a method names none.
        rate: the estimated share of wrong labels.
        interval: of the rate, 95 %.
    """

    probabilities: NDArray[Any]
    suspects: Codes | None = None
    rate: float | None = None
    interval: tuple[float, float] | None = None


Method = Callable[[Problem, Codes], Answer]


def logistic(problem: Problem, labels: Codes) -> Any:
    """Logistic regression with the C that predicts held-out labels best."""
    search = LogisticRegressionCV(
        Cs=10, cv=FOLDS, scoring="accuracy", l1_ratios=(0,), max_iter=300,
        use_legacy_attributes=False,
    )  # fmt: skip
    chosen = _scaled(problem, search).fit(problem.X, labels)
    return _scaled(problem, LogisticRegression(C=float(chosen[-1].C_), max_iter=300))


def discriminant(problem: Problem, labels: Codes) -> Any:
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    if issparse(problem.X):
        return make_pipeline(TruncatedSVD(200, random_state=0), model)
    return model


def trees(kind: Any, leaf: int | None, problem: Problem, labels: Codes) -> Any:
    """A forest of 200 trees; without ``leaf``, the size that predicts held-out labels best."""
    forest = kind(200, min_samples_leaf=leaf or 1, random_state=0)
    if leaf:
        return forest
    return forest.set_params(min_samples_leaf=_leaf(kind, problem))


@cache
def _leaf(kind: Any, problem: Problem) -> int:
    """Return the leaf size; cleanlab around the same forest need not pay for the search again."""
    search = GridSearchCV(
        kind(100, random_state=0), {"min_samples_leaf": LEAVES}, cv=FOLDS, refit=False
    )
    return int(search.fit(problem.X, problem.given).best_params_["min_samples_leaf"])


def boosting(problem: Problem, labels: Codes) -> Any:
    return LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)


BASES: dict[str, Callable[[Problem, Codes], Any]] = {
    "logistic": logistic,
    "lda": discriminant,
    "extratrees": partial(trees, ExtraTreesClassifier, 1),
    "extratrees leaf": partial(trees, ExtraTreesClassifier, None),
    "forest": partial(trees, RandomForestClassifier, 1),
    "forest leaf": partial(trees, RandomForestClassifier, None),
    "lightgbm": boosting,
}


def plain(base: str, problem: Problem, labels: Codes) -> Answer:
    model = BASES[base](problem, labels).fit(problem.X, labels)
    return Answer(_spread(model, problem, labels))


def cleaned(base: str, problem: Problem, labels: Codes) -> Answer:
    """Cleanlab around a base: its model, its list of suspects, its estimate."""
    model = CleanLearning(BASES[base](problem, labels), seed=0)
    model.fit(problem.X, labels)
    issues = model.get_label_issues()
    ranked = issues["label_quality"].to_numpy().argsort(kind="stable")
    suspects = ranked[issues["is_label_issue"].to_numpy()[ranked]]
    joint = model.confident_joint
    rate = 1 - np.trace(joint) / joint.sum()
    return Answer(_spread(model, problem, labels), suspects, float(rate))


def on_true_labels(base: str, problem: Problem, labels: Codes) -> Answer:
    return plain(base, problem, problem.true)


RIVALS: dict[str, Method] = {
    **{base: partial(plain, base) for base in BASES},
    **{f"cleanlab {base}": partial(cleaned, base) for base in BASES},
}
CEILINGS: dict[str, Method] = {
    f"clean {base}": partial(on_true_labels, base) for base in BASES if not base.endswith("leaf")
}  # small leaves are best on clean labels


def _scaled(problem: Problem, model: BaseEstimator) -> Any:
    """Standardise columns, unless rows are of unit norm as those of text features are."""
    if issparse(problem.X) or np.allclose(np.linalg.norm(problem.X, axis=1), 1, atol=1e-3):
        return make_pipeline(model)
    return make_pipeline(StandardScaler(), model)


def _spread(model: Any, problem: Problem, labels: Codes) -> NDArray[Any]:
    """Return the probabilities of the test rows; a class that no label has gets none."""
    full = np.zeros((len(problem.test), problem.classes))
    full[:, np.unique(labels)] = model.predict_proba(problem.X_test)
    return full
