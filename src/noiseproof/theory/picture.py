"""An audit as a picture."""

from typing import TYPE_CHECKING

import numpy as np
import torch

from noiseproof.extras import need
from noiseproof.losses import Pointwise
from noiseproof.shown import drawable
from noiseproof.theory.calibration import calibration
from noiseproof.theory.interval import losses_at
from noiseproof.theory.surroundings import undisturbed
from noiseproof.theory.tolerance import symmetric_rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from noiseproof.theory.audit import Audit

_BLUE, _RED, _GREY = "#2c6fb3", "#c0392b", "#888888"


@undisturbed()
def draw(a: "Audit") -> "Figure":
    """Return a figure: the loss and its margins, and of a pointwise loss its slope, H and H-."""
    need("bench", "matplotlib")
    from matplotlib.figure import Figure

    panels = [_loss, _slope, _calibration, _margins] if a.pointwise else [_loss, _margins]
    figure = Figure(figsize=(3.4 * len(panels), 3.2), layout="constrained")
    for panel, ax in zip(panels, np.atleast_1d(figure.subplots(1, len(panels))), strict=True):
        panel(a, ax)
        ax.spines[["top", "right"]].set_visible(False)
    figure.suptitle(drawable(a.text))
    return figure


def _loss(a: "Audit", ax: "Axes") -> None:
    u = torch.linspace(0.002, 0.998, 400, dtype=torch.float64)
    p = ((1 - u) / (a.classes - 1))[:, None].repeat(1, a.classes)
    p[:, 0] = u
    ax.plot(u, losses_at(a.loss, p.log())[:, 0], color=_BLUE)
    rest = "" if a.pointwise else ", the rest spread evenly"
    ax.set(title=f"loss{rest}", xlabel="probability u of the label", ylabel="L(u)", xlim=(0, 1))


def _slope(a: "Audit", ax: "Axes") -> None:
    assert isinstance(a.loss, Pointwise)
    u = torch.linspace(0.002, 0.998, 400, dtype=torch.float64)
    _, slope = a.loss.with_slope(u.log())
    ax.plot(u, -slope / u, color=_BLUE)
    ax.set(title="slope", xlabel="probability u of the label", ylabel="$-dl/du$", xlim=(0, 1))
    ax.set_ylim(bottom=0)


def _calibration(a: "Audit", ax: "Axes") -> None:
    found = calibration(a.loss)
    ax.plot(found.eta, found.H, color=_BLUE, label="$H$")
    ax.plot(found.eta, found.H_minus, "--", color=_RED, label="$H^-$")
    ax.set(title="calibration", xlabel=r"$\eta$", ylabel="least conditional risk", xlim=(0, 1))
    ax.legend(frameon=False)


def _margins(a: "Audit", ax: "Axes") -> None:
    if a.margins:
        known = a.ratio is not None
        heights = [m.margin if m.margin is not None else m.clean_level for m in a.margins]
        finite = [h for h in heights if np.isfinite(h)]
        top = 1.15 * max([*finite, 2.0])
        colours = [_BLUE if m.tolerated else _RED for m in a.margins]
        ax.bar(range(len(heights)), [min(h, top) for h in heights], color=colours)
        if a.classes <= 20:
            names = [drawable(m.name) for m in a.margins]
            ax.set_xticks(range(a.classes), names, rotation=45, ha="right")
        ax.set(title="margin" if known else "clean level", ylim=(0, top))
        ax.set(xlabel="true class", ylabel="$c_i\\, r$" if known else "$c_i$")
        ax.axhline(1, color=_GREY, lw=1)
        return
    ratios = np.linspace(0.001, 1, 400)
    rates = [symmetric_rate(r, a.classes) for r in ratios]
    ax.plot(rates, ratios, color=_GREY)
    ax.axvline(a.max_symmetric_rate, color=_BLUE)
    ax.set(title="symmetric noise", xlabel="noise rate", ylabel="asymmetry ratio needed")
    ax.set(xlim=(0, 1), ylim=(0, 1.02))
