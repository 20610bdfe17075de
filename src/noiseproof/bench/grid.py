"""A grid: the rows, noises and seeds of one table, as data."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

from noiseproof.bench.advised import RECOMMEND, advised_loss
from noiseproof.bench.cell import MATRIX, Cell
from noiseproof.bench.cells import Block, Cells
from noiseproof.bench.encoded import files_of
from noiseproof.bench.source import LABEL, Source, find_source
from noiseproof.bench.trials import draw_trials
from noiseproof.bench.words import doubled
from noiseproof.errors import ParameterError, did_you_mean
from noiseproof.losses import loss as read_loss
from noiseproof.losses.own import recorded_loss
from noiseproof.noise import Noise, parse
from noiseproof.results import Place
from noiseproof.results.key import is_known, matrix_hash
from noiseproof.train import Recipe
from noiseproof.train import recipe as find_recipe
from noiseproof.train.recipes import FROZEN


@lru_cache(maxsize=4096)
def spell(loss: str) -> str:
    """Return an expression as ``str(loss)`` spells it."""
    return str(read_loss(loss))


@dataclass(frozen=True)
class Row:
    """A line of the table.

    Args:
        name: what the table calls it.
        loss: an expression, such as ``"NCE + 4*AGCE(a=6, q=1.5)"``.
            Or ``"recommend"``: what :func:`noiseproof.recommend` says for each noise.
        method: ``"loss"``, or ``"nlnl"`` for its three stages.
    """

    name: str
    loss: str
    method: str = "loss"

    def under(self, noise: Noise, dataset: str) -> str:
        """Return the loss under a noise, as ``str(loss)`` spells it."""
        advised = self.loss == RECOMMEND
        return advised_loss(noise, dataset) if advised else spell(self.loss)


@dataclass(frozen=True)
class Grid:
    """One table: every row under every noise with every seed.

    Args:
        name: what the commands call it.
        title: one line for people.
        dataset: a known name, or the path of the user's own data.
        recipe: ``"paper"``, ``"quick"``, or empty for what there is; with an encoder, ``"frozen"``.
        rows: the lines.
        noises: the columns, such as ``"symmetric:0.4"``.
        seeds: of the runs a number is the mean of.
        paper: the key of the paper's table with these numbers; empty where it has none.
        overrides: fields of the recipe with values of their own.
        label: the column of labels, where the data is the user's own table.
        encoder: what makes features of the pictures for a head to be trained on; empty for none.
        head: what is trained on them, ``"linear"`` or ``"mlp"``.
        trials: how often each row is tried, the first time as given and then with other numbers;
            0 for a table without tuning. The recipe then holds labels out to choose by.
    """

    name: str
    title: str
    dataset: str
    recipe: str
    rows: tuple[Row, ...]
    noises: tuple[str, ...]
    seeds: tuple[int, ...]
    paper: str = ""
    overrides: Mapping[str, Any] = field(default_factory=dict)
    label: str = LABEL
    encoder: str = ""
    head: str = "linear"
    trials: int = 0

    @cached_property
    def source(self) -> Source:
        """What is known of the data before it is loaded."""
        return find_source(self.dataset, self.label, self.encoder)

    @property
    def files(self) -> tuple[str, ...]:
        """The user's own files that it reads: data, the encoder and noise matrices."""
        data = () if is_known(self.dataset) else (self.dataset,)
        matrices = (n.removeprefix(MATRIX) for n in self.noises if n.startswith(MATRIX))
        return (*data, *files_of(self.encoder), *matrices)

    def recipe_of(self, row: Row) -> Recipe:
        """Return the recipe of a row."""
        return self._recipe().override(**self.overrides).override(method=row.method)

    def _recipe(self) -> Recipe:
        """Return the recipe that the grid names."""
        if not self.encoder:
            return find_recipe(self.source.name, self.recipe or None, self.source.shape)
        if self.recipe not in ("", "frozen"):
            raise ParameterError(f"{self.name} trains a head on features: its recipe is 'frozen'")
        return FROZEN[self.head]

    @cached_property
    def lines(self) -> tuple[Row, ...]:
        """The rows, each followed by its other trials."""
        lines = tuple(line for row in self.rows for line in self.trials_of(row))
        if name := doubled(line.name for line in lines):
            raise ParameterError(f"{self.name}: row {name!r} has the name of a trial; rename it")
        return lines

    def trials_of(self, row: Row) -> tuple[Row, ...]:
        """Return a row as given, then its other trials; what is recommended is not tuned."""
        if not self.trials or row.loss == RECOMMEND:
            return (row,)
        _, *others = draw_trials(row.loss, self.trials)
        names = (f"{row.name} #{number}" for number in range(2, self.trials + 1))
        return (row, *(replace(row, name=n, loss=o) for n, o in zip(names, others, strict=True)))

    @cached_property
    def block(self) -> Block:
        """Its cells: every row under every noise with the first seed, then with the next."""
        specs = [parse(noise, self.source.classes, self.source.name) for noise in self.noises]
        matrices = [matrix_hash(spec) for spec in specs]
        recipes = {row.method: self.recipe_of(row) for row in self.rows}
        first = tuple(
            Cell(
                dataset=self.dataset,
                recipe=recipes[line.method],
                loss=loss,
                noise=str(specs[column]),
                seed=self.seeds[0],
                row=line.name,
                fingerprint=self.source.fingerprint,
                matrix=matrices[column],
                label=self.label,
                encoder=self.encoder,
                encoded=self.source.encoded,
            )
            for line, column, loss in self._order(specs)
        )
        return Block(first, self.seeds)

    def _order(self, specs: Sequence[Noise]) -> Iterator[tuple[Row, int, str]]:
        """Yield each line with the column and the loss there.

        Noise by noise; where rows are tuned line by line, so that trained together are those that
        share a loss.
        """
        name, columns = self.source.name, range(len(specs))
        if self.trials:
            yield from ((row, i, row.under(specs[i], name)) for row in self.lines for i in columns)
        else:
            yield from ((row, i, row.under(specs[i], name)) for i in columns for row in self.rows)

    @cached_property
    def places(self) -> dict[tuple[str, str], Place]:
        """The place of each row under each noise, by their names."""
        specs = [parse(noise, self.source.classes, self.source.name) for noise in self.noises]
        columns = {str(spec): noise for spec, noise in zip(specs, self.noises, strict=True)}
        return {(cell.row, columns[cell.noise]): cell.place for cell in self.block.first}

    def cells(self) -> Cells:
        """Return all cells, which are made when they are asked for."""
        return Cells((self.block,))

    def select(
        self,
        rows: Sequence[str] | None = None,
        noises: Sequence[str] | None = None,
        seeds: Sequence[int] | None = None,
        recipe: str | None = None,
    ) -> "Grid":
        """Return a part of the grid; None leaves all.

        A noise or seed that the grid does not have is added to it; a row must be one of its own.
        """
        grid = self
        if rows is not None:
            by_name = {row.name: row for row in self.rows}
            for name in rows:
                if name not in by_name:
                    hint = did_you_mean(name, by_name)
                    raise ParameterError(f"no row {name!r} in {self.name}{hint}")
            grid = replace(grid, rows=tuple(row for row in self.rows if row.name in rows))
        if noises is not None:
            texts = tuple(str(parse(n, self.source.classes, self.source.name)) for n in noises)
            grid = replace(grid, noises=tuple(dict.fromkeys(texts)))
        if seeds is not None:
            grid = replace(grid, seeds=tuple(dict.fromkeys(seeds)))
        if recipe is not None:
            grid = replace(grid, recipe=recipe)
            grid._recipe()  # an error now
        return grid

    def first_seeds(self, count: int) -> tuple[int, ...]:
        """Return the first ``count`` seeds; beyond the grid's own, the next whole numbers.

        >>> Grid("g", "", "digits", "quick", (), (), (1, 2, 3)).first_seeds(4)
        (1, 2, 3, 4)
        """
        last = max(self.seeds)
        more = range(last + 1, last + 1 + max(0, count - len(self.seeds)))
        return (*self.seeds, *more)[:count]

    def with_row(self, text: str) -> "Grid":
        """Return the grid with an added row, such as ``"MINE=AGCE(a=2, q=1.2)"``.

        Or ``"MINE=mine.py:Loss"``, whose code is run.
        """
        name, equals, expression = (part.strip() for part in text.partition("="))
        if not name or not equals or "(" in name:
            raise ParameterError(f"expected NAME=LOSS, as in 'MINE=AGCE(a=2, q=1.2)', got {text!r}")
        if name in {row.name for row in self.rows}:
            raise ParameterError(f"{self.name} has a row {name!r} already: choose another name")
        known = expression == RECOMMEND
        row = Row(name, expression if known else str(recorded_loss(expression)))
        return replace(self, rows=(*self.rows, row))
