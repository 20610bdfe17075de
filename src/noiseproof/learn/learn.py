"""From noisy labels to a model: which loss, why, and how noisy the labels are."""

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from noiseproof.advise.recommend import recommend
from noiseproof.errors import DataError, TheoryError
from noiseproof.learn.choose import Candidate, Setting, Trial, decide
from noiseproof.learn.compare import DECAY, compare, scout, treat
from noiseproof.learn.few import optimum
from noiseproof.learn.folds import Labels, deal, held_out, row_weights
from noiseproof.learn.head import Heads, Kind, Training, stacked
from noiseproof.learn.matrix import Floats, Matrix, Scaling
from noiseproof.learn.trials import Bench
from noiseproof.noise import EstimatedTransition, estimate

Watch = Callable[[str, int, int], None]

#: With fewer rows than this, held-out labels cannot tell one loss from another.
FEW = 100
#: With fewer rows than this, a hidden layer is not tried.
HIDDEN = 500

#: Compared where no loss is proved to withstand the noise.
USUAL = (
    "CE",
    "GCE(q=0.7)",
    "AGCE(a=1, q=0.5)",
    "AUL(a=3, p=2)",
    "AEL(a=2.5)",
    "NCE + RCE",
    "NCE + AGCE(a=6, q=1.5)",
)


class Suspects(NamedTuple):
    """Rows whose label is doubtful, the most doubtful first.

    ``confidence`` is the probability that the given label is wrong.
    """

    rows: NDArray[np.int64]
    proposed: NDArray[np.int64]
    confidence: NDArray[np.float64]


