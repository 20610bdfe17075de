"""The three families of asymmetric losses as functions of the probability of the label."""

import matplotlib.pyplot as plt
import torch
from matplotlib.figure import Figure

from noiseproof.losses import AEL, AGCE, AUL, Pointwise
from noiseproof.report.pictures import style

PANELS: dict[str, list[Pointwise]] = {
    "AGCE": [AGCE(1, 0.2), AGCE(1, 0.6), AGCE(1, 1), AGCE(1, 1.5), AGCE(1, 3)],
    "AUL": [AUL(2, 0.1), AUL(2, 0.5), AUL(2, 1), AUL(2, 2), AUL(2, 3)],
    "AEL": [AEL(0.25), AEL(0.5), AEL(1), AEL(2.5), AEL(5)],
}


def curves() -> Figure:
    """Draw l(u) for AGCE, AUL and AEL, each scaled to fall from 1 at u = 0 to 0 at u = 1.

    Scaling a loss does not change its asymmetry; without it the powers would not share an axis.
    """
    u = torch.linspace(0, 1, 401, dtype=torch.float64)
    with style():
        figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.2), sharey=True, layout="constrained")
        for ax, (family, losses) in zip(axes, PANELS.items(), strict=True):
            for loss in losses:
                values = loss.value(u.log().clamp_min(-1e6))
                scaled = (values - values[-1]) / (values[0] - values[-1])
                ax.plot(u, scaled, label=str(loss).removeprefix(family).strip("()"))
            ax.plot([0, 1], [1, 0], color="0.6", linewidth=1, linestyle=":", label="MAE")
            ax.set(title=family, xlabel="probability of the label, $u$", xlim=(0, 1), ylim=(0, 1))
            ax.legend()
        axes[0].set_ylabel(r"loss, $(\ell(u) - \ell(1))\,/\,(\ell(0) - \ell(1))$")
    return figure
