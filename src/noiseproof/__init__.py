"""Train classifiers that stay right when the labels are wrong.

>>> import torch
>>> import noiseproof as nf
>>> loss = nf.NCE() + 4 * nf.AGCE(a=6, q=1.5)  # wherever nn.CrossEntropyLoss() stood
>>> loss(torch.zeros(2, 10), torch.tensor([3, 7])).isfinite()
tensor(True)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from noiseproof.extras import missing

if TYPE_CHECKING:
    from noiseproof import errors, noise
    from noiseproof.advise.recommend import recommend
    from noiseproof.fitting.fit import fit
    from noiseproof.fitting.model import load
    from noiseproof.losses import (
        AEL,
        AGCE,
        AMSE,
        AUL,
        CE,
        FL,
        GCE,
        MAE,
        NCE,
        NFL,
        NGCE,
        NLNL,
        NNCE,
        NNFL,
        RCE,
        SCE,
        Biased,
        ClippedCE,
        EpsSoftmax,
        LogSum,
        Loss,
        Normalized,
        Pointwise,
        PowerSum,
        RowLoss,
        Spread,
        Statistic,
        Transformed,
        UnitLogits,
        linear_loss,
        loss,
        paper_loss,
        registry,
    )
    from noiseproof.losses.parameter import parameter
    from noiseproof.theory import (
        asymmetry_ratio,
        check_excess_risk,
        excess_risk_constant,
        is_asymmetric,
        is_completely_asymmetric,
        is_symmetric,
        minimise_risk,
    )
    from noiseproof.theory.audit import Audit, audit
    from noiseproof.theory.calibration import calibration

__version__ = "0.1.0"

__all__ = [
    "AEL",
    "AGCE",
    "AMSE",
    "AUL",
    "CE",
    "FL",
    "GCE",
    "MAE",
    "NCE",
    "NFL",
    "NGCE",
    "NLNL",
    "NNCE",
    "NNFL",
    "RCE",
    "SCE",
    "Audit",
    "Biased",
    "ClippedCE",
    "EpsSoftmax",
    "LogSum",
    "Loss",
    "Normalized",
    "Pointwise",
    "PowerSum",
    "RowLoss",
    "Spread",
    "Statistic",
    "Transformed",
    "UnitLogits",
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
    "load",
    "loss",
    "minimise_risk",
    "noise",
    "paper_loss",
    "parameter",
    "recommend",
    "registry",
]

#: Where the names come from, each room above the one before. A name is imported when first asked
#: for, so that `noiseproof --help` does not wait for torch, nor a training loop for pandas.
_ROOMS = ("losses", "theory", "advise.recommend", "fitting.fit", "fitting.model")
_ARE_ROOMS = ("errors", "integrations", "noise")
_NEED_FIT = ("fit", "load")

if not TYPE_CHECKING:  # a type checker would take any name for one of ours
    if missing("pandas", "sklearn"):  # without the extra `fit`, import * and help() work
        __all__ = [name for name in __all__ if name not in _NEED_FIT]

    def __getattr__(name: str) -> Any:
        if name in _ARE_ROOMS:
            return import_module(f"{__name__}.{name}")
        if name in __all__ or name in _NEED_FIT:
            for room in _ROOMS:
                module = import_module(f"{__name__}.{room}")
                if hasattr(module, name):
                    globals()[name] = getattr(module, name)
                    return globals()[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ARE_ROOMS})
