"""Train with a robust loss in Lightning: ``python examples/lightning_classifier.py``.

The loss is a hyperparameter, written as text, so a checkpoint has it and builds it again. Both
losses train for 60 epochs, which takes a few minutes.
"""

import lightning
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

import noiseproof as nf


class Classifier(lightning.LightningModule):
    """A small network and a loss."""

    def __init__(self, features: int, classes: int, loss: str = "CE", rate: float = 0.1) -> None:
        super().__init__()
        self.save_hyperparameters()
        hidden = nn.Linear(features, 64)
        self.model = nn.Sequential(hidden, nn.ReLU(), nn.Linear(64, classes))
        self.loss = nf.loss(loss)

    def training_step(self, batch: list[Tensor], index: int) -> Tensor:
        """Return the loss of a batch."""
        x, y = batch
        loss = self.loss(self.model(x), y)
        self.log("loss", loss)
        return loss

    def predict_step(self, batch: list[Tensor], index: int = 0) -> Tensor:
        """Return the probabilities of the classes."""
        return torch.softmax(self.model(batch[0]), 1)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Plain gradient descent."""
        return torch.optim.SGD(self.parameters(), self.hparams["rate"], momentum=0.9)


def main() -> None:
    """Spoil 40 % of the labels of the digits and train with two losses."""
    X, y = load_digits(return_X_y=True)
    x, labels = torch.tensor(X / 16, dtype=torch.float32), torch.tensor(y)
    given = torch.as_tensor(nf.noise.symmetric(10, 0.4).corrupt(y[:1000], seed=1).labels)
    batches = DataLoader(TensorDataset(x[:1000], given), batch_size=64, shuffle=True)
    for loss in ("CE", "NCE + 4*AGCE(a=6, q=1.5)"):
        lightning.seed_everything(1)
        model = Classifier(64, 10, loss)
        lightning.Trainer(max_epochs=60, logger=False, enable_checkpointing=False).fit(
            model, batches
        )
        right = model.predict_step([x[1000:]]).argmax(1) == labels[1000:]
        print(f"{loss} predicts {right.float().mean():.1%} of the test labels.")


if __name__ == "__main__":
    main()
