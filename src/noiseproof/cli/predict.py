"""The command that predicts with a fitted model."""

from pathlib import Path
from typing import Annotated

import typer

from noiseproof.cli.app import app, print_json, show, warn
from noiseproof.cli.options import (
    EmbeddingsOption,
    EncodingOption,
    JsonOption,
    QuietOption,
    ReplaceOption,
    StrictOption,
)
from noiseproof.progress import counted, on_terminal


@app.command(short_help="Predict classes and probabilities.")
def predict(
    folder: Annotated[Path, typer.Argument(help="The folder that `noiseproof fit` wrote.")],
    file: Annotated[
        Path,
        typer.Argument(
            help="Rows like those of the fit, any number of them; labels are not needed."
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="Where to write the predictions: .csv or .parquet.")
    ] = Path("predictions.csv"),
    strict: StrictOption = False,
    embeddings: EmbeddingsOption = None,
    encoder: Annotated[
        str | None,
        typer.Option(
            help="Where the encoder of the fit is now, if it has moved; it must be the same."
        ),
    ] = None,
    encoding: EncodingOption = None,
    force: ReplaceOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Predict the class of each row, with the probability of every class.

    Example: noiseproof predict reviews-fit new.csv --out predictions.csv
    """
    from noiseproof.fitting.model import load
    from noiseproof.fitting.predict import check_out, predict_file

    model = load(folder, encoder)  # first: whoever adds --force has read of every other mistake
    check_out(out, force, file, folder)
    silent = quiet or as_json
    with on_terminal(silent) as progress:
        progress.step("predict")
        found = predict_file(
            model, file, out, embeddings=embeddings, encoding=encoding, strict=strict,
            force=force, progress=progress,
        )  # fmt: skip
    for line in found.warnings:
        warn(line, "warning")
    for line in found.notes:
        if not silent and line not in found.warnings:
            warn(line, "note")
    if as_json:
        content = {
            "out": str(out), "rows": found.rows, "counts": found.counts, "notes": found.notes,
            "warnings": found.warnings,
        }  # fmt: skip
        print_json(content)
    elif not quiet:
        shares = [f"{name} {count:,}" for name, count in list(found.counts.items())[:6]]
        show(f"wrote {out}: {counted(found.rows, 'row')} ({', '.join(shares)})")
