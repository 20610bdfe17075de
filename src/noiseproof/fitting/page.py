"""The report of a fit: the noise, the model and why, its accuracy, suspect rows, next steps."""

from typing import TYPE_CHECKING, Any

import numpy as np

import noiseproof
from noiseproof.fitting.summary import against_cross_entropy
from noiseproof.report.charts import bar_chart, heat_map
from noiseproof.report.page import render

if TYPE_CHECKING:
    from noiseproof.fitting.fitted import Fitted

#: Suspect rows on the page; suspect_rows.csv has all of them.
SHOWN = 25
#: Classes listed one by one.
CLASSES = 50
#: Longest text shown of a column.
LENGTH = 120


def fit_page(fitted: "Fitted") -> str:
    """Return the page as self-contained HTML."""
    learned, estimate = fitted.learned, fitted.estimate
    names = list(fitted.model.classes.names)
    suspects = fitted.suspects
    return render(
        "fit.html.j2",
        fitted=fitted,
        checked=fitted.checked,
        estimate=estimate,
        learned=learned,
        version=noiseproof.__version__,
        verdict=against_cross_entropy(fitted),
        worst=_worst(estimate, names),
        matrix=heat_map(estimate.matrix, names, title="how labels go wrong"),
        bars=_bars(fitted),
        suspects=suspects.head(SHOWN).to_dict("records"),
        columns=[] if fitted.content is None else [str(name) for name in fitted.content.columns],
        contents=_contents(fitted),
        suspect_count=len(suspects),
        recalls=list(fitted.recalls.items())[:CLASSES],
        next_steps=_next_steps(fitted),
    )


def _contents(fitted: "Fitted") -> list[list[str]]:
    """Return the contents of the suspect rows that are shown."""
    if fitted.content is None:
        return [[]] * SHOWN
    rows = fitted.content.iloc[fitted.learned.suspects().rows[:SHOWN]]
    return [[_short(value) for value in row] for row in rows.itertuples(index=False)]


def _short(value: Any) -> str:
    import pandas as pd

    if np.ndim(value) == 0 and pd.isna(value):
        return ""
    text = f"{value:g}" if isinstance(value, float | np.floating) else " ".join(str(value).split())
    return text if len(text) <= LENGTH else text[: LENGTH - 1] + "…"


def _bars(fitted: "Fitted") -> Any:
    # The comparison is sorted: of candidates with the same name, keep the best.
    candidates = {c.name: c for c in reversed(fitted.learned.comparison)}
    shown = list(reversed(candidates.values()))
    return bar_chart(
        {c.name: c.noisy_accuracy for c in shown},
        title="held-out noisy labels predicted",
        spread={c.name: c.standard_error for c in shown},
        highlight=[fitted.recipe],
    )


def _worst(estimate: Any, names: list[str], most: int = 5) -> list[dict[str, Any]]:
    """Return the most frequent confusions."""
    shares = np.array(estimate.matrix)
    np.fill_diagonal(shares, 0)
    order = np.argsort(-shares, axis=None, kind="stable")[:most]
    found = [(int(at) // len(names), int(at) % len(names)) for at in order]
    return [
        {"true": names[i], "given": names[j], "share": float(shares[i, j])}
        for i, j in found
        if shares[i, j] > 0
    ]


def _next_steps(fitted: "Fitted") -> list[str]:
    """Return advice for the user, the most useful first."""
    steps = []
    estimate = fitted.estimate
    if not estimate.dominant:
        steps.append(
            "Some class does not keep its own label most of the time, and then no loss can help: "
            "label a few hundred of its rows anew, or merge the classes that are confused."
        )
    if len(fitted.suspects):
        steps.append(
            "Look at the first rows of suspect_rows.csv: each has a proposed label. Correct what "
            "is wrong and fit again."
        )
    if fitted.test is None:
        steps.append(
            "Label a few hundred rows with care and give them as --test: then accuracy on true "
            "labels is measured, not estimated."
        )
    if fitted.checked.conflicting:
        steps.append("Decide which label is right for the rows that occur under different ones.")
    if fitted.is_cross_entropy:
        steps.append("Plain cross entropy is as good as anything tried here.")
    steps.append("Use the model: noiseproof predict DIR FILE --out predictions.csv.")
    return steps
