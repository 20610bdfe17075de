"""The application object that every command registers with, and the options they share."""

from typing import Annotated

import typer

app = typer.Typer(
    name="noiseproof",
    help="Train classifiers that stay right when the labels are wrong.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for a program to read.")]
SeedOption = Annotated[int, typer.Option(help="One seed for everything that is drawn.", min=0)]


@app.callback(invoke_without_command=True)
def help_by_default(context: typer.Context) -> None:
    """Train classifiers that stay right when the labels are wrong."""
    if context.invoked_subcommand is None:
        print(context.get_help())
