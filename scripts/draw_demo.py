"""Draw the README's picture: CE memorises wrong labels of digits, AGCE does not.

python scripts/draw_demo.py docs/images/demo.png
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

from noiseproof.data import load
from noiseproof.losses import Loss
from noiseproof.losses import loss as read_loss
from noiseproof.noise import stream, symmetric
from noiseproof.report.pictures import COLOURS, check, save, style
from noiseproof.theory import audit
from noiseproof.torch_threads import one_torch_thread

RATE = 0.6
LOSSES = ("CE", "AGCE(a=0.6, q=0.6)")
EPOCHS = 60
BATCH = 128


@dataclass(frozen=True)
class Run:
    """Accuracies by epoch: on true test labels, and on the labels that are wrong (memorised)."""

    loss: str
    test: list[float]
    memorised: list[float]


def run(out: Path, seed: int = 1) -> None:
    """Audit AGCE, train it against CE, print a table and draw the picture ``out``."""
    check(out)
    noise = symmetric(10, RATE)
    print(audit(LOSSES[1], classes=10, noise=noise), end="\n\n")

    digits = load("digits")
    train_x, test_x = (_pixels(part.inputs) for part in (digits.train, digits.test))
    noisy = noise.corrupt(digits.train.labels, seed=seed)
    print(f"digits: {len(noisy)} images, {noisy.rate:.0%} of their labels wrong, seed {seed}")
    runs = []
    for text in LOSSES:
        start = time.perf_counter()
        runs.append(
            train(
                read_loss(text),
                train_x,
                noisy.labels,
                noisy.changed,
                test_x,
                digits.test.labels,
                seed,
            )
        )
        print(f"trained with {text} for {EPOCHS} epochs in {time.perf_counter() - start:.1f} s")
    print(f"\n{'loss':18}{'test accuracy':>15}{'best epoch':>12}{'wrong labels memorised':>24}")
    for r in runs:
        print(f"{r.loss:18}{r.test[-1]:15.1%}{max(r.test):12.1%}{r.memorised[-1]:24.1%}")
    save(_draw(runs), out)
    print(f"\nwrote {out}")


@one_torch_thread()
def train(
    loss: Loss, x: Tensor, given: Tensor, wrong: Tensor, test_x: Tensor, test_y: Tensor, seed: int
) -> Run:
    """Train a small network with ``loss`` on the ``given`` labels."""
    with torch.random.fork_rng():
        torch.manual_seed(int(stream(seed, "initialisation").integers(2**63)))
        network = nn.Sequential(
            nn.Linear(x.shape[1], 256),
            nn.ReLU(),
            nn.Linear(256, 256),
            nn.ReLU(),
            nn.Linear(256, 10),
        )
    order = stream(seed, "order")
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    result = Run(str(loss), [], [])
    for _ in range(EPOCHS):
        for batch in torch.split(torch.from_numpy(order.permutation(len(x))), BATCH):
            optimiser.zero_grad()
            loss(network(x[batch]), given[batch]).backward()
            optimiser.step()
        with torch.no_grad():
            result.test.append(_accuracy(network(test_x), test_y))
            result.memorised.append(_accuracy(network(x[wrong]), given[wrong]))
    return result


def _pixels(images: Tensor) -> Tensor:
    return images.flatten(1).float() / 255


def _accuracy(logits: Tensor, labels: Tensor) -> float:
    return float((logits.argmax(1) == labels).double().mean())


def _draw(runs: list[Run]) -> Figure:
    with style():
        figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
        for r, colour in zip(runs, (COLOURS[1], COLOURS[0]), strict=True):
            for ax, values in ((left, r.test), (right, r.memorised)):
                ax.plot(range(1, EPOCHS + 1), values, color=colour, label=r.loss)
                ax.annotate(
                    f"{values[-1]:.0%}", (EPOCHS, values[-1]), (4, 0),
                    textcoords="offset points", va="center", color=colour,
                )  # fmt: skip
        left.set(title="accuracy on true test labels", xlabel="epoch", ylim=(0, 1))
        right.set(title="wrong training labels memorised", xlabel="epoch", ylim=(0, 1))
        left.legend(loc="lower left")
        figure.suptitle(f"digits with {RATE:.0%} of the labels wrong", fontsize=11)
    return figure


if __name__ == "__main__":
    run(Path(sys.argv[1]))
