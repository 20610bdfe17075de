"""A scikit-learn classifier for labels that may be wrong."""

import warnings
from dataclasses import replace
from enum import Enum
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from noiseproof.extras import need

need("fit", "sklearn", "scipy", "threadpoolctl")

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from noiseproof.errors import DataError, DataWarning, ParameterError, did_you_mean
from noiseproof.learn.ensemble import Ensemble, Member
from noiseproof.learn.folds import alike, joined
from noiseproof.learn.learn import MINUTES, Learned, learn
from noiseproof.learn.learner import Problem, Task
from noiseproof.learn.learners import Learner, registry
from noiseproof.learn.training import train_all
from noiseproof.learn.treat import PLAIN
from noiseproof.losses import Loss, WeightedSum
from noiseproof.losses.expression import as_loss
from noiseproof.losses.own import is_same
from noiseproof.losses.parameter import Interval, checked
from noiseproof.noise.labels import to_array
from noiseproof.parallel import one_thread
from noiseproof.prepare.classes import Codes, only_column
from noiseproof.prepare.forms import (
    TOO_LARGE,
    blocks_in_form,
    blurred,
    check_range,
    column_numbers,
    in_form,
    plain,
    prefers_sparse,
)
from noiseproof.prepare.groups import Groups
from noiseproof.prepare.leaks import label_doubts
from noiseproof.prepare.notes import shortlist
from noiseproof.prepare.samples import Samples
from noiseproof.tables.frames import as_column, as_frame, is_foreign

MISSING = "some labels are missing; leave those rows out"


class RobustClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that stays right when labels are wrong.

    Args:
        loss: ``"auto"`` to compare learners, losses and treatments of doubtful labels on held-out
            rows, as ``noiseproof fit`` does; or one loss to train with, as text or as a
            :class:`~noiseproof.losses.Loss`.
        learner: ``"auto"``, or a name: ``linear``, ``hidden``, ``bayes``, ``trees``, ``boosting``,
            ``discriminant``, ``quadratic``, ``neighbours``. If a loss is given, ``"auto"`` means
            linear.
        weight_decay: the strength of weight decay, if a loss is given.
        folds: the number of folds for the comparison.
        minutes: the time after which the comparison starts no further setting.
        random_state: the same number gives the same model; a ``RandomState`` draws one.

    Attributes:
        classes_: (K,) the labels, sorted.
        ensemble_: the trained models; None if there is only one class.
        learned_: the result of the comparison, with ``.why``, ``.estimate``, ``.comparison`` and
            ``.suspects()``; None if a loss was given.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> y[::5] = 0  # wrong, for the most part
    >>> model = RobustClassifier("AGCE(a=1, q=0.5)").fit(X, y)
    >>> bool((model.predict(X) == load_iris().target).mean() > 0.9)
    True
    """

    classes_: NDArray[Any]
    learned_: Learned | None

    def __init__(
        self,
        loss: str | Loss = "auto",
        *,
        learner: str = "auto",
        weight_decay: float = 1e-3,
        folds: int = 5,
        minutes: float = MINUTES,
        random_state: Any = 0,
    ) -> None:
        self.loss = loss
        self.learner = learner
        self.weight_decay = weight_decay
        self.folds = folds
        self.minutes = minutes
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, groups: Any = None
    ) -> Self:
        """Train on inputs (N, D), dense or sparse, and labels of any type.

        Args:
            X: (N, D) inputs.
            y: (N,) labels.
            sample_weight: (N,) how much each row counts in training and in the comparison. Rows of
                weight 0 are left out; ``learned_.estimate`` counts every other row once.
            groups: (N,) what each row belongs to, such as a patient. Rows of one group are held
                out together.
        """
        rows, name = _rows(X), getattr(y, "name", None)
        X, y = _validated(self, rows, _labels(y), **_form(rows))
        check_classification_targets(y)
        check_range(X, "X")
        self.columns_: list[Any] | None = _unnamed(rows)
        shown = Samples("X", rows if hasattr(rows, "iloc") else X)
        doubts = label_doubts(shown, np.unique(y, return_inverse=True)[1], name)
        for line in (*doubts, *blurred(X, "put a StandardScaler before this")):
            warnings.warn(line, DataWarning, stacklevel=2)
        self.sparse_: bool = prefers_sparse(X)
        X = in_form(X, self.sparse_)
        weights = None
        of = None if groups is None else Groups.of_array(groups, X.shape[0])
        if sample_weight is not None:
            given = sample_weight if np.isscalar(sample_weight) else to_array(sample_weight)
            weights = _check_sample_weight(given, X, ensure_non_negative=True)
            used = np.flatnonzero(weights > 0)
            X, y, weights = X[used], y[used], weights[used]
            of = None if of is None else of.take(used)
        self.used_ = _varying(X) if self.sparse_ else None
        X = X if self.used_ is None else X[:, self.used_]
        self.classes_, codes = np.unique(y, return_inverse=True)
        if of is not None and len(self.classes_) > 1:
            for line in of.about(codes, [str(name) for name in self.classes_], "X")[1]:
                warnings.warn(line, DataWarning, stacklevel=2)
        with one_thread():
            self._train(X, codes.astype(np.int64), weights, None if of is None else of.numbers)
        if weights is not None and self.learned_ is not None:
            self.learned_ = replace(self.learned_, places=used)
        return self

    def _train(self, X: Any, codes: Codes, weights: ArrayLike | None, groups: Codes | None) -> None:
        self.learned_ = None
        self.ensemble_: Ensemble | None = None
        kind = self._kind()
        if len(self.classes_) < 2:
            return
        if isinstance(self.loss, str) and self.loss == "auto":
            self.learned_ = learn(
                X, codes, len(self.classes_), sample_weight=weights, groups=groups,
                seed=self._seed(), folds=self.folds, minutes=self.minutes,
                learners=self.learner if kind else None,
            )  # fmt: skip
            self.ensemble_ = self.learned_.model
            return
        kind = kind or registry["linear"]
        setting = self._setting(kind)
        every = np.ones(len(codes)) if weights is None else weights
        of = None if groups is None else joined(alike(X), groups)
        problem = Problem(X, codes, len(self.classes_), np.asarray(every), self._seed(), copies=of)
        kind.check(problem.shape)
        (trained,) = train_all(problem, [Task(setting, problem.weights)])
        self.ensemble_ = Ensemble((Member(setting, PLAIN, 1.0, trained),))

    def _setting(self, kind: type[Learner]) -> Learner:
        loss = as_loss(self.loss)
        if loss.weight is not None or loss.label_smoothing or loss.ignore_index != -100:
            raise ParameterError(
                "loss: a learner trains without class weights, label smoothing and ignore_index; "
                "use fit(X, y, sample_weight=...), or a loss without them"
            )
        loss.check_formula("a learner")
        if not is_same(loss, as_loss(str(loss))):
            raise ParameterError(
                f"loss: it is not what its text {str(loss)!r} builds, which learners are given: "
                "what changes it has to be a parameter, as in a: float = nf.parameter(default=1)"
            )
        for term in loss.losses if isinstance(loss, WeightedSum) else (loss,):
            if term.transforms and _sees_no_length(term, len(self.classes_)):
                raise ParameterError(
                    f"loss: {term} sees the direction of the logits alone, and a learner's "
                    "probabilities depend on their length; train a network with it"
                )
        strength = Interval(at_least=0)
        setting = kind().with_loss(str(loss))
        if setting is None:
            raise ParameterError(f"{kind.name} takes no loss; use loss='auto', or another learner")
        return setting.varied(decay=checked("weight_decay", self.weight_decay, strength))

    def _kind(self) -> type[Learner] | None:
        if self.learner == "auto":
            return None
        if not isinstance(self.learner, str) or self.learner not in registry:
            hint = did_you_mean(str(self.learner), registry)
            raise ParameterError(f"no learner is called {self.learner!r}{hint}")
        return registry[self.learner]

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            if self.random_state < 0:
                raise ParameterError(f"expected random_state >= 0, got {self.random_state}")
            return int(self.random_state)
        from sklearn.utils import check_random_state

        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """Return (N, K): the probability of each of ``classes_``."""
        check_is_fitted(self)
        X = _rows(X)
        self._check_order(X)
        X = _validated(self, X, reset=False, **_form(X))
        if self.ensemble_ is None:
            return np.ones((X.shape[0], 1), dtype=np.float32)
        X = X if self.used_ is None else X[:, self.used_]
        blocks = blocks_in_form(X, self.sparse_)
        with one_thread():
            found = [self.ensemble_.probabilities(block) for block in blocks]
        return np.concatenate(found, dtype=np.float32)

    def _check_order(self, X: Any) -> None:
        """Refuse columns in another order; scikit-learn only looks at names that are text."""
        names, known = _unnamed(X), self.columns_
        if hasattr(self, "feature_names_in_"):
            known = column_numbers(self.feature_names_in_)
            if known is None:
                return
        if names is None:
            return
        if known is None:  # fitted to an array, whose columns have numbers
            known = sorted(names) if set(names) == set(range(len(names))) else names
        if names != known:
            raise DataError(
                f"X: its columns are {shortlist(map(str, names))}, those of the fit "
                f"{shortlist(map(str, known))}; give them in the same order, or as an array"
            )

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        probabilities = self.predict_proba(X)
        predicted: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return predicted

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy of :meth:`predict` on labels in any form that :meth:`fit` takes."""
        return float(super().score(X, _labels(y), sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _varying(X: Any) -> Codes | None:
    """Return the columns of sparse rows that are not constant; None for all of them.

    Hashed words leave most columns empty, and trees look at each before they split.
    """
    varying = np.flatnonzero(X.max(axis=0).toarray() != X.min(axis=0).toarray())
    return varying if 0 < len(varying) < X.shape[1] else None


def _sees_no_length(loss: Loss, classes: int) -> bool:
    """Return whether logits twice as long have the same loss: to such a loss all decay is free."""
    z = torch.linspace(-2, 2, 8 * classes, dtype=torch.float64).square().view(classes, 8).t()
    short, long = loss.class_rows(z), loss.class_rows(2 * z)
    return torch.allclose(short, long, rtol=1e-9) and not torch.allclose(short, short[:1])


def _validated(estimator: Any, *given: Any, **options: Any) -> Any:
    """Return what scikit-learn makes of rows and labels."""
    try:
        return validate_data(estimator, *given, **options)
    except OverflowError:  # of an integer that no float holds
        raise DataError(TOO_LARGE) from None


def _rows(X: Any) -> Any:
    """Return inputs in a form that scikit-learn can validate; it would count dates in any unit."""
    if getattr(getattr(X, "dtype", None), "kind", None) in ("m", "M"):
        raise DataError("X: expected numbers, got dates or times; give days or seconds")
    X = plain(as_frame(X) if is_foreign(X) else X)
    if not hasattr(X, "columns"):
        return X
    for name in X.columns[X.columns.duplicated()][:1]:
        raise DataError(f"X: two columns are called {name!r}")
    dates = [name for name, dtype in X.dtypes.items() if dtype.kind in "mM"]
    if dates:
        raise DataError(
            f"X: expected numbers, got dates or times in {shortlist(dates)}; give days or seconds"
        )
    return X


def _form(X: Any) -> dict[str, Any]:
    """Return how scikit-learn should validate inputs: as float64 where float32 would round them."""
    found = list(X.dtypes) if hasattr(X, "dtypes") else [X.dtype]
    exact = all(isinstance(dtype, np.dtype) and np.can_cast(dtype, np.float32) for dtype in found)
    types = [np.float32, np.float64] if exact else [np.float64, np.float32]
    return {"accept_sparse": "csr", "dtype": types, "order": "C"}


def _unnamed(X: Any) -> list[Any] | None:
    """Return the columns of a table whose names are not text, or only count them; else None."""
    names = list(getattr(X, "columns", ()))
    is_text = all(isinstance(name, str) for name in names)
    return (column_numbers(names) or None) if is_text else names


def _labels(y: Any) -> Any:
    """Return labels in a type that scikit-learn recognises."""
    y = only_column(y, "y") if hasattr(y, "columns") else y
    y = plain(y) if isinstance(y, torch.Tensor) else as_column(y)
    if np.ma.is_masked(y) or (hasattr(y, "isna") and np.asarray(y.isna()).any()):
        raise DataError(MISSING)
    nullable = getattr(getattr(y, "dtype", None), "numpy_dtype", None)
    if nullable is not None and nullable.kind in "biu" and not y.isna().any():
        return y.to_numpy(nullable)
    kind = getattr(getattr(y, "dtype", None), "kind", "")
    y = y.astype(object) if kind == "T" else y  # NumPy's texts of any length
    objects = kind in ("O", "T") and y.ndim == 1
    if not objects and not isinstance(y, (list, tuple)) and not hasattr(y, "to_list"):
        return y
    values = [_own(value) for value in y]
    types = sorted({type(value).__name__ for value in values})
    gaps = any(value is None or (isinstance(value, float) and value != value) for value in values)
    if gaps and types != ["float"]:  # scikit-learn names those among numbers
        raise DataError(MISSING)
    if types == ["float", "int"] and any(float(value) != value for value in values):
        raise DataError("labels of types float and int: floats would round some; make all integers")
    if objects and types in (["int"], ["bool"], ["float"]):
        return np.array(values)
    if "str" in types and {"int", "float", "bool"} & set(types):
        raise DataError(
            f"labels of types {' and '.join(types)}: make them all text, or all numbers"
        )
    # NumPy's own text drops what "a\0" has more than "a": such labels stay objects.
    cut = types == ["str"] and any(value.endswith("\0") for value in values)
    # And it cuts the names of an enumeration of texts to the length of its texts.
    cut |= types == ["str"] and any(isinstance(value, Enum) for value in y)
    return np.array(values, dtype=object) if cut else y


def _own(value: Any) -> Any:
    """Return a number or text of NumPy's, or of an enumeration, as one of Python's own."""
    if isinstance(value, np.generic):
        return value.item()
    return value.value if isinstance(value, Enum) and isinstance(value, str | int) else value
