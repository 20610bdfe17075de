"""A fitted model in a folder: JSON and arrays, nothing that runs when it is read."""

import json
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import noiseproof
from noiseproof.errors import DataError, DataWarning
from noiseproof.learn.learn import Learned
from noiseproof.prepare.classes import Classes
from noiseproof.prepare.features import Preprocessor, load_features
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.samples import Samples

SCHEMA = 2
RECIPE, FEATURES, WEIGHTS = "recipe.json", "preprocessing.json", "weights.npz"
#: What reading a damaged file ends in.
UNREADABLE = (
    OSError, ValueError, LookupError, TypeError, AttributeError, EOFError, zipfile.BadZipFile,
    zlib.error,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Model:
    """What turns inputs as they come into classes.

    Args:
        classes: the names of the classes.
        features: what turns inputs into numbers.
        learned: what turns numbers into probabilities.
        label: the column of labels it was fitted to, "" where it had no name.
        embeddings: whether it was fitted to a file of embeddings beside the data.
    """

    classes: Classes
    features: Preprocessor
    learned: Learned
    label: str = ""
    embeddings: bool = False

    def probabilities(self, samples: Samples, notes: Notes | None = None) -> NDArray[np.float32]:
        """Return (N, K) the probability of each class, and note what did not fit.

        Without ``notes``, columns that have changed since the fit are Python warnings.
        """
        heard = Notes() if notes is None else notes
        parts = (self.features.transform(block, heard) for block in samples.blocks())
        found = np.concatenate([self.learned.predict_proba(part) for part in parts])
        if notes is None:
            for line in heard.warnings:
                warnings.warn(line, DataWarning, stacklevel=3)
        return found

    def save(self, folder: Path) -> None:
        """Write the files of the model into an existing folder."""
        recipe = {
            "schema": SCHEMA,
            "noiseproof": noiseproof.__version__,
            "label": self.label,
            "embeddings": self.embeddings,
            "classes": asdict(self.classes),
            "learned": self.learned.describe(),
        }
        write_json(folder / RECIPE, recipe)
        write_json(folder / FEATURES, self.features.describe())
        arrays = {f"head.{name}": array for name, array in self.learned.arrays().items()}
        arrays |= {f"features.{name}": array for name, array in self.features.arrays().items()}
        np.savez(folder / WEIGHTS, allow_pickle=False, **arrays)


def load_model(folder: str | Path) -> Model:
    """Read a model from its folder, or from the folder that ``noiseproof fit`` wrote."""
    folder = Path(folder)
    inner = folder / "model" if (folder / "model").is_dir() else folder
    if not (inner / RECIPE).is_file():
        raise DataError(f"{folder}: there is no model of noiseproof's here")
    try:
        recipe = json.loads((inner / RECIPE).read_text(encoding="utf-8"))
        if recipe["schema"] != SCHEMA:
            raise DataError(f"{folder}: a model of schema {recipe['schema']}, expected {SCHEMA}")
        features = json.loads((inner / FEATURES).read_text(encoding="utf-8"))
        with np.load(inner / WEIGHTS, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        model = Model(
            Classes(**recipe["classes"] | {"names": tuple(recipe["classes"]["names"])}),
            load_features(features, _part(arrays, "features.")),
            Learned.load(_part(arrays, "head."), recipe["learned"]),
            recipe["label"],
            bool(recipe.get("embeddings")),
        )
        fits = _fits(model)
    except DataError:
        raise
    except UNREADABLE as error:
        raise DataError(f"{folder}: the model is damaged ({type(error).__name__})") from None
    if not fits:
        raise DataError(
            f"{folder}: {RECIPE}, {FEATURES} and {WEIGHTS} do not fit each other; one of them is "
            "damaged, or of another model"
        )
    return model


def _fits(model: Model) -> bool:
    """Return whether features, weights and classes are of the same sizes."""
    heads, columns = model.learned.heads, model.features.width
    scaling = (heads.scaling.mean.shape, heads.scaling.factor.shape)
    if scaling != ((columns,), (columns,)) or len(heads.layers) not in (1, 2):
        return False
    for weight, bias in heads.layers:
        count, inward, outward = weight.shape
        if (count, inward) != (len(heads), columns) or bias.shape != (count, outward):
            return False
        columns = outward
    return len(heads) > 0 and columns == heads.classes == len(model.classes.values)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write plain values, with the names of classes as they are spelled."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    # Half a character, which UTF-8 cannot hold, becomes \udc80, which is how JSON writes it.
    path.write_text(text, encoding="utf-8", errors="backslashreplace")


def _part(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {k.removeprefix(prefix): v for k, v in arrays.items() if k.startswith(prefix)}