@dataclass(frozen=True)
class Learned:
    """What :func:`learn` found.

    Args:
        heads: the trained heads, whose probabilities are averaged.
        baseline: the same trained with CE, to compare with; the heads themselves in a model that
            was loaded.
        loss: what was minimised, as text.
        kind: of the heads.
        treatment: what was done about doubtful labels, ``"none"`` if nothing.
        why: the reason for the choice, one sentence.
        estimate: how noisy the labels are; None in a model that was loaded.
        comparison: what was compared, the best first.
        probabilities: (N, K) out-of-fold.
        labels: (N,) as given.
    """

    heads: Heads
    baseline: Heads
    loss: str
    kind: Kind
    treatment: str
    why: str
    estimate: EstimatedTransition | None
    comparison: tuple[Candidate, ...]
    probabilities: Floats
    labels: NDArray[np.int64]

    def predict_proba(self, X: Any) -> Floats:
        """Return (N, K) probabilities of the true class."""
        return self.heads.mean(Matrix(X, self.heads.scaling))

    def suspects(self) -> Suspects:
        """Return the rows whose label is probably wrong."""
        if self.estimate is None:
            raise DataError("a model that was loaded does not know the rows it was trained on")
        wrong, proposed = self.estimate.doubt(self.labels, self.probabilities)
        rows = np.flatnonzero(proposed != self.labels)
        rows = rows[np.argsort(-wrong[rows], kind="stable")]
        return Suspects(rows, proposed[rows], wrong[rows])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the numbers that a saved model needs."""
        out: dict[str, NDArray[Any]] = {
            "mean": self.heads.scaling.mean,
            "factor": self.heads.scaling.factor,
        }
        for i, (weight, bias) in enumerate(self.heads.layers):
            out[f"weight{i}"], out[f"bias{i}"] = weight, bias
        return out

    def describe(self) -> dict[str, Any]:
        """Return the rest, as JSON can hold it."""
        return {
            "classes": self.heads.classes,
            "loss": self.loss,
            "kind": self.kind,
            "treatment": self.treatment,
            "why": self.why,
            "comparison": [candidate.to_dict() for candidate in self.comparison],
        }

    @classmethod
    def load(cls, arrays: Mapping[str, NDArray[Any]], description: Mapping[str, Any]) -> Self:
        """Return the model that :meth:`arrays` and :meth:`describe` were taken from."""
        classes = int(description["classes"])
        layers: list[tuple[Floats, Floats]] = []
        while f"weight{len(layers)}" in arrays:
            i = len(layers)
            layers.append((np.asarray(arrays[f"weight{i}"]), np.asarray(arrays[f"bias{i}"])))
        scaling = Scaling(np.asarray(arrays["mean"]), np.asarray(arrays["factor"]))
        heads = Heads(scaling, classes, tuple(layers))
        return cls(
            heads=heads,
            baseline=heads,
            loss=str(description["loss"]),
            kind=description["kind"],
            treatment=str(description["treatment"]),
            why=str(description["why"]),
            estimate=None,
            comparison=tuple(Candidate(**row) for row in description["comparison"]),
            probabilities=np.empty((0, classes), dtype=np.float32),
            labels=np.empty(0, dtype=np.int64),
        )


def learn(
    X: Any,
    y: ArrayLike,
    classes: int,
    *,
    sample_weight: ArrayLike | None = None,
    losses: Sequence[str] | None = None,
    seed: int = 0,
    folds: int = 5,
    search: int = 0,
    watch: Watch | None = None,
    head: Kind | None = None,
) -> Learned:
    """Learn from noisy labels, with whatever predicts held-out noisy labels best.

    Compared are kinds of head, losses and what can be done about doubtful labels; see
    :mod:`noiseproof.learn.compare`. The model is the mean of the heads of the folds.

    Args:
        X: (N, D) inputs, dense or scipy-sparse.
        y: (N,) labels 0 to K-1, some of them wrong.
        classes: K.
        sample_weight: (N,) what each row counts.
        losses: what to compare; by default what suits the noise that is estimated.
        seed: the same seed gives the same model.
        folds: how many parts the rows are dealt into.
        search: how many further settings to try with optuna.
        watch: is called with the name of a step and how much of how much of it is done.
        head: ``"linear"``, ``"bayes"`` for sparse inputs, ``"mlp"`` for dense ones; by default the
            one that predicts better.
    """
    labels = np.asarray(y, dtype=np.int64)
    weights = row_weights(sample_weight, len(labels))
    matrix = Matrix(X, weights=weights)
    folds = min(folds, len(labels))
    fold = deal(labels, folds, seed)
    bench = Bench(matrix, labels, classes, weights, fold, seed)
    if len(labels) < FEW:
        return _few(bench)
    kinds: tuple[Kind, ...] = ("linear",)
    if matrix.sparse:
        kinds = ("bayes", "linear")
    elif len(labels) >= HIDDEN:
        kinds = ("linear", "mlp")
    first = scout(_watched(bench, watch, "scout"), Training(), (head,) if head else kinds)
    names = losses or _suited(first.robust, labels)
    trials = compare(_watched(bench, watch, "compare losses"), first, names)
    trials += treat(_watched(bench, watch, "treat doubtful labels"), first.training, trials)
    if search > 0:
        from noiseproof.learn.search import search as search_further

        trials += search_further(_watched(bench, watch, "search"), first.training, search)
    chosen, why = decide(trials)
    plain = max((t for t in trials if t.setting.name == "CE"), key=lambda t: t.accuracy)
    kind = first.training.kind
    return _learned(chosen, kind, chosen.heads, plain.heads, why, trials, labels)


def _few(bench: Bench) -> Learned:
    """Train CE on all rows: so few tell nothing about which loss is better."""
    setting = Setting("CE", DECAY)
    heads = [
        optimum(
            bench.matrix, bench.labels, bench.classes, held_out(bench.weights, bench.fold, f), DECAY
        )
        for f in range(bench.folds)
    ]
    (trial,) = bench.tested([setting], stacked(heads), bench.folds)
    every = optimum(bench.matrix, bench.labels, bench.classes, bench.weights, DECAY)
    why = f"Fewer than {FEW} rows cannot tell which loss is better, so CE is used."
    return _learned(trial, "linear", every, every, why, [trial], bench.labels)


def _learned(
    chosen: Trial,
    kind: Kind,
    heads: Heads,
    baseline: Heads,
    why: str,
    trials: Sequence[Trial],
    labels: Labels,
) -> Learned:
    ranked = sorted(trials, key=lambda trial: -trial.accuracy)
    return Learned(
        heads=heads,
        baseline=baseline,
        loss=chosen.setting.loss,
        kind=kind,
        treatment=chosen.setting.treatment,
        why=why,
        estimate=estimate(labels, chosen.probabilities),
        comparison=tuple(trial.candidate for trial in ranked),
        probabilities=chosen.probabilities,
        labels=labels,
    )


def _watched(bench: Bench, watch: Watch | None, step: str) -> Bench:
    if watch is None:
        return bench
    return dataclasses.replace(bench, progress=functools.partial(watch, step))


def _suited(trial: Trial, labels: Labels) -> Sequence[str]:
    """Return the losses that suit the noise as a first look shows it."""
    rows = trial.share > 0
    try:
        advice = recommend(estimate(labels[rows], trial.probabilities[rows]))
    except TheoryError:  # no loss is proved to withstand it; some still do better than others
        return USUAL
    return [str(one.loss) for one in advice]
