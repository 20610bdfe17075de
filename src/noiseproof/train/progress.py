"""Who watches a run: nobody, whoever shows progress, TensorBoard.

A :class:`Watcher` hears of the run itself, the numbers of each epoch included; what a user sees of
it goes through :mod:`noiseproof.progress`, as everywhere.
"""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from noiseproof.extras import need
from noiseproof.files import explained, make_folder
from noiseproof.progress import Progress
from noiseproof.train.outcome import Epoch


class Watcher:
    """Ignores every event; the base class of those that show or record progress."""

    def begin(self, epochs: int, samples: int, done: int) -> None:
        """Called when a run of ``epochs`` over ``samples`` begins, after ``done`` epochs of it."""

    def step(self, samples: int, loss: float) -> None:
        """Called after each step."""

    def epoch(self, row: Epoch) -> None:
        """Called after each epoch."""

    def end(self) -> None:
        """Called when the run ends."""


class Shown(Watcher):
    """Tells whoever shows progress: a bar over all epochs, and a line an epoch."""

    def __init__(self, progress: Progress) -> None:
        """Keep it."""
        self.progress = progress

    def begin(self, epochs: int, samples: int, done: int) -> None:
        """Remember what 100 % is."""
        self.epochs, self.samples = epochs, samples
        self.number, self.seen, self.accuracy = done + 1, done * samples, ""
        self.progress.step("training")

    def step(self, samples: int, loss: float) -> None:
        """Move on."""
        self.seen += samples
        note = f"epoch {self.number}/{self.epochs}, loss {loss:.4f}{self.accuracy}"
        self.progress.update(self.seen, self.epochs * self.samples, note)

    def epoch(self, row: Epoch) -> None:
        """Say how the epoch went, and how long the rest will take."""
        left = (self.epochs - row.number) * row.seconds
        self.progress.say(
            f"epoch {row.number}/{self.epochs}: loss {row.loss:.4f}, "
            f"train {row.train_accuracy or 0:.2%}, test {row.test_accuracy:.2%}, "
            f"{self.samples / row.seconds:.0f} samples/s, {left:.0f} s left"
        )
        self.number, self.accuracy = row.number + 1, f", test {row.test_accuracy:.2%}"

    def end(self) -> None:
        """Take the bar away."""
        self.progress.close()


class TensorBoard(Watcher):
    """Scalars for TensorBoard, a point an epoch.

    TensorBoard's own writer is not used: it writes in a thread, which prints a traceback where the
    disk is full, and it cannot write to a folder whose name is not UTF-8.
    """

    def __init__(self, folder: Path) -> None:
        """Begin a file in the folder of the run."""
        need("tensorboard", "tensorboard")
        from tensorboard.compat.proto.event_pb2 import Event

        # As TensorBoard names its files: it shows those of a folder in the order of their names.
        self.path = folder / f"events.out.tfevents.{time.time_ns()}.{os.getpid()}"
        with explained(folder):
            make_folder(folder)
        self._write(Event(wall_time=time.time(), file_version="brain.Event:2"))

    def epoch(self, row: Epoch) -> None:
        """Write every number of the row."""
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        points = [
            Summary.Value(tag=name, simple_value=value)
            for name, value in row.to_dict().items()
            if name != "number" and value is not None
        ]
        summary = Summary(value=points)
        self._write(Event(wall_time=time.time(), step=row.number, summary=summary))

    def _write(self, event: Any) -> None:
        from tensorboard.summary.writer.record_writer import RecordWriter

        with explained(self.path), self.path.open("ab") as file:
            RecordWriter(file).write(event.SerializeToString())


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
