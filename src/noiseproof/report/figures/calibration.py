"""Classification calibration: H below H- for every eta but 1/2."""

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from noiseproof.losses import AGCE, AUL, Pointwise
from noiseproof.report.pictures import COLOURS, style
from noiseproof.theory import calibration as calibrate

#: Completely asymmetric losses: AGCE with q > 1 and AUL with p < 1 (Corollaries 1 and 2).
PANELS: dict[str, list[Pointwise]] = {
    "AGCE": [AGCE(1, 1.5), AGCE(1, 2), AGCE(1, 3)],
    "AUL": [AUL(2, 0.1), AUL(2, 0.5), AUL(1.1, 0.5)],
}


def calibration() -> Figure:
    """Draw H (solid) and H- (dashed) of completely asymmetric losses, each scaled by max H-."""
    with style():
        figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
        for ax, (family, losses) in zip(axes, PANELS.items(), strict=True):
            for loss, colour in zip(losses, COLOURS, strict=False):
                curve = calibrate(loss)
                height = float(curve.H_minus.max())
                label = str(loss).removeprefix(family).strip("()")
                ax.plot(curve.eta, curve.H / height, color=colour, label=label)
                ax.plot(curve.eta, curve.H_minus / height, color=colour, linestyle="--")
            ax.set(title=family, xlabel=r"$\eta$", xlim=(0, 1), ylim=(0, 1.02))
            ax.legend(title=r"$H$ solid, $H^-$ dashed", loc="lower center")
        axes[0].set_ylabel(r"least conditional risk, scaled by $\max H^-$")
    return figure
