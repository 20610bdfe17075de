"""Who watches a run: nobody, a progress bar, a line an epoch, TensorBoard."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from noiseproof.extras import need
from noiseproof.train.outcome import Epoch


class Watcher:
    """Watches nothing; the base of those that do."""

    def begin(self, epochs: int, samples: int, done: int) -> None:
        """Hear that a run of ``epochs`` over ``samples`` begins, ``done`` epochs of it made."""

    def step(self, samples: int, loss: float) -> None:
        """Hear of a step."""

    def epoch(self, row: Epoch) -> None:
        """Hear of a finished epoch."""

    def end(self) -> None:
        """Hear that there is no more to come."""


class Bar(Watcher):
    """A progress bar: loss, test accuracy, samples a second, time left."""

    def begin(self, epochs: int, samples: int, done: int) -> None:
        """Draw the empty bar."""
        from tqdm import tqdm

        self.accuracy, self.epochs = "", epochs
        self.bar = tqdm(
            total=epochs * samples,
            initial=done * samples,
            unit=" samples",
            unit_scale=True,
            dynamic_ncols=True,
            smoothing=0.05,
        )
        self.bar.set_description(f"epoch {done + 1}/{epochs}")

    def step(self, samples: int, loss: float) -> None:
        """Move on."""
        self.bar.set_postfix_str(f"loss {loss:.4f}{self.accuracy}", refresh=False)
        self.bar.update(samples)

    def epoch(self, row: Epoch) -> None:
        """Show the test accuracy, and count the epoch."""
        self.accuracy = f", test {row.test_accuracy:.2%}"
        self.bar.set_description(f"epoch {min(row.number + 1, self.epochs)}/{self.epochs}")

    def end(self) -> None:
        """Leave the bar as it is."""
        self.bar.close()


class Lines(Watcher):
    """A line an epoch, for a log file."""

    def begin(self, epochs: int, samples: int, done: int) -> None:
        """Remember what 100 % is."""
        self.epochs, self.samples = epochs, samples

    def epoch(self, row: Epoch) -> None:
        """Print the line."""
        left = (self.epochs - row.number) * row.seconds
        print(
            f"epoch {row.number}/{self.epochs}: loss {row.loss:.4f}, "
            f"train {row.train_accuracy or 0:.2%}, test {row.test_accuracy:.2%}, "
            f"{self.samples / row.seconds:.0f} samples/s, {left:.0f} s left",
            file=sys.stderr,
            flush=True,
        )


class TensorBoard(Watcher):
    """Scalars for TensorBoard, a point an epoch."""

    def __init__(self, folder: Path) -> None:
        """Open the folder of the run."""
        need("tensorboard", "tensorboard")
        from torch.utils.tensorboard import SummaryWriter

        self.writer: Any = SummaryWriter(str(folder))

    def epoch(self, row: Epoch) -> None:
        """Write every number of the row."""
        for name, value in row.to_dict().items():
            if name != "number" and value is not None:
                self.writer.add_scalar(name, value, row.number)
        self.writer.flush()

    def end(self) -> None:
        """Close the files."""
        self.writer.close()


class Watchers(Watcher):
    """Several watchers as one."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        """Keep them."""
        self.watchers = watchers

    def begin(self, epochs: int, samples: int, done: int) -> None:
        """Pass it on."""
        for watcher in self.watchers:
            watcher.begin(epochs, samples, done)

    def step(self, samples: int, loss: float) -> None:
        """Pass it on."""
        for watcher in self.watchers:
            watcher.step(samples, loss)

    def epoch(self, row: Epoch) -> None:
        """Pass it on."""
        for watcher in self.watchers:
            watcher.epoch(row)

    def end(self) -> None:
        """Pass it on."""
        for watcher in self.watchers:
            watcher.end()
