"""From inputs as they came to the matrix that a learner sees, the same way every time."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noiseproof.encoders.choose import AUTO, reopen
from noiseproof.encoders.encoder import Identity
from noiseproof.errors import DataError, ParameterError
from noiseproof.files import mode_of
from noiseproof.prepare.classes import Codes
from noiseproof.prepare.columns.kinds import understand
from noiseproof.prepare.columns.sentences import Sentences
from noiseproof.prepare.columns.words import Words
from noiseproof.prepare.image_features import ImageFeatures
from noiseproof.prepare.matrix_features import MatrixFeatures
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.pictures import PictureFeatures
from noiseproof.prepare.samples import Samples
from noiseproof.prepare.table_features import TableFeatures
from noiseproof.prepare.text_features import with_texts_encoded, without_names
from noiseproof.progress import SILENT, Progress


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

    def transform(self, samples: Samples, notes: Notes, progress: Progress = SILENT) -> Any:
        """Return the features (N, D), float32, dense or sparse, and note what did not fit.

        The form is always that of the rows it was learnt from, whatever form the inputs have.
        """

    def describe(self) -> dict[str, Any]:
        """Return what JSON can hold; with :meth:`arrays`, all there is."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what it cannot."""


def learn_features(
    samples: Samples,
    text: Collection[str],
    seed: int,
    notes: Notes,
    *,
    codes: Codes | None = None,
    encoder: str = AUTO,
    progress: Progress = SILENT,
) -> Preprocessor:
    """Return what turns these inputs, and others like them, into features.

    Args:
        samples: the inputs; pictures may have been encoded already.
        text: the columns that the user calls text.
        seed: seeds everything random.
        notes: where to say what was done.
        codes: (N,) the labels, by which the features of texts are chosen.
        encoder: the encoder for texts.
        progress: hears how many texts are encoded.
    """
    if samples.kind == "table":
        columns = understand(samples.inputs, text, notes, samples.commas)
        used = {column.name for column in columns}
        unused = tuple(name for name in samples.inputs.columns if name not in used)
        if samples.groups is not None and samples.groups.name:
            unused += (samples.groups.name,)
        features = TableFeatures(tuple(columns), unused, samples.commas)
        if codes is None:
            return features
        if encoder == AUTO:  # an encoder that the user asks for may find more than words
            features = without_names(features, samples, codes, text, seed, notes)
        return with_texts_encoded(features, samples, codes, encoder, seed, notes, progress)
    if text:
        raise DataError(f"{samples.name}: has no columns, and so no text")
    if samples.encoder is not None:
        return PictureFeatures(samples.encoder)
    if samples.kind == "images":
        return ImageFeatures.learn(samples, seed, notes)
    if encoder != AUTO:
        raise ParameterError(f"--encoder {encoder}: there is nothing to encode, only numbers")
    return MatrixFeatures.learn(samples)


def reading(features: Preprocessor) -> dict[str, Any]:
    """Return how a file must be read for these features: arguments of ``prepare.Reading``."""
    if isinstance(features, PictureFeatures):
        return {"encoder": features.encoder}
    if isinstance(features, ImageFeatures):
        return {"size": features.shape[1]}
    if isinstance(features, TableFeatures):
        texts = {column.name for column in features.columns} - features.numbers
        return {"numbers": features.numbers, "texts": texts, "commas": features.commas}
    return {}


def is_sparse(features: Preprocessor) -> bool:
    """Return whether the features are sparse; a preprocessor always gives the same form."""
    if isinstance(features, TableFeatures):
        return any(isinstance(column, Words) for column in features.columns)
    return isinstance(features, MatrixFeatures) and features.sparse


def encoder_of(features: Preprocessor) -> Identity | None:
    """Return the encoder that features need; None if they need none."""
    if isinstance(features, PictureFeatures):
        return features.encoder
    sentences = features.sentences if isinstance(features, TableFeatures) else ()
    return sentences[0].encoder if sentences else None


def with_encoder(features: Preprocessor, place: str | None = None) -> Preprocessor:
    """Return features whose encoder is there and is the one of the fit; raise where it is not.

    Args:
        features: of a model.
        place: where the encoder is now, if it has moved.
    """
    identity = encoder_of(features)
    if identity is None:
        if place is not None:
            raise ParameterError(f"--encoder {place}: the model was fitted without an encoder")
        return features
    if place is None:
        moved = identity
    else:
        is_there = mode_of(place) is not None
        moved = replace(identity, name=str(Path(place).resolve()) if is_there else place)
    reopen(moved)
    if isinstance(features, PictureFeatures):
        return PictureFeatures(moved)
    assert isinstance(features, TableFeatures)
    columns = tuple(
        replace(c, encoder=moved) if isinstance(c, Sentences) else c for c in features.columns
    )
    return replace(features, columns=columns)


def load_features(
    description: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> Preprocessor:
    """Return the preprocessor that gave this description and these arrays."""
    kinds: dict[str, Any] = {
        "table": TableFeatures, "matrix": MatrixFeatures, "images": ImageFeatures,
        "pictures": PictureFeatures,
    }  # fmt: skip
    loaded: Preprocessor = kinds[description["kind"]].load(description, arrays)
    return loaded
