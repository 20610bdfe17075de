"""An experiment: data, noise, loss, recipe and seed, ready to run as often as it takes."""

import hashlib
import json
from dataclasses import dataclass, replace
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
from noiseproof.noise.corruption import human_corruption
from noiseproof.noise.spec import HumanNoise, InstanceNoise
from noiseproof.train.augment import Pipeline
from noiseproof.train.batches import check_batch, open_batches
from noiseproof.train.checkpoint import UnfitError, load_checkpoint, save_checkpoint
from noiseproof.train.loop import Job, fit
from noiseproof.train.machine import Machine, default_threads
from noiseproof.train.method import make_method
from noiseproof.train.outcome import Outcome
from noiseproof.train.progress import Watcher
from noiseproof.train.recipe import Recipe
from noiseproof.train.streams import torch_generator
from noiseproof.train.subset import Data, features, hold_out, positions, split, subset
from noiseproof.train.tensors import State


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
        held: samples that were held back, with the noisy labels they were given.
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
    held: Data | None = None

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
            done = len(state["history"]) if state else 0
            machine.check_alike(done)  # and nobody may write before everybody has read

            def save(state: State) -> None:
                if checkpoint and machine.world.is_main:
                    save_checkpoint(checkpoint, self.identity, state)

            watch.begin(self.recipe.epochs, len(self.train), done)
            try:
                outcome = fit(job, state or None, save, watch)
            except UnfitError:
                raise UnfitError(checkpoint) from None
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
        check_batch(len(self.train), recipe.batch, world)
        network = models.build(
            recipe.network,
            len(self.train.classes),
            self.train.shape,
            generator=torch_generator(stream(self.seed, "initialisation")),
            hidden=recipe.hidden,
        )
        if like is not None:
            train, test, held = like.train, like.test, like.held
        else:
            pipeline = Pipeline(recipe.augment, *self.normalisation, self.train.shape)
            train = open_batches(self.train, pipeline, recipe.batch, device, world)
            test = open_batches(self.test, pipeline, recipe.batch, device, world)
            held = None
            if self.held is not None:
                held = open_batches(self.held, pipeline, recipe.batch, device, world)
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
            held=held,
            held_given=None if self.held is None else self.held.labels.to(device),
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
        like: an experiment of the same data: where sizes and seed are the same too, its samples
            are shared, not copied, and its noisy labels where the noise is the same.

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
    if recipe.augment and len(data.train.shape) != 3:
        raise ParameterError(
            f"{recipe.augment[0]} augments images, but {name} has {data.train.shape[0]} columns; "
            "use --augment none"
        )
    if like is not None and not _is_drawn_alike(like, recipe, seed):
        like = None
    if like is None or like.noise != spec:
        like = _draw(data, recipe, objective, spec, seed, directory, like)
    return replace(like, loss=objective, noise=spec, recipe=recipe)


def _is_drawn_alike(like: Experiment, recipe: Recipe, seed: int) -> bool:
    decisive = ("train_size", "test_size", "held_out", "exact")
    same = (getattr(like.recipe, name) == getattr(recipe, name) for name in decisive)
    return like.seed == seed and all(same)


def _draw(
    data: TrainTest[Any],
    recipe: Recipe,
    objective: Loss,
    spec: Noise,
    seed: int,
    directory: str | Path | None,
    like: Experiment | None,
) -> Experiment:
    human = None
    if isinstance(spec, HumanNoise):
        human = human_labels(data.train, directory)[spec.which]
    size = recipe.train_size and recipe.train_size + recipe.held_out
    rows = positions(len(data.train), size, seed, "training subset")
    labels = data.train.labels if rows is None else data.train.labels[rows]
    corruption = spec.apply(
        labels,
        seed=seed,
        exact=recipe.exact,
        features=features(subset(data.train, rows)) if isinstance(spec, InstanceNoise) else None,
        human=human if human is None or rows is None else human[rows],
    )
    kept = hold_out(len(labels), recipe.held_out, seed)
    noisy = corruption.labels
    if kept is not None:
        corruption = human_corruption(labels[kept], noisy[kept], len(data.train.classes))
    if like is not None:
        train, test, held = like.train, like.test, like.held
    else:
        train, held = split(subset(data.train, rows), kept)
        test = subset(data.test, positions(len(data.test), recipe.test_size, seed, "test subset"))
    if held is not None and kept is not None:
        held = replace(held, labels=noisy[~kept])
    return Experiment(
        dataset=data.train.name,
        train=train,
        test=test,
        fingerprint=fingerprint(data),
        corruption=corruption,
        loss=objective,
        noise=spec,
        recipe=recipe,
        seed=seed,
        encoded=data.encoded,
        held=held,
    )


def fingerprint(data: TrainTest[Any]) -> str:
    """Return the SHA-256 of the content of a data set, training and test set together."""
    return hashlib.sha256((data.train.fingerprint + data.test.fingerprint).encode()).hexdigest()
