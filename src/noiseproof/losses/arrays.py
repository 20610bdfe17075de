"""Tensors as numpy arrays: the same numbers, whatever type and form they have in torch."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from noiseproof.errors import ShapeError

#: The floating types that numpy has too.
_KNOWN = (torch.float64, torch.float32, torch.float16)


def dense(name: str, given: Any) -> Any:
    """Return a sparse column, of scipy's or torch's, as its N values; what is not sparse as it is.

    numpy would make one object of the whole, and Python's list a matrix of each row. A wider matrix
    is an error before it fills the memory.
    """
    tensor = isinstance(given, Tensor)
    if tensor and (given.is_nested or given.layout is torch.strided):
        return given
    if not tensor and not (hasattr(given, "toarray") and hasattr(given, "tocoo")):
        return given
    shape = tuple(given.shape)
    if len(shape) != 1 and shape[1:] != (1,):
        raise ShapeError(f"expected one {name} a row, got {name}s of shape {shape}")
    return given.to_dense().reshape(-1) if tensor else given.toarray().reshape(-1)


def of_tensor(name: str, given: Tensor) -> NDArray[Any]:
    """Return a tensor on any device as an array, or say that it holds no numbers one by one.

    >>> of_tensor("x", torch.ones(2, dtype=torch.bfloat16, requires_grad=True))
    array([1., 1.], dtype=float32)
    """
    plain = not (given.is_nested or given.is_quantized) and given.layout is torch.strided
    if given.is_meta or not plain:
        kind = "on the meta device" if given.is_meta else "of another layout"
        raise ShapeError(f"expected {name} as a dense tensor of numbers, got one {kind}")
    given = given.detach().cpu().resolve_neg().resolve_conj()
    known = not given.is_floating_point() or given.dtype in _KNOWN
    return np.asarray(given if known else given.float())
