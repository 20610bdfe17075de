"""Commands of the benchmark: bench run, status, list."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noiseproof.cli.app import new_group, print_json, show, warn
from noiseproof.cli.experiment import DataOption, QuietOption
from noiseproof.cli.options import JsonOption
from noiseproof.cli.selecting import selecting
from noiseproof.errors import DataError, ParameterError

if TYPE_CHECKING:
    from noiseproof.bench import Grid
    from noiseproof.bench.selection import Selection
    from noiseproof.bench.status import Status
    from noiseproof.results import Store

group = new_group("bench", "Run the paper's tables and show the results.")

DEFAULT = ("digits-symmetric", "digits-asymmetric")


NamesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME",
        help="Grids from `noiseproof bench list`, `leaderboard` for all of its grids, or your own "
        "TOML files (default: both digits grids).",
    ),
]
RUNS = Path("runs")
StoreOption = Annotated[
    Path,
    typer.Option(
        "--store",
        help="Folder of records, or one packed *.records.xz file.",
    ),
]


def check_there(store: Path) -> None:
    """Raise DataError for a store that is only to be read and does not exist."""
    if not store.exists():
        raise DataError(f"{store}: no such folder of records; --store says where they are")


@group.command("run")
@selecting
def run_bench(
    selection: "Selection",
    names: NamesArgument = None,
    store: StoreOption = Path("runs"),
    data: DataOption = None,
    engine: Annotated[str, typer.Option(help="local or ray.")] = "local",
    workers: Annotated[
        int, typer.Option(help="Cells to run at once (0: one per core).", min=0)
    ] = 0,
    address: Annotated[
        str, typer.Option(help="Address of a Ray cluster (default: start one here).")
    ] = "",
    shard: Annotated[
        str, typer.Option(help="Run one part of the cells, as in 3/16, for a job array.")
    ] = "1/1",
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    save: Annotated[bool, typer.Option("--save", help="Keep the trained networks too.")] = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run the cells that the store does not have yet.

    Stop it at any time; the same command resumes where it stopped.

    Example: noiseproof bench run digits-symmetric --seeds 1
    """
    from noiseproof.bench.engines.engine import Settings
    from noiseproof.bench.run import read_shard, run_grids
    from noiseproof.bench.words import count
    from noiseproof.progress import on_terminal
    from noiseproof.results import Store
    from noiseproof.train import pick_device

    if engine == "local":  # with Ray the device is one of the nodes'
        pick_device(device)
        if address:
            raise ParameterError("--address: expected --engine ray beside it")
    grids = list(selection.grids(names or DEFAULT).values())
    settings, part = Settings(data, save, device, workers, address), read_shard(shard)
    with on_terminal(quiet or as_json) as progress:
        tally = run_grids(grids, Store(store), settings, progress, engine, part)
    found = _find(grids, Store(store), workers)
    if as_json:
        lost = {str(cell): reason for cell, reason in tally.lost.items()}
        grids_found = [status.to_dict() for status in found]
        print_json({"ran": tally.ran, "lost": lost, "grids": grids_found})
    else:
        show(f"{count(tally.ran, 'cell')} run, records in {store}", *found)
    if tally.lost:
        cells = "; ".join(f"{cell}: {reason}" for cell, reason in tally.lost.items())
        lost_cells = count(len(tally.lost), "cell")
        warn(f"no result for {lost_cells}: {cells}")
    elif undone := sum(s.disputed + (s.missing if part == (1, 1) else 0) for s in found):
        problems = dict.fromkeys(line for status in found for line in status.problems)
        warn("; ".join([f"no result for {count(undone, 'cell')}", *problems]))
    else:
        return
    raise typer.Exit(1)


@group.command("status", short_help="Show what is done, running, failed and missing.")
@selecting
def show_status(
    selection: "Selection",
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Grids, or your own TOML files (default: every grid with a record).",
        ),
    ] = None,
    store: StoreOption = Path("runs"),
    workers: Annotated[
        int,
        typer.Option(help="Cells at once, for estimating the time left (0: one per core).", min=0),
    ] = 0,
    as_json: JsonOption = False,
) -> None:
    """Show how many cells are done, running, failed and missing, and the time left.

    Example: noiseproof bench status digits-symmetric
    """
    from noiseproof.results import Store

    grids = selection.grids(names) if names else selection.suiting()
    kept = Store(store)
    found = _find(grids.values(), kept, workers)
    if not names:
        found = [status for status in found if status.missing < status.cells]
    if as_json:
        print_json([status.to_dict() for status in found])
        return
    show(*found) if found else show(f"no record of any grid in {store}")
    told = (line for status in found for line in status.problems)
    for line in dict.fromkeys([*kept.damaged, *told]):
        warn(line)


def _find(grids: "Iterable[Grid]", store: "Store", workers: int) -> "list[Status]":
    from noiseproof.bench.collect import collect_all
    from noiseproof.bench.engines.local import cores
    from noiseproof.bench.status import find_status

    return [find_status(found, store, workers or cores()) for found in collect_all(grids, store)]


@group.command("list")
def list_grids(as_json: JsonOption = False) -> None:
    """List the grids that come with noiseproof.

    Example: noiseproof bench list
    """
    from noiseproof.bench import grid_names, load_grid

    grids = [load_grid(name) for name in grid_names()]
    if as_json:
        rows = [
            {"name": grid.name, "title": grid.title, "cells": len(grid.block)} for grid in grids
        ]
        print_json(rows)
        return
    wide = max(len(grid.name) for grid in grids)
    for grid in grids:
        show(f"{grid.name:<{wide}} {len(grid.block):>4} cells  {grid.title}")
