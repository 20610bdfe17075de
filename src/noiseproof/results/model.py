"""A trained network in a file, with what is needed to use it and to trace it."""

import itertools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from noiseproof import models
from noiseproof.errors import DataError
from noiseproof.results.record import Record
from noiseproof.train import Experiment, Recipe
from noiseproof.train.augment import Pipeline
from noiseproof.train.meter import are_numbers
from noiseproof.train.tensors import State, read_tensors, write_tensors

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
    schema = content.get("schema") if content else None
    if content is None or type(schema) is not int:
        raise DataError(f"{path}: not a model of noiseproof's")
    if schema != SCHEMA:
        raise DataError(f"{path}: a model of schema {schema}, expected {SCHEMA}")
    try:
        return _read(content, path.stat().st_size)
    except MemoryError:
        raise
    except Exception:  # where a file was put together by somebody, anything may be missing
        raise DataError(f"{path}: not a model of noiseproof's, or not all of one") from None


def _read(content: State, size: int) -> Model:
    recipe = Record.from_dict(content["record"]).recipe
    shape, classes, weights = content["shape"], content["classes"], content["network"]
    constants = [content["mean"], content["std"]]
    _expect(all(isinstance(value, list) for value in (shape, classes, *constants)), "lists")
    _expect(all(isinstance(name, str) for name in classes), "the names of classes")
    _check_size(recipe, shape, len(classes), weights, size)
    network = models.build(
        recipe.network,
        len(classes),
        shape,
        generator=torch.Generator(),
        hidden=recipe.hidden,
    )
    own = network.state_dict()
    # torch would convert other types.
    _expect(
        all(v.dtype == own[name].dtype for name, v in weights.items()), "weights in their types"
    )
    network.load_state_dict(weights)
    mean, std = ([float(value) for value in values] for values in constants)
    _expect(len(mean) == len(std) == shape[0], "a mean and a deviation for each channel or column")
    _expect(min(std) > 0, "deviations above 0")
    pipeline = Pipeline((), mean, std, shape)
    numbers = network.state_dict() | {"mean": pipeline.mean, "std": pipeline.std}
    _expect(are_numbers(numbers), "finite numbers")
    return Model(network.eval(), pipeline, tuple(classes), recipe, content["record"])


def _expect(fits: bool, what: str) -> None:
    if not fits:
        raise DataError(f"expected {what}")


def _check_size(recipe: Recipe, shape: list[int], classes: int, weights: State, size: int) -> None:
    """Raise DataError for a network that would have far more weights than there are."""
    # Many weights can be made of one number in the file.
    stored = sum(value.numel() * value.element_size() for value in weights.values())
    _expect(stored <= size, "weights that are in the file")
    _expect(len(weights["head.weight"]) == classes, "a network of these classes")
    _expect(len(shape) in (1, 3), "columns, or channels, rows and columns")
    widths = [math.prod(shape), *(recipe.hidden if recipe.network == "mlp" else ()), classes]
    dense = sum(a * b for a, b in itertools.pairwise(widths))
    there = sum(value.numel() for value in weights.values())
    if (recipe.network in ("mlp", "linear") and dense > there) or math.prod(shape) > 100 * there:
        raise DataError("the network is larger than its weights")
