"""The command audit."""

from pathlib import Path
from typing import Annotated

import typer

from noiseproof.cli.app import app, print_json, show_text, warn
from noiseproof.cli.options import MOST_CLASSES, JsonOption

#: From so many classes on, an audit takes a quarter of a minute or more.
MANY_CLASSES = 10_000


@app.command(short_help="Show which noise a loss tolerates.")
def audit(
    loss: Annotated[
        str,
        typer.Argument(
            help='A loss, such as "AGCE(a=0.6, q=0.6)" or "NCE + RCE", or one of your own as '
            "module:Loss or path/to/file.py:Loss, whose code is run."
        ),
    ],
    classes: Annotated[
        int | None,
        typer.Option(
            help="Number of classes (default: the noise's, or 10).", min=2, max=MOST_CLASSES
        ),
    ] = None,
    noise: Annotated[
        str | None, typer.Option(help="A noise: symmetric:0.8, pair-flip:0.2, matrix:T.csv ...")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw it to this .png, .svg or .pdf file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show which noise a loss tolerates, and what else is known about it.

    Example: noiseproof audit "AGCE(a=0.6, q=0.6)" --classes 10 --noise symmetric:0.8
    """
    from noiseproof.losses.own import errors_of_its_own, named_loss
    from noiseproof.theory import audit as audit_loss

    if plot is not None:
        from noiseproof.report.pictures import check, save

        check(plot)
    if classes is not None and classes >= MANY_CLASSES:
        warn(f"the time grows with the classes: {classes:,} may take minutes")
    with errors_of_its_own(loss):
        result = audit_loss(named_loss(loss), classes=classes, noise=noise)
    print_json(result.to_dict()) if as_json else show_text(result)
    if plot is not None:
        save(result.plot(), plot)
