"""Bars: one number a name."""

from collections.abc import Iterable, Mapping

from markupsafe import Markup

from noiseproof.report.charts.svg import WIDTH, element, known, length, picture, shortened, spell

TOP, ROW, BAR = 26, 20, 14
LONGEST = 28


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
    left = 14 + 6.4 * min(max(map(length, values), default=0), LONGEST)
    bars = [
        _bar(name, value, spread.get(name), TOP + ROW * i, left, most, percent, name in chosen)
        for i, (name, value) in enumerate(values.items())
    ]
    words = ", ".join(f"{name} {spell(value, percent)}" for name, value in values.items())
    return picture(title, f"{words}.", TOP + ROW * len(values) + 4, *bars)


def _bar(
    name: str,
    value: float | None,
    spread: float | None,
    y: int,
    left: float,
    most: float,
    percent: bool,
    chosen: bool,
) -> Markup:
    room = WIDTH - left - 62
    length = room * min(max([*known([value]), 0.0]) / most, 1)
    reach = room * (spread or 0) / most
    end = left + min(length + reach, room)
    written = spell(value, percent)
    said = f"{written} ± {spell(spread, percent)}" if spread else written
    whisker = f"M{left + max(length - reach, 0):.1f} {y + BAR / 2}H{end:.1f}"
    return element(
        "g",
        element("title", f"{name}: {said}"),
        element("text", shortened(name, LONGEST), x=left - 6, y=y + 11, text_anchor="end"),
        element("rect", x=left, y=y, width=length, height=BAR, class_="f2" if chosen else "f1"),
        *([element("path", class_="whisker", d=whisker)] if spread else []),
        element("text", written, x=end + 5, y=y + 11, class_="value"),
    )
