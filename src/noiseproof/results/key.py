"""The place of a run in a table, and the key of one seed of it: known before any data is read."""

import hashlib
import json
from typing import NamedTuple

import numpy as np

from noiseproof.known import KNOWN
from noiseproof.noise import Noise
from noiseproof.noise.spec import MatrixNoise
from noiseproof.train import Experiment


class Place(NamedTuple):
    """Everything that decides a cell of a table but the seed.

    Args:
        data: the fingerprint of the data set, so that other content is another cell; the name of
            a published data set whose fingerprint nobody has recorded yet; for features of
            pictures, the hash of the encoder, whatever it is called, the size and the fingerprint
            of the pictures.
        recipe_hash: the hash of the recipe.
        loss: as ``str(loss)`` spells it.
        noise: as ``str(noise)`` spells it; ``matrix:`` and a hash for a matrix from a file.
    """

    data: str
    recipe_hash: str
    loss: str
    noise: str

    def key(self, seed: int) -> str:
        """Return the SHA-256 that identifies the run of this place with a seed.

        >>> Place("digits", "ab12", "CE", "none").key(1)[:12]
        '3e5abfd83aae'
        """
        return hashlib.sha256(json.dumps([*self, seed]).encode()).hexdigest()


def find_place(
    *, dataset: str, fingerprint: str, recipe_hash: str, loss: str, noise: str, matrix: str,
    encoded: str = "",
) -> Place:  # fmt: skip
    """Return the place of a run.

    Args:
        dataset: the name of the data set.
        fingerprint: of its content; empty stands for a published data set as published.
        recipe_hash: the hash of the recipe.
        loss: as text.
        noise: as text.
        matrix: the hash of the noise's matrix, where that was read from a file.
        encoded: what made the inputs, where they are features of pictures. It stands for their
            content, which on another processor differs in the last bits.
    """
    if encoded:
        fingerprint = _without_name(encoded)
    elif is_known(dataset):
        published = KNOWN[dataset].fingerprint
        if not fingerprint or (not published and is_as_published(dataset, fingerprint)):
            fingerprint = published or dataset
    return Place(fingerprint, recipe_hash, loss, f"matrix:{matrix}" if matrix else noise)


def is_known(dataset: str) -> bool:
    """Return whether this is the name of a published data set.

    >>> is_known("digits"), is_known("mnist"), is_known("reviews.csv")
    (True, True, False)
    """
    return dataset in KNOWN


def is_as_published(dataset: str, fingerprint: str) -> bool:
    """Return False where a data set has a published name and other content.

    Where nobody has recorded the content, that of another data set is other content too.

    >>> is_as_published("digits", "f" * 64), is_as_published("reviews.csv", "f" * 64)
    (False, True)
    >>> is_as_published("fashion-mnist", KNOWN["mnist"].fingerprint)
    False
    """
    if not is_known(dataset):
        return True
    if published := KNOWN[dataset].fingerprint:
        return fingerprint == published
    return all(fingerprint != entry.fingerprint for entry in KNOWN.values())


def name_encoded(encoder: str, sha256: str, size: int, pictures: str) -> str:
    """Return the text that decides features: the encoder, and the fingerprint of the pictures.

    >>> name_encoded("lite0", "ab12", 128, "cd34")
    'lite0:ab12:128:cd34'
    """
    return f"{encoder}:{sha256}:{size}:{pictures}"


def _without_name(encoded: str) -> str:
    """Return what :func:`name_encoded` returned without the encoder's name, which may have colons.

    >>> _without_name("lite0:ab12:128:cd34")
    'ab12:128:cd34'
    """
    return ":".join(encoded.split(":")[-3:])


def fingerprint_of_pictures(encoded: str) -> str:
    """Return the fingerprint in what :func:`name_encoded` returned.

    >>> fingerprint_of_pictures("lite0:ab12:128:cd34")
    'cd34'
    """
    return encoded.rpartition(":")[2]


def matrix_hash(noise: Noise) -> str:
    """Return the SHA-256 of a matrix that was read from a file; empty for any other noise."""
    if not isinstance(noise, MatrixNoise):
        return ""
    return hashlib.sha256(np.ascontiguousarray(noise.transition.matrix).tobytes()).hexdigest()


def experiment_place(experiment: Experiment) -> Place:
    """Return the place of an experiment in a table."""
    return find_place(
        dataset=experiment.dataset,
        fingerprint=experiment.fingerprint,
        recipe_hash=experiment.recipe.hash,
        loss=str(experiment.loss),
        noise=str(experiment.noise),
        matrix=matrix_hash(experiment.noise),
        encoded=experiment.encoded,
    )


def experiment_key(experiment: Experiment) -> str:
    """Return the key of the cell that an experiment is."""
    return experiment_place(experiment).key(experiment.seed)
