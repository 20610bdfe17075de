"""An experiment: data, noise, loss, recipe and seed, ready to run as often as it takes."""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from torch import Tensor

from noiseproof import models
from noiseproof.data import TrainTest, human_labels
from noiseproof.errors import ParameterError
from noiseproof.losses import Loss
from noiseproof.losses import loss as read_loss
from noiseproof.noise import Corruption, Noise, parse, stream
from noiseproof.noise.spec import HumanNoise, InstanceNoise
from noiseproof.train.augment import Pipeline
from noiseproof.train.batches import open_batches
from noiseproof.train.checkpoint import State, load_checkpoint, save_checkpoint
from noiseproof.train.loop import Job, fit
from noiseproof.train.machine import Machine, default_threads
from noiseproof.train.method import make_method
from noiseproof.train.outcome import Outcome
from noiseproof.train.progress import Watcher
from noiseproof.train.recipe import Recipe
from noiseproof.train.streams import torch_generator
from noiseproof.train.subset import Data, features, positions, subset


@dataclass(frozen=True, eq=False)
class Experiment:
    """One cell of a table, one seed of it. Made by :func:`prepare`.

    Args:
        dataset: the name of the data set.
        train: the samples to train with, and their true labels.
        test: the samples to test with.
        fingerprint: of the whole data set.
        corruption: the labels to train with, and the receipt of the noise.
        loss: what to minimise.
        noise: what made the labels wrong.
        recipe: how to train.
        seed: one for everything that is drawn.
        encoded: what made the inputs, where they are features of pictures.
    """

    dataset: str
    train: Data
    test: Data
    fingerprint: str
    corruption: Corruption[Tensor]
    loss: Loss
    noise: Noise
    recipe: Recipe
    seed: int
    encoded: str = ""

    @cached_property
    def identity(self) -> str:
        """The SHA-256 of all that decides the result."""
        decisive = [
            self.fingerprint,
            self.corruption.hash,
            str(self.loss),
            self.recipe.hash,
            self.seed,
        ]
        return hashlib.sha256(json.dumps(decisive).encode()).hexdigest()

    def run(
        self,
        machine: Machine | None = None,
        checkpoint: Path | None = None,
        watch: Watcher | None = None,
    ) -> tuple[Outcome, models.Network]:
        """Train to the end, from ``checkpoint`` where a run of this experiment left one.

        Args:
            machine: where to compute; the CPU without one.
            checkpoint: the file to keep the state in after every epoch; None keeps none.
            watch: who is told of progress.

        Returns:
            what happened, and the trained network.
        """
        machine = machine or Machine(threads=default_threads(self.recipe.network))
        watch = watch or Watcher()
        with machine.settled():
            job = self.job(machine)
            state = checkpoint and load_checkpoint(checkpoint, self.identity, machine.device)
            machine.world.wait()  # nobody may write before everybody has read

            def save(state: State) -> None:
                if checkpoint and machine.world.is_main:
                    save_checkpoint(checkpoint, self.identity, state)

            done = len(state["history"]) if state else 0
            watch.begin(self.recipe.epochs, len(self.train), done)
            try:
                outcome = fit(job, state or None, save, watch)
            finally:
                watch.end()
        return outcome, job.network  # type: ignore[return-value]

    @property
    def normalisation(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Mean and standard deviation: the recipe's, or those of the training set."""
        if self.recipe.mean:
            return self.recipe.mean, self.recipe.std
        return self.train.mean, self.train.std

    def job(self, machine: Machine, like: Job | None = None) -> Job:
        """Return what the loop works on.

        Args:
            machine: where to compute.
            like: a job on the same data, whose batches are taken rather than made again.
        """
        recipe, device, world = self.recipe, machine.device, machine.world
        network = models.build(
            recipe.network,
            len(self.train.classes),
            self.train.shape,
            generator=torch_generator(stream(self.seed, "initialisation")),
            hidden=recipe.hidden,
        )
        if like is not None:
            train, test = like.train, like.test
        else:
            pipeline = Pipeline(recipe.augment, *self.normalisation, self.train.shape)
            train = open_batches(self.train, pipeline, recipe.batch, device, world)
            test = open_batches(self.test, pipeline, recipe.batch, device, world)
        return Job(
            network=machine.place(network),
            method=make_method(recipe.method, self.loss.to(device), recipe.epochs),
            recipe=recipe,
            seed=self.seed,
            train=train,
            given=self.corruption.labels.to(device),
            true=self.train.labels.to(device),
            test=test,
            answers=self.test.labels.to(device),
            machine=machine,
        )


def prepare(
    data: TrainTest[Any],
    recipe: Recipe,
    loss: str,
    noise: str = "none",
    seed: int = 1,
    directory: str | Path | None = None,
    like: Experiment | None = None,
) -> Experiment:
    """Draw the samples and the noise of an experiment.

    Args:
        data: the whole data set.
        recipe: how to train.
        loss: such as ``"NCE + 4*AGCE(a=6, q=1.5)"``.
        noise: such as ``"symmetric:0.4"``.
        seed: one for everything that is drawn.
        directory: where the files of human labels are.
        like: an experiment of the same data, sizes and seed: its samples are shared, not copied.

    >>> from noiseproof.data import load
    >>> from noiseproof.train import recipe
    >>> experiment = prepare(load("digits"), recipe("digits"), "CE", "symmetric:0.4")
    >>> experiment.corruption
    Corruption(1442 labels, ...)
    """
    name, classes = data.train.name, data.train.classes
    spec, objective = parse(noise, classes, name), read_loss(loss)
    make_method(recipe.method, objective, recipe.epochs)  # an error now, not after the set-up
    if recipe.mean and len(recipe.mean) != data.train.shape[0]:
        what = "channels" if len(data.train.shape) == 3 else "columns"
        raise ParameterError(
            f"{len(recipe.mean)} numbers in mean, but {name} has {data.train.shape[0]} {what}"
        )
    human = None
    if isinstance(spec, HumanNoise):
        human = human_labels(data.train, directory)[spec.which]
    rows = positions(len(data.train), recipe.train_size, seed, "training subset")
    if like is not None:
        train, test = like.train, like.test
    else:
        train = subset(data.train, rows)
        test = subset(data.test, positions(len(data.test), recipe.test_size, seed, "test subset"))
    corruption = spec.apply(
        train.labels,
        seed=seed,
        exact=recipe.exact,
        features=features(train) if isinstance(spec, InstanceNoise) else None,
        human=human if human is None or rows is None else human[rows],
    )
    content = fingerprint(data)
    return Experiment(
        name, train, test, content, corruption, objective, spec, recipe, seed, data.encoded
    )


def fingerprint(data: TrainTest[Any]) -> str:
    """Return the SHA-256 of the content of a data set, training and test set together."""
    return hashlib.sha256((data.train.fingerprint + data.test.fingerprint).encode()).hexdigest()
