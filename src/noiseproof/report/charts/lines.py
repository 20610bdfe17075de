"""Lines over epochs, or over anything."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from noiseproof.report.charts.svg import (
    WIDTH,
    Values,
    element,
    join,
    known,
    picture,
    spell,
    steps,
)

HEIGHT = 240
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 28, 38
HUES, DASHES = 7, 3


def legend(names: Iterable[str]) -> Markup:
    """Return the key to series in this order; pointing at a name brings out its line."""
    return element("ul", *(_entry(i, name) for i, name in enumerate(names)), class_="legend")


def line_chart(
    series: Mapping[str, Values],
    x: Sequence[float] | None = None,
    *,
    title: str,
    x_label: str = "epoch",
    y_label: str = "",
    percent: bool = True,
    y_range: tuple[float, float] | None = None,
    order: Sequence[str] | None = None,
) -> Markup:
    """Return lines over a common x; pointing, touching or the arrow keys show the values there.

    The eighth line has the hue of the first, and is dashed.

    Args:
        series: the values of each line by name; None leaves a gap.
        x: where the values are; 1, 2, 3 ... without it.
        title: above the chart.
        x_label: what x is.
        y_label: what the values are, for who cannot see the chart.
        percent: whether values are shares, written as percentages.
        y_range: the axis; 0 to 1 for shares, else what holds the values.
        order: all names, where charts side by side share one :func:`legend`.

    >>> "At epoch 2: CE 50.00 %." in line_chart({"CE": [0.9, 0.5]}, title="symmetric:0.4")
    True
    """
    names = list(order or series)
    longest = max((len(values) for values in series.values()), default=0)
    at = list(x) if x is not None else list(range(1, longest + 1))
    frame = _Frame(min(at, default=0), max(at, default=1), *(y_range or _range(series, percent)))
    ends = {name: _last(values, percent) for name, values in series.items()}
    lines = [
        element(
            "path",
            element("title", f"{name}: {ends[name]} at the end"),
            class_=f"line {_stroke(names.index(name))}",
            data_name=name,
            data_values=_plain(float(f"{v:.4g}") if known([v]) else None for v in values),
            d=frame.path(at, values),
        )
        for name, values in series.items()
    ]
    found = ", ".join(f"{name} {end}" for name, end in ends.items())
    where = f"At {x_label} {at[-1]:g}: {found}." if at else "Nothing to show."
    return picture(
        title,
        f"{y_label or title} by {x_label}. {where}",
        HEIGHT,
        frame.axes(x_label, percent),
        *lines,
        element("line", class_="cursor", y1=TOP, y2=HEIGHT - BOTTOM, visibility="hidden"),
        tabindex=0,
        data_x=_plain(at),
        data_places=_plain(round(frame.x(value), 1) for value in at),
        data_label=x_label,
        data_percent="yes" if percent else None,
    )


def _entry(index: int, name: str) -> Markup:
    stroke = element("path", d="M1 5H27", stroke_width="2.5", class_=_stroke(index))
    key = element("svg", stroke, viewBox="0 0 28 10", aria_hidden="true")
    return element("li", key, name, data_name=name)


@dataclass(frozen=True)
class _Frame:
    """The scales of a chart, and its axes."""

    first: float
    last: float
    low: float
    high: float

    def x(self, value: float) -> float:
        span = (self.last - self.first) or 1
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - self.first) / span

    def y(self, value: float) -> float:
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * share

    def path(self, x: Sequence[float], values: Values) -> str:
        parts, pen = [], "M"
        for at, value in zip(x, values, strict=False):
            for number in known([value]):
                parts.append(f"{pen}{self.x(at):.1f} {self.y(number):.1f}")
            pen = "L" if known([value]) else "M"
        # A single point is drawn by a line of no length with round ends.
        return parts[0] + "h0" if len(parts) == 1 else "".join(parts)

    def axes(self, x_label: str, percent: bool) -> Markup:
        parts = []
        for value in steps(self.low, self.high, 5):
            y, words = self.y(value), f"{100 * value:g} %" if percent else f"{value:g}"
            parts.append(element("path", class_="grid", d=f"M{LEFT} {y:.1f}H{WIDTH - RIGHT}"))
            parts.append(element("text", words, x=LEFT - 6, y=y + 4, text_anchor="end"))
        y = HEIGHT - BOTTOM + 16
        for value in steps(self.first, self.last, 6) if self.last > self.first else [self.first]:
            parts.append(element("text", f"{value:g}", x=self.x(value), y=y, text_anchor="middle"))
        end = element("text", x_label, x=WIDTH - RIGHT, y=HEIGHT - 6, text_anchor="end")
        return join([*parts, end])


def _range(series: Mapping[str, Values], percent: bool) -> tuple[float, float]:
    found = [value for values in series.values() for value in known(values)]
    if percent or not found:
        return 0.0, 1.0
    low, high = min(0.0, *found), max(0.0, *found)
    return low, high if high > low else low + 1


def _stroke(index: int) -> str:
    return f"k{index % HUES + 1} d{index // HUES % DASHES + 1}"


def _last(values: Values, percent: bool) -> str:
    found = known(values)
    return spell(found[-1] if found else None, percent)


def _plain(values: Iterable[float | None]) -> str:
    return json.dumps(list(values), separators=(",", ":"))
