"""Commands for a user's own data: fit and predict; and the demonstration of them."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from noiseproof.cli.app import JsonOption, SeedOption, app
from noiseproof.cli.steps import Steps

if TYPE_CHECKING:
    from noiseproof.fitting.fit import Fitted

QuietOption = Annotated[bool, typer.Option("--quiet", help="Print the result alone.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what an earlier run wrote.")]
EncodingOption = Annotated[
    str | None, typer.Option(help="Of a text file, such as cp1252; UTF-8 without it.")
]
EmbeddingsOption = Annotated[
    Path | None,
    typer.Option(help="Features to use instead: .npy, or X of an .npz, a row for each row."),
]


@app.command()
def fit(
    file: Annotated[
        Path,
        typer.Argument(help=".csv, .tsv, .parquet, .npz with X and y, or a folder by class."),
    ],
    label: Annotated[str | None, typer.Option(help="The column of labels, for a table.")] = None,
    text: Annotated[
        list[str] | None, typer.Option(help="A column of free text; may be given again.")
    ] = None,
    test: Annotated[
        Path | None, typer.Option(help="The same kind of file, with labels that are true.")
    ] = None,
    embeddings: EmbeddingsOption = None,
    test_embeddings: Annotated[
        Path | None, typer.Option(help="The same for the rows of --test.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The folder to make; the file's name with -fit without it.")
    ] = None,
    search: Annotated[int, typer.Option(help="Try so many further settings.", min=0)] = 0,
    seed: SeedOption = 0,
    encoding: EncodingOption = None,
    force: ForceOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say how noisy labels are and which rows are wrong; choose a loss and train a model.

    Writes a folder with model/, report.html, suspect_rows.csv and summary.json.

    Example: noiseproof fit reviews.csv --label sentiment --text review --out reviews-fit
    """
    folder = out or Path(f"{file.name.split('.')[0] or 'data'}-fit")
    fitted = _fit(
        file, folder, force, quiet or as_json, label=label, text=text or (), test=test,
        embeddings=embeddings, test_embeddings=test_embeddings, search=search, seed=seed,
        encoding=encoding,
    )  # fmt: skip
    if as_json:
        print(json.dumps(fitted.summary | {"folder": str(folder)}, indent=1, ensure_ascii=False))
    else:
        print(f"wrote {folder}: report.html, suspect_rows.csv, summary.json, model")


def _fit(
    file: Path, folder: Path, force: bool, silent: bool, *, label: str | None, **options: Any
) -> "Fitted":
    from noiseproof import files
    from noiseproof.fitting.fit import fit as fit_data

    files.check_folder(folder, force)
    watch = Steps(silent)
    try:
        fitted = fit_data(file, label, **options, watch=watch)
        watch.progress("writing", 0, 1)
        fitted.save(folder, force)
    finally:
        watch.close()
    return fitted


@app.command()
def predict(
    folder: Annotated[Path, typer.Argument(help="What `noiseproof fit` wrote.")],
    file: Annotated[Path, typer.Argument(help="Rows as they were fitted to; labels not needed.")],
    out: Annotated[Path, typer.Option(help="The predictions, a CSV.")] = Path("predictions.csv"),
    embeddings: EmbeddingsOption = None,
    encoding: EncodingOption = None,
    force: ForceOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Predict the class of each row, with the probability of every class.

    Example: noiseproof predict reviews-fit new.csv --out predictions.csv
    """
    from noiseproof.fitting.model import load_model
    from noiseproof.fitting.predict import check_out, predict_file, write_table

    check_out(out, force, file, folder)
    model = load_model(folder)
    silent = quiet or as_json
    table, notes = predict_file(
        model, file, embeddings=embeddings, encoding=encoding, progress=not silent
    )
    write_table(table, out)
    if notes and not silent:
        print(f"note: {'; '.join(notes)}", file=sys.stderr)
    counts = table["prediction"].astype(str).value_counts()
    if as_json:
        found = {"out": str(out), "rows": len(table), "counts": counts.to_dict(), "notes": notes}
        print(json.dumps(found, indent=1, ensure_ascii=False))
    elif not quiet:
        listed = ", ".join(f"{name} {count:,}" for name, count in counts.head(6).items())
        print(f"wrote {out}: {len(table):,} rows ({listed})")


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="The folder to make.")] = Path("noiseproof-demo"),
    seed: SeedOption = 1,
) -> None:
    """Fit digits of which four labels in ten are wrong, and compare with cross entropy.

    Example: noiseproof demo --out demo
    """
    from noiseproof import demo as demonstration

    files = demonstration.prepare(out, seed)
    print(f"wrote {files.train}: handwritten digits, {files.wrong:.0%} labelled as the next one")
    print(f"wrote {files.test}: other digits, all labels right\n\n$ {files.command}")
    fitted = _fit(
        files.train, files.out, True, False, label=demonstration.LABEL, test=files.test, seed=seed
    )
    assert fitted.test is not None
    ours, plain = fitted.test.accuracy.value, fitted.test.cross_entropy.value
    print(f"\nthe report: {files.out / 'report.html'}")
    print(
        f"on true labels {ours:.1%} are right, with cross entropy {plain:.1%}: "
        f"{100 * fitted.test.gain:+.1f} points"
    )
