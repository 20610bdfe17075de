"""A fitted model in a folder: JSON and arrays, nothing that runs when it is read."""

import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import noiseproof
from noiseproof.errors import DataError, DataWarning
from noiseproof.files import not_ours
from noiseproof.learn.arrays import read_arrays
from noiseproof.learn.ensemble import Ensemble
from noiseproof.prepare.classes import Classes
from noiseproof.prepare.features import Preprocessor, load_features
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.samples import Samples

SCHEMA = 3
RECIPE, FEATURES, ARRAYS, ENSEMBLE = "recipe.json", "features.json", "features.npz", "ensemble"
#: What reading a damaged file ends in.
UNREADABLE = (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True, eq=False)
class Model:
    """What turns inputs as they come into classes.

    Args:
        classes: the names of the classes.
        features: what turns inputs into numbers.
        ensemble: what turns numbers into probabilities.
        label: the column of labels it was fitted to, "" where it had no name.
        embeddings: whether it was fitted to a file of embeddings beside the data.
    """

    classes: Classes
    features: Preprocessor
    ensemble: Ensemble
    label: str = ""
    embeddings: bool = False

    def probabilities(self, samples: Samples, notes: Notes | None = None) -> NDArray[np.float32]:
        """Return (N, K) the probability of each class, and note what did not fit.

        Without ``notes``, columns that have changed since the fit are Python warnings.
        """
        heard = Notes() if notes is None else notes
        parts = (self.features.transform(block, heard) for block in samples.blocks())
        found = np.concatenate([self.ensemble.probabilities(p) for p in parts], dtype=np.float32)
        if notes is None:
            for line in heard.warnings:
                warnings.warn(line, DataWarning, stacklevel=3)
        return found

    def save(self, folder: Path) -> None:
        """Write the files of the model into an empty folder."""
        recipe = {
            "schema": SCHEMA,
            "noiseproof": noiseproof.__version__,
            "label": self.label,
            "embeddings": self.embeddings,
            "classes": asdict(self.classes),
        }
        write_json(folder / RECIPE, recipe)
        write_json(folder / FEATURES, self.features.describe())
        np.savez(folder / ARRAYS, allow_pickle=False, **self.features.arrays())
        (folder / ENSEMBLE).mkdir()
        self.ensemble.save(folder / ENSEMBLE)


def load_model(folder: str | Path) -> Model:
    """Read a model from the folder that ``noiseproof fit`` wrote.

    Every file must be as the fit left it: the manifest has the hash of each.
    """
    folder = Path(folder)
    inner = folder / "model"
    if not (inner / RECIPE).is_file():
        raise DataError(f"{folder}: there is no model of noiseproof's here")
    try:
        changed = [name for name in not_ours(folder) if name.startswith("model/")]
        if changed:
            raise DataError(f"{folder}: {changed[0]} has changed since the fit; fit again")
        recipe = json.loads((inner / RECIPE).read_text(encoding="utf-8"))
        if recipe["schema"] != SCHEMA:
            raise DataError(f"{folder}: a model of schema {recipe['schema']}, expected {SCHEMA}")
        features = json.loads((inner / FEATURES).read_text(encoding="utf-8"))
        model = Model(
            Classes(**recipe["classes"] | {"names": tuple(recipe["classes"]["names"])}),
            load_features(features, read_arrays(inner / ARRAYS)),
            Ensemble.load(inner / ENSEMBLE),
            str(recipe["label"]),
            bool(recipe["embeddings"]),
        )
        sizes = (model.features.width, len(model.classes.values))
    except DataError:
        raise
    except UNREADABLE as error:
        raise DataError(f"{folder}: the model is damaged ({type(error).__name__})") from None
    if model.ensemble.sizes != sizes:
        raise DataError(f"{folder}: features, classes and learners are not of one model")
    return model


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write plain values, with the names of classes as they are spelled."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    # Half a character, which UTF-8 cannot hold, becomes \\udc80, which is how JSON writes it.
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
