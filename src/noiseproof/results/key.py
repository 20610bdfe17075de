"""The key of a cell: what a grid knows of a run before any data is read."""

import hashlib
import json

import numpy as np

from noiseproof.known import KNOWN
from noiseproof.noise import Noise
from noiseproof.noise.spec import MatrixNoise
from noiseproof.train import Experiment


def cell_key(dataset: str, recipe_hash: str, loss: str, noise: str, seed: int) -> str:
    """Return the SHA-256 of what makes a cell of a table, one seed of it.

    Args:
        dataset: its name; for the user's own data the fingerprint, as files change.
        recipe_hash: of the recipe.
        loss: as ``str(loss)`` spells it.
        noise: as ``str(noise)`` spells it; for a matrix ``matrix:`` and its hash, not its file.
        seed: of everything that is drawn.

    >>> cell_key("digits", "ab12", "CE", "none", 1)[:12]
    '3e5abfd83aae'
    """
    return hashlib.sha256(
        json.dumps([dataset, recipe_hash, loss, noise, seed]).encode()
    ).hexdigest()


def is_known(dataset: str) -> bool:
    """Say whether a data set is a published one, whose name says what is in it.

    >>> is_known("digits"), is_known("mnist"), is_known("reviews.csv")
    (True, True, False)
    """
    return dataset in KNOWN


def matrix_hash(noise: Noise) -> str:
    """Return the SHA-256 of a matrix that was read from a file; empty for any other noise."""
    if not isinstance(noise, MatrixNoise):
        return ""
    return hashlib.sha256(np.ascontiguousarray(noise.transition.matrix).tobytes()).hexdigest()


def run_key(
    *,
    dataset: str,
    fingerprint: str,
    recipe_hash: str,
    loss: str,
    noise: str,
    matrix: str,
    seed: int,
) -> str:
    """Return the key of a run: by the content of its data and matrix where those are the user's."""
    return cell_key(
        dataset if is_known(dataset) else fingerprint,
        recipe_hash,
        loss,
        f"matrix:{matrix}" if matrix else noise,
        seed,
    )


def experiment_key(experiment: Experiment) -> str:
    """Return the key of the cell that an experiment is."""
    return run_key(
        dataset=experiment.dataset,
        fingerprint=experiment.fingerprint,
        recipe_hash=experiment.recipe.hash,
        loss=str(experiment.loss),
        noise=str(experiment.noise),
        matrix=matrix_hash(experiment.noise),
        seed=experiment.seed,
    )
