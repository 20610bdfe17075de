import json
import re

import pytest
from browser import open_page
from driven_browser import Browser
from jinja2 import UndefinedError

from noiseproof.errors import ParameterError
from noiseproof.report import charts, page

NAMES = ["CE", "AGCE <a=4>"]


@pytest.fixture
def body():
    """Render a body inside the base template, as the pages of the package do."""

    def render(text, **values):
        template = '{% extends "base.html.j2" %}{% block body %}' + text + "{% endblock %}"
        return page._ENVIRONMENT.from_string(template).render(**values)

    return render


def test_what_is_put_into_a_page_is_text_unless_it_is_markup(body):
    text = body("{{ word }}{{ chart }}", word="<b>&", chart=charts.legend(NAMES))
    assert "&lt;b&gt;&amp;" in text
    assert '<ul class="legend">' in text
    assert "AGCE <a=4>" not in text


def test_a_value_that_a_template_asks_for_in_vain_is_an_error(body):
    with pytest.raises(UndefinedError):
        body("{{ nothing }}")


def test_a_page_refers_to_nothing_outside_itself(body):
    text = body("{{ chart }}", chart=charts.line_chart({"CE": [0.5]}, title="t"))
    assert not re.findall(r"https?://|@import|url\(|<link (?!rel=\"icon\" href=\"data:,\")", text)
    assert "default-src 'none'" in text
    for need in ("prefers-color-scheme: dark", "@media print", "max-width: 600px"):
        assert need in text


@pytest.mark.parametrize("name", ["report.txt", "no/such/place/report.html", "folder.html"])
def test_a_place_that_cannot_be_written_is_refused_at_once(name, tmp_path):
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(ParameterError, match=r"cannot write|no directory|not a plain file"):
        page.check(tmp_path / name)


def test_a_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    page.write(path, "old")
    monkeypatch.setattr("os.fsync", lambda handle: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        page.write(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


HOVER = """
<script>
addEventListener("load", () => {
  const chart = document.querySelector("svg.chart"), area = chart.getBoundingClientRect();
  const place = JSON.parse(chart.dataset.places)[1] * area.width / chart.viewBox.baseVal.width;
  const options = { clientX: area.left + place + 2, clientY: area.top + 60, bubbles: true };
  chart.dispatchEvent(new PointerEvent("pointermove", options));
  document.querySelector("ul.legend li").dispatchEvent(new PointerEvent("pointerenter"));
});
</script>
"""


def test_pointing_at_a_chart_shows_its_values(tmp_path, body):
    chart = charts.line_chart(
        dict(zip(NAMES, ([0.9, 0.3125], [0.5, 0.96]), strict=True)), title="t"
    )
    text = "<figure>{{ key }}{{ chart }}</figure>"
    text = body(text, key=charts.legend(NAMES), chart=chart)
    path = tmp_path / "page.html"
    path.write_text(text.replace("</main>", f"</main>{HOVER}"))
    seen = open_page(path, tmp_path)
    assert (seen.console, seen.requests) == ((), ())
    shown = re.search(r'<div id="values".*?</div></div>', seen.dom, re.S)[0]
    words = re.sub(r"<[^>]*>", " ", shown).split()
    assert " ".join(words) == "epoch 2 AGCE &lt;a=4&gt; 96.00 % CE 31.25 %"
    assert re.findall(r'class="line [^"]*lit[^"]*" data-name="([^"]*)"', seen.dom) == ["CE"]


def test_names_of_wide_letters_stay_inside_their_chart(tmp_path, body):
    """Capitals and Chinese signs are up to twice as long as small letters."""
    names = [letter * 30 for letter in "aAM名"]
    heat = charts.heat_map([[0.25] * 4] * 4, names, title="noise")
    short = ["a" * 28, "A" * 23, "M" * 15, "名" * 15]
    bars = [charts.bar_chart(dict.fromkeys(many, 1.0), title="t") for many in (names, short)]
    path = tmp_path / "page.html"
    path.write_text(
        body("{{ heat }}{% for b in bars %}{{ b }}{% endfor %}", heat=heat, bars=bars), "utf-8"
    )
    with Browser(tmp_path) as browser:
        browser.open(path)
        bar_ends = browser.run("""[...document.querySelectorAll("svg:not(:first-child) text")]
            .map(text => text.getBBox()).map(box => [box.x, box.x + box.width])""")
        ends = browser.run("""[...document.querySelectorAll("svg text[text-anchor=end]")]
            .map(text => text.getBBox().x)""")
    assert len(ends) == 8
    assert min(ends[:4]) > 16  # where "true label" is written
    assert len(bar_ends) == 2 * (1 + 2 * 4)
    assert [(a, b) for a, b in bar_ends if a < 0 or b > 360] == []


def test_titles_and_names_that_differ_stay_inside_their_chart_and_differ(tmp_path, body):
    names = [f"linear (loss=CE, decay={d}, scale=standard), em" for d in (0.1, 0.01, 0.001)]
    bars = charts.bar_chart(dict.fromkeys(names, 1.0), title="the mean of all that is shown " * 3)
    path = tmp_path / "page.html"
    path.write_text(body("{{ bars }}", bars=bars), "utf-8")
    with Browser(tmp_path) as browser:
        browser.open(path)
        found = browser.run("""[...document.querySelectorAll("svg text")].map(text =>
            [text.textContent, text.getBBox().x, text.getBBox().x + text.getBBox().width])""")
    assert set(names) <= {text for text, _, _ in found}
    assert all(left >= 0 and right <= 360 for _, left, right in found)


def test_no_line_ends_within_an_option(tmp_path, body):
    text = "{% for step in steps %}<p style='width: 1px'>{{ step | unbroken }}</p>{% endfor %}"
    path = tmp_path / "page.html"
    path.write_text(body(text, steps=["--test", "<b>--held-out</b>"]), "utf-8")
    with Browser(tmp_path) as browser:
        browser.open(path)
        lines = browser.run("""[...document.querySelectorAll("p .option")].map(option =>
            [option.textContent, option.getClientRects().length])""")
        assert lines == [["--test", 1], ["--held-out", 1]]
        assert browser.run("document.querySelectorAll('p b').length") == 0


def test_a_finger_shows_values_until_something_else_is_touched(tmp_path, body):
    chart = charts.line_chart({"CE": [0.9, 0.3125]}, title="t")
    path = tmp_path / "page.html"
    path.write_text(body("<figure>{{ chart }}</figure>", chart=chart), "utf-8")
    with Browser(tmp_path) as browser:
        browser.open(path)
        shown = "!document.getElementById('values').hidden"
        x, y = browser.run("""(b => [b.x + b.width / 2, b.y + b.height / 2])
            (document.querySelector("svg.chart").getBoundingClientRect())""")
        browser.tap(x, y)
        assert browser.run(shown)
        browser.tap(2, 2)
        assert not browser.run(shown)
        assert browser.run("document.querySelector('.cursor').getAttribute('visibility')") == (
            "hidden"
        )


def test_the_browser_of_these_tests_sees_errors_and_requests(tmp_path):
    address = "https://example.com/style.css"
    path = tmp_path / "bad.html"
    path.write_text(f'<link rel="stylesheet" href="{address}"><script>nobody();</script>')
    seen = open_page(path, tmp_path)
    assert seen.requests == (address,)
    assert "nobody is not defined" in json.dumps(seen.console)
