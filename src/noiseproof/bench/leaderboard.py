"""The leaderboard of losses: ranks over every data set and noise, before and after tuning."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noiseproof.bench.collect import Collected
from noiseproof.bench.grid import Row
from noiseproof.bench.grid_file import LEADERBOARD
from noiseproof.bench.words import doubled
from noiseproof.errors import DataError
from noiseproof.extras import need
from noiseproof.noise import stream
from noiseproof.results import Record

#: Resamplings of the columns for an interval.
_RESAMPLED = 2000

Numbers = NDArray[np.float64]


class Column(NamedTuple):
    """A data set with a noise."""

    grid: str
    noise: str

    @property
    def data(self) -> str:
        """What the page calls the data set."""
        return self.grid.removeprefix(f"{LEADERBOARD}-")

    def __str__(self) -> str:
        return f"{self.data} {self.noise}"


@dataclass(frozen=True)
class Score:
    """How a loss did over all columns. Accuracies are in per cent, intervals of 95 %.

    Args:
        rank: the mean rank, 1 for the best.
        rank_interval: of the mean rank.
        mean: the mean accuracy.
        mean_interval: of the mean accuracy.
        worst: the lowest accuracy.
        where: the column of the lowest.
    """

    rank: float
    rank_interval: tuple[float, float]
    mean: float
    mean_interval: tuple[float, float]
    worst: float
    where: str


@dataclass(frozen=True)
class Board:
    """Every loss under every noise of every data set, in per cent.

    Args:
        columns: what was run to the end for every row.
        rows: by name, the loss with its authors' parameters, those of the last data set.
        authors: (columns, rows) accuracy with the authors' parameters.
        tuned: the same with the parameters that do best on held-out noisy labels.
        trials: how many were tried for each row.
        missing: columns that were not run, or not to the end.
    """

    columns: tuple[Column, ...]
    rows: Mapping[str, str]
    authors: Numbers
    tuned: Numbers
    trials: int
    missing: tuple[Column, ...] = ()

    @cached_property
    def scores(self) -> tuple[dict[str, Score], dict[str, Score]]:
        """The scores by row, with the authors' parameters and tuned."""
        return self._score(self.authors), self._score(self.tuned)

    @property
    def order(self) -> list[str]:
        """The rows, the best mean rank with the authors' parameters first."""
        return sorted(self.rows, key=lambda name: self.scores[0][name].rank)

    @property
    def critical_difference(self) -> float:
        """Two mean ranks further apart than this differ, by Nemenyi's test at 5 %.

        The columns share data sets, so they are fewer in effect than in number: take it as the
        least difference that is worth talking of.
        """
        need("fit", "scipy")
        from scipy.stats import studentized_range

        k, n = len(self.rows), len(self.columns)
        q = float(studentized_range.ppf(0.95, k, np.inf)) / math.sqrt(2)
        return q * math.sqrt(k * (k + 1) / (6 * n))

    def at_least_as_good(self, name: str, tuned: bool = False) -> dict[str, float]:
        """Return for every other row in how many columns, as a share, ``name`` is not worse.

        Args:
            name: a row, with its authors' parameters.
            tuned: whether the others are tuned.
        """
        own = self.authors[:, self._index(name)]
        others = self.tuned if tuned else self.authors
        return {
            other: float((own >= others[:, index]).mean())
            for index, other in enumerate(self.rows)
            if other != name
        }

    def by_data(self) -> dict[str, tuple[Numbers, Numbers]]:
        """Return the mean accuracies of the rows for each data set, authors' and tuned."""
        names = [column.data for column in self.columns]
        return {
            data: (self.authors[at].mean(axis=0), self.tuned[at].mean(axis=0))
            for data in dict.fromkeys(names)
            if len(at := np.flatnonzero([name == data for name in names]))
        }

    def _index(self, name: str) -> int:
        return list(self.rows).index(name)

    def _score(self, accuracy: Numbers) -> dict[str, Score]:
        need("fit", "scipy")
        from scipy.stats import rankdata

        ranks = rankdata(-accuracy, axis=1)
        count = len(self.columns)
        drawn = stream(1, "bootstrap of the leaderboard").integers(count, size=(_RESAMPLED, count))
        intervals = [
            np.percentile(x[drawn].mean(axis=1), (2.5, 97.5), 0) for x in (ranks, accuracy)
        ]
        lowest = accuracy.argmin(axis=0)
        return {
            name: Score(
                rank=float(ranks[:, i].mean()),
                rank_interval=(float(intervals[0][0, i]), float(intervals[0][1, i])),
                mean=float(accuracy[:, i].mean()),
                mean_interval=(float(intervals[1][0, i]), float(intervals[1][1, i])),
                worst=float(accuracy[lowest[i], i]),
                where=str(self.columns[lowest[i]]),
            )
            for i, name in enumerate(self.rows)
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        authors, tuned = self.scores
        return {
            "columns": [list(column) for column in self.columns],
            "missing": [list(column) for column in self.missing],
            "trials": self.trials,
            "critical_difference": self.critical_difference,
            "rows": [
                {
                    "name": name,
                    "loss": loss,
                    "authors": vars(authors[name]),
                    "tuned": vars(tuned[name]),
                    "accuracy": self.authors[:, i].tolist(),
                    "tuned_accuracy": self.tuned[:, i].tolist(),
                }
                for i, (name, loss) in enumerate(self.rows.items())
            ],
        }


def board(collected: Sequence[Collected]) -> Board:
    """Return the leaderboard of some grids with the same rows; what is not complete is left out.

    Args:
        collected: what a store has of each grid.
    """
    rows = {row.name: row.loss for found in collected for row in found.grid.rows}
    if len(rows) < 2:
        raise DataError("a leaderboard ranks two rows or more")
    if data := doubled(Column(found.grid.name, "").data for found in collected):
        raise DataError(f"two grids are called {data!r}: give each file a name of its own")
    for found in collected:
        if not found.grid.trials:
            raise DataError(
                f"{found.grid.name} has no trials to tune losses by, which a leaderboard needs; "
                "`noiseproof bench table` shows it"
            )
    columns, missing, authors, tuned = [], [], list[list[float]](), list[list[float]]()
    for found in collected:
        mine = {row.name: row for row in found.grid.rows}
        for noise in found.grid.noises:
            # In the order of `rows`, which the grid's own may not be.
            pairs = [_pair(found, mine[name], noise) for name in rows if name in mine]
            complete = [pair for pair in pairs if pair]
            column = Column(found.grid.name, noise)
            if len(complete) < len(rows):
                missing.append(column)
                continue
            columns.append(column)
            authors.append([pair[0] for pair in complete])
            tuned.append([pair[1] for pair in complete])
    if not columns:
        raise DataError("no data set and noise that every row of the leaderboard was run under")
    trials = max(found.grid.trials for found in collected)
    numbers = 100 * np.array(authors), 100 * np.array(tuned)
    return Board(tuple(columns), rows, *numbers, trials, tuple(missing))


def _pair(found: Collected, row: Row, noise: str) -> tuple[float, float] | None:
    """Return the accuracy of a row as given, and of its best trial; None until all are run."""
    trials = [found.seeds(line, noise) for line in found.grid.trials_of(row)]
    if any(len(records) < len(found.grid.seeds) for records in trials):
        return None
    best = max(trials, key=lambda records: _mean(records, held_out=True))
    return _mean(trials[0]), _mean(best)


def _mean(records: Iterable[Record], held_out: bool = False) -> float:
    """Return the mean accuracy over seeds; a run that failed has learnt nothing, and counts 0."""
    values = []
    for record in records:
        last = record.outcome.last if record.status == "done" else None
        values.append(0.0 if last is None else (last.held_out if held_out else last.test_accuracy))
    return float(np.mean([value or 0.0 for value in values]))
