"""The paper's figures by name; each function draws one and returns it."""

from collections.abc import Callable

from matplotlib.figure import Figure

from noiseproof.report.figures.calibration import calibration
from noiseproof.report.figures.conditions import conditions
from noiseproof.report.figures.curves import curves
from noiseproof.report.figures.domination import domination

FIGURES: dict[str, Callable[[], Figure]] = {
    "curves": curves,
    "calibration": calibration,
    "conditions": conditions,
    "domination": domination,
}

__all__ = ["FIGURES"]
