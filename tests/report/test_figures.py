import sys

import numpy as np
import pytest
from matplotlib import pyplot as plt

from noiseproof.errors import ParameterError
from noiseproof.losses import AEL, AGCE, AUL
from noiseproof.progress import SILENT
from noiseproof.report.figures import FIGURES
from noiseproof.report.pictures import save

# The functions of these names hide the modules from a plain import.
conditions = sys.modules["noiseproof.report.figures.conditions"]
domination = sys.modules["noiseproof.report.figures.domination"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", ["curves", "calibration", "domination"])
def test_a_figure_is_written_as_svg_and_png(name, tmp_path):
    for kind in ("svg", "png"):
        save(FIGURES[name](SILENT), tmp_path / f"{name}.{kind}")
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    assert "</svg>" in (tmp_path / f"{name}.svg").read_text()
    assert len(list(tmp_path.iterdir())) == 2


def test_the_same_figure_gives_the_same_bytes(tmp_path):
    for name in ("one.svg", "two.svg"):
        save(FIGURES["domination"](SILENT), tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_a_picture_that_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "figure.svg"
    path.write_text("precious")
    broken = plt.figure()
    broken.savefig = lambda *args, **kwargs: 1 / 0
    with pytest.raises(ZeroDivisionError):
        save(broken, path)
    assert path.read_text() == "precious"
    assert len(list(tmp_path.iterdir())) == 1


def test_an_unknown_kind_of_picture_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"\.svg, \.png, \.pdf"):
        save(plt.figure(), tmp_path / "figure.jpg")


def test_domination_is_what_it_says():
    # The supplement's example: 20 % of the cats stay cats; 19 % or 21 % of them become owls.
    assert domination.transition(0.19).clean_level == pytest.approx(20 / 19)
    assert domination.transition(0.19).dominant
    assert not domination.transition(0.21).dominant


@pytest.mark.parametrize(
    ("family", "above", "below"),
    [
        # c = 1.5: a* is 0.8, 3 and 1 / ln 1.5 = 2.47
        (lambda a: AGCE(a, 0.5), 0.9, 0.4),
        (lambda a: AUL(a, 2), 3.3, 2.0),
        (AEL, 2.7, 1.5),
    ],
    ids=["AGCE", "AUL", "AEL"],
)
def test_the_minimum_is_the_vertex_above_the_threshold_and_not_below(family, above, below):
    weights = conditions.random_weights(ratio=1.5, seed=1)
    assert np.all(conditions.largest_at_minimum(family(above), weights) > 0.99)
    assert np.all(conditions.largest_at_minimum(family(below), weights) < 0.95)


def test_the_conditions_figure_marks_a_star(monkeypatch):
    monkeypatch.setattr(conditions, "STEPS", 2)
    figure = FIGURES["conditions"](SILENT)
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == ["AGCE, q = 0.5", "AGCE, q = 1.5", "AUL, p = 0.5", "AUL, p = 2", "AEL"]
    # c = 1.5: a* is 0.8 for AGCE(q=.5), 3 for AUL(p=2), 1 / ln 1.5 for AEL
    stars = [ax.lines[-1].get_xdata()[0] for ax in (figure.axes[0], figure.axes[3], figure.axes[4])]
    assert stars == pytest.approx([0.8, 3.0, 1 / np.log(1.5)])
