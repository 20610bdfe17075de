"""A record: the inputs and the results of one run, in one JSON file."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from noiseproof import files
from noiseproof.errors import DataError, ParameterError
from noiseproof.progress import counted
from noiseproof.results.key import Place, find_place, matrix_hash
from noiseproof.results.pack import parse_record, record_text
from noiseproof.results.plain import read_plain
from noiseproof.results.valid import check_outcome, check_values
from noiseproof.train import Epoch, Experiment, Machine, Outcome, Recipe

SCHEMA = 1


class OtherSchemaError(DataError):
    """A record that another version of noiseproof wrote."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """One run. Only the run itself writes it.

    Args:
        schema: the version of this layout.
        identity: the SHA-256 of all that decides the result.
        dataset: its name.
        fingerprint: the SHA-256 of its content.
        recipe: how it was trained, with ``recipe_hash``.
        recipe_hash: the hash of the recipe.
        loss: what was minimised, as text.
        noise: what made the labels wrong, as text.
        noise_rate: the share of labels that are wrong.
        noise_hash: the SHA-256 of the noisy labels.
        train_samples: how many were trained with.
        test_samples: how many were tested with.
        seed: the seed of everything that was drawn.
        status: ``"done"`` or ``"failed"``.
        failure: why it failed, in one line.
        history: the epochs.
        seconds: the time of all epochs, however often the run was resumed.
        machine: device, threads, versions.
        noiseproof: the version of this package.
        matrix: the SHA-256 of the noise's matrix, where that was read from a file.
        encoded: where the inputs are features of pictures, which encoder made them of which
            pictures; the fingerprint is that of the features.
    """

    schema: int = SCHEMA
    identity: str
    dataset: str
    fingerprint: str
    recipe: Recipe
    recipe_hash: str
    loss: str
    noise: str
    noise_rate: float
    noise_hash: str
    train_samples: int
    test_samples: int
    seed: int
    status: str
    failure: str
    history: tuple[Epoch, ...]
    seconds: float
    machine: dict[str, Any]
    noiseproof: str
    matrix: str = ""
    encoded: str = ""

    @classmethod
    def of(cls, experiment: Experiment, outcome: Outcome, machine: Machine) -> Self:
        """Return the record of an experiment that has run."""
        from importlib.metadata import version

        return cls(
            identity=experiment.identity,
            dataset=experiment.dataset,
            fingerprint=experiment.fingerprint,
            recipe=experiment.recipe,
            recipe_hash=experiment.recipe.hash,
            loss=str(experiment.loss),
            noise=str(experiment.noise),
            noise_rate=experiment.corruption.rate,
            noise_hash=experiment.corruption.hash,
            train_samples=len(experiment.train),
            test_samples=len(experiment.test),
            seed=experiment.seed,
            status=outcome.status,
            failure=outcome.failure,
            history=outcome.history,
            seconds=outcome.seconds,
            machine=machine.to_dict(),
            noiseproof=version("noiseproof"),
            matrix=matrix_hash(experiment.noise),
            encoded=experiment.encoded,
        )

    @property
    def place(self) -> Place:
        """Its place in a table."""
        return find_place(
            dataset=self.dataset,
            fingerprint=self.fingerprint,
            recipe_hash=self.recipe_hash,
            loss=self.loss,
            noise=self.noise,
            matrix=self.matrix,
            encoded=self.encoded,
        )

    @property
    def key(self) -> str:
        """The key of its cell."""
        return self.place.key(self.seed)

    @property
    def outcome(self) -> Outcome:
        """How the run ended."""
        return Outcome(self.history, self.failure)

    @property
    def accuracy(self) -> float | None:
        """The result: the test accuracy of the last epoch; None where the run failed."""
        last = self.outcome.last
        return last.test_accuracy if last and self.status == "done" else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, with the ``last`` and the ``best`` epoch beside the history."""
        values = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        last, best = self.outcome.last, self.outcome.best
        return values | {
            "recipe": self.recipe.to_dict(),
            "last": last and last.to_dict(),
            "best": best and best.to_dict(),
            "history": [row.to_dict() for row in self.history],
        }

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """Return the record that :meth:`to_dict` wrote; raise DataError for anything else."""
        if not isinstance(values, dict):
            raise DataError("not a record of a run")
        schema = values.get("schema")
        if schema != SCHEMA:
            error = OtherSchemaError if type(schema) is int else DataError
            raise error(f"a record of schema {schema!r:.20}, expected {SCHEMA}")
        values = {"matrix": "", "encoded": ""} | values  # the first records were without them
        check_values(values)
        own = {f.name: values[f.name] for f in dataclasses.fields(cls)}
        try:
            own["recipe"] = Recipe.from_dict(values["recipe"])
            own["history"] = tuple(Epoch(**row) for row in values["history"])
        except (ParameterError, TypeError, ValueError, AttributeError, OverflowError):
            raise DataError("its recipe or history has a field that is none") from None
        check_outcome(values, own["recipe"])
        return cls(**own)

    def write(self, path: Path) -> None:
        """Write the record: the file is whole or not there."""
        files.write(path, record_text(self.to_dict()))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read a record; one line of error for a file that is none."""
        try:
            return cls.from_dict(parse_record(read_plain(path)))
        except FileNotFoundError:
            raise DataError(f"{path}: no such file") from None
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
        except (ValueError, RecursionError):
            raise DataError(f"{path}: not a record of a run, or not all of one") from None

    def __str__(self) -> str:
        """Return the result in words."""
        what = f"{self.loss} on {self.dataset} with noise {self.noise}, seed {self.seed}"
        last, best = self.outcome.last, self.outcome.best
        if self.status == "failed" or last is None or best is None:
            return f"{what}: failed, {self.failure or 'no epoch was trained'}"
        run = counted(last.number, "epoch")
        words = f"{what}: test accuracy {last.test_accuracy:.2%} after {run}"
        words += f" (best {best.test_accuracy:.2%}, epoch {best.number})"
        if last.corrupted_part is not None:
            words += f"; {self.noise_rate:.1%} of the labels are wrong"
            words += f", of which it memorised {last.corrupted_part:.1%}"
        return words
