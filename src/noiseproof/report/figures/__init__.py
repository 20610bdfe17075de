"""The paper's figures; each function draws one and returns it.

Those in ``FIGURES`` need nothing. The others draw what was run:
``noiseproof.bench.pages.figures`` finds it for them.
"""

from collections.abc import Callable

from noiseproof.extras import need

need("bench", "matplotlib", "cycler", "scipy", "sklearn", "threadpoolctl")

from matplotlib.figure import Figure

from noiseproof.progress import Progress
from noiseproof.report.figures.calibration import calibration
from noiseproof.report.figures.conditions import conditions
from noiseproof.report.figures.curves import curves
from noiseproof.report.figures.domination import domination
from noiseproof.report.figures.hyperparameters import hyperparameters
from noiseproof.report.figures.margin import margin
from noiseproof.report.figures.memorisation import memorisation
from noiseproof.report.figures.noise import noise
from noiseproof.report.figures.tsne import tsne

#: Figures of the theory, by name; each is given whoever is told of progress.
FIGURES: dict[str, Callable[[Progress], Figure]] = {
    "curves": lambda _: curves(),
    "calibration": lambda _: calibration(),
    "conditions": conditions,
    "domination": lambda _: domination(),
}

__all__ = ["FIGURES", "hyperparameters", "margin", "memorisation", "noise", "tsne"]
