"""A scikit-learn classifier for labels that may be wrong."""

import warnings
from dataclasses import replace
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from noiseproof.extras import need

need("fit", "sklearn", "scipy", "threadpoolctl")

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from noiseproof.errors import DataError, DataWarning, ParameterError, did_you_mean
from noiseproof.integrations.sklearn_inputs import form_of, labels_of, rows_of, unnamed, validated
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
from noiseproof.losses.parameter import Interval, checked, is_whole
from noiseproof.noise.labels import to_array
from noiseproof.parallel import one_thread
from noiseproof.prepare.classes import Codes
from noiseproof.prepare.forms import (
    blocks_in_form,
    blurred,
    check_range,
    column_numbers,
    in_form,
    prefers_sparse,
)
from noiseproof.prepare.groups import Groups
from noiseproof.prepare.inputs import warn_of_another_order
from noiseproof.prepare.leaks import label_doubts
from noiseproof.prepare.notes import shortlist
from noiseproof.prepare.samples import Samples


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
        rows, name = rows_of(X), getattr(y, "name", None)
        warn_of_another_order(rows, y)
        X, y = validated(self, rows, labels_of(y), **form_of(rows))
        check_classification_targets(y)
        check_range(X, "X")
        self.columns_: list[Any] | None = unnamed(rows)
        shown = Samples("X", rows if hasattr(rows, "iloc") else X)
        doubts = label_doubts(shown, np.unique(y, return_inverse=True)[1], name)
        for line in (*doubts, *blurred(X, "put a StandardScaler before this")):
            warnings.warn(line, DataWarning, stacklevel=2)
        self.sparse_: bool = prefers_sparse(X)
        X = in_form(X, self.sparse_)
        weights = None
        of = None if groups is None else Groups.of_array(groups, X.shape[0])
        if sample_weight is not None:
            weights = _check_sample_weight(_given(sample_weight), X, ensure_non_negative=True)
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
        if is_whole(self.random_state):
            if self.random_state < 0:
                raise ParameterError(f"expected random_state >= 0, got {self.random_state}")
            return int(self.random_state)
        from sklearn.utils import check_random_state

        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """Return (N, K): the probability of each of ``classes_``."""
        check_is_fitted(self)
        X = rows_of(X)
        self._check_order(X)
        X = validated(self, X, reset=False, **form_of(X))
        if self.ensemble_ is None:
            return np.ones((X.shape[0], 1), dtype=np.float32)
        X = X if self.used_ is None else X[:, self.used_]
        blocks = blocks_in_form(X, self.sparse_)
        with one_thread():
            found = [self.ensemble_.probabilities(block) for block in blocks]
        return np.concatenate(found, dtype=np.float32)

    def _check_order(self, X: Any) -> None:
        """Refuse columns in another order; scikit-learn only looks at names that are text."""
        names, known = unnamed(X), self.columns_
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
        return float(super().score(X, labels_of(y), _given(sample_weight)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _given(weights: Any) -> Any:
    """Return weights of rows as an array; one number, or none, as it is."""
    return weights if weights is None or np.isscalar(weights) else to_array(weights)


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
