"""Predictions of a saved model for a file."""

from pathlib import Path
from typing import Any

from noiseproof import files
from noiseproof.errors import ParameterError
from noiseproof.fitting.model import Model
from noiseproof.prepare.features import reading
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.read import read


def predict_file(
    model: Model,
    path: str | Path,
    *,
    embeddings: str | Path | None = None,
    encoding: str | None = None,
    progress: bool = False,
) -> tuple[Any, list[str]]:
    """Return a DataFrame of predictions, a row for each row of a file, and what did not fit.

    Its columns are ``row``, ``prediction`` and for each class ``p(class)``.

    Args:
        model: from :func:`~noiseproof.fitting.model.load_model`.
        path: a file or folder of the kind the model was fitted to, labels not needed.
        embeddings: a file of features for its rows, where the model was fitted to such.
        encoding: of a text file; None is UTF-8.
        progress: show a bar where reading takes long.
    """
    import pandas as pd

    if model.embeddings and embeddings is None:
        raise ParameterError(
            "the model was fitted to embeddings; give those of these rows: --embeddings"
        )
    notes = Notes()
    samples = read(
        path, model.label or None, labelled=False, embeddings=embeddings, encoding=encoding,
        progress=progress, **reading(model.features),
    )  # fmt: skip
    probabilities = model.probabilities(samples, notes)
    table = pd.DataFrame(
        {
            "row": samples.rows or range(len(samples)),
            "prediction": model.classes.values[probabilities.argmax(axis=1)],
        }
    )
    shares = pd.DataFrame(probabilities, columns=[f"p({name})" for name in model.classes.names])
    return pd.concat([table, shares.round(6)], axis=1), [*samples.notes, *notes.lines]


def check_out(out: Path, force: bool, file: Path, model: Path) -> None:
    """Say at once that predictions of a model for a file cannot be written there."""
    files.check_file(out, force)
    if out.exists() and (out.samefile(file) or model.resolve() in out.resolve().parents):
        raise ParameterError(f"{out} is what the predictions are made from; it is left as it is")


def write_table(table: Any, out: Path) -> None:
    """Write a table as CSV, whole or not at all."""
    files.write(out, lambda file: table.to_csv(file, index=False))
