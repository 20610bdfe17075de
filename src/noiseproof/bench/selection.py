"""The part of a grid that a command selects: parsed once, applied to any grid, written back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from noiseproof.bench.grid import Grid
from noiseproof.bench.grid_file import expand, grid_names, load_grid
from noiseproof.errors import ParameterError
from noiseproof.losses.own import loss_files
from noiseproof.results.pack import SUFFIX


@dataclass(frozen=True)
class Selection:
    """A part of a grid, plus added rows.

    Args:
        added: rows more, such as ``"MINE=AGCE(a=2, q=1.2)"``.
        rows: the names of those of the grid's own to take; None takes all.
        noises: the columns; None takes the grid's.
        seeds: how many; None takes the grid's.
        recipe: ``"paper"`` or ``"quick"``; None takes the grid's.

    >>> chosen = Selection.read(rows=["CE,AGCE"], seeds=1)
    >>> [(row.name, len(grid.cells())) for grid in [chosen.grid("digits-symmetric")]
    ...  for row in grid.rows]
    [('CE', 10), ('AGCE', 10)]
    >>> chosen.options
    ('--rows', 'CE,AGCE', '--seeds', '1')
    """

    added: tuple[str, ...] = ()
    rows: tuple[str, ...] | None = None
    noises: tuple[str, ...] | None = None
    seeds: int | None = None
    recipe: str | None = None

    @classmethod
    def read(
        cls,
        add_loss: Sequence[str] | None = None,
        rows: Sequence[str] | None = None,
        noise: Sequence[str] | None = None,
        seeds: int | None = None,
        recipe: str | None = None,
    ) -> "Selection":
        """Read the options of a command line, each of which may be repeated or hold commas."""
        return cls(tuple(add_loss or ()), _words(rows), _words(noise), seeds, recipe)

    @property
    def options(self) -> tuple[str, ...]:
        """The options that select the same again."""
        pairs = [
            *(("--add-loss", text) for text in self.added),
            *([("--rows", ",".join(self.rows))] if self.rows is not None else []),
            *([("--noise", ",".join(self.noises))] if self.noises is not None else []),
            *([("--seeds", str(self.seeds))] if self.seeds is not None else []),
            *([("--recipe", self.recipe)] if self.recipe is not None else []),
        ]
        return tuple(word for pair in pairs for word in pair)

    def apply(self, grid: Grid) -> Grid:
        """Return the selected part of a grid, added rows included."""
        own = len(grid.rows)
        for text in self.added:
            grid = grid.with_row(text)
        rows = self.rows and (*self.rows, *(row.name for row in grid.rows[own:]))
        seeds = None if self.seeds is None else grid.first_seeds(self.seeds)
        return grid.select(rows, self.noises, seeds, self.recipe)

    def grid(self, name: str) -> Grid:
        """Return the selected part of a grid, given by name or file."""
        return self.apply(load_grid(name))

    def grids(self, names: Iterable[str]) -> dict[str, Grid]:
        """Return the selected parts of some grids, by name or file, each once."""
        return {name: self.grid(name) for name in expand(names)}

    def inputs(self, grids: Mapping[str, Grid], store: Path, out: Path) -> tuple[str | Path, ...]:
        """Return what a command reads that writes ``out`` from a store: that is never replaced."""
        own = (name for name in grids if name.endswith(".toml"))
        data = (file for grid in grids.values() for file in grid.files)
        # In a folder of records, a report is no record.
        records = store if store.is_file() or out.name.endswith((".json", SUFFIX)) else None
        losses = (file.path for file in loss_files())
        return (*own, *data, *losses, *([records] if records else []))

    def suiting(self) -> dict[str, Grid]:
        """Return the selected part of every grid that has one, by name."""
        found: dict[str, Grid] = {}
        for name in grid_names():
            try:
                found[name] = self.grid(name)
            except ParameterError as error:  # it has no such row or recipe
                mistake = error
        if not found:
            raise mistake
        return found


#: Of every grid, all that it has.
WHOLE = Selection()


def _words(texts: Sequence[str] | None) -> tuple[str, ...] | None:
    """Split at commas outside parentheses: rows may be called AGCE(a=1, q=2)."""
    if texts is None:
        return None
    words, depth = [""], 0
    for letter in ",".join(texts):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth <= 0:
            words.append("")
        else:
            words[-1] += letter
    return tuple(word.strip() for word in words)
