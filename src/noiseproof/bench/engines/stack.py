"""Cells that are trained at once, because all of them read the same features in the same order."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from noiseproof.bench.cell import Cell
from noiseproof.bench.cells import Remaining

#: The most cells of a stack: beyond, the weights outgrow the processor's cache.
MOST = 48


@dataclass(frozen=True)
class Stack:
    """Cells of the same data, recipe and seed: heads on features, or trials for a tuned row."""

    cells: tuple[Cell, ...]

    def __str__(self) -> str:
        """Return what a line of progress calls it."""
        return f"{len(self.cells)} cells from {self.cells[0]}"


#: What one process does at a time.
Work = Cell | Stack


def cells_in(work: Work) -> tuple[Cell, ...]:
    """Return the cells of some work."""
    return work.cells if isinstance(work, Stack) else (work,)


@dataclass(frozen=True)
class Stacked(Collection[Work]):
    """Cells, those that follow each other and can be trained at once in one stack.

    Its length is the number of cells. Which cells are in one stack follows from their positions
    among all cells of a command, done or not: after a stop, the same command forms the same stacks.

    Args:
        cells: in the order to run them.
        slots: how many stacks are at work at once: no slot shall be left without any.
    """

    cells: Collection[Cell]
    slots: int

    def __len__(self) -> int:
        return len(self.cells)

    def __contains__(self, work: object) -> bool:
        return isinstance(work, Cell | Stack) and all(one in self.cells for one in cells_in(work))

    def __iter__(self) -> Iterator[Work]:
        whole = len(self.cells)
        placed: Iterator[tuple[int, Cell]] = enumerate(self.cells)
        if isinstance(self.cells, Remaining):
            whole, placed = len(self.cells.cells), self.cells.placed()
        most = max(1, min(MOST, -(-whole // self.slots)))
        held: list[Cell] = []
        number = 0
        for position, cell in placed:
            if held and (position // most != number or not _at_once(held[0], cell)):
                yield _work(held)
                held = []
            number = position // most
            held.append(cell)
        if held:
            yield _work(held)


def _work(cells: list[Cell]) -> Work:
    return Stack(tuple(cells)) if len(cells) > 1 else cells[0]


def _at_once(one: Cell, other: Cell) -> bool:
    return (
        bool(one.encoded or one.recipe.held_out)
        and (one.place.data, one.seed) == (other.place.data, other.seed)
        and one.recipe == other.recipe.override(method=one.recipe.method)
    )
