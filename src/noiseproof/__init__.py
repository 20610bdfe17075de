"""Train classifiers that stay right when the labels are wrong.

>>> import torch
>>> import noiseproof as nf
>>> loss = nf.NCE() + 4 * nf.AGCE(a=6, q=1.5)  # wherever nn.CrossEntropyLoss() stood
>>> loss(torch.zeros(2, 10), torch.tensor([3, 7])).isfinite()
tensor(True)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from noiseproof import errors, noise
from noiseproof.losses import (
    AEL,
    AGCE,
    AUL,
    CE,
    FL,
    GCE,
    MAE,
    NCE,
    NFL,
    NGCE,
    NLNL,
    RCE,
    SCE,
    Loss,
    Normalized,
    Pointwise,
    RowLoss,
    linear_loss,
    loss,
    paper_loss,
    parameter,
    registry,
)
from noiseproof.theory import (
    Audit,
    asymmetry_ratio,
    audit,
    calibration,
    check_excess_risk,
    excess_risk_constant,
    is_asymmetric,
    is_completely_asymmetric,
    is_symmetric,
    minimise_risk,
)

if TYPE_CHECKING:
    from noiseproof.advise.recommend import recommend as recommend
    from noiseproof.fitting.fit import fit as fit

__version__ = "0.1.0"

__all__ = [
    "AEL",
    "AGCE",
    "AUL",
    "CE",
    "FL",
    "GCE",
    "MAE",
    "NCE",
    "NFL",
    "NGCE",
    "NLNL",
    "RCE",
    "SCE",
    "Audit",
    "Loss",
    "Normalized",
    "Pointwise",
    "RowLoss",
    "asymmetry_ratio",
    "audit",
    "calibration",
    "check_excess_risk",
    "errors",
    "excess_risk_constant",
    "fit",
    "is_asymmetric",
    "is_completely_asymmetric",
    "is_symmetric",
    "linear_loss",
    "loss",
    "minimise_risk",
    "noise",
    "paper_loss",
    "parameter",
    "recommend",
    "registry",
]

#: What needs pandas or scikit-learn is imported when it is asked for.
_LATER = {"fit": "noiseproof.fitting.fit", "recommend": "noiseproof.advise.recommend"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
