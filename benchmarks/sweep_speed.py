"""Cells a second of two workers over those of one, measured in turn in the same run.

    python benchmarks/sweep_speed.py [--cells 8] [--rounds 3] [--epochs 20] [--workers 2]

Each round runs the same cells of the digits grid twice, with one worker and with several, into
stores of their own. A worker takes two seconds to start, which a sweep pays once: time counts from
the first epoch any worker reports to the last result. The ratio is the median over the rounds,
with the range in brackets. On two quiet cores two workers should give 1.8 at least.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence

from noiseproof.bench import Cell, load_grid
from noiseproof.bench.engines import local
from noiseproof.bench.engines.engine import Settings
from noiseproof.progress import Progress
from noiseproof.results import Store


class Watch(Progress):
    """Times from the first report of every worker to the last result."""

    def __init__(self, workers: int) -> None:
        self.workers, self.seen = workers, set[str]()
        self.done, self.results = 0, list[float]()

    def update(self, done: int, total: int, note: str = "") -> None:
        self.seen.add(note.partition(",")[0])
        if done > self.done and self.results:
            self.results.append(time.perf_counter())
        if len(self.seen - {""}) >= self.workers and not self.results:
            self.results.append(time.perf_counter())
        self.done = done

    @property
    def rate(self) -> float:
        """Cells a second, from the moment that all workers are at work."""
        return (len(self.results) - 1) / (self.results[-1] - self.results[0])


def rate(cells: Sequence[Cell], workers: int) -> float:
    watch = Watch(workers)
    with tempfile.TemporaryDirectory() as folder:
        tally = local.run(cells, Store(folder), Settings(device="cpu", workers=workers), watch)
    if tally.lost:
        raise SystemExit(f"{len(tally.lost)} cells were lost: {tally.lost}")
    return watch.rate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    grid = load_grid("digits-symmetric").select(rows=["CE"], noises=["symmetric:0.4"])
    grid = grid.select(seeds=grid.first_seeds(options.cells))
    cells = [
        Cell("digits", c.recipe.override(epochs=options.epochs), c.loss, c.noise, c.seed)
        for c in grid.cells()
    ]
    ratios = []
    for _ in range(options.rounds):
        one, several = rate(cells, 1), rate(cells, options.workers)
        ratios.append(several / one)
        print(f"1 worker {one:.3f} cells/s, {options.workers} workers {several:.3f} cells/s")
    middle = statistics.median(ratios)
    spread = f"[{min(ratios):.2f} to {max(ratios):.2f}]"
    print(f"{options.workers} workers over one: {middle:.2f} {spread}")


if __name__ == "__main__":
    main()
