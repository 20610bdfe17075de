"""The folder of a run: its checkpoint while it lasts, then its record and, if wanted, its model."""

import re
from dataclasses import dataclass
from pathlib import Path

from noiseproof.results.record import Record
from noiseproof.train import Experiment


@dataclass(frozen=True)
class RunFolder:
    """Where the files of one run are.

    Args:
        path: the folder.
    """

    path: Path

    @classmethod
    def of(cls, out: Path, experiment: Experiment) -> "RunFolder":
        """Return the folder of an experiment under ``out``: its words, and its hash.

        Two experiments that differ in anything have different folders.
        """
        words = f"{experiment.dataset} {experiment.loss} {experiment.noise} seed{experiment.seed}"
        readable = re.sub(r"[^\w.+*=]+", "-", words).strip("-")[:100]
        return cls(out / f"{readable}-{experiment.identity[:10]}")

    @property
    def checkpoint(self) -> Path:
        """The state after the last epoch, gone when the run is over."""
        return self.path / "checkpoint.pt"

    @property
    def record(self) -> Path:
        """What happened."""
        return self.path / "record.json"

    @property
    def model(self) -> Path:
        """The trained network, where it was asked for."""
        return self.path / "model.pt"

    def finished(self) -> Record | None:
        """Return the record of a run that is over, None where it is not."""
        return Record.read(self.record) if self.record.exists() else None

    def clear(self) -> None:
        """Forget what was done here, to begin anew."""
        for path in (self.checkpoint, self.record, self.model):
            path.unlink(missing_ok=True)
