"""What class weights and label smoothing do to the weights of a risk."""

import copy

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from noiseproof.errors import TheoryError
from noiseproof.losses import Loss


def without_options(loss: Loss) -> Loss:
    """Return the formula of ``loss`` alone; the terms of a sum have its options too."""
    if loss.weight is None and loss.label_smoothing == 0:
        return loss
    bare = copy.deepcopy(loss)
    for part in bare.modules():
        if isinstance(part, Loss):
            part.weight, part.label_smoothing = None, 0.0
    return bare


def class_weights(loss: Loss, classes: int) -> NDArray[np.float64]:
    """Return the class weights of ``loss``, all 1 where it has none."""
    if loss.weight is None:
        return np.ones(classes)
    weight = loss.weight.detach().cpu().double().numpy()
    if len(weight) != classes:
        raise TheoryError(f"{loss} has weights for {len(weight)} classes, asked about {classes}")
    return np.asarray(weight)


def effective(loss: Loss, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weights with which L(u, k) enters the risk, for rows (..., K) of label weights.

    Smoothing by s turns a label i into (1 - s) e_i + s / K, and a class weight multiplies what its
    class adds: v_k ((1 - s) w_k + s / K sum_i w_i).

    >>> from noiseproof.losses import MAE
    >>> effective(MAE(label_smoothing=0.2), np.array([0.6, 0.4]))
    array([0.58, 0.42])
    """
    K = weights.shape[-1]
    smoothing = loss.label_smoothing
    mixed = (1 - smoothing) * weights + smoothing / K * weights.sum(-1, keepdims=True)
    return np.asarray(class_weights(loss, K) * mixed)


def effective_tensor(loss: Loss, weights: Tensor) -> Tensor:
    """Return :func:`effective` of a tensor."""
    return torch.from_numpy(effective(loss, weights.numpy()))
