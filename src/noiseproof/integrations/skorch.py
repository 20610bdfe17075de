"""A loss for skorch's ``NeuralNetClassifier``, which is not imported here."""

from typing import Any

import torch
from torch import Tensor

from noiseproof import losses


def settings(text: str, **options: Any) -> dict[str, Any]:
    """Return the arguments of ``NeuralNetClassifier`` that make it train with a loss.

    They come with the nonlinearity that makes ``predict_proba`` return probabilities: by itself
    skorch does so for ``nn.CrossEntropyLoss`` alone and returns logits for any other loss. The
    loss is a parameter of the net, ``criterion__text``, which a grid search can vary.

    Args:
        text: the loss, such as ``"NCE + 4*AGCE(a=6, q=1.5)"``.
        **options: as for any loss: ``weight``, ``ignore_index``, ``label_smoothing``.

    Example:
        >>> import skorch
        >>> from noiseproof.integrations.skorch import settings
        >>> module = torch.nn.Linear(4, 3)
        >>> net = skorch.NeuralNetClassifier(module, **settings("NCE + MAE")).initialize()
        >>> p = net.predict_proba(torch.randn(5, 4))
        >>> bool(abs(p.sum(axis=1) - 1).max() < 1e-6)
        True
    """
    losses.loss(text, **options)  # a mistake is reported here, not in a fit
    given = {f"criterion__{name}": value for name, value in options.items()}
    return {
        "criterion": losses.loss,
        "criterion__text": text,
        **given,
        "predict_nonlinearity": probabilities,
    }


def probabilities(logits: Tensor) -> Tensor:
    """Return the softmax over the classes, which are dimension 1."""
    return torch.softmax(logits, 1)
