"""A robust loss in skorch and GridSearchCV: ``python examples/skorch_classifier.py``.

It trains ten small networks, which takes a minute or two.
"""

import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from skorch import NeuralNetClassifier
from torch import nn

import noiseproof as nf
from noiseproof.integrations.skorch import settings


class Network(nn.Module):
    """A small network."""

    def __init__(self, features: int = 64, classes: int = 10) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(features, 64), nn.ReLU(), nn.Linear(64, classes))

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Return the logits."""
        return self.layers(X)


def classifier(loss: str, epochs: int = 60) -> NeuralNetClassifier:
    """Return a network that trains with a loss and predicts probabilities."""
    return NeuralNetClassifier(
        Network, **settings(loss), max_epochs=epochs, lr=0.1, optimizer__momentum=0.9,
        train_split=None, verbose=0,
    )  # fmt: skip


def main() -> None:
    """Spoil 40 % of the labels of the digits, and let the noisy labels choose the loss."""
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype("float32")
    given = nf.noise.symmetric(10, 0.4).corrupt(y[:1000], seed=1).labels
    torch.manual_seed(1)
    losses = ["CE", "AGCE(a=1, q=0.5)", "NCE + 4*AGCE(a=6, q=1.5)"]
    search = GridSearchCV(classifier("CE"), {"criterion__text": losses}, cv=3)
    search.fit(X[:1000], given)
    right = search.best_estimator_.score(X[1000:], y[1000:])
    chosen = search.best_params_["criterion__text"]
    print(f"The noisy labels chose {chosen}, which predicts {right:.1%} of the test labels.")


if __name__ == "__main__":
    main()
