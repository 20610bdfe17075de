"""Figures of runs: each takes what it needs from a store and says what is missing."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure

from noiseproof.bench.collect import Collected, collect_all
from noiseproof.bench.commands import bench_command
from noiseproof.bench.grid import Grid
from noiseproof.bench.pages.audits import smallest_margin
from noiseproof.bench.pages.report import variants
from noiseproof.bench.selection import WHOLE, Selection
from noiseproof.bench.source import load_data
from noiseproof.data import Dataset, TrainTest
from noiseproof.errors import DataError
from noiseproof.progress import SILENT, Progress
from noiseproof.report import figures
from noiseproof.report.figures.hyperparameters import split
from noiseproof.report.figures.margin import Point
from noiseproof.report.figures.tsne import Features
from noiseproof.results import Record, Store, load_model
from noiseproof.train import Experiment, prepare

#: Of the test samples, so many more or less a saved network may have right than its record says:
#: another processor rounds otherwise.
_FEW, _OTHERWISE = 3, 0.02


@dataclass(frozen=True, eq=False)
class Drawn:
    """A figure, and what is missing from it.

    Args:
        figure: to be saved.
        remarks: a line each, with the command that would make what is missing.
    """

    figure: Figure
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Material:
    """What a figure is drawn from.

    Args:
        collected: what the store has of the grid.
        store: the store.
        data: where the data sets are.
        given: what the user calls the grid: its name or its file.
        selection: the part of it.
        progress: who is told of what takes long.
    """

    collected: Collected
    store: Store
    data: Path | None = None
    given: str = ""
    selection: Selection = WHOLE
    progress: Progress = SILENT

    @property
    def grid(self) -> Grid:
        """The grid that the figures are drawn from."""
        return self.collected.grid

    def seeds(self, row: str, noise: str) -> list[Record]:
        """Return the finished runs of a cell."""
        return [r for r in self.collected.seeds(row, noise) if r.status == "done"]

    @property
    def whole(self) -> TrainTest[Any]:
        """The data set."""
        found: TrainTest[Any] = load_data(
            self.grid.dataset,
            self.data,
            self.grid.source.fingerprint,
            self.grid.label,
            self.grid.encoder,
        )
        return found

    def experiment(self, record: Record, noise: str) -> Experiment:
        """Draw the data and the noise of a record again; they must equal those of the run.

        Args:
            record: of the run.
            noise: as the grid has it; the file of a matrix may have been elsewhere at the run.
        """
        found = prepare(self.whole, record.recipe, record.loss, noise, record.seed, self.data)
        if found.corruption.hash != record.noise_hash or found.identity != record.identity:
            raise DataError(
                f"{record.loss} under {record.noise}, seed {record.seed}: not the data or not the "
                f"noise of the run (noisy labels {found.corruption.hash[:12]}, recorded "
                f"{record.noise_hash[:12]})"
            )
        return found

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""
        names: tuple[str, ...] = self.whole.train.classes
        return names

    def command(self, *options: str) -> str:
        """Return the command that runs what is missing."""
        selection = replace(self.selection, recipe=self.grid.recipe_of(self.grid.rows[0]).name)
        name, store = self.given or self.grid.name, self.store.path
        return bench_command("run", name, store=store, selection=selection, options=options)


def gather(
    name: str,
    store: Store,
    data: Path | None = None,
    selection: Selection = WHOLE,
    progress: Progress = SILENT,
) -> Material:
    """Return what a store has of a grid, with the recipe that was used most.

    Args:
        name: what the user calls the grid: its name or its file.
        store: where the records are.
        data: where the data sets are.
        selection: the part of the grid; with a recipe of its own, that and no other.
        progress: who is told of what takes long.
    """
    grid = selection.grid(name)
    recipes = [grid] if selection.recipe else variants(grid)
    most = max(collect_all(recipes, store), key=lambda c: c.counts["done"])
    return Material(most, store, data, name, selection, progress)


def memorisation(material: Material) -> Drawn:
    """Draw the accuracy on clean and on corrupted training labels by epoch."""
    grid = material.grid
    _need_curves(material)
    panels = {
        noise: {row.name: material.seeds(row.name, noise) for row in grid.rows}
        for noise in grid.noises
        if noise != "none"
    }
    panels = {noise: rows for noise, rows in panels.items() if any(rows.values())}
    if not panels:
        raise DataError(_nothing(material, "no run with wrong labels", material.command()))
    return Drawn(figures.memorisation(panels), _missing(material))


def hyperparameters(material: Material) -> Drawn:
    """Draw the test accuracy by epoch, one line per parameter, under the last noise of the grid."""
    grid = material.grid
    _need_curves(material)
    noise = grid.noises[-1]
    lines = Counter(split(row.loss) for row in grid.rows)  # trained by two methods, it is on two
    runs = {
        row.loss if lines[split(row.loss)] == 1 else f"{row.name}: {row.loss}": seeds
        for row in grid.rows
        if (seeds := material.seeds(row.name, noise))
    }
    if not runs:
        raise DataError(_nothing(material, f"no run under {noise}", material.command()))
    return Drawn(figures.hyperparameters(runs, noise), _missing(material))


def margin(material: Material) -> Drawn:
    """Draw the margin c * r against the accuracy lost to each noise, from clean labels."""
    grid, records = material.grid, material.collected.records
    clean = Collected(grid.select(noises=["none"]), records)
    panels: dict[str, list[Point]] = {}
    for name in grid.noises:
        for row in grid.rows if name != "none" else ():
            before, after = clean.summary(row, "none"), material.collected.summary(row, name)
            value = smallest_margin(grid, row.loss, name)
            if before and after and value is not None:
                lost = 100 * (before.mean - after.mean)
                panels.setdefault(name, []).append(Point(row.name, value, lost))
    if not panels:
        what = "no row that was run with clean labels and with wrong ones"
        wrong = [name for name in grid.noises if name != "none"]
        whole = not wrong or (len(wrong) < len(grid.noises) and not material.selection.noises)
        noises = None if whole else ("none", *wrong)
        both = replace(material, selection=replace(material.selection, noises=noises))
        raise DataError(_nothing(material, what, both.command()))
    return Drawn(figures.margin(panels), _missing(material))


def noise(material: Material) -> Drawn:
    """Draw the realised transition matrices; the noise is drawn again and checked by its hash."""
    grid, drawn = material.grid, {}
    for name in grid.noises:
        runs = [record for row in grid.rows for record in material.seeds(row.name, name)[:1]]
        if runs and name != "none":
            drawn[name] = material.experiment(runs[0], name).corruption
    if not drawn:
        raise DataError(_nothing(material, "no run with wrong labels", material.command()))
    absent = [name for name in grid.noises if name not in (*drawn, "none")]
    remark = f"no run under {', '.join(absent)}; `{material.command()}` makes them"
    return Drawn(figures.noise(drawn, material.classes), (remark,) if absent else ())


def tsne(material: Material) -> Drawn:
    """Draw a t-SNE of the last layer's inputs: one row per loss, one panel per noise."""
    grid = material.grid
    names = [row.name for row in grid.rows]
    command = material.command("--seeds", "1", "--save")
    found: dict[str, dict[str, Features | None]] = {}
    for row in names:
        found[row] = {}
        for name in grid.noises:
            saved = [r for r in material.seeds(row, name) if material.store.files(r).model.exists()]
            found[row][name] = _features(material, saved[0], name) if saved else None
    absent = [f"{row} {name}" for row in found for name, f in found[row].items() if f is None]
    if len(absent) == len(names) * len(grid.noises):
        raise DataError(_nothing(material, f"no saved network of {' or '.join(names)}", command))
    remark = f"no saved network for {', '.join(absent)}; `{command}` makes them"
    drawn = figures.tsne(found, material.classes, progress=material.progress)
    return Drawn(drawn, (remark,) if absent else ())


