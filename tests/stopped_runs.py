"""Runs that are stopped on the way."""

from noiseproof.train.progress import Watcher


class StopAfter(Watcher):
    """Interrupts a run after some epochs, as Ctrl-C would."""

    def __init__(self, epochs):
        self.epochs = epochs

    def epoch(self, row):
        if row.number == self.epochs:
            raise KeyboardInterrupt
