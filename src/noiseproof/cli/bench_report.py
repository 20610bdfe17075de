"""The bench report command."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noiseproof.cli.app import show, warn
from noiseproof.cli.bench import StoreOption, group
from noiseproof.cli.selecting import selecting

if TYPE_CHECKING:
    from noiseproof.bench.selection import Selection


@group.command("report", short_help="Write the results as one HTML page.")
@selecting
def write_report(
    selection: "Selection",
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Grids, or your own TOML files (default: everything in the store).",
        ),
    ] = None,
    store: StoreOption = Path("runs"),
    out: Annotated[Path, typer.Option(help="The .html file to write or replace.")] = Path(
        "report.html"
    ),
) -> None:
    """Write the results as one HTML page: tables, curves, memorisation, audits, commands.

    The page needs no network and no other file.

    Example: noiseproof bench report digits-symmetric --out report.html
    """
    from noiseproof.bench.commands import bench_command
    from noiseproof.bench.pages.report import contents
    from noiseproof.progress import on_terminal
    from noiseproof.report import page
    from noiseproof.results import Store

    page.check(out)
    grids = selection.grids(names) if names else selection.suiting()
    page.check(out, selection.inputs(grids, store, out))
    with on_terminal() as progress:
        found = contents(grids, Store(store), selection, named=bool(names), progress=progress)
        options = ("--out", str(out))
        command = bench_command(
            "report", *(names or ()), store=store, selection=selection, options=options
        )
        page.write(out, found.page(command))
    for line in found.problems:
        warn(line)
    show(f"wrote {out}: {found}")
