"""The losses with the parameters the paper trained them with."""

from typing import Any

from noiseproof.errors import ParameterError, did_you_mean
from noiseproof.losses.base import Loss
from noiseproof.losses.expression import loss
from noiseproof.paper import DATASETS, METHODS, PARAMETERS


def paper_loss(method: str, dataset: str, **options: Any) -> Loss:
    """Return a row of the paper's tables, with its parameter table's setting for a data set.

    Args:
        method: such as ``"NCE+AGCE"``.
        dataset: ``"mnist"``, ``"cifar10"``, ``"cifar100"`` or ``"webvision"``.
        **options: as for any loss.

    Example:
        >>> str(paper_loss("NCE+AGCE", "cifar10"))
        'NCE + 4*AGCE(a=6, q=1.5)'
    """
    known = dataset.lower().replace("-", "")
    if known not in PARAMETERS:
        raise ParameterError(f"unknown data set {dataset!r}{did_you_mean(dataset, DATASETS)}")
    if method not in METHODS:
        raise ParameterError(f"unknown method {method!r}{did_you_mean(method, METHODS)}")
    text = PARAMETERS[known][method]
    if text is None:
        others = [name for name in DATASETS if PARAMETERS[name][method] is not None]
        raise ParameterError(
            f"the paper gives {method} no parameters for {known}: the cell is blank "
            f"(it has some for {', '.join(others)})"
        )
    return loss(text, **options)
