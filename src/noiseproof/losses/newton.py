"""A loss as gradient boosting asks for it: gradient and curvature of the raw scores."""

from typing import Any

import numpy as np

from noiseproof.errors import ShapeError
from noiseproof.losses.base import Loss
from noiseproof.losses.derivatives import as_array


def newton(loss: Loss, scores: Any, labels: Any, weight: Any = None) -> tuple[Any, Any]:
    """Return the gradient and the curvature of each score, in the shape of ``scores``.

    Args:
        loss: any loss that has :meth:`Loss.derivatives`.
        scores: (N, K), or (N,) for two classes, where the score is that of class 1 against 0.
        labels: (N,) classes, as integers or, as LightGBM and XGBoost hold them, as floats.
        weight: (N,) what each row counts, or ``None``.

    >>> from noiseproof.losses import CE
    >>> newton(CE(), np.zeros(2), np.array([0.0, 1.0]))  # p - y and p (1 - p)
    (array([ 0.5, -0.5]), array([0.25, 0.25]))
    """
    found = loss.derivatives(two_columns(scores), np.asarray(labels).astype(np.int64), weight)
    if np.ndim(scores) == 1:
        return found.gradient[:, 1], found.curvature[:, 1]
    return found.gradient, found.curvature


def two_columns(scores: Any) -> Any:
    """Return (N, K) scores; a single one for each row, (N,), becomes (0, score)."""
    scores = as_scores(scores)
    return np.stack([np.zeros_like(scores), scores], axis=1) if scores.ndim == 1 else scores


def as_scores(scores: Any) -> Any:
    """Return scores, (N, K) or (N,), as an array of floats, or say that they are none."""
    array = as_array("scores", scores)
    if not (array.ndim == 1 or (array.ndim == 2 and array.shape[1] > 1)):
        raise ShapeError(f"expected scores (N, K) or (N,), got shape {array.shape}")
    return array if array.dtype.kind == "f" else array.astype(np.float64)
