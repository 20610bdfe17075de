"""The findings of a fit, as lines for people and as values for programs."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

import noiseproof
from noiseproof.learn.decide import Candidate
from noiseproof.learn.learn import NOISY
from noiseproof.learn.why import SAME, points
from noiseproof.progress import counted

if TYPE_CHECKING:
    from noiseproof.fitting.fitted import Fitted

#: The noise of more classes than this is left out of the summary: it would be a million numbers.
MATRIX = 1000
#: Names that a line tells at most.
SHOWN = 5


def lines(fitted: "Fitted") -> Iterator[tuple[str, str]]:
    """Yield (step, line) pairs: the results of each step after loading."""
    learned, estimate = fitted.learned, fitted.estimate
    if fitted.reviewed is not None:
        yield from (("review", line) for line in fitted.reviewed.lines)
    if fitted.crowd is not None:
        yield from (("agree", line) for line in fitted.crowd.lines)
    low, high = estimate.rate_interval
    about = f"{estimate.rate:.1%} of the labels are wrong ({low:.1%} to {high:.1%})"
    yield (
        "estimate",
        about if estimate.decisive else f"{low:.1%} to {high:.1%} of the labels are wrong",
    )
    for warning in estimate.warnings:
        yield "estimate", warning
    yield "choose", learned.why
    yield from (("choose", note) for note in learned.notes)
    yield "train", f"{fitted.recipe}, on {counted(learned.rows, 'row')}"
    yield "evaluate", f"held-out noisy labels predicted: {fitted.noisy}"
    true = fitted.true
    between = str(true) if estimate.decisive else f"{true.low:.0%} to {true.high:.0%}"
    yield "evaluate", f"accuracy on true labels, estimated: {between}"
    if fitted.checked_rows is not None:
        yield "evaluate", f"accuracy on checked rows, measured: {fitted.checked_rows}"
    if fitted.test is not None:
        test = fitted.test
        yield "evaluate", f"accuracy on {counted(test.rows, 'test row')}, measured: {test.accuracy}"
        yield from (("evaluate", warning) for warning in test.warnings)
    worst = min(fitted.recalls, key=lambda name: fitted.recalls[name])
    least = f"{worst}, {fitted.recalls[worst]:.1%}"
    yield (
        "evaluate",
        (
            f"balanced accuracy on held-out noisy labels: {fitted.balanced_accuracy:.1%}; "
            f"the class with the lowest recall: {least}"
        ),
    )
    if fitted.never_predicted:
        names = ", ".join(fitted.never_predicted[:SHOWN])
        more = len(fitted.never_predicted) - SHOWN
        yield "evaluate", f"never predicted: {names}" + (f" and {more} more" if more > 0 else "")
    yield "evaluate", against_cross_entropy(fitted)
    yield "evaluate", doubtful_line(fitted)


def doubtful_line(fitted: "Fitted") -> str:
    """Say how many rows are doubtful, and how many labels are probably wrong, if that is known."""
    count = len(fitted.suspects)
    line = f"{counted(count, 'row')} {'is' if count == 1 else 'are'} doubtful"
    if count and not fitted.estimate.decisive:
        return f"{line}; whether their labels are wrong or they are difficult cannot be told"
    return f"{line}, {fitted.probably_wrong:,} probably labelled wrong"


def against_cross_entropy(fitted: "Fitted") -> str:
    """Say how much better than cross entropy the model is, if it is."""
    if not fitted.compared:
        return "no learner with cross entropy was tried, to compare with"
    if fitted.is_cross_entropy:
        return "cross entropy is as good as anything tried here, and is used"
    if fitted.test is not None:
        ours, plain = fitted.test.accuracy.value, fitted.test.cross_entropy.value
        if abs(fitted.test.gain) < SAME:
            return f"as good as cross entropy on the test rows: {ours:.1%} are right"
        gain = points(fitted.test.gain, "better", "worse")
        return (
            f"{gain} than cross entropy on the test rows: {ours:.1%} are right, "
            f"with cross entropy {plain:.1%}"
        )
    by = fitted.learned.compared_by if fitted.crowd is None else NOISY
    if abs(fitted.gain) < SAME:
        return f"as good as cross entropy on {by}"
    line = f"{points(fitted.gain, 'better', 'worse')} than cross entropy on {by}"
    if fitted.misled:
        return f"{line}, which may mislead here"
    if not fitted.estimate.decisive:
        return line
    return f"{line}, about {100 * abs(fitted.true_gain):.1f} points on true ones"


def summarise(fitted: "Fitted") -> dict[str, Any]:
    """Return all findings as a dict for JSON."""
    learned, estimate = fitted.learned, fitted.estimate
    test = fitted.test
    return {
        "noiseproof": noiseproof.__version__,
        "data": asdict(fitted.checked)
        | {"notes": list(fitted.notes), "fingerprint": fitted.fingerprint},
        "noise": {
            "rate": _plain(estimate.rate),
            "rate_interval": _plain(estimate.rate_interval),
            "decisive": estimate.decisive,
            "clean_level": _plain(estimate.clean_level),
            "clean_level_interval": _plain(estimate.clean_level_interval),
            "matrix": _plain(estimate.matrix) if len(estimate) <= MATRIX else None,
            "warnings": list(estimate.warnings),
        },
        "choice": {
            "chosen": learned.chosen,
            "why": learned.why,
            "members": [member.described for member in learned.model.members],
            "compared_as": learned.compared_as,
            "comparison": [_compared(row, learned.judged) for row in learned.comparison],
        },
        "accuracy": {
            "noisy": fitted.noisy.to_dict(),
            "balanced_noisy": round(fitted.balanced_accuracy, 6),
            "recall_noisy": {name: round(v, 6) for name, v in fitted.recalls.items()},
            "never_predicted": list(fitted.never_predicted),
            "noisy_cross_entropy": fitted.cross_entropy.to_dict() if fitted.compared else None,
            "true_estimated": fitted.true.to_dict(),
            "checked_rows": fitted.checked_rows and fitted.checked_rows.to_dict(),
            "test": test and test.accuracy.to_dict(),
            "test_cross_entropy": test.cross_entropy.to_dict()
            if test and fitted.compared
            else None,
            "test_rows": test and test.rows,
            "test_rows_seen_in_training": test and test.seen,
            "test_warnings": test and list(test.warnings),
        },
        "suspects": len(fitted.suspects),
        "probably_wrong": fitted.probably_wrong,
        "review": fitted.change and fitted.change.to_dict(),
        "crowd": fitted.crowd and fitted.crowd.summary(),
        "seed": fitted.seed,
        "seconds": round(fitted.seconds, 2),
    }


def _compared(row: Candidate, judged: bool) -> dict[str, Any]:
    """Return a row of the comparison; what goes by a crowd's answers is not called accuracy."""
    found = row.to_dict()
    if judged:
        found["mean_probability_by_answers"] = found.pop("noisy_accuracy")
    return found


def _plain(value: Any) -> Any:
    """Return numbers and arrays for JSON, with None for values that are not finite."""
    found = np.asarray(value, dtype=np.float64)
    if found.ndim == 0:
        return round(float(found), 6) if np.isfinite(found) else None
    return [_plain(part) for part in found]
