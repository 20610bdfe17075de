"""The commands for a user's own data: fit and demo."""

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noiseproof.cli.app import app, print_json, show, warn
from noiseproof.cli.options import (
    EmbeddingsOption,
    EncodingOption,
    ForceOption,
    JsonOption,
    QuietOption,
    SeedOption,
)
from noiseproof.errors import DataWarning
from noiseproof.progress import on_terminal

if TYPE_CHECKING:
    from noiseproof.fitting.fitted import Fitted


@app.command(short_help="Estimate the noise, find suspect rows, train a model.")
def fit(
    file: Annotated[
        Path,
        typer.Argument(
            help=".csv, .tsv, .parquet, .npz with X and y, or a folder of images by class."
        ),
    ],
    label: Annotated[str | None, typer.Option(help="The label column of a table.")] = None,
    text: Annotated[
        list[str] | None, typer.Option(help="A column of free text; may be repeated.")
    ] = None,
    test: Annotated[
        Path | None, typer.Option(help="A file of the same kind with true labels.")
    ] = None,
    trusted: Annotated[
        Path | None,
        typer.Option(
            help="A CSV of rows checked by a person: row, as in suspect_rows.csv, and label."
        ),
    ] = None,
    reviewed: Annotated[
        Path | None,
        typer.Option(help="The reviewed.csv that the review page of an earlier fit exported."),
    ] = None,
    annotator: Annotated[
        str | None,
        typer.Option(
            help="The column that names who gave the answer in --label; each row is one answer."
        ),
    ] = None,
    item: Annotated[
        str | None,
        typer.Option(
            help="The column that names the item (default: rows with equal features are one item)."
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            help="The column that says what rows belong to, such as a patient: rows with the same "
            "value are held out together."
        ),
    ] = None,
    answers: Annotated[
        str | None,
        typer.Option(help="The answer columns, one for each annotator, such as 'w1,w2,crowd_*'."),
    ] = None,
    aggregation: Annotated[
        str,
        typer.Option(
            help="How answers become labels: with the features, or by the answers alone: majority, "
            "dawid-skene, one-coin, glad or mace (needs crowd-kit)."
        ),
    ] = "features",
    embeddings: EmbeddingsOption = None,
    test_embeddings: Annotated[
        Path | None, typer.Option(help="Embeddings for the rows of --test.")
    ] = None,
    encoder: Annotated[
        str,
        typer.Option(
            help="What turns pictures or texts into features: a Hugging Face name or folder, an "
            ".onnx file, efficientnet-lite0, patches, tfidf; auto takes the best one installed."
        ),
    ] = "auto",
    out: Annotated[
        Path | None, typer.Option(help="The folder to create (default: the file's name with -fit).")
    ] = None,
    learner: Annotated[
        list[str] | None,
        typer.Option(help="Compare only this learner; repeat to name several (default: all)."),
    ] = None,
    search: Annotated[
        int, typer.Option(help="Try this many further losses and decays (needs Optuna).", min=0)
    ] = 0,
    minutes: Annotated[
        float, typer.Option(help="Start no further trial after this many minutes.", min=0.0)
    ] = 5.0,
    seed: SeedOption = 0,
    encoding: EncodingOption = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Fail, and write nothing, if the columns of --test differ from those of FILE.",
        ),
    ] = False,
    force: ForceOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Estimate how noisy the labels are, find suspect rows, and choose and train a model.

    Writes a folder with model/, report.html, suspect_rows.csv and summary.json.

    Example: noiseproof fit reviews.csv --label sentiment --text review --out reviews-fit
    """
    from noiseproof.fitting.output import default_folder

    folder = out or default_folder(file)
    fitted = _fit(
        file, folder, force, quiet or as_json, label=label, text=text or (), test=test,
        trusted=trusted, reviewed=reviewed, annotator=annotator, item=item, group=group,
        answers=answers, aggregation=aggregation, embeddings=embeddings,
        test_embeddings=test_embeddings, encoder=encoder, learners=learner,
        search=search, minutes=minutes, seed=seed, encoding=encoding, strict=strict,
    )  # fmt: skip
    if as_json:
        print_json(fitted.summary | {"folder": str(folder)})
    else:
        crowd = "annotators.csv, ask_again.csv, " if fitted.crowd is not None else ""
        names = f"report.html, suspect_rows.csv, {crowd}summary.json, model"
        show(f"wrote {folder}: {names}")


def _fit(
    file: Path, folder: Path, force: bool, silent: bool, *, label: str | None, **options: Any
) -> "Fitted":
    from noiseproof import files
    from noiseproof.fitting.fit import fit as fit_data
    from noiseproof.fitting.output import write

    read = ("test", "trusted", "reviewed", "embeddings", "test_embeddings", "encoder")
    files.check_folder(folder, force, (file, *(options.get(name) for name in read)))
    with on_terminal(silent, sys.stdout) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # progress tells them, or the lines below
        fitted = fit_data(file, label, **options, progress=progress)
        missing = write(fitted, folder, force)
    if silent:
        doubts = fitted.test.warnings if fitted.test is not None else ()
        undecided = () if fitted.estimate.decisive else fitted.estimate.warnings[:1]
        for line in (*fitted.doubts, *undecided, *doubts):
            warn(line, "warning")
    if missing:
        for line in missing:
            warn(line)
        warn(f"the rest is in {folder}")
        raise typer.Exit(1)
    return fitted


@app.command(short_help="Try fit on digits with wrong labels.")
def demo(
    out: Annotated[Path, typer.Option(help="The folder to create.")] = Path("noiseproof-demo"),
    seed: SeedOption = 1,
) -> None:
    """Fit digits with four labels in ten wrong, and compare with cross entropy.

    Example: noiseproof demo --out demo
    """
    from noiseproof import demo as demonstration

    files = demonstration.prepare(out, seed)
    show(f"wrote {files.train}: handwritten digits, {files.wrong:.0%} labelled as the next one")
    show(f"wrote {files.test}: other digits, all labels right", "", f"$ {files.command}")
    fitted = _fit(
        files.train, files.out, True, False, label=demonstration.LABEL, test=files.test, seed=seed
    )
    assert fitted.test is not None
    ours, plain = fitted.test.accuracy.value, fitted.test.cross_entropy.value
    show("", f"the report: {files.out / 'report.html'}")
    show(
        f"on true labels {ours:.1%} are right, with cross entropy {plain:.1%}: "
        f"{100 * fitted.test.gain:+.1f} points"
    )
