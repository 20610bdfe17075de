"""Cells that are trained at once, because all of them read the same features in the same order."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from noiseproof.bench.cell import Cell

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

    Its length is the number of cells.

    Args:
        cells: in the order to run them.
        slots: how many stacks are at work at once: no slot shall be left without any.
        stopped: the sizes of the stacks that were stopped. The first stacks have these sizes, so
            that the same cells are in one stack again, and resume from its checkpoint.
    """

    cells: Collection[Cell]
    slots: int
    stopped: Collection[int] = ()

    def __len__(self) -> int:
        return len(self.cells)

    def __contains__(self, work: object) -> bool:
        return isinstance(work, Cell | Stack) and all(one in self.cells for one in cells_in(work))

    def __iter__(self) -> Iterator[Work]:
        usual = min(MOST, -(-len(self.cells) // self.slots))
        stopped = [size for size in self.stopped if 1 < size <= MOST]
        held: list[Cell] = []
        for cell in self.cells:
            most = max(stopped, default=usual)
            if held and (len(held) == most or not _at_once(held[0], cell)):
                yield _work(held)
                if stopped and len(held) > 1:
                    # A size that no stack comes to is that of another grid.
                    stopped.remove(len(held) if len(held) in stopped else most)
                held = []
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
