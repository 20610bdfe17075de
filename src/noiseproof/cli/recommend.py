"""The command recommend."""

import json
from typing import Annotated

import typer

from noiseproof.cli.app import JsonOption, app


@app.command()
def recommend(
    noise: Annotated[
        str, typer.Option(help="symmetric:0.8, asymmetric:0.3, pair-flip:0.2, matrix:T.csv ...")
    ],
    classes: Annotated[
        int | None, typer.Option(help="How many classes: the noise's or the data set's.", min=2)
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="mnist, cifar10, cifar100: whose confusions are meant.")
    ] = None,
    margin: Annotated[
        float | None, typer.Option(help="c*r to keep, 1 or more; chosen by measurement without it.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say which losses tolerate a noise, each with its parameters and why.

    Example: noiseproof recommend --classes 10 --noise symmetric:0.8
    """
    from noiseproof.advise.recommend import MARGIN
    from noiseproof.advise.recommend import recommend as advise

    chosen = MARGIN if margin is None else margin
    found = advise(noise, classes, margin=chosen, dataset=dataset)
    print(json.dumps(found.to_dict(), indent=1) if as_json else found)
