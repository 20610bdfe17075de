"""The page of a benchmark: everything a store has, in one file a colleague can read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from noiseproof.bench.collect import Collected
from noiseproof.bench.commands import bench_command
from noiseproof.bench.grid import Grid
from noiseproof.bench.leaderboard import Board, board
from noiseproof.bench.pages.section import Section
from noiseproof.bench.selection import WHOLE, Selection
from noiseproof.bench.words import count
from noiseproof.errors import DataError, ParameterError
from noiseproof.progress import SILENT, Progress
from noiseproof.report import page
from noiseproof.results import Record, Store
from noiseproof.results.verify import disagreements

RECIPES = ("paper", "quick")


@dataclass(frozen=True)
class Contents:
    """What a page shows.

    Args:
        sections: the grids that were run.
        others: runs of no grid.
        problems: a line for each damaged file, each cell whose records disagree, and each column
            trained with unequal labels.
        board: the ranks over the grids whose rows were tuned, where any were run to the end.
    """

    sections: Sequence[Section]
    others: Sequence[Record]
    problems: Sequence[str] = ()
    board: Board | None = None

    def __str__(self) -> str:
        """Return the counts in words."""
        counts = [section.collected.counts for section in self.sections]
        done = sum(each["done"] for each in counts)
        words = f"{count(len(counts), 'grid')}, {count(done, 'run')} done"
        for name in ("missing", "failed", "disputed"):
            if number := sum(each[name] for each in counts):
                words += f", {number:,} {name}"
        return words + (f", {len(self.others):,} of no grid" if self.others else "")

    def page(self, command: str) -> str:
        """Return the text of the page; ``command`` is what made it."""
        records = [record for section in self.sections for record in section.records]
        return page.render(
            "bench.html.j2",
            sections=self.sections,
            others=self.others,
            problems=self.problems,
            board=self.board,
            command=command,
            versions=sorted({record.noiseproof for record in [*records, *self.others]}),
        )


def contents(
    grids: Mapping[str, Grid],
    store: Store,
    selection: Selection = WHOLE,
    *,
    named: bool = True,
    progress: Progress = SILENT,
) -> Contents:
    """Return what a store has of some grids.

    Args:
        grids: by what the user calls them.
        store: where the records are.
        selection: what chose parts of the grids; with a recipe of its own, only that is shown.
        named: whether the user asked for these grids, each of which must have a record; if not,
            what belongs to none of them is shown too.
        progress: who is told of what takes long.
    """
    records = store.records()
    read = records, tuple(store.damaged), store.disputes
    found: list[Section] = []
    for name, grid in grids.items():
        own = [
            Section(name, Collected(variant, *read), str(store.path), selection, progress)
            for variant in ([grid] if selection.recipe else variants(grid))
            if _is_likely(variant, records.values())
        ]
        run = [section for section in own if section.records]
        if named and not run:
            raise DataError(_nothing(store, name, selection))
        found += run
    shown = {record.key for section in found for record in section.records}
    others = [] if named else [r for key, r in sorted(records.items()) if key not in shown]
    if not found and not others:
        raise DataError(_nothing(store, "digits-symmetric", WHOLE))
    problems = (
        *store.damaged, *map(str, store.disputes.values()), *disagreements(records.values())
    )  # fmt: skip
    return Contents(found, others, problems, _board(found))


def _board(sections: Iterable[Section]) -> Board | None:
    tuned = [section.collected for section in sections if section.grid.trials]
    try:
        return board(tuned) if tuned else None
    except DataError:  # nothing is complete
        return None


def _nothing(store: Store, name: str, selection: Selection) -> str:
    command = bench_command("run", name, store=store.path, selection=selection)
    return f"{store.path}: no run of {name} here; `{command}` makes them"


def _is_likely(grid: Grid, records: Iterable[Record]) -> bool:
    """Return whether any record may belong to a grid."""
    recipes = {grid.recipe_of(row).hash for row in grid.rows}
    return any(record.recipe_hash in recipes for record in records)


def variants(grid: Grid) -> list[Grid]:
    """Return a grid with its own recipe, and with the other one where that exists."""
    own = grid.recipe_of(grid.rows[0])
    found = [grid]
    for name in RECIPES:
        try:
            other = replace(grid, recipe=name)
            if own.hash != other.recipe_of(grid.rows[0]).hash:
                found.append(other)
        except ParameterError:
            continue
    return found
