"""The losses with the parameters the papers trained them with."""

from typing import Any

from noiseproof.errors import ParameterError, did_you_mean
from noiseproof.losses.base import Loss
from noiseproof.losses.expression import loss
from noiseproof.paper import DATASETS, LATER, METHODS, PARAMETERS


def paper_loss(method: str, dataset: str, **options: Any) -> Loss:
    """Return a row of the paper's tables, with its parameter table's setting for a data set.

    Or one of the losses that came later, ANL-CE, ANL-FL, JAL-CE, CE_eps+MAE, FL_eps+MAE and CE+SR,
    as its authors set it.

    Args:
        method: such as ``"NCE+AGCE"`` or ``"JAL-CE"``.
        dataset: ``"mnist"``, ``"cifar10"``, ``"cifar100"`` or ``"webvision"``.
        **options: as for any loss.

    Example:
        >>> str(paper_loss("NCE+AGCE", "cifar10"))
        'NCE + 4*AGCE(a=6, q=1.5)'
        >>> str(paper_loss("JAL-CE", "cifar100"))
        '5*NCE + AMSE(a=20)'
    """
    known, method = str(dataset).lower().replace("-", ""), str(method)
    if known not in PARAMETERS:
        raise ParameterError(f"unknown data set {dataset!r}{did_you_mean(known, DATASETS)}")
    if method not in METHODS and method not in LATER:
        raise ParameterError(f"unknown method {method!r}{did_you_mean(method, (*METHODS, *LATER))}")
    if method in LATER:
        settings: dict[str, str | None] = dict(LATER[method])
    else:
        settings = {name: PARAMETERS[name][method] for name in DATASETS}
    text = settings.get(known)
    if text is None:
        others = [name for name, given in settings.items() if given is not None]
        raise ParameterError(
            f"the paper gives {method} no parameters for {known}: the cell is blank "
            f"(it has some for {', '.join(others)})"
        )
    return loss(text, **options)
