"""The command figure: figures of the theory and of finished runs."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from noiseproof.cli.app import app, show, warn
from noiseproof.cli.bench import RUNS, StoreOption
from noiseproof.cli.experiment import DataOption
from noiseproof.cli.selecting import NoiseOption, RecipeOption, RowsOption
from noiseproof.errors import ParameterError, did_you_mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from noiseproof.bench.selection import Selection
    from noiseproof.progress import Progress

#: Those of ``noiseproof.bench.pages.figures``, which takes long to import.
OF_RUNS = ("tsne", "hyperparameters", "margin", "memorisation", "noise")


@app.command(short_help="Draw a figure of the paper.")
def figure(
    name: Annotated[
        str,
        typer.Argument(
            help="Theory: curves, calibration, conditions or domination. Runs: tsne, "
            "hyperparameters, margin, memorisation or noise."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The .svg, .png or .pdf file to write or replace.")],
    grid: Annotated[
        str | None, typer.Option("--grid", help="Grid or TOML file whose runs to draw.")
    ] = None,
    rows: RowsOption = None,
    noise: NoiseOption = None,
    recipe: RecipeOption = None,
    store: StoreOption = RUNS,
    data: DataOption = None,
) -> None:
    """Draw a figure of the paper, from its theory or from the runs in a store.

    Example: noiseproof figure calibration --out calibration.svg

    Example: noiseproof figure tsne --store runs --out tsne.png, after
    noiseproof bench run digits-symmetric --rows GCE,AGCE --seeds 1 --save
    """
    from noiseproof.progress import on_terminal
    from noiseproof.report.figures import FIGURES
    from noiseproof.report.pictures import check, save

    if name not in FIGURES and name not in OF_RUNS:
        raise ParameterError(f"unknown figure {name!r}{did_you_mean(name, [*FIGURES, *OF_RUNS])}")
    if name in FIGURES:
        given = {
            "grid": grid, "rows": rows, "noise": noise, "recipe": recipe, "data": data,
            "store": None if store == RUNS else store,
        }  # fmt: skip
        for option, value in given.items():
            if value is not None:
                raise ParameterError(f"--{option}: {name} is drawn from the theory, not from runs")
    check(out)
    remarks: tuple[str, ...] = ()
    with on_terminal() as progress:
        if name in FIGURES:
            drawn = FIGURES[name](progress)
        else:
            from noiseproof.bench.selection import Selection

            selection = Selection.read(rows=rows, noise=noise, recipe=recipe)
            drawn, remarks = _of_runs(name, out, grid, selection, store, data, progress)
        save(drawn, out)
    for remark in remarks:
        warn(remark)
    show(f"wrote {out}")


def _of_runs(
    name: str,
    out: Path,
    grid: str | None,
    selection: "Selection",
    store: Path,
    data: Path | None,
    progress: "Progress",
) -> "tuple[Figure, tuple[str, ...]]":
    from noiseproof.bench.pages import figures
    from noiseproof.report.pictures import check
    from noiseproof.results import Store

    draw, own_grid, own_rows = figures.FIGURES[name]
    shown = selection if selection.rows else replace(selection, rows=own_rows)
    material = figures.gather(grid or own_grid, Store(store), data, shown, progress)
    check(out, shown.inputs({material.given: material.grid}, store, out))
    drawn = draw(material)
    return drawn.figure, (*drawn.remarks, *material.collected.problems)
