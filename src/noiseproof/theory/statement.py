"""An audit in words: the verdict, and the table with it."""

import math
import textwrap
from typing import TYPE_CHECKING

from noiseproof.theory.tolerance import ClassMargin

if TYPE_CHECKING:
    from noiseproof.theory.audit import Audit

_WIDTH = 88
_CLASSES_SHOWN = 12


def verdict(a: "Audit") -> str:
    """Say what the audit comes to, from the rate tolerated to the noise that was given."""
    if not a.sees_labels:
        return "the same whatever the label: nothing can be learnt from it alone"
    parts = [
        _symmetric_noise(a),
        "completely asymmetric" if a.completely_asymmetric else "not completely asymmetric",
        _calibrated(a),
        _given_noise(a),
    ]
    return "; ".join(part for part in parts if part)


def _symmetric_noise(a: "Audit") -> str:
    with_classes = f"with {a.classes} classes"
    if a.max_symmetric_rate <= 0:
        return "tolerates no symmetric noise"
    if a.max_symmetric_rate >= (a.classes - 1) / a.classes:
        return f"tolerates all symmetric noise below {_rate(a.max_symmetric_rate)} {with_classes}"
    return f"tolerates symmetric noise up to {_rate(a.max_symmetric_rate, '.3f')} {with_classes}"


def _rate(value: float, form: str = ".3g") -> str:
    """Write a rate with as many digits as it takes to be below 1.

    >>> _rate(0.8), _rate(0.99996)
    ('0.8', '0.99996')
    """
    text = f"{value:{form}}"
    return text if float(text) < 1 else f"{value:.6g}"


def _calibrated(a: "Audit") -> str:
    if a.calibrated is None:
        return ""
    if not a.calibrated:
        return "not calibrated"
    if a.completely_asymmetric:
        return "calibrated"
    # Theorem 1 needs asymmetry; where there is none, H- > H is still measured for two classes.
    return "calibrated where the bound holds" if a.ratio else "calibrated in the binary case"


def _given_noise(a: "Audit") -> str:
    if not a.margins:
        return ""
    if not a.failing:
        by = f" (c*r = {a.margin:.4g})" if a.margin is not None else ""
        return f"tolerates this noise{by}"
    worst = min(a.failing, key=lambda m: (m.tolerated is None, m.clean_level))
    more = len(a.failing) - 1
    others = f", and {more} other class{'es' if more > 1 else ''}" if more else ""
    place = f"class {worst.name} labelled {worst.confusion}"
    if not worst.dominant:
        return f"clean labels do not dominate, so that no loss can help: {place}{others}"
    if worst.tolerated is None:
        return f"not known to tolerate this noise: {place}{others}"
    by = f" (c*r = {worst.margin:.4g})" if worst.margin is not None else ""
    return f"does not tolerate this noise: {place} fails{by}{others}"


def table(a: "Audit") -> str:
    """Lay the audit out in two columns, the verdict under them."""
    rows = [
        ("loss", a.text),
        ("classes", str(a.classes)),
        ("pointwise", _word(a.pointwise)),
        ("symmetric", _word(a.symmetric)),
        ("bounded", _word(a.bounded)),
        ("asymmetry ratio r", _ratio(a)),
    ]
    if a.ratio is not None and a.strict_ratio is not None and a.strict_ratio < a.ratio - 1e-9:
        rows.append(
            ("  as Definition 3 is printed", f"{_number(a.strict_ratio)}, mass moved in part")
        )
    rows += [
        ("completely asymmetric", _word(a.completely_asymmetric)),
        ("calibrated in the binary case", _word(a.calibrated)),
        ("excess-risk constant 2 / (l(0) - l(1))", _number(a.excess_risk_constant)),
        ("largest symmetric noise rate", f"{a.max_symmetric_rate:.3f}"),
    ]
    if a.class_weights is not None:
        light, heavy = min(a.class_weights), max(a.class_weights)
        rows.append(("class weights", f"{light:.4g} to {heavy:.4g}"))
    if a.label_smoothing > 0:
        rows.append(("label smoothing", f"{a.label_smoothing:g}"))
    if a.margins:
        rows += [
            ("noise", str(a.noise)),
            ("clean level c", _number(a.clean_level)),
            ("margin c*r", _number(a.margin)),
        ]
        rows += _classes(a)
    left = max(len(label) for label, _ in rows) + 2
    lines = [f"{label:<{left}}{value}" for label, value in rows]
    return "\n".join([*lines, *textwrap.wrap(a.verdict, _WIDTH)])


def _ratio(a: "Audit") -> str:
    # Theorem 5 bounds a sum that is not pointwise; it may tolerate more.
    bound = ", or more" if a.ratio is not None and a.ratio < 1 and not a.pointwise else ""
    return _number(a.ratio) + bound


def _classes(a: "Audit") -> list[tuple[str, str]]:
    if not a.failing and len({_standing(m) for m in a.margins}) == 1:
        return [("  every class", _standing(a.margins[0]))]
    few = len(a.margins) <= _CLASSES_SHOWN
    shown = a.margins if few else (a.failing or a.margins)[:_CLASSES_SHOWN]
    rows = [(f"  class {m.name}{_as(m)}", _standing(m)) for m in shown]
    if not few and len(a.failing) > len(shown):
        rows.append(("", f"{len(a.failing) - len(shown)} more classes fail"))
    return rows


def _as(m: ClassMargin) -> str:
    return "" if m.confusion is None else f" as {m.confusion}"


def _standing(m: ClassMargin) -> str:
    by_bound = m.margin is not None and m.margin >= 1
    if not m.dominant:
        word = "fails, its clean labels do not dominate"
    elif m.tolerated is None:
        word = "not decided"
    else:
        word = ("tolerated" if by_bound else "tolerated, measured") if m.tolerated else "fails"
    return f"{_number(m.margin)}, {word}"


def _word(yes: bool | None) -> str:
    return "-" if yes is None else "yes" if yes else "no"


def _number(x: float | None) -> str:
    return "-" if x is None else "infinite" if math.isinf(x) else f"{x:.4g}"
