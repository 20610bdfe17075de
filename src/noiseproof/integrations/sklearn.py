"""A scikit-learn classifier for labels that may be wrong."""

from typing import Any, Self, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noiseproof.extras import need

need("fit", "scipy", "sklearn")

from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from noiseproof import losses
from noiseproof.errors import DataError, ParameterError
from noiseproof.learn.head import Heads, Kind, Training, train
from noiseproof.learn.learn import Learned, learn
from noiseproof.learn.matrix import Matrix
from noiseproof.learn.objective import Task
from noiseproof.losses import Loss
from noiseproof.prepare.forms import blocks_in_form, check_range, plain

#: What scikit-learn shall make of inputs, and leave as they are.
FORM: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float32, np.float64], "order": "C"}


class RobustClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that stays right when labels are wrong.

    Args:
        loss: ``"auto"`` to compare losses, and what can be done about doubtful labels, on held-out
            rows, as ``noiseproof fit`` does; or one to train with, as text or a
            :class:`~noiseproof.losses.Loss`.
        head: ``"linear"``; ``"bayes"``, which decay draws to naive Bayes and not to 0, for sparse
            counts; ``"mlp"``; or ``"auto"``: the one that suits the data where losses are compared,
            linear where one is given.
        weight_decay: where a loss is given, how strongly the weights are held to 0.
        folds: into how many parts the rows are dealt where losses are compared.
        random_state: the same number gives the same model; a ``RandomState`` is drawn from.

    Attributes:
        classes_: (K,) the labels, sorted.
        loss_: what was minimised, as text.
        learned_: what was found where losses were compared: ``.why``, ``.estimate``,
            ``.comparison``, ``.suspects()``.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> y[::5] = 0  # wrong, for the most part
    >>> model = RobustClassifier("AGCE(a=1, q=0.5)").fit(X, y)
    >>> bool((model.predict(X) == load_iris().target).mean() > 0.9)
    True
    """

    classes_: NDArray[Any]

    def __init__(
        self,
        loss: str | Loss = "auto",
        *,
        head: str = "auto",
        weight_decay: float = 1e-3,
        folds: int = 5,
        random_state: Any = 0,
    ) -> None:
        self.loss = loss
        self.head = head
        self.weight_decay = weight_decay
        self.folds = folds
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Train on inputs (N, D), dense or sparse, and labels of any type."""
        X, y = validate_data(self, plain(X), _labels(y), **FORM)
        check_classification_targets(y)
        check_range(X, "X")
        self.sparse_: bool = issparse(X)
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
            X, y, weights = X[weights > 0], y[weights > 0], weights[weights > 0]
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._train(X, codes.astype(np.int64), weights)
        return self

    def _train(self, X: Any, codes: NDArray[np.int64], weights: ArrayLike | None) -> None:
        self.learned_: Learned | None = None
        self.heads_: Heads | None = None
        self.loss_ = str(self.loss)
        if len(self.classes_) < 2:
            return
        kind = self._kind()
        if isinstance(self.loss, str) and self.loss == "auto":
            self.learned_ = learn(
                X, codes, len(self.classes_), sample_weight=weights, seed=self._seed(),
                folds=self.folds, head=kind,
            )  # fmt: skip
            self.loss_, self.heads_ = self.learned_.loss, self.learned_.heads
            return
        loss = losses.loss(self.loss) if isinstance(self.loss, str) else self.loss
        every = np.ones(len(codes)) if weights is None else weights
        task = Task(loss, np.asarray(every, dtype=np.float32), self.weight_decay)
        matrix = Matrix(X, weights=every)
        self.loss_ = str(loss)
        self.heads_ = train(
            matrix, codes, len(self.classes_), [task], Training(kind=kind or "linear"), self._seed()
        )

    def _kind(self) -> Kind | None:
        if self.head == "auto":
            return None
        if self.head not in get_args(Kind):
            expected = ", ".join(get_args(Kind))
            raise ParameterError(f"expected head auto, {expected}, got {self.head!r}")
        return cast(Kind, self.head)

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        from sklearn.utils import check_random_state

        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """Return (N, K): the probability of each of ``classes_``."""
        check_is_fitted(self)
        X = validate_data(self, plain(X), reset=False, **FORM)
        if self.heads_ is None:
            return np.ones((X.shape[0], 1), dtype=np.float32)
        heads = self.heads_
        blocks = blocks_in_form(X, self.sparse_)
        return np.concatenate([heads.mean(Matrix(block, heads.scaling)) for block in blocks])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        probabilities = self.predict_proba(X)
        predicted: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return predicted

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _labels(y: Any) -> Any:
    """Return labels that scikit-learn takes for another type, or for none, as what they are."""
    nullable = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if nullable is not None and nullable.kind in "biu" and not y.isna().any():
        return y.to_numpy(nullable)
    if getattr(getattr(y, "dtype", None), "kind", "") != "O" or y.ndim != 1:
        return y
    types = sorted({type(value).__name__ for value in y})
    if types in (["int"], ["bool"]):
        return np.array(list(y))
    if "str" in types and {"int", "float", "bool"} & set(types):
        raise DataError(
            f"labels of types {' and '.join(types)}: make them all text, or all numbers"
        )
    return y
