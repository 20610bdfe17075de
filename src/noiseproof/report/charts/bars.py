"""Bars: one number a name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from noiseproof.report.charts.svg import WIDTH, element, known, length, picture, shortened, spell

TOP, ROW, BAR, LINE = 26, 20, 14, 15
#: Longer names stand above their bars, on a line of their own.
LONGEST, LONGEST_LINE = 28, 60


def bar_chart(
    values: Mapping[str, float | None],
    *,
    title: str,
    spread: Mapping[str, float | None] | None = None,
    percent: bool = True,
    highlight: Iterable[str] = (),
    most: float | None = None,
) -> Markup:
    """Return one bar a name, each with its value beside it.

    Args:
        values: by name, from 0 up; None is written as a dash.
        title: above the bars.
        spread: a whisker of plus and minus so much, by name.
        percent: whether values are shares, written as percentages.
        highlight: the names whose bars have another colour.
        most: the end of the axis; 1 for shares, else the largest value.

    >>> "96.77 %" in bar_chart({"AGCE": 0.9677, "CE": 0.2184}, title="symmetric:0.8")
    True
    """
    most = most or (1.0 if percent else max([*known(list(values.values())), 0.0]) or 1.0)
    chosen, spread = set(highlight), spread or {}
    longest = max(map(length, values), default=0)
    above = longest > LONGEST
    row = LINE + ROW if above else ROW
    axis = _Axis(2.0 if above else 16 + 6.4 * longest, most, percent, above)
    bars = [
        axis.bar(name, value, spread.get(name), TOP + row * i, name in chosen)
        for i, (name, value) in enumerate(values.items())
    ]
    words = ", ".join(f"{name} {spell(value, percent)}" for name, value in values.items())
    return picture(title, f"{words}.", TOP + row * len(values) + 4, *bars)


@dataclass(frozen=True)
class _Axis:
    """Where bars begin, what the longest stands for, and where their names stand."""

    left: float
    most: float
    percent: bool
    above: bool

    def bar(
        self, name: str, value: float | None, spread: float | None, y: int, chosen: bool
    ) -> Markup:
        left, middle = self.left, y + BAR / 2 + (LINE if self.above else 0)
        room = WIDTH - left - 62
        length = room * min(max([*known([value]), 0.0]) / self.most, 1)
        reach = room * (spread or 0) / self.most
        end = left + min(length + reach, room)
        written = spell(value, self.percent)
        said = f"{written} ± {spell(spread, self.percent)}" if spread else written
        whisker = f"M{left + max(length - reach, 0):.1f} {middle}H{end:.1f}"
        if self.above:
            named = element("text", shortened(name, LONGEST_LINE), x=left, y=y + 11)
        else:
            named = element("text", name, x=left - 6, y=y + 11, text_anchor="end")
        top, kind = middle - BAR / 2, "f2" if chosen else "f1"
        return element(
            "g",
            element("title", f"{name}: {said}"),
            named,
            element("rect", x=left, y=top, width=length, height=BAR, class_=kind),
            *([element("path", class_="whisker", d=whisker)] if spread else []),
            element("text", written, x=end + 5, y=middle + 4, class_="value"),
        )
