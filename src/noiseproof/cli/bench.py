"""Commands of the benchmark: bench run, status, list."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noiseproof.cli.app import JsonOption, app
from noiseproof.cli.experiment import DataOption, QuietOption

if TYPE_CHECKING:
    from noiseproof.bench import Grid
    from noiseproof.bench.status import Status
    from noiseproof.results import Store

group = typer.Typer(help="Run the paper's tables, and see what came of them.", no_args_is_help=True)
app.add_typer(group, name="bench")

DEFAULT = ("digits-symmetric", "digits-asymmetric")

NamesArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME]...",
        help="Grids, see `noiseproof bench list`, or TOML files of your own; both digits grids "
        "without any.",
    ),
]
StoreOption = Annotated[Path, typer.Option("--store", help="Where the records are.")]
AddLossOption = Annotated[
    list[str] | None,
    typer.Option(
        "--add-loss", help='One row more, as in "MINE=AGCE(a=2, q=1.2)"; may be repeated.'
    ),
]
RowsOption = Annotated[
    list[str] | None,
    typer.Option("--rows", help="Only these rows, as in CE,AGCE; may be repeated."),
]
NoiseOption = Annotated[
    list[str] | None,
    typer.Option("--noise", help="Only these noises, as in symmetric:0.8; may be repeated."),
]
SeedsOption = Annotated[
    int | None,
    typer.Option(
        "--seeds",
        help="How many seeds, also more than the grid's; its own without it.",
        min=1,
    ),
]
RecipeOption = Annotated[str | None, typer.Option("--recipe", help="paper or quick.")]


@group.command("run")
def run_bench(
    names: NamesArgument = None,
    add_loss: AddLossOption = None,
    rows: RowsOption = None,
    noise: NoiseOption = None,
    seeds: SeedsOption = None,
    recipe: RecipeOption = None,
    store: StoreOption = Path("runs"),
    data: DataOption = None,
    engine: Annotated[str, typer.Option(help="local or ray.")] = "local",
    workers: Annotated[int, typer.Option(help="Cells at once; 0 is one a core.", min=0)] = 0,
    address: Annotated[str, typer.Option(help="Of the Ray cluster; one of its own if empty.")] = "",
    shard: Annotated[
        str, typer.Option(help="Only a part of the cells, as in 3/16, for a job array.")
    ] = "1/1",
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    save: Annotated[bool, typer.Option("--save", help="Keep the trained networks too.")] = False,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run every cell of a table that has no record yet. Stopped at any moment, it goes on there.

    Example: noiseproof bench run digits-symmetric --seeds 1
    """
    from noiseproof.bench.board import pick_board
    from noiseproof.bench.engine import Settings
    from noiseproof.bench.run import read_shard, run_grids
    from noiseproof.bench.selection import Selection
    from noiseproof.results import Store
    from noiseproof.train import pick_device

    if engine == "local":  # with Ray the device is one of the nodes'
        pick_device(device)
    selection = Selection.read(add_loss, rows, noise, seeds, recipe)
    grids = list(selection.grids(names or DEFAULT).values())
    settings = Settings(data, save, device, workers, address)
    board = pick_board(quiet or as_json)
    tally = run_grids(grids, Store(store), settings, board, engine, read_shard(shard))
    found = _find(grids, Store(store), workers)
    if as_json:
        lost = {str(cell): reason for cell, reason in tally.lost.items()}
        grids_found = [status.to_dict() for status in found]
        print(json.dumps({"ran": tally.ran, "lost": lost, "grids": grids_found}, indent=1))
    else:
        cells = "1 cell" if tally.ran == 1 else f"{tally.ran} cells"
        print(f"{cells} run, records in {store}", *found, sep="\n")
    if tally.lost:
        cells = "; ".join(f"{cell}: {reason}" for cell, reason in tally.lost.items())
        print(f"noiseproof: {len(tally.lost)} cells were not run: {cells}", file=sys.stderr)
        raise typer.Exit(1)


@group.command("status")
def show_status(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", help="Grids, or TOML files of your own; all begun without any."
        ),
    ] = None,
    add_loss: AddLossOption = None,
    rows: RowsOption = None,
    noise: NoiseOption = None,
    seeds: SeedsOption = None,
    recipe: RecipeOption = None,
    store: StoreOption = Path("runs"),
    workers: Annotated[
        int, typer.Option(help="Cells at once, for the time left; 0 is one a core.", min=0)
    ] = 0,
    as_json: JsonOption = False,
) -> None:
    """Say how many cells are done, running, failed and missing, and the time left.

    Example: noiseproof bench status digits-symmetric
    """
    from noiseproof.bench.selection import Selection
    from noiseproof.results import Store

    selection = Selection.read(add_loss, rows, noise, seeds, recipe)
    grids = selection.grids(names) if names else selection.suiting()
    found = _find(grids.values(), Store(store), workers)
    if not names:  # of all the grids there are, those that were begun
        found = [status for status in found if status.missing < status.cells]
    if as_json:
        print(json.dumps([status.to_dict() for status in found], indent=1))
    else:
        print(*found, sep="\n") if found else print(f"no record of any grid in {store}")
        for path in found[0].damaged if found else ():
            print(f"{path}: damaged, set aside, to be run again", file=sys.stderr)


def _find(grids: "Iterable[Grid]", store: "Store", workers: int) -> "list[Status]":
    from noiseproof.bench import Collected
    from noiseproof.bench.local import cores
    from noiseproof.bench.status import find_status

    records = store.records()
    collected = (Collected(grid, records, tuple(store.damaged)) for grid in grids)
    return [find_status(grid, store, workers or cores()) for grid in collected]


@group.command("list")
def list_grids(as_json: JsonOption = False) -> None:
    """Say which grids there are.

    Example: noiseproof bench list
    """
    from noiseproof.bench import grid_names, load_grid

    grids = [load_grid(name) for name in grid_names()]
    if as_json:
        rows = [
            {"name": grid.name, "title": grid.title, "cells": len(grid.cells())} for grid in grids
        ]
        print(json.dumps(rows, indent=1))
        return
    for grid in grids:
        print(f"{grid.name:<24} {len(grid.cells()):>4} cells  {grid.title}")
