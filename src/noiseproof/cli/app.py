"""The application object that every command registers with, and the options they share."""

import json
from pathlib import Path
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

#: More classes would take hours, or more memory than there is.
MOST_CLASSES = 100_000

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SeedOption = Annotated[int, typer.Option(help="Seed of everything random.", min=0)]

QuietOption = Annotated[
    bool, typer.Option("--quiet", help="Print only the result, and warnings of doubtful results.")
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what an earlier run wrote.")]
ReplaceOption = Annotated[
    bool,
    typer.Option("--force", help="Replace --out: any file, but only a folder of noiseproof's."),
]
EncodingOption = Annotated[
    str | None, typer.Option(help="Encoding of a text file, such as cp1252 (default: UTF-8).")
]
EmbeddingsOption = Annotated[
    Path | None,
    typer.Option(
        help="Use these features instead: an .npy, or X in an .npz, a row for each row of the file."
    ),
]


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
