"""The application object that every command registers with."""

import json
from typing import Annotated, Any

import typer
import typer.core

import noiseproof

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


def print_json(content: Any) -> None:
    """Print JSON that is safe on a terminal: control characters of data are JSON's own escapes."""
    text = json.dumps(content, indent=1, ensure_ascii=False, default=str)
    print("".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text))


@app.callback(invoke_without_command=True)
def help_by_default(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Train classifiers that stay right when the labels are wrong."""
    if version:
        print(f"noiseproof {noiseproof.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(context.get_help())
