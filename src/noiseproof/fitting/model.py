"""A fitted model, saved as a folder of JSON and arrays; loading it runs no code from files."""

import json
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import noiseproof
from noiseproof.errors import ChangedError, DataError, DataWarning
from noiseproof.files import MANIFEST, mode_of, not_ours, unchanged
from noiseproof.learn.arrays import read_arrays, write_arrays
from noiseproof.learn.ensemble import Ensemble
from noiseproof.memory import check_fits
from noiseproof.parallel import one_thread
from noiseproof.prepare.classes import Classes
from noiseproof.prepare.features import (
    Preprocessor,
    is_sparse,
    load_features,
    reading,
    with_encoder,
)
from noiseproof.prepare.image_features import one_or_three
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.samples import Samples

SCHEMA = 5
RECIPE, FEATURES, ARRAYS, ENSEMBLE = "recipe.json", "features.json", "features.npz", "ensemble"
#: The objects that Python makes of a text take so many times the room of an array of its size.
TEXT = 8
#: How often a folder is read, at most, where other fits replace it meanwhile.
AGAIN = 10
#: Errors that a damaged file can raise when it is read, or when its model predicts.
UNREADABLE = (
    OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """Predicts classes from raw inputs.

    Args:
        coding: the classes, as numbers inside and in the type of the labels outside.
        features: turns inputs into numbers.
        ensemble: turns numbers into probabilities.
        label: the name of the label column; "" if it had none.
        embeddings: whether the model was fitted to a separate file of embeddings.
    """

    coding: Classes
    features: Preprocessor
    ensemble: Ensemble
    label: str = ""
    embeddings: bool = False

    def __repr__(self) -> str:
        learners = " + ".join(str(member.learner) for member in self.ensemble.members)
        return f"Model({len(self.coding)} classes, {learners})"

    @property
    def classes(self) -> NDArray[Any]:
        """The class labels, with the type they were given in."""
        return self.coding.values

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most likely class of each row of X, which is whatever ``fit`` takes."""
        return np.asarray(self.classes[self.predict_proba(X).argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """Return the probability of each of :attr:`classes`, (N, K)."""
        samples = as_samples(X, labelled=False, **reading(self.features))
        doubts = samples.doubts if samples.kind == "table" else one_or_three(X, self.features)
        for line in doubts:
            warnings.warn(line, DataWarning, stacklevel=3)
        return self.probabilities(samples)

    def probabilities(self, samples: Samples, notes: Notes | None = None) -> NDArray[np.float32]:
        """Return the probability of each class, (N, K), and note columns that do not match.

        Without ``notes``, columns that have changed since the fit cause Python warnings.
        """
        heard = Notes() if notes is None else notes
        parts = (self.features.transform(block, heard) for block in samples.blocks())
        with one_thread(), np.errstate(over="ignore", invalid="ignore"):
            each = [self.ensemble.probabilities(part) for part in parts]
        found = np.concatenate(each, dtype=np.float32)
        if not ((found >= 0) & (found <= 1)).all():  # its numbers are finite, their products not
            raise DataError("the model is damaged: what it predicts are no probabilities")
        if notes is None:
            for line in heard.warnings:
                warnings.warn(line, DataWarning, stacklevel=4)
        return found

    def save(self, folder: Path) -> None:
        """Write the model into an empty folder."""
        recipe = {
            "schema": SCHEMA,
            "noiseproof": noiseproof.__version__,
            "label": self.label,
            "embeddings": self.embeddings,
            "classes": asdict(self.coding),
        }
        write_json(folder / RECIPE, recipe)
        write_json(folder / FEATURES, self.features.describe())
        write_arrays(folder / ARRAYS, self.features.arrays())
        (folder / ENSEMBLE).mkdir()
        self.ensemble.save(folder / ENSEMBLE)


def load(folder: str | Path, encoder: str | None = None) -> Model:
    """Load the model from a folder that ``noiseproof fit`` or ``fit(...).save(folder)`` wrote.

    Every file must have the hash that the fit wrote into the manifest, and the encoder of pictures
    or texts the hash that it had at the fit. Where the folder, or a link to it, is replaced
    meanwhile, it is read again: a model is never made of two.

    Args:
        folder: the folder of the fit.
        encoder: where the encoder is now, if it has moved since.
    """
    folder = Path(folder)
    for left in reversed(range(AGAIN)):
        try:
            with unchanged(folder, lambda: [folder / MANIFEST, *(folder / "model").rglob("*")]):
                model = _load(folder)
            break
        except ChangedError:
            if not left:
                raise
    return replace(model, features=with_encoder(model.features, encoder))


def _load(folder: Path) -> Model:
    inner = folder / "model"
    if mode_of(folder) is None or not (inner / RECIPE).is_file():
        raise DataError(f"{folder}: there is no model of noiseproof's here")
    try:
        size = sum(_room(file) for file in inner.rglob("*"))
        check_fits(folder, size, "use a machine with more memory")
        if changed := not_ours(folder, among=["model"]):  # itself, where it is a link
            raise DataError(f"{folder}: {changed[0]} has changed since the fit; fit again")
        recipe = json.loads((inner / RECIPE).read_text(encoding="utf-8"))
        if recipe["schema"] != SCHEMA:
            other = repr(recipe["schema"])[:20]
            raise DataError(f"{folder}: a model of schema {other}, expected {SCHEMA}")
        features = json.loads((inner / FEATURES).read_text(encoding="utf-8"))
        model = Model(
            Classes.load(recipe["classes"]),
            load_features(features, read_arrays(inner / ARRAYS)),
            Ensemble.load(inner / ENSEMBLE),
            recipe["label"],
            recipe["embeddings"],
        )
        if not isinstance(model.label, str) or not isinstance(model.embeddings, bool):
            raise ValueError("expected a text and a truth value")
        if model.ensemble.sizes != (model.features.width, len(model.classes)):
            raise DataError(f"{folder}: features, classes and learners are not of one model")
        _try(model)
    except DataError:
        raise
    except OSError as error:
        raise DataError(f"{error.filename or folder}: cannot be read ({error.strerror})") from None
    except UNREADABLE as error:
        raise DataError(f"{folder}: the model is damaged ({type(error).__name__})") from None
    return model


def _try(model: Model) -> None:
    """Raise one of UNREADABLE where the learners cannot read features of this form."""
    row: Any = np.zeros((1, model.features.width), np.float32)
    with one_thread(), np.errstate(all="ignore"):
        p = model.ensemble.probabilities(
            sparse.csr_matrix(row) if is_sparse(model.features) else row
        )
    if p.shape != (1, len(model.classes)):
        raise ValueError("a probability for each class")


def _room(file: Path) -> int:
    """Return how many bytes of arrays take the room that a file takes in memory."""
    return file.lstat().st_size * (1 if file.suffix == ".npz" else TEXT)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write plain values as JSON, keeping the spelling of class names."""
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    # A lone surrogate, which UTF-8 cannot encode, is written as JSON's escape, such as \\udc80.
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
