"""The table of a grid: what was found, beside the paper's numbers."""

from collections.abc import Iterable
from dataclasses import replace

from noiseproof.bench.advised import RECOMMEND
from noiseproof.bench.collect import Collected
from noiseproof.bench.encoded import short_name
from noiseproof.bench.grid import Grid, Row, spell
from noiseproof.bench.words import count
from noiseproof.errors import ParameterError, did_you_mean
from noiseproof.known import KNOWN
from noiseproof.paper import DATASETS, PARAMETERS, paper_number
from noiseproof.report import table as report
from noiseproof.report.history import mean_curve
from noiseproof.train.recipes import known_recipe


def results_table(collected: Collected) -> report.Table:
    """Return the table of what a store has of a grid.

    Args:
        collected: the grid and its records.
    """
    grid = collected.grid
    if grid.paper and grid.paper not in DATASETS:
        raise ParameterError(
            f"{grid.name}: no table {grid.paper!r} in the paper{did_you_mean(grid.paper, DATASETS)}"
        )
    recipe = grid.recipe_of(Row("", "CE"))
    return report.Table(
        title=grid.title,
        columns=grid.noises,
        rows=tuple(
            report.Row(row.name, row.loss, tuple(_entry(collected, row, n) for n in grid.noises))
            for row in grid.rows
        ),
        notes=(
            *_recipe(grid),
            *_other_ways(grid),
            *_other_losses(grid),
            *(_memorised(collected) if grid.encoder else ()),
        ),
        about={
            "grid": grid.name,
            "dataset": grid.source.name,
            "recipe": recipe.name,
            "recipe_hash": recipe.hash,
        },
    )


def _entry(collected: Collected, row: Row, noise: str) -> report.Entry:
    grid = collected.grid
    empty = report.Entry(
        planned=len(grid.seeds),
        failed=sum(record.status == "failed" for record in collected.seeds(row, noise)),
        paper=paper_number(grid.paper, row.name, noise),
    )
    summary = collected.summary(row, noise)
    if summary is None:
        return empty
    std = None if summary.std is None else 100 * summary.std
    return replace(empty, mean=100 * summary.mean, std=std, count=summary.count)


def _recipe(grid: Grid) -> tuple[str, ...]:
    """Say how the numbers were made, and where that is not the paper's way."""
    recipe = grid.recipe_of(Row("", "CE"))
    epochs = count(recipe.epochs, "epoch")
    said = f"Recipe {recipe.name} ({recipe.hash[:12]}): {recipe.network}, {epochs}."
    if grid.encoder:
        article = "an" if recipe.network == "mlp" else "a"
        what = f"{article} {recipe.network} head on features of {short_name(grid.encoder)}"
        if recipe.train_size:
            what += f", {recipe.train_size:,} training images drawn by the seed"
        return (f"Recipe {recipe.name} ({recipe.hash[:12]}): {what}, {epochs}. "
                "The encoder is not trained; the paper trains a network.",)  # fmt: skip
    name = grid.source.name
    papers = known_recipe(name, "paper")
    if papers is None:
        return (f"{said} The paper has no recipe for {name}.",)
    changes = recipe.changes(papers)
    if not changes:
        return (f"{said} It is the paper's.",)
    return (f"{said} Deviations from the paper's: {', '.join(changes)}.",)


def _memorised(collected: Collected) -> Iterable[str]:
    """Say how many of the wrong labels each row learnt by heart."""
    for noise in collected.grid.noises:
        curves = {
            row.name: mean_curve(collected.seeds(row, noise), "corrupted_part")
            for row in collected.grid.rows
        }
        ends = {name: c[-1] for name, c in curves.items() if c and c[-1] is not None}
        if ends:
            said = ", ".join(f"{name} {100 * share:.1f}" for name, share in ends.items())
            yield f"Accuracy on wrong training labels, last epoch, {noise}: {said}."


def _other_ways(grid: Grid) -> tuple[str, ...]:
    """Name what the recipe does not say: rows with a method, and noise unlike the paper's."""
    ways = [
        f"{row.name} is trained by the method {row.method}."
        for row in grid.rows
        if row.method != "loss"
    ]
    corrected = any(n.startswith("asymmetric:") and n.count(":") == 1 for n in grid.noises)
    entry = KNOWN.get(grid.dataset)
    if corrected and grid.paper and entry and entry.released_otherwise:
        ways.append(
            "The code that made the paper's numbers flips other labels for asymmetric noise; "
            f"{entry.released_otherwise}. Noise such as asymmetric:0.4:released is its own."
        )
    return tuple(ways)


def _other_losses(grid: Grid) -> tuple[str, ...]:
    """Name the rows whose loss is not the one the paper's number was made with."""
    printed = PARAMETERS.get(grid.paper, {})
    pairs = ((row, text) for row in grid.rows if (text := printed.get(row.name)) is not None)
    return tuple(
        f"{row.name} is {row.loss} here, in the paper {text}."
        for row, text in pairs
        if row.loss == RECOMMEND or spell(row.loss) != spell(text)
    )
