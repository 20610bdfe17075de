"""The command recommend."""

from typing import Annotated

import typer

from noiseproof.cli.app import app, print_json, show_text
from noiseproof.cli.options import MOST_CLASSES, JsonOption


@app.command(short_help="List losses that tolerate a noise.")
def recommend(
    noise: Annotated[
        str,
        typer.Option(help="A noise: symmetric:0.8, asymmetric:0.3, pair-flip:0.2, matrix:T.csv."),
    ],
    classes: Annotated[
        int | None,
        typer.Option(
            help="Number of classes (default: the noise's or the data set's).",
            min=2,
            max=MOST_CLASSES,
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            help="Data set whose confusions `asymmetric` means: mnist, cifar10, cifar100."
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(help="Smallest c*r to accept, 1 or more (default: chosen by measurement)."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List the losses that tolerate a noise, with parameters and reasons.

    Example: noiseproof recommend --classes 10 --noise symmetric:0.8
    """
    from noiseproof.advise.recommend import MARGIN
    from noiseproof.advise.recommend import recommend as advise

    chosen = MARGIN if margin is None else margin
    found = advise(noise, classes, margin=chosen, dataset=dataset)
    print_json(found.to_dict()) if as_json else show_text(found)
