"""The report of a fit: the noise, the model and why, its accuracy, suspect rows, next steps."""

import shlex
from typing import TYPE_CHECKING, Any

import numpy as np

import noiseproof
from noiseproof.fitting.page.map import Map, told
from noiseproof.fitting.page.telling import shorten
from noiseproof.fitting.page.to_review import montage, review_data
from noiseproof.fitting.summary import against_cross_entropy, doubtful_line
from noiseproof.parallel import one_thread
from noiseproof.report.charts import bar_chart, heat_map
from noiseproof.report.page import render

if TYPE_CHECKING:
    from noiseproof.fitting.fitted import Fitted

#: Suspect rows on the page; suspect_rows.csv has all of them.
SHOWN = 25
#: From this many rows on there is a map.
MAPPED = 30
#: Classes listed one by one; of more, those that are predicted least.
CLASSES = 50
#: Longest text shown of a row in the table.
LENGTH = 160


@one_thread()
def fit_page(fitted: "Fitted") -> str:
    """Return the page as self-contained HTML."""
    learned, estimate = fitted.learned, fitted.estimate
    names = list(fitted.model.coding.names)
    suspects = fitted.suspects
    found = learned.suspects()
    data = review_data(fitted)
    shown = [data["rows"][at] for at in data["doubtful"][:SHOWN]]
    return render(
        "fit.html.j2",
        fitted=fitted,
        checked=fitted.checked,
        estimate=estimate,
        learned=learned,
        version=noiseproof.__version__,
        verdict=against_cross_entropy(fitted),
        misled=fitted.misled,
        worst=_worst(estimate, names),
        matrix=heat_map(estimate.matrix, names, title="how labels go wrong"),
        bars=_bars(fitted),
        suspects=suspects.head(SHOWN).to_dict("records"),
        contents=[_line(row) for row in shown],
        suspect_count=len(suspects),
        doubtful=doubtful_line(fitted),
        counted=not isinstance(fitted.rows[0], str),  # pictures and items have names
        review=data,
        refit=_refit(fitted),
        montage=montage(found, learned.labels, names) if fitted.looks.pictures else [],
        maps=_maps(fitted),
        recalls=_recalls(fitted),
        class_count=len(fitted.recalls),
        counts=dict(zip(fitted.checked.classes, fitted.checked.counts, strict=True)),
        next_steps=_next_steps(fitted),
        crowd=fitted.crowd and fitted.crowd.page(fitted.rows),
    )


def _line(row: dict[str, Any]) -> str:
    """Return what is in a row, in a line."""
    parts = [text for _, text in row.get("t", ())]
    parts += [f"{name} {value}" for name, value, *_ in row.get("k", ())]
    return shorten(", ".join(parts), LENGTH)


def _maps(fitted: "Fitted") -> list[Any]:
    """Return the map by given and by proposed label; nothing where there is nothing to see."""
    learned, names = fitted.learned, fitted.model.coding.names
    if learned.probabilities.shape[0] < MAPPED or fitted.looks.matrix.shape[1] < 2:
        return []
    found = learned.suspects()
    proposed = learned.labels.copy()
    proposed[found.rows] = found.proposed
    if fitted.reviewed is not None:
        proposed[fitted.reviewed.rows] = fitted.reviewed.true
    drawn = Map(fitted.looks.matrix, learned.labels, found, fitted.seed)
    lines = told(drawn.rows, fitted.rows, learned.labels, proposed, names)
    return [
        drawn.drawn("by given label", learned.labels, names, lines),
        drawn.drawn("by proposed label", proposed, names, lines),
    ]


def _refit(fitted: "Fitted") -> str:
    label = f" --label {shlex.quote(fitted.model.label)}" if fitted.model.label else ""
    return f"noiseproof fit {shlex.quote(fitted.checked.name)}{label} --reviewed reviewed.csv"


def _bars(fitted: "Fitted") -> Any:
    # The comparison is sorted: of candidates with the same name, keep the best.
    candidates = {c.name: c for c in reversed(fitted.learned.comparison)}
    shown = list(reversed(candidates.values()))
    return bar_chart(
        {c.name: c.noisy_accuracy for c in shown},
        title=fitted.learned.compared_as,
        spread={c.name: c.standard_error for c in shown},
        highlight=[fitted.recipe],
    )


def _recalls(fitted: "Fitted") -> list[tuple[str, float]]:
    """Return the recalls of all classes in their order, or the lowest ones, lowest first."""
    recalls = list(fitted.recalls.items())
    if len(recalls) <= CLASSES:
        return recalls
    return sorted(recalls, key=lambda recall: recall[1])[:CLASSES]


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
            "Some class does not keep its own label most of the time, and then no loss alone can "
            "help: label a few hundred of its rows anew, or merge the classes that are confused."
        )
    if len(fitted.suspects):
        steps.append(
            "Review the doubtful rows and the random sample on this page, download reviewed.csv, "
            "and fit again with --reviewed reviewed.csv."
        )
    if fitted.test is None:
        steps.append(
            "Review the random sample, or label a few hundred other rows with care and give them "
            "as --test: then accuracy on true labels is measured, not estimated."
        )
    if fitted.checked.conflicting:
        steps.append("Decide which label is right for the rows that occur under different ones.")
    if fitted.is_cross_entropy:
        steps.append("Plain cross entropy is as good as anything tried here.")
    steps.append("Use the model: noiseproof predict DIR FILE --out predictions.csv.")
    return steps
