"""The result of a fit: the model, and everything that was found on the way to it."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.fitting import evaluate
from noiseproof.fitting.crowd_result import Crowd
from noiseproof.fitting.evaluate import Accuracy
from noiseproof.fitting.model import Model
from noiseproof.fitting.page.looks import Looks
from noiseproof.fitting.review.before import BeforeAndAfter
from noiseproof.fitting.review.reviewed import Reviewed
from noiseproof.fitting.summary import summarise
from noiseproof.fitting.tested import Test
from noiseproof.learn.decide import may_mislead
from noiseproof.learn.learn import Learned
from noiseproof.noise import EstimatedTransition
from noiseproof.prepare.checks import Checked

NOISY = "held-out noisy labels; 95% interval"


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """A model, and everything that was found on the way to it.

    Args:
        model: the model.
        learned: the choice, the estimated noise and the comparison.
        checked: what the checks of the data found.
        notes: how columns were treated and what could not be tried, a line each.
        rows: the name of each training row.
        looks: what can be shown of the rows.
        fingerprint: what tells the data from other data.
        noisy: the accuracy on held-out noisy labels.
        cross_entropy: that of the best plain cross entropy on the same labels; where none was
            tried (:attr:`compared`), of the best model of the labels as given.
        true: the estimated accuracy on true labels.
        checked_rows: the accuracy on checked rows; None without any.
        test: the accuracy on a test set; None without one.
        seed: the seed of the fit.
        seconds: how long the fit took.
        reviewed: what was decided in a review before the fit; None without one.
        change: the figures without the review and with it; None without one.
        crowd: what several answers a row say; None if rows had one label each.
        doubts: the notes that make the fit doubtful.
    """

    model: Model
    learned: Learned
    checked: Checked
    notes: tuple[str, ...]
    rows: tuple[int | str, ...]
    looks: Looks
    fingerprint: str
    noisy: Accuracy
    cross_entropy: Accuracy
    true: Accuracy
    checked_rows: Accuracy | None
    test: Test | None
    seed: int
    seconds: float
    reviewed: Reviewed | None = None
    change: BeforeAndAfter | None = None
    crowd: Crowd | None = None
    doubts: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"Fitted({self.checked.name!r}, {self.checked.rows} rows, "
            f"{len(self.classes)} classes, {self.recipe})"
        )

    @property
    def classes(self) -> NDArray[Any]:
        """The class labels, with the type they were given in."""
        return self.model.classes

    @property
    def estimate(self) -> EstimatedTransition:
        """The estimated noise, with the names of the classes."""
        return self.learned.estimate

    @property
    def recipe(self) -> str:
        """The chosen model, in a few words."""
        return self.learned.chosen

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most likely class of each row."""
        return self.model.predict(X)

    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """Return the probability of each of :attr:`classes`, (N, K)."""
        return self.model.predict_proba(X)

    @cached_property
    def suspects(self) -> Any:
        """The rows whose labels are doubtful, as a DataFrame, the most doubtful first.

        ``confidence`` is the probability that the given label is wrong, 0.25 at least.
        """
        return self._suspects(self.classes)

    @property
    def suspects_by_name(self) -> Any:
        """:attr:`suspects` with the names of the classes: in files, 2.0 is the class 2."""
        return self._suspects(np.array(self.model.coding.names, dtype=object))

    def _suspects(self, classes: NDArray[Any]) -> Any:
        import pandas as pd

        found, rows = self.learned.suspects(), pd.Series(list(self.rows))
        return pd.DataFrame(
            {
                "row": rows.take(found.rows).reset_index(drop=True),
                "given_label": classes[self.learned.labels[found.rows]],
                "proposed_label": classes[found.proposed],
                "confidence": np.round(found.confidence, 4),
            }
        )

    @property
    def probably_wrong(self) -> int:
        """How many rows are more likely to be labelled wrong than right.

        None is called so where noise cannot be told from difficulty.
        """
        if not self.estimate.decisive:
            return 0
        return int((self.suspects["confidence"] >= 0.5).sum())

    @property
    def annotators(self) -> Any:
        """The annotators as a DataFrame, those with most answers first; None without a crowd."""
        return self.crowd and self.crowd.table()

    @property
    def ask_again(self) -> Any:
        """The items to ask about again, the most valuable first; None without a crowd.

        Items that a person has checked are not among them.
        """
        if self.crowd is None:
            return None
        review = self.learned.review
        found = self.crowd.ask_again(self.rows)
        if review is None:
            return found
        checked = {self.rows[at] for at in review.rows}
        return found[[row not in checked for row in found["row"]]].reset_index(drop=True)

    @property
    def recalls(self) -> dict[str, float]:
        """The share of each class's rows that is predicted, by held-out noisy labels.

        A class that some annotators of a crowd named and that no row got is left out.
        """
        learned = self.learned
        found = evaluate.recalls(learned.predicted, learned.labels, len(self.classes))
        named = zip(self.model.coding.names, found.tolist(), strict=True)
        return {name: recall for name, recall in named if recall == recall}  # no rows: NaN

    @property
    def balanced_accuracy(self) -> float:
        """The mean of the recalls: small classes count as much as large ones."""
        return float(np.mean(list(self.recalls.values())))

    @property
    def never_predicted(self) -> tuple[str, ...]:
        """The classes that no held-out row is predicted to be of."""
        predicted = set(self.learned.predicted.tolist())
        return tuple(n for k, n in enumerate(self.model.coding.names) if k not in predicted)

    @property
    def is_cross_entropy(self) -> bool:
        """Whether plain cross entropy was chosen."""
        return self.compared and self.learned.chosen == self.learned.plain.name

    @property
    def compared(self) -> bool:
        """Whether a learner with plain cross entropy was tried, to compare with."""
        return self.learned.baseline.members[0].learner.by_cross_entropy

    @property
    def gain(self) -> float:
        """The gain over plain cross entropy on held-out labels.

        By the rows, labels and weights of the comparison, as in the reason for the choice. An
        ensemble counts there as it does on labels that had no part in picking it. Models of a
        crowd's answers are not compared by labels: their gain is that of :attr:`noisy`.
        """
        if self.crowd is not None:
            return self.noisy.value - self.cross_entropy.value
        # Of many rows, the model and the baseline were trained on all after the comparison.
        learned = self.learned
        of = {row.name: row.noisy_accuracy for row in learned.comparison}
        return of[learned.chosen] - of[learned.plain.name]

    @property
    def true_gain(self) -> float:
        """The estimated gain over plain cross entropy on true labels."""
        found, checked = self.estimate, 0.0 if self.crowd else self.learned.checked_share
        return evaluate.gain_on_true(self.gain, found, found.prior, checked)

    @property
    def misled(self) -> bool:
        """Whether held-out labels may rank models otherwise than true ones would."""
        return may_mislead(self.estimate) and self.learned.checked_share < 0.5

    @property
    def report(self) -> str:
        """The report, as a self-contained HTML page."""
        from noiseproof.fitting.page.fit_page import fit_page

        return fit_page(self)

    @property
    def summary(self) -> dict[str, Any]:
        """Everything that was found, as a dict for JSON."""
        return summarise(self)

    def save(self, folder: str | Path, force: bool = False) -> Path:
        """Write model, report, suspect rows and summary into a new folder, all or nothing.

        Warns of a file beside the model that could not be made.

        Args:
            folder: the folder to create; it must not exist yet.
            force: whether to replace a folder that an earlier fit wrote.
        """
        from noiseproof.fitting.output import write

        for line in write(self, Path(folder), force):
            warnings.warn(line, RuntimeWarning, stacklevel=2)
        return Path(folder)
