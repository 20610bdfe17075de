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
    bars = charts.bar_chart(dict.fromkeys(names, 0.5), title="accuracy")
    path = tmp_path / "page.html"
    path.write_text(body("{{ heat }}{{ bars }}", heat=heat, bars=bars), "utf-8")
    with Browser(tmp_path) as browser:
        browser.open(path)
        ends = browser.run("""[...document.querySelectorAll("svg text[text-anchor=end]")]
            .map(text => text.getBBox().x)""")
    assert len(ends) == 8
    assert min(ends[:4]) > 16  # where "true label" is written
    assert min(ends[4:]) >= 0


def test_the_browser_of_these_tests_sees_errors_and_requests(tmp_path):
    address = "https://example.com/style.css"
    path = tmp_path / "bad.html"
    path.write_text(f'<link rel="stylesheet" href="{address}"><script>nobody();</script>')
    seen = open_page(path, tmp_path)
    assert seen.requests == (address,)
    assert "nobody is not defined" in json.dumps(seen.console)
