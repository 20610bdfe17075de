"""The command that writes data with corrected labels."""

from pathlib import Path
from typing import Annotated

import typer

from noiseproof.cli.app import app, print_json, show
from noiseproof.cli.options import EncodingOption, JsonOption, QuietOption, ReplaceOption
from noiseproof.progress import counted


@app.command(short_help="Write the data with corrected labels.")
def clean(
    file: Annotated[
        Path,
        typer.Argument(
            help="The .csv, .tsv or .parquet file, or folder of pictures, that was fitted."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Where to write the corrected file or folder.")],
    label: Annotated[
        str | None, typer.Option(help="The label column (default: that of the fit).")
    ] = None,
    reviewed: Annotated[
        Path | None, typer.Option(help="The reviewed.csv that the report's review page exported.")
    ] = None,
    proposals: Annotated[
        float | None,
        typer.Option(
            help="Also take the fit's proposals from this confidence on (0 to 1), for rows that "
            "nobody looked at."
        ),
    ] = None,
    fit: Annotated[
        Path | None,
        typer.Option(help="The folder of the fit (default: the file's name with -fit)."),
    ] = None,
    encoding: EncodingOption = None,
    force: ReplaceOption = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write data with corrected labels: every other byte stays as it is.

    A folder of pictures is copied, with each corrected picture in the folder of its new class.
    Writes a list of the changes beside it, OUT-changes.csv, with the reason for each.

    Example: noiseproof clean reviews.csv --reviewed reviewed.csv --out clean.csv
    """
    from noiseproof.fitting.review.clean import clean as clean_file

    made = clean_file(
        file, out, label=label, reviewed=reviewed, fit=fit, proposals=proposals, encoding=encoding,
        force=force,
    )  # fmt: skip
    if as_json:
        content = {
            "out": str(made.out), "changes_file": str(made.changes_file), "rows": made.rows,
            "changed": len(made.changes),
        }  # fmt: skip
        print_json(content)
    elif not quiet:
        told = f"labels changed in {len(made.changes):,} of {counted(made.rows, 'row')}"
        show(f"wrote {made.out} ({told}) and {made.changes_file}")
