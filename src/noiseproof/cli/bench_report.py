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
    group,
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
    from noiseproof.bench.selection import Selection
    from noiseproof.report import page
    from noiseproof.results import Store

    page.check(out)
    selection = Selection.read(add_loss, rows, noise, seeds, recipe)
    grids = selection.grids(names) if names else selection.suiting()
    found = contents(grids, Store(store), selection, named=bool(names))
    words = ["noiseproof", "bench", "report", *(names or ()), *selection.options]
    words += ["--recipe", recipe] if recipe else []
    words += ["--store", str(store)]
    page.write(out, found.page(shlex.join([*words, "--out", str(out)])))
    if found.damaged:
        print(f"noiseproof: {found.damaged} damaged files were set aside", file=sys.stderr)
    print(f"wrote {out}: {found}")
