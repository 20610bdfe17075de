"""The options that select part of a grid, for every command that takes them."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import typer

#: More seeds than anybody has time for.
MOST_SEEDS = 1_000_000

AddLossOption = Annotated[
    list[str] | None,
    typer.Option(
        "--add-loss",
        help='Add a row, as in "MINE=AGCE(a=2, q=1.2)", or a loss of your own as in '
        '"MINE=mine.py:Loss(a=2)", whose code is run; repeatable.',
    ),
]
RowsOption = Annotated[
    list[str] | None,
    typer.Option("--rows", help="Only these rows, as in CE,AGCE; repeatable."),
]
NoiseOption = Annotated[
    list[str] | None,
    typer.Option("--noise", help="Only these noises, as in symmetric:0.8; repeatable."),
]
SeedsOption = Annotated[
    int | None,
    typer.Option(
        "--seeds",
        help="Number of seeds; may exceed the grid's (default: the grid's).",
        min=1,
        max=MOST_SEEDS,
    ),
]
RecipeOption = Annotated[
    str | None,
    typer.Option(
        "--recipe",
        help="paper or quick; frozen for grids with an encoder (default: the grid's).",
    ),
]
#: The arguments of ``bench.selection.Selection.read``.
SELECTING: dict[str, Any] = {
    "add_loss": AddLossOption,
    "rows": RowsOption,
    "noise": NoiseOption,
    "seeds": SeedsOption,
    "recipe": RecipeOption,
}


def selecting(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options above; it receives them as one ``selection``."""

    @wraps(command)
    def run(**options: Any) -> None:
        from noiseproof.bench.selection import Selection

        chosen = {name: options.pop(name) for name in SELECTING}
        command(selection=Selection.read(**chosen), **options)

    own = [p for p in signature(command).parameters.values() if p.name != "selection"]
    added = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in SELECTING.items()
    ]
    run.__signature__ = Signature([*own, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in (*own, *added)}
    return run
