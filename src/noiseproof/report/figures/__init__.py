"""The paper's figures; each function draws one and returns it.

Those in ``FIGURES`` need nothing. The others draw what was run: ``noiseproof.bench.figures`` finds
it for them.
"""

from collections.abc import Callable

from noiseproof.extras import need

need("bench", "matplotlib", "cycler", "sklearn", "threadpoolctl")

from matplotlib.figure import Figure

from noiseproof.report.figures.calibration import calibration
from noiseproof.report.figures.conditions import conditions
from noiseproof.report.figures.curves import curves
from noiseproof.report.figures.domination import domination
from noiseproof.report.figures.hyperparameters import hyperparameters
from noiseproof.report.figures.memorisation import memorisation
from noiseproof.report.figures.noise import noise
from noiseproof.report.figures.tsne import tsne

FIGURES: dict[str, Callable[[], Figure]] = {
    "curves": curves,
    "calibration": calibration,
    "conditions": conditions,
    "domination": domination,
}

__all__ = ["FIGURES", "hyperparameters", "memorisation", "noise", "tsne"]
