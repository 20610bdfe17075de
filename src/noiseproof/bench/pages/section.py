"""One grid on a benchmark page: everything that the template asks for."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from markupsafe import Markup

from noiseproof.bench.collect import Collected
from noiseproof.bench.commands import bench_command
from noiseproof.bench.grid import Grid
from noiseproof.bench.pages.audits import AuditedRow, audit_row
from noiseproof.bench.pages.findings import findings, headline
from noiseproof.bench.pages.tables import results_table
from noiseproof.bench.selection import WHOLE, Selection
from noiseproof.progress import SILENT, Progress
from noiseproof.report import charts
from noiseproof.report.history import mean_curve, thinned
from noiseproof.report.table import render
from noiseproof.results import Record
from noiseproof.train import Recipe, describe


@dataclass(frozen=True)
class Section:
    """A grid on the page.

    Args:
        given: what the user called the grid: its name or its file.
        collected: what the store has of it.
        store: the folder, as the user gave it.
        selection: the part of the grid.
        progress: who is told of the audits.
    """

    given: str
    collected: Collected
    store: str
    selection: Selection = WHOLE
    progress: Progress = SILENT

    @property
    def grid(self) -> Grid:
        """The grid."""
        return self.collected.grid

    @property
    def anchor(self) -> str:
        """Its name within the page."""
        return f"{self.grid.name}-{self.recipe.hash[:8]}"

    @property
    def recipe(self) -> Recipe:
        """How it was trained."""
        return self.grid.recipe_of(self.grid.rows[0])

    @property
    def records(self) -> tuple[Record, ...]:
        """The records of its cells."""
        return self.collected.own

    @property
    def headline(self) -> str:
        """The sentence for the top of the page."""
        return headline(self.collected)

    @property
    def findings(self) -> tuple[str, ...]:
        """The results in words."""
        return findings(self.collected)

    @property
    def table(self) -> Markup:
        """The table of results; its texts are escaped where it is made."""
        return Markup(render(results_table(self.collected), "html"))

    @cached_property
    def rows(self) -> list[str]:
        """The names of the rows that have a result."""
        return [
            row.name
            for row in self.grid.rows
            if any(self.collected.summary(row, noise) for noise in self.grid.noises)
        ]

    def curves(self, field: str, y_label: str, noises: Sequence[str] = ()) -> list[Markup]:
        """Return one chart per noise: a field of the epochs, one line per row, mean over seeds."""
        drawn: list[Markup] = []
        if self.recipe.held_out:  # measured once: no curve
            return drawn
        for noise in noises or self.grid.noises:
            series = {n: mean_curve(self.collected.seeds(n, noise), field) for n in self.rows}
            series = {name: curve for name, curve in series.items() if _any_number(curve)}
            if series:
                kept = thinned(max(map(len, series.values())))
                chart = charts.line_chart(
                    {n: [c[i] for i in kept if i < len(c)] for n, c in series.items()},
                    [i + 1 for i in kept],
                    title=noise,
                    y_label=y_label,
                    order=self.rows,
                )
                drawn.append(chart)
        return drawn

    @property
    def noisy(self) -> list[str]:
        """The noises under which labels are wrong."""
        return [noise for noise in self.grid.noises if noise != "none"]

    @property
    def legend(self) -> Markup:
        """The legend of all its charts."""
        return charts.legend(self.rows)

    @cached_property
    def audits(self) -> list[AuditedRow]:
        """What the theory says about its losses."""
        rows = [row for row in self.grid.rows if row.name in self.rows]
        found = []
        self.progress.step(f"auditing {self.grid.name}")
        for number, row in enumerate(rows):
            self.progress.update(number, len(rows))
            if audited := audit_row(self.collected, row):
                found.append(audited)
        return found

    @property
    def described(self) -> str:
        """The recipe in full, and where it is not the paper's."""
        return describe(self.grid.source.name, self.recipe)

    @property
    def realised(self) -> dict[str, str]:
        """The realised share of wrong labels by noise, as a range over all runs."""
        rates: dict[str, list[float]] = {}
        for record in self.records:
            rates.setdefault(record.noise, []).append(100 * record.noise_rate)
        return {noise: _span(values) for noise, values in rates.items()}

    @property
    def machines(self) -> list[tuple[str, int]]:
        """The machines and versions of the runs, with counts."""
        return Counter(map(_machine, self.records)).most_common()

    @property
    def hours(self) -> float:
        """The total time of its runs."""
        return sum(record.seconds for record in self.records) / 3600

    @property
    def failures(self) -> list[str]:
        """The runs that failed, one line each."""
        return [str(record) for record in self.collected.failed]

    @property
    def command(self) -> str:
        """The command that runs it again; what is in the store is not run twice."""
        selection = replace(self.selection, recipe=self.recipe.name)
        return bench_command("run", self.given, store=self.store, selection=selection)


def _any_number(curve: Iterable[float | None]) -> bool:
    """Return whether there is anything to draw."""
    return any(value is not None for value in curve)


def _machine(record: Record) -> str:
    found = record.machine
    words = [
        str(found.get("system", "unknown system")),
        f"{found.get('device', 'unknown device')}, threads {found.get('threads', '?')}",
        f"Python {found.get('python', '?')}",
        f"torch {found.get('torch', '?')}",
        f"noiseproof {record.noiseproof}",
    ]
    return ", ".join(words)


def _span(values: Sequence[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return f"{low} %" if low == high else f"{low} to {high} %"
