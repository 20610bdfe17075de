"""A trained network in a file, with what is needed to use it and to trace it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from noiseproof import models
from noiseproof.errors import DataError, ParameterError
from noiseproof.results.record import Record
from noiseproof.train import Experiment, Recipe
from noiseproof.train.augment import Pipeline
from noiseproof.train.checkpoint import read_tensors, write_tensors

SCHEMA = 1


@dataclass(frozen=True, eq=False)
class Model:
    """A trained network that takes inputs as its data set has them.

    Args:
        network: in evaluation mode, on the CPU.
        pipeline: the normalisation it was trained with.
        classes: the names of its classes.
        recipe: how it was trained.
        record: the record of the run, as plain values.
    """

    network: models.Network
    pipeline: Pipeline
    classes: tuple[str, ...]
    recipe: Recipe
    record: dict[str, Any]

    @torch.no_grad()
    def logits(self, inputs: Tensor) -> Tensor:
        """Return the logits of inputs as the data set has them (images as uint8), (N, K)."""
        parts = [self.network(self.pipeline(part)) for part in torch.split(inputs, 500)]
        return torch.cat(parts)


def save_model(path: Path, experiment: Experiment, network: models.Network, record: Record) -> None:
    """Write a trained network with its recipe and record; ``weights_only`` loads it."""
    mean, std = experiment.normalisation
    content = {
        "schema": SCHEMA,
        "network": {name: value.cpu() for name, value in network.state_dict().items()},
        "shape": list(experiment.train.shape),
        "classes": list(experiment.train.classes),
        "mean": list(mean),
        "std": list(std),
        "record": record.to_dict(),
    }
    write_tensors(path, content)


def load_model(path: Path) -> Model:
    """Read a network that :func:`save_model` wrote."""
    if not path.exists():
        raise DataError(f"{path}: no such file")
    content = read_tensors(path)
    if content is None or "schema" not in content:
        raise DataError(f"{path}: not a model of noiseproof's")
    if content["schema"] != SCHEMA:
        raise DataError(f"{path}: a model of schema {content['schema']}, expected {SCHEMA}")
    try:
        recipe = Recipe.from_dict(content["record"]["recipe"])
        network = models.build(
            recipe.network,
            len(content["classes"]),
            content["shape"],
            generator=torch.Generator(),
            hidden=recipe.hidden,
        )
        network.load_state_dict(content["network"])
    except (RuntimeError, KeyError, TypeError, ParameterError):
        raise DataError(f"{path}: not a model of noiseproof's, or not all of one") from None
    pipeline = Pipeline((), content["mean"], content["std"], content["shape"])
    return Model(network.eval(), pipeline, tuple(content["classes"]), recipe, content["record"])
