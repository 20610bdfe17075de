"""The cells of grids, made one at a time: a million seeds cost nothing to count or to begin."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self, overload

from noiseproof.bench.cell import Cell
from noiseproof.results import Place


@dataclass(frozen=True)
class Block:
    """Some places of a table with the same seeds: all places with the first seed, then the next.

    Args:
        first: the cells of one seed.
        seeds: all the seeds.
    """

    first: tuple[Cell, ...]
    seeds: Sequence[int]

    def __len__(self) -> int:
        return len(self.first) * len(self.seeds)

    def __getitem__(self, index: int) -> Cell:
        seed, place = divmod(index, len(self.first))
        return self.first[place].with_seed(self.seeds[seed])

    @cached_property
    def _places(self) -> dict[Place, int]:
        return {cell.place: index for index, cell in enumerate(self.first)}

    @cached_property
    def _seeds(self) -> dict[int, int]:
        return {seed: index for index, seed in enumerate(self.seeds)}

    def index(self, place: Place, seed: int) -> int | None:
        """Return the position of a cell; None for a cell of another block."""
        if place not in self._places or seed not in self._seeds:
            return None
        return self._seeds[seed] * len(self.first) + self._places[place]


@dataclass(frozen=True)
class Cells(Sequence[Cell]):
    """Blocks of cells one after the other, or every n-th cell of them.

    Args:
        blocks: they have no cell in common.
        shard: (i, n) is the i-th of n parts.
    """

    blocks: tuple[Block, ...]
    shard: tuple[int, int] = (1, 1)

    def __len__(self) -> int:
        part, parts = self.shard
        return len(range(part - 1, sum(map(len, self.blocks)), parts))

    @overload
    def __getitem__(self, index: int) -> Cell: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Cell, ...]: ...
    def __getitem__(self, index: int | slice) -> Cell | tuple[Cell, ...]:
        """Make the cell at a position, or those of a slice."""
        positions = range(len(self))[index]
        if isinstance(positions, range):
            return tuple(map(self._at, positions))
        return self._at(positions)

    def _at(self, position: int) -> Cell:
        part, parts = self.shard
        index = part - 1 + position * parts
        for block in self.blocks:
            if index < len(block):
                return block[index]
            index -= len(block)
        raise IndexError(position)

    def position(self, place: Place, seed: int) -> int | None:
        """Return the position of a cell; None where it is not among these."""
        part, parts = self.shard
        before = 0
        for block in self.blocks:
            if (index := block.index(place, seed)) is not None:
                position, rest = divmod(before + index - (part - 1), parts)
                return position if not rest else None
            before += len(block)
        return None


@dataclass(frozen=True)
class Remaining(Collection[Cell]):
    """The cells that are left to run.

    Args:
        cells: all cells.
        done: the positions of those that need not be run.
    """

    cells: Cells
    done: frozenset[int]

    @classmethod
    def of(cls, cells: Cells, done: Iterable[tuple[Place, int]]) -> Self:
        """Return the cells without the given ones, each named by its place and seed."""
        positions = (cells.position(place, seed) for place, seed in done)
        return cls(cells, frozenset(index for index in positions if index is not None))

    def __len__(self) -> int:
        return len(self.cells) - len(self.done)

    def __iter__(self) -> Iterator[Cell]:
        return (cell for _, cell in self.placed())

    def placed(self) -> Iterator[tuple[int, Cell]]:
        """Yield the cells with their positions among all cells."""
        return ((i, self.cells[i]) for i in range(len(self.cells)) if i not in self.done)

    def __contains__(self, cell: object) -> bool:
        if not isinstance(cell, Cell):
            return False
        position = self.cells.position(cell.place, cell.seed)
        return position is not None and position not in self.done


def merge(blocks: Iterable[Block], shard: tuple[int, int] = (1, 1)) -> Cells:
    """Return the cells of blocks that may overlap, each cell once.

    >>> from noiseproof.bench import load_grid
    >>> grid = load_grid("digits-symmetric")
    >>> cells = merge([grid.block, grid.select(rows=["CE"], seeds=range(1, 1_000_001)).block])
    >>> len(cells), str(cells[-1])
    (5000195, 'CE symmetric:0.8 seed 1000000')
    """
    merged: list[Block] = []
    taken: dict[Place, list[frozenset[int]]] = {}
    for block in blocks:
        seeds = frozenset(block.seeds)
        once = {cell.place: cell for cell in reversed(block.first)}
        groups: dict[tuple[int, ...], list[Cell]] = {}  # by the seeds that were taken before
        for place, cell in reversed(once.items()):
            groups.setdefault(tuple(map(id, taken.setdefault(place, []))), []).append(cell)
        for cells in groups.values():
            old = frozenset[int]().union(*taken[cells[0].place])
            left = tuple(seed for seed in block.seeds if seed not in old) if old else block.seeds
            if left:
                merged.append(Block(tuple(cells), left))
        for place in once:
            taken[place].append(seeds)
    return Cells(tuple(merged), shard)
