"""How many heads a minute: the cells of a frozen grid, trained alone and in stacks.

    python benchmarks/heads_speed.py [--samples 50000] [--width 1280] [--heads 1 17 43] [--epochs 1]

Made-up features of the size of CIFAR-10 by EfficientNet-lite0, the 17 losses of the paper's
CIFAR-10 tables, the recipe `frozen`. Measured is processor time of one thread, so that other
programs count for little; cells a minute on two cores follow from it.
"""

import argparse
import time
from itertools import cycle, islice

import torch

from noiseproof.bench import load_grid
from noiseproof.data import Dataset, TrainTest
from noiseproof.train import Machine, prepare
from noiseproof.train.recipes import FROZEN
from noiseproof.train.together import run_together


def made_up(samples: int, width: int) -> TrainTest[Dataset]:
    draw = torch.Generator().manual_seed(1)
    names = tuple("abcdefghij")
    centres = torch.randn(10, width, generator=draw)

    def part(count: int) -> Dataset:
        labels = torch.randint(10, (count,), generator=draw)
        inputs = torch.randn(count, width, generator=draw).add_(centres[labels], alpha=0.1)
        return Dataset(inputs, labels, names, "made up")

    return TrainTest(part(samples), part(max(10, samples // 5)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=50_000)
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--heads", type=int, nargs="+", default=[1, 17, 43])
    parser.add_argument("--epochs", type=int, default=1, help="measured; the recipe's are counted")
    parser.add_argument("--network", default="linear", choices=list(FROZEN))
    arguments = parser.parse_args()

    data = made_up(arguments.samples, arguments.width)
    losses = [row.loss for row in load_grid("cifar10-symmetric-frozen").rows]
    chosen_recipe = FROZEN[arguments.network]
    recipe = chosen_recipe.override(epochs=arguments.epochs)
    data.train.constants  # noqa: B018 -- computed once for all
    machine = Machine(threads=1)
    run_together([prepare(made_up(600, 8), recipe, "CE")], machine)  # whatever loads at first use
    size = f"{arguments.samples:,} x {arguments.width}"
    print(f"{size}, {arguments.network}, {chosen_recipe.epochs} epochs")
    print("| heads at once | core seconds a cell | cells a minute on two cores |")
    print("| ---: | ---: | ---: |")
    for count in arguments.heads:
        chosen = islice(cycle(losses), count)
        experiments = [prepare(data, recipe, loss, "symmetric:0.4") for loss in chosen]
        started = time.process_time()
        run_together(experiments, machine)
        spent = time.process_time() - started
        seconds = spent / arguments.epochs * chosen_recipe.epochs / count
        print(f"| {count} | {seconds:.1f} | {120 / seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
