"""From inputs as they came to the matrix that a learner sees, the same way every time."""

from collections.abc import Collection, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noiseproof.errors import DataError
from noiseproof.prepare.image_features import ImageFeatures
from noiseproof.prepare.kinds import understand
from noiseproof.prepare.matrix_features import MatrixFeatures
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.samples import Samples
from noiseproof.prepare.table_features import TableFeatures


class Preprocessor(Protocol):
    """Makes features of inputs; learnt once, kept as plain JSON and arrays."""

    @property
    def width(self) -> int:
        """How many features there are; an error where the parts do not fit each other."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features, such as ``age`` and ``colour = red``."""

    @property
    def indicators(self) -> NDArray[np.bool_]:
        """(D,) which features are 0 or 1: of a category, or marks of missing values."""

    def transform(self, samples: Samples, notes: Notes) -> Any:
        """Return the features (N, D), float32, dense or sparse, and note what did not fit.

        The form is always that of the rows it was learnt from, whatever form the inputs have.
        """

    def describe(self) -> dict[str, Any]:
        """Return what JSON can hold; with :meth:`arrays`, all there is."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what it cannot."""


def learn_features(
    samples: Samples, text: Collection[str], seed: int, notes: Notes
) -> Preprocessor:
    """Return what turns these inputs, and others like them, into features."""
    if samples.kind == "table":
        columns = understand(samples.inputs, text, notes)
        used = {column.name for column in columns}
        unused = tuple(name for name in samples.inputs.columns if name not in used)
        return TableFeatures(tuple(columns), unused, samples.commas)
    if text:
        raise DataError(f"{samples.name}: has no columns, and so no text")
    if samples.kind == "images":
        return ImageFeatures.learn(samples, seed, notes)
    return MatrixFeatures.learn(samples)


def reading(features: Preprocessor) -> dict[str, Any]:
    """Return how a file must be read for these features: options of ``prepare.read.read``."""
    if isinstance(features, ImageFeatures):
        return {"size": features.shape[1]}
    if isinstance(features, TableFeatures):
        texts = {column.name for column in features.columns} - features.numbers
        return {"numbers": features.numbers, "texts": texts, "commas": features.commas}
    return {}


def load_features(
    description: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> Preprocessor:
    """Return the preprocessor that gave this description and these arrays."""
    kinds: dict[str, Any] = {
        "table": TableFeatures, "matrix": MatrixFeatures, "images": ImageFeatures,
    }  # fmt: skip
    loaded: Preprocessor = kinds[description["kind"]].load(description, arrays)
    return loaded
