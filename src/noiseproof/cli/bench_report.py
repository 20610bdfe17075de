"""The bench report command."""

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from noiseproof.cli.bench import (
    AddLossOption,
    NoiseOption,
    RecipeOption,
    RowsOption,
    SeedsOption,
    StoreOption,
    choose_grids,
    group,
    suiting_grids,
)


@group.command("report")
def write_report(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...",
            help="Grids, or TOML files of your own; all that was run without any.",
        ),
    ] = None,
    add_loss: AddLossOption = None,
    rows: RowsOption = None,
    noise: NoiseOption = None,
    seeds: SeedsOption = None,
    recipe: RecipeOption = None,
    store: StoreOption = Path("runs"),
    out: Annotated[Path, typer.Option(help="The page: one .html file.")] = Path("report.html"),
) -> None:
    """Write what was run as one page: tables, curves, memorisation, audits, how to run it again.

    It needs no network, and no other file.

    Example: noiseproof bench report digits-symmetric --out report.html
    """
    from noiseproof.bench.report import contents
    from noiseproof.report import page
    from noiseproof.results import Store

    page.check(out)
    if names:
        chosen = choose_grids(names, add_loss, rows, noise, seeds, recipe)
        grids = dict(zip(dict.fromkeys(names), chosen, strict=True))
    else:
        grids = suiting_grids(add_loss, rows, noise, seeds, recipe)
    options = selection(add_loss, rows, noise, seeds)
    found = contents(
        grids,
        Store(store),
        options,
        named=bool(names),
        recipe=recipe,
    )
    words = ["noiseproof", "bench", "report", *(names or ()), *options]
    words += ["--recipe", recipe] if recipe else []
    words += ["--store", str(store)]
    page.write(out, found.page(shlex.join([*words, "--out", str(out)])))
    if found.damaged:
        print(f"noiseproof: {found.damaged} damaged files were set aside", file=sys.stderr)
    print(f"wrote {out}: {found}")


def selection(
    add_loss: list[str] | None = None,
    rows: list[str] | None = None,
    noise: list[str] | None = None,
    seeds: int | None = None,
) -> list[str]:
    """Return the options of a command line that chose a part of a grid."""
    pairs = [
        *(("--add-loss", text) for text in add_loss or ()),
        *(("--rows", text) for text in rows or ()),
        *(("--noise", text) for text in noise or ()),
        *([("--seeds", str(seeds))] if seeds is not None else []),
    ]
    return [word for pair in pairs for word in pair]
