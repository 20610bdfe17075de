"""The application object that every command registers with."""

import sys
from typing import Annotated, Any

import typer
import typer.core

import noiseproof
from noiseproof.shown import printable, printable_json

#: The commands in the order that a user meets them.
ORDER = (
    "fit", "predict", "clean", "demo", "audit", "recommend", "train", "bench", "figure", "data",
    "cache",
)  # fmt: skip


class _InOrder(typer.core.TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:
        return sorted(self.commands, key=lambda name: (*ORDER, name).index(name))


app = typer.Typer(
    name="noiseproof",
    cls=_InOrder,
    help="Train classifiers that stay right when the labels are wrong.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def show(*lines: object) -> None:
    """Print lines that are safe on a terminal: control characters of data are escaped."""
    for line in lines:
        print(printable(str(line)))


def show_text(text: object) -> None:
    """Print a text of several lines, each as :func:`show` does; one new line ends it."""
    show(*str(text).removesuffix("\n").split("\n"))


def warn(line: object, word: str = "noiseproof") -> None:
    """Print a line to standard error, after a word and a colon."""
    print(f"{word}: {printable(str(line))}", file=sys.stderr)


def print_json(content: Any) -> None:
    """Print JSON that is safe on a terminal: control characters of data are JSON's own escapes."""
    print(printable_json(content))


@app.callback(invoke_without_command=True)
def help_by_default(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Train classifiers that stay right when the labels are wrong."""
    if version:
        show(f"noiseproof {noiseproof.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        show_text(context.get_help())


def new_group(name: str, about: str) -> typer.Typer:
    """Return a group of commands, which shows its help if none of them is named."""
    group = typer.Typer(help=about, callback=_help_of_group, invoke_without_command=True)
    app.add_typer(group, name=name)
    return group


def _help_of_group(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        show_text(context.get_help())
