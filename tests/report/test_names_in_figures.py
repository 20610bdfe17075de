"""Names come from data and grids: every figure shows them as they are, and they do nothing."""

from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import pyplot as plt

import noiseproof as nf
from noiseproof.errors import DataWarning
from noiseproof.noise import TransitionMatrix, symmetric
from noiseproof.report import figures
from noiseproof.report.figures.margin import Point
from noiseproof.report.figures.ranks import ranks
from noiseproof.report.figures.tsne import Features
from noiseproof.report.pictures import save

#: What is no formula, what a legend would hide, no XML, a byte that is no UTF-8, markup.
NAMES = {
    r"$\frac$": r"$\frac$", "$5 or $6": "$5 or $6", "_background": "_background",
    "a\x1b[2Jb": r"a\x1b[2Jb", "caf\udce9": r"caf\xe9", "<b>&amp;": "<b>&amp;", "a\nb": r"a\nb",
    "日本": "日本",
}  # fmt: skip


def _run():
    epochs = [SimpleNamespace(test_accuracy=0.5, clean_part=0.5, corrupted_part=0.1)] * 2
    return SimpleNamespace(status="done", history=epochs)


def _tsne(name):
    values = np.random.default_rng(0).normal(size=(8, 2)).astype(np.float32)
    features = Features(values, np.arange(8) % 2, 0.5)
    return figures.tsne({name: {name: features}}, (name, "other"))


def _noise(name):
    drawn = symmetric(2, 0.3).corrupt([0, 1] * 9, seed=1)
    return figures.noise({name: drawn}, (name, "other"))


def _matrix(name):
    return TransitionMatrix(np.eye(2), (name, "other"))


#: By figure: what draws it, and how often the name is in it.
FIGURES = {
    "tsne": (_tsne, 3),
    "noise": (_noise, 3),
    "ranks": (lambda name: ranks({name: 1.0, "b": 2.0}, {name: 1.0, "b": 2.0}, 1.0, 3), 1),
    "margin": (lambda name: figures.margin({name: [Point(name, 1, 2), Point("b", 2, 1)]}), 2),
    "memorisation": (lambda name: figures.memorisation({name: {name: [_run()]}}), 2),
    "hyperparameters": (lambda name: figures.hyperparameters({name: [_run()]}, name), 2),
    "matrix": (lambda name: _matrix(name).plot().figure, 2),
    "audit": (lambda name: nf.audit("MAE", noise=_matrix(name)).plot(), 1),
}  # fmt: skip


def test_every_figure_of_runs_is_here():
    assert set(figures.__all__) - {"FIGURES"} <= set(FIGURES)


@pytest.mark.parametrize("kind", FIGURES)
def test_a_name_is_drawn_as_it_is(kind, tmp_path):
    draw, times = FIGURES[kind]
    for name, shown in NAMES.items():
        save(draw(name), tmp_path / "figure.svg")
        plt.close("all")
        texts = ElementTree.parse(tmp_path / "figure.svg").iter("{http://www.w3.org/2000/svg}text")
        found = ["".join(text.itertext()).strip() for text in texts]
        assert sum(shown in text for text in found) >= times, (name, found)


def test_letters_that_the_font_does_not_have_are_one_warning(tmp_path):
    with pytest.warns(DataWarning, match="drawn as boxes; an .svg shows them") as told:
        save(_noise("日本語"), tmp_path / "picture.png")
    assert len(told) == 1
