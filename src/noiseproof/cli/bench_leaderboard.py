"""bench leaderboard: the ranks of all losses, over every data set and noise of the leaderboard."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noiseproof.cli.app import print_json, show, show_text, warn
from noiseproof.cli.bench import StoreOption, check_there, group
from noiseproof.cli.options import JsonOption
from noiseproof.cli.selecting import selecting
from noiseproof.errors import DataError, ParameterError

if TYPE_CHECKING:
    from noiseproof.bench.leaderboard import Board
    from noiseproof.bench.selection import Selection


@group.command("leaderboard", short_help="Rank the losses over all data sets.")
@selecting
def show_leaderboard(
    selection: "Selection",
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Grids with trials, or your own TOML files (default: the leaderboard's).",
        ),
    ] = None,
    store: StoreOption = Path("runs"),
    out: Annotated[
        Path | None, typer.Option(help="Markdown file to write or replace (default: print it).")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Also draw the ranks: an .svg, .png or .pdf file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Rank the losses, with their authors' parameters and tuned by noisy labels.

    Example: noiseproof bench leaderboard --store results

    Example, with a loss of your own, after `noiseproof bench run leaderboard` with the same option:
    noiseproof bench leaderboard --add-loss "MINE=AGCE(a=2, q=1.2)"
    """
    from noiseproof import files
    from noiseproof.bench.collect import collect_all
    from noiseproof.bench.commands import bench_command
    from noiseproof.bench.grid_file import LEADERBOARD
    from noiseproof.bench.leaderboard import board
    from noiseproof.bench.pages.leaderboard_page import page
    from noiseproof.report.pictures import check
    from noiseproof.results import Store

    check_there(store)
    grids = selection.grids(names or [LEADERBOARD])
    if out is not None:
        files.check_file(out, force=True, inputs=selection.inputs(grids, store, out))
    if figure is not None:
        check(figure, selection.inputs(grids, store, figure))
        if out is not None and out.resolve() == figure.resolve():
            raise ParameterError(f"--out and --figure are the same file, {out}")
    collected = collect_all(grids.values(), Store(store))
    for line in dict.fromkeys(line for part in collected for line in part.problems):
        warn(line)
    if not any(part.counts["done"] for part in collected):
        command = bench_command("run", *(names or [LEADERBOARD]), store=store, selection=selection)
        raise DataError(f"{store}: no run of the leaderboard here; `{command}` makes them")
    found = board(collected)
    if out is not None:
        files.write(out, page(found))
    if figure is not None:
        _draw(found, figure)
    if as_json:
        print_json(found.to_dict())
    elif out is None:
        show_text(page(found))
    for path in (out, figure):
        if path is not None and not as_json:
            show(f"wrote {path}")


def _draw(found: "Board", path: Path) -> None:
    from noiseproof.report.figures.ranks import ranks
    from noiseproof.report.pictures import save

    authors, tuned = ({n: s.rank for n, s in scores.items()} for scores in found.scores)
    save(ranks(authors, tuned, found.critical_difference, len(found.columns)), path)
