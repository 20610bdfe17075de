"""The necessary and sufficient conditions of the corollaries, seen by optimisation."""

from collections.abc import Callable
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.figure import Figure
from numpy.typing import NDArray
from torch import Tensor

from noiseproof.losses import AEL, AGCE, AUL, Pointwise
from noiseproof.noise import stream
from noiseproof.progress import SILENT, Progress
from noiseproof.report.pictures import COLOURS, style

K = 10
WEIGHTS = 8
STEPS = 400


@dataclass(frozen=True)
class Panel:
    """A family of losses in a, the a above which it is asymmetric, and the a to try."""

    title: str
    family: Callable[[float], Pointwise]
    threshold: Callable[[float], float]
    a: NDArray[np.float64]


GRID = np.geomspace(0.02, 20, 17)

PANELS = (
    Panel("AGCE, q = 0.5", lambda a: AGCE(a, 0.5), lambda c: AGCE.a_for(0.5, c), GRID),
    Panel("AGCE, q = 1.5", lambda a: AGCE(a, 1.5), lambda c: AGCE.a_for(1.5, c), GRID),
    Panel("AUL, p = 0.5", lambda a: AUL(a, 0.5), lambda c: AUL.a_for(0.5, c), 1 + GRID),
    Panel("AUL, p = 2", lambda a: AUL(a, 2), lambda c: AUL.a_for(2, c), 1 + GRID),
    Panel("AEL", AEL, AEL.a_for, np.geomspace(0.1, 20, 17)),
)


def conditions(progress: Progress = SILENT) -> Figure:
    """Draw p_m at the minimum of the weighted risk against a, for random weights, K = 10.

    The weights are drawn once and scaled so that the largest is 1.5 times the next: every curve
    of a panel has the same a*, where clean level times asymmetry ratio is 1.

    Args:
        progress: who is told of progress.
    """
    weights = random_weights(ratio=1.5, seed=1)
    with style():
        figure, axes = plt.subplots(1, 5, figsize=(13, 2.9), sharey=True, layout="constrained")
        done, total = 0, sum(len(panel.a) for panel in PANELS)
        progress.step("minimising")
        for ax, panel in zip(axes, PANELS, strict=True):
            p = np.empty((len(panel.a), WEIGHTS))
            for i, a in enumerate(panel.a):
                p[i] = largest_at_minimum(panel.family(float(a)), weights)
                done += 1
                progress.update(done, total)
            ax.plot(panel.a, p, color=COLOURS[0], alpha=0.35, linewidth=1)
            ax.plot(panel.a, p.mean(1), color=COLOURS[0], marker="o", markersize=3)
            limit = panel.threshold(1.5)
            if limit > panel.a[0]:
                ax.axvline(limit, color=COLOURS[1], linestyle="--", label=f"$a^*$ = {limit:.3g}")
            else:
                ax.plot([], [], " ", label="every $a$")
            ax.set(title=panel.title, xlabel="$a$", xscale="log", ylim=(0, 1.05))
            ax.legend(loc="lower right")
        axes[0].set_ylabel("$p_m$ at the minimum")
    return figure


def random_weights(ratio: float, seed: int) -> Tensor:
    """Return (WEIGHTS, K) positive weights, the first the largest, ``ratio`` times the second."""
    w = np.sort(stream(seed, "conditions").random((WEIGHTS, K)), axis=1)[:, ::-1].copy()
    w[:, 0] = ratio * w[:, 1]
    return torch.from_numpy(w)


def largest_at_minimum(loss: Pointwise, weights: Tensor) -> NDArray[np.float64]:
    """Minimise sum_i w_i l(softmax(z)_i) over z, as the paper does; return p_m, m = 0."""
    z = torch.zeros_like(weights)
    optimiser = torch.optim.Adam([z], lr=0.2)
    for _ in range(STEPS):
        log_p = torch.log_softmax(z, 1)
        slope = weights * loss.with_slope(log_p)[1]
        z.grad = slope - log_p.exp() * slope.sum(1, keepdim=True)
        optimiser.step()
    p_m: NDArray[np.float64] = z.softmax(1)[:, 0].numpy()
    return p_m
