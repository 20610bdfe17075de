"""Does the strictest loss that still fits, ANL-CE, beat a margin of 2? By how hard the data are.

    python benchmarks/strict.py [--data DIR] [--out FILE]

Digits and CIFAR-10 on a frozen encoder, as the leaderboard trains them (ten noises); CIFAR-10 as
whitened patches, as margin.py does (five noises), which a model gets right in 62 %. One seed.
"""

import argparse
import os
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from margin import NOISES, cifar10

from noiseproof import noise
from noiseproof.advise.families import active_negative, families
from noiseproof.bench import Collected, Grid, load_grid
from noiseproof.bench.engines.engine import Settings
from noiseproof.bench.grid import Row
from noiseproof.bench.run import run_grids
from noiseproof.learn.learner import Problem, Task
from noiseproof.learn.learners import Hidden
from noiseproof.progress import SILENT
from noiseproof.results import Store

BY_NAME = {family.name: family for family in families()}


def losses(clean_level: float) -> dict[str, str]:
    """Return the losses to compare under a noise."""
    return {
        "AGCE, margin 2": str(BY_NAME["AGCE"].loss(2 / clean_level, 10)),
        "NCE + AGCE, margin 8": str(BY_NAME["NCE+AGCE"].loss(8 / clean_level, 10)),
        "ANL-CE": str(active_negative(10)),
    }


def on_grid(name: str, directory: Path) -> tuple[str, dict[str, float]]:
    """Return how a grid of the leaderboard is called, and the mean accuracy of each loss."""
    base = replace(load_grid(name), trials=0)
    noises = load_grid("leaderboard-cifar10").noises  # more than all grids have
    grids = [_grid(base, text) for text in noises]
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder)
        run_grids(grids, store, Settings(directory, workers=1), SILENT)
        records = store.records()
    means = {
        row.name: 100 * float(np.mean([_accuracy(Collected(grid, records), row) for grid in grids]))
        for row in grids[0].rows
    }
    return f"{base.title.partition(': ')[2]}, {len(noises)} noises", means


def _accuracy(found: Collected, row: Row) -> float:
    summary = found.summary(row.name, found.grid.noises[0])
    assert summary is not None
    return summary.mean


def _grid(base: Grid, text: str) -> Grid:
    spec = noise.parse(text, base.source.classes, base.source.name)
    matrix = spec.transition or noise.parse("symmetric:0.3", 10).transition  # instance:0.3
    rows = (Row(name, loss) for name, loss in losses(matrix.clean_level).items())
    return replace(base, rows=tuple(rows), noises=(text,))


def on_patches(directory: Path) -> tuple[str, dict[str, float]]:
    """Return the same for hard data."""
    on = cifar10(directory)
    ones, found = np.ones(len(on.true), dtype=np.float32), list[list[float]]()
    for text in NOISES:
        matrix = noise.parse(text, 10, on.pairs).transition
        problem = Problem(on.X, np.asarray(matrix.corrupt(on.true, seed=0).labels), 10, ones, 0)
        learners = [
            Hidden(loss, epochs=on.epochs, width=64) for loss in losses(matrix.clean_level).values()
        ]
        models = Hidden.train(problem, [Task(learner, ones) for learner in learners])
        found.append(
            [100 * (m.probabilities(on.X_test).argmax(-1) == on.test).mean() for m in models]
        )
    means = dict(zip(losses(2.0), np.mean(found, axis=0), strict=True))
    return f"{on.name}, {len(NOISES)} noises", means


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("NOISEPROOF_DATA") or None, type=Path)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/strict.md"))
    arguments = parser.parse_args()
    rows = [on_grid(f"leaderboard-{data}", arguments.data) for data in ("digits", "cifar10")]
    rows.append(on_patches(arguments.data))
    lines = [
        "# The strictest loss against a margin of 2",
        "",
        "Mean test accuracy (%) over the noises, one seed.",
        "",
        "| data | " + " | ".join(losses(2.0)) + " |",
        "| --- |" + " --- |" * len(losses(2.0)),
        *(
            f"| {name} | " + " | ".join(f"{v:.1f}" for v in means.values()) + " |"
            for name, means in rows
        ),
        "",
        "`python benchmarks/strict.py --data DIR`",
    ]
    arguments.out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
