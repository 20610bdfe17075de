"""bench table: the table of a grid from a store, in a format of your choice."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noiseproof.cli.app import show, show_text, warn
from noiseproof.cli.bench import StoreOption, check_there, group
from noiseproof.cli.selecting import selecting
from noiseproof.errors import ParameterError

if TYPE_CHECKING:
    from noiseproof.bench import Collected
    from noiseproof.bench.selection import Selection


@group.command("table", short_help="Show the table of a grid, beside the paper's.")
@selecting
def table(
    selection: "Selection",
    name: Annotated[str, typer.Argument(help="A grid, or your own TOML file.")],
    store: StoreOption = Path("runs"),
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="md, latex, html, csv or json (default: by the ending of --out, or md).",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write or replace (default: print the table).")
    ] = None,
) -> None:
    """Show the table of a grid: our numbers, the paper's, and the difference.

    Example: noiseproof bench table mnist-symmetric --recipe quick --store results
    """
    from noiseproof import files
    from noiseproof.bench import collect
    from noiseproof.bench.commands import bench_command
    from noiseproof.bench.pages.tables import results_table
    from noiseproof.report.table import render
    from noiseproof.results import Store

    grid = selection.grid(name)
    check_there(store)
    if out is not None:
        files.check_file(out, force=True, inputs=selection.inputs({name: grid}, store, out))
    collected = collect(grid, Store(store))
    text = render(results_table(collected), form or _form_of(out))
    again = bench_command("run", name, store=store, selection=selection)
    for remark in _remarks(collected, store, again):
        warn(remark)
    if out is None:
        show_text(text)
    else:
        files.write(out, text)
        show(f"wrote {out}")


def _form_of(out: Path | None) -> str:
    """Return the format that a file's ending asks for; Markdown where it asks for none."""
    ending = "" if out is None else out.suffix.lower()
    return {".tex": "latex", ".html": "html", ".csv": "csv", ".json": "json"}.get(ending, "md")


def _remarks(collected: "Collected", store: Path, again: str) -> list[str]:
    """Return what the table does not say: what was not counted, and where its numbers may be."""
    from noiseproof.train.recipes import NAMES

    grid, counts = collected.grid, collected.counts
    remarks = list(collected.problems)
    if counts["missing"] < counts["cells"]:
        return remarks
    remarks.append(f"{store} has nothing of this; `{again}` fills it")
    for name in NAMES:
        try:
            other = replace(collected, grid=grid.select(recipe=name)).counts
        except ParameterError:  # there is no such recipe for this data set
            continue
        if found := other["cells"] - other["missing"]:
            remarks.append(f"{store} has {found} cells with --recipe {name}")
    return remarks