@torch.no_grad()
def _features(material: Material, record: Record, noise: str) -> Features:
    path = material.store.files(record).model
    model = load_model(path)
    if model.record.get("identity") != record.identity:
        raise DataError(f"{path}: the network of another run")
    test = material.experiment(record, noise).test
    if not isinstance(test, Dataset):
        raise DataError(f"{record.dataset} is too large for this figure")
    inputs = torch.split(test.inputs, 500)
    values = torch.cat([model.network.features(model.pipeline(part)) for part in inputs])
    right = int((model.network.head(values).argmax(1) == test.labels).sum())
    expected = round((record.accuracy or 0) * len(test))
    if not values.isfinite().all() or abs(right - expected) > _FEW + _OTHERWISE * len(test):
        raise DataError(
            f"{path}: not the network of its record: {right:,} of {len(test):,} are right, where "
            f"the record has {expected:,}; remove both"
        )
    return Features(np.asarray(values), np.asarray(test.labels), right / len(test))


def _need_curves(material: Material) -> None:
    """Raise DataError for runs that hold labels out: they are measured after the last epoch."""
    grid = material.grid
    if grid.recipe_of(grid.rows[0]).held_out:
        command = "leaderboard" if grid.trials else "table"
        raise DataError(
            f"the runs of {grid.name} are measured once, after the last epoch, so there is no "
            f"curve to draw; `noiseproof bench {command}` shows what they have"
        )


def _missing(material: Material) -> tuple[str, ...]:
    counts = material.collected.counts
    told = {
        f"are missing; `{material.command()}` makes them": counts["missing"],
        "failed, and would fail again": counts["failed"],
    }
    return tuple(f"{n} of {counts['cells']} runs {what}" for what, n in told.items() if n)


def _nothing(material: Material, what: str, command: str) -> str:
    return f"{material.store.path}: {what} in {material.grid.name}; `{command}` makes them"


#: By name: what draws it, the grid it is of unless told otherwise, and the rows it shows.
FIGURES: dict[str, tuple[Callable[[Material], Drawn], str, tuple[str, ...] | None]] = {
    "tsne": (tsne, "digits-symmetric", ("GCE", "AGCE")),
    "hyperparameters": (hyperparameters, "cifar10-hyperparameters", None),
    "margin": (margin, "digits-symmetric", None),
    "memorisation": (memorisation, "digits-symmetric", None),
    "noise": (noise, "digits-symmetric", None),
}
