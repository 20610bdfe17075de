import json
from xml.etree import ElementTree

import numpy as np
import pytest

from noiseproof.noise import asymmetric
from noiseproof.report import charts


def parsed(chart):
    return ElementTree.fromstring(str(chart))


def lines(chart):
    return [e for e in parsed(chart).iter("path") if "line" in e.get("class", "").split()]


def test_a_line_goes_where_its_values_are():
    chart = charts.line_chart({"CE": [0, 0.5, 1]}, title="t")
    points = [p.split() for p in lines(chart)[0].get("d")[1:].replace("L", "M").split("M")]
    x, y = np.array(points, dtype=float).T
    assert x[1] - x[0] == pytest.approx(x[2] - x[1], abs=0.2)
    assert y[0] - y[1] == pytest.approx(y[1] - y[2], abs=0.2)
    assert y[0] > y[2]


def test_what_is_unknown_is_a_gap_and_not_a_zero():
    chart = charts.line_chart({"CE": [0.5, None, 0.7, float("nan"), 0.9]}, title="t")
    (line,) = lines(chart)
    assert line.get("d").count("M") == 3
    assert json.loads(line.get("data-values")) == [0.5, None, 0.7, None, 0.9]
    assert "nan" not in str(chart).lower()


def test_charts_side_by_side_share_the_key_though_a_line_is_missing():
    names = [f"loss {i}" for i in range(10)]
    one = charts.line_chart({name: [0.5] for name in names}, title="t", order=names)
    two = charts.line_chart({names[8]: [0.5]}, title="t", order=names)
    assert lines(two)[0].get("class") == lines(one)[8].get("class")
    assert len({line.get("class") for line in lines(one)}) == 10
    key = [e.get("class") for e in parsed(charts.legend(names)).iter("path")]
    assert [line.get("class").removeprefix("line ") for line in lines(one)] == key


def test_a_chart_says_in_words_what_it_shows():
    chart = charts.line_chart({"CE": [0.9, 0.2184], "AGCE": [None, None]}, title="t")
    assert parsed(chart).find("desc").text == "t by epoch. At epoch 2: CE 21.84 %, AGCE -."
    bars = charts.bar_chart({"CE": 0.2184, "AGCE": None}, title="t", spread={"CE": 0.01})
    assert parsed(bars).find("desc").text == "CE 21.84 %, AGCE -."
    assert [t.text for t in parsed(bars).iter("title")] == ["CE: 21.84 % ± 1.00 %", "AGCE: -"]


def test_bars_are_as_long_as_their_values():
    bars = charts.bar_chart({"a": 2.0, "b": 4.0, "c": None}, title="t", percent=False)
    a, b, c = (float(e.get("width")) for e in parsed(bars).iter("rect"))
    assert (a, c) == (pytest.approx(b / 2, abs=0.1), 0)


def test_a_heat_map_has_every_cell():
    T = asymmetric("mnist", 0.4)
    found = parsed(charts.heat_map(T.matrix, title="noise"))
    said = {e.text.split(":")[0]: e.text.split(": ")[1] for e in found.iter("title")}
    assert len(said) == 100
    assert (said["2 as 7"], said["2 as 2"], said["0 as 0"]) == ("40.00 %", "60.00 %", "100.00 %")
    diagonal = (5 * 0.6 + 5) / 10  # the map has five classes that flip
    assert f"diagonal {100 * diagonal:.2f} % on average" in found.find("desc").text


def test_a_heat_map_of_very_many_classes_stays_small_and_keeps_what_is_strong():
    shares = np.full((1001, 1001), 1e-6)
    shares[700, 7] = 1.0
    chart = charts.heat_map(shares, title="noise")
    assert len(chart) < 500_000
    assert "largest share of 7 by 7 classes" in chart
    (strong,) = [path for path in parsed(chart).iter() if path.get("fill-opacity") == "1.00"]
    assert strong.get("d") == "M1 100h1v1h-1z"


def test_a_heat_map_of_a_hundred_classes_stays_small():
    chart = charts.heat_map(np.full((100, 100), 0.01), title="noise")
    parsed(chart)
    assert len(chart) < 200_000


@pytest.mark.parametrize("name", ['<script>alert("1")</script>', "a & b", "é±"])
def test_no_name_breaks_a_chart(name):
    for chart in (
        charts.line_chart({name: [0.5]}, title=name, x_label=name, y_label=name),
        charts.bar_chart({name: 0.5}, title=name, highlight=[name]),
        charts.heat_map([[1.0]], [name], title=name),
        charts.legend([name]),
    ):
        parsed(chart)
        assert "<script" not in chart
    assert "".join(parsed(charts.legend([name])).itertext()) == name


def test_empty_charts_are_charts():
    for chart in (
        charts.line_chart({}, title="t"),
        charts.line_chart({"CE": []}, title="t"),
        charts.line_chart({"CE": [0.0, 0.0]}, title="t", percent=False),
        charts.line_chart({"CE": [-1.0]}, title="t", percent=False),
        charts.bar_chart({}, title="t"),
        charts.bar_chart({"CE": 0.0}, title="t", percent=False),
    ):
        parsed(chart)
