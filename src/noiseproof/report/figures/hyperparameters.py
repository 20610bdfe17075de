"""How a parameter of a loss decides between learning the classes and learning the noise."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from noiseproof.report.figures.lines import draw_curves
from noiseproof.report.history import mean_curve
from noiseproof.report.pictures import style
from noiseproof.shown import drawable

if TYPE_CHECKING:
    from noiseproof.results import Record

ACROSS = 3


def hyperparameters(runs: Mapping[str, Sequence["Record"]], noise: str) -> Figure:
    """Draw test accuracy by epoch: one panel per family, one line per value of its parameter.

    Args:
        runs: by loss, as text, the records of its seeds.
        noise: what all were trained with.
    """
    panels: dict[str, dict[str, Sequence[Record]]] = {}
    for text, records in runs.items():
        panel, label = split(text)
        panels.setdefault(panel, {})[label] = records
    across = min(ACROSS, len(panels))
    down = math.ceil(len(panels) / across)
    with style():
        figure, axes = plt.subplots(
            down,
            across,
            figsize=(3.4 * across + 0.6, 2.9 * down),
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
        for ax, (panel, lines) in zip(axes.flat, panels.items(), strict=False):
            curves = {name: mean_curve(seeds, "test_accuracy") for name, seeds in lines.items()}
            draw_curves(ax, curves)
            ax.set(title=drawable(panel), xlabel="epoch")
            ax.legend(fontsize=7)
        for ax in list(axes.flat)[len(panels) :]:
            ax.set_visible(False)
        for line in axes:
            line[0].set_ylabel("test accuracy")
        figure.suptitle(drawable(noise), fontsize=10)
    return figure


def split(text: str) -> tuple[str, str]:
    """Split a loss into what a panel shares and what a line of it varies, the parameter a.

    >>> split("AGCE(a=0.1, q=0.5)"), split("AEL(a=2.5)"), split("NCE + RCE(A=-4)")
    (('AGCE, q = 0.5', 'a = 0.1'), ('AEL', 'a = 2.5'), ('other losses', 'NCE + RCE(A=-4)'))
    """
    found = re.fullmatch(r"(\w+)\(([^()]*)\)", text)
    pairs = dict(re.findall(r"(\w+)=([^,\s]+)", found[2])) if found else {}
    if found is None or "a" not in pairs:
        return "other losses", text
    own = f"a = {pairs.pop('a')}"
    return ", ".join([found[1], *(f"{name} = {value}" for name, value in pairs.items())]), own
