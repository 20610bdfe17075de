"""Who learns the wrong labels: accuracy on clean and on corrupted training labels by epoch."""

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

PARTS = {
    "clean_part": "labels that are right, agreed with",
    "corrupted_part": "labels that are wrong, agreed with",
}


def memorisation(panels: Mapping[str, Mapping[str, Sequence["Record"]]]) -> Figure:
    """Draw one column per noise: clean labels above, corrupted ones below.

    Args:
        panels: by noise and row, the records of the seeds.
    """
    with style():
        figure, axes = plt.subplots(
            2,
            len(panels),
            figsize=(1.2 + 2.7 * len(panels), 5.2),
            sharex="col",
            sharey=True,
            squeeze=False,
            layout="constrained",
        )
        for line, (field, words) in zip(axes, PARTS.items(), strict=True):
            for ax, (noise, rows) in zip(line, panels.items(), strict=True):
                draw_curves(ax, {name: mean_curve(seeds, field) for name, seeds in rows.items()})
                ax.set_title(drawable(noise) if field == "clean_part" else "")
                ax.set_xlabel("epoch" if field == "corrupted_part" else "")
            line[0].set_ylabel(words, fontsize=8)
        handles = {h.get_label(): h for ax in axes.flat for h in ax.get_lines()}
        figure.legend(handles=list(handles.values()), loc="outside right center")
    return figure
