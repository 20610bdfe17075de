"""What all charts are made of: elements, numbers in words, round numbers for an axis."""

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from unicodedata import east_asian_width

from markupsafe import Markup, escape

Values = Sequence[float | None]

WIDTH = 360
LONGEST_TITLE = 48


def element(name: str, *content: str, **attributes: object) -> Markup:
    """Return an element; content that is no ``Markup`` is escaped, as attributes are.

    >>> element("text", "a < b", x=1.25, class_="value")
    Markup('<text x="1.2" class="value">a &lt; b</text>')
    """
    written = [
        Markup(' {}="{}"').format(
            key.rstrip("_").replace("_", "-"), f"{value:.1f}" if isinstance(value, float) else value
        )
        for key, value in attributes.items()
        if value is not None
    ]
    inside = join(map(escape, content))
    return Markup("<{0}{1}>{2}</{0}>").format(name, join(written), inside)


def join(parts: Iterable[str]) -> Markup:
    """Return the parts one after another."""
    return Markup("").join(parts)


def picture(title: str, words: str, height: float, *content: str, **attributes: object) -> Markup:
    """Return a chart with its title; ``words`` describe it for those who cannot see it."""
    return element(
        "svg",
        element("desc", words),
        element("text", shortened(title, LONGEST_TITLE), class_="title", x=2, y=14),
        *content,
        class_="chart",
        viewBox=f"0 0 {WIDTH} {height:.0f}",
        role="img",
        aria_label=title,
        **attributes,
    )


def known(values: Values) -> list[float]:
    """Return the values that are numbers."""
    return [value for value in values if value is not None and math.isfinite(value)]


def spell(value: float | None, percent: bool) -> str:
    """Write a value.

    >>> spell(0.9677, True), spell(3.14159, False), spell(None, True)
    ('96.77 %', '3.142', '-')
    """
    if value is None or not math.isfinite(value):
        return "-"
    return f"{100 * value:.2f} %" if percent else f"{value:.4g}"


def length(name: str) -> float:
    """Return about how many small letters are as long as a name.

    >>> length("agce"), length("AGCE"), length("猫")
    (4.0, 4.8, 1.8)
    """
    return sum(
        1.8 if east_asian_width(c) in "WF" or c in "mwMW@%…" else 1.2 if c.isupper() else 1.0
        for c in name
    )


def shortened(name: str, most: float) -> str:
    """Return a name no longer than so many letters: both its ends, as names may differ at either.

    >>> shortened("AGCE(a=0.602, q=0.6), weigh", 24), shortened("名前" * 9, 12)
    ('AGCE(a=0.602,…, weigh', '名前名…名前')
    """
    if length(name) <= most:
        return name
    end = _fitting(name[::-1], most / 3)[::-1]
    return f"{_fitting(name, most - length(end) - 1.8).rstrip()}…{end}"


def _fitting(name: str, most: float) -> str:
    """Return the beginning of a name that is so long at most."""
    return name[: bisect_right(range(len(name)), most, key=lambda i: length(name[: i + 1]))]


def steps(low: float, high: float, about: int) -> list[float]:
    """Return round numbers from ``low`` to ``high``.

    >>> steps(0, 1, 5)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    rough = (high - low) / about
    scale = 10 ** math.floor(math.log10(rough))
    step = next(k * scale for k in (1, 2, 2.5, 5, 10) if k * scale >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    count = math.floor(high / step + 1e-9) - first
    return [float(f"{(first + k) * step:.6g}") for k in range(count + 1)]
