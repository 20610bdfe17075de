"""What the paper's grids cost: counted FLOPs, the measured speed of one core, estimated GPUs.

    python benchmarks/paper_cost.py [--gpu-tflops 5] [--step-ms 4] [--rounds 3]

Counted   FLOPs of a forward and a backward pass of one sample (torch.utils.flop_counter: matrix
          products and convolutions), and the cells, epochs and samples of the grids.
Measured  seconds of this processor's time for a training step of one thread, the best of some
          rounds. It is processor time, not the clock's, so that other programs count for little.
Published the images a second that two GPUs train ResNet-50 with. Times its counted FLOPs, that is
          how many FLOPs a second they get out of training; other networks are taken to get as many.
Assumed   the least time of one step, which is what small networks wait for.
So the GPU hours are estimates. With --gpu-tflops they are those of a GPU of your own.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from noiseproof import models
from noiseproof.bench import Grid, load_grid
from noiseproof.bench.run import cells_of
from noiseproof.train import Recipe

GRIDS = (
    "mnist-symmetric",
    "mnist-asymmetric",
    "cifar10-symmetric",
    "cifar10-asymmetric",
    "cifar10-hyperparameters",
    "cifar100-symmetric",
    "cifar100-asymmetric",
    "webvision",
)


@dataclass(frozen=True)
class Sizes:
    shape: tuple[int, int, int]
    classes: int
    train: int
    test: int


SIZES = {
    "mnist": Sizes((1, 28, 28), 10, 60_000, 10_000),
    "cifar10": Sizes((3, 32, 32), 10, 50_000, 10_000),
    "cifar100": Sizes((3, 32, 32), 100, 50_000, 10_000),
    "webvision-mini": Sizes((3, 224, 224), 50, 65_944, 2_500),
}
#: Samples of the step that is measured: about as much work for each network.
BATCH = {"cnn4": 128, "cnn8": 32, "resnet34": 8, "resnet50": 4}


@dataclass(frozen=True)
class Network:
    """What a sample costs: counted FLOPs of training and testing, measured seconds of training."""

    train: int
    test: int
    seconds: float


#: Images a second of one GPU in training ResNet-50 v1.5 at 224 px, from the performance tables in
#: NVIDIA/DeepLearningExamples, PyTorch/Classification/ConvNets/resnet50v1.5 (container 21.03).
PUBLISHED = {"V100 16 GB, float32": 367, "A100 80 GB, TF32": 938}


@dataclass(frozen=True)
class Gpu:
    name: str
    flops: float
    step: float


def step_of(network: str, sizes: Sizes):
    generator = torch.Generator().manual_seed(1)
    net = models.build(network, sizes.classes, sizes.shape, generator=generator)
    net = net.to(memory_format=torch.channels_last)
    x = torch.randn(BATCH[network], *sizes.shape, generator=generator)
    x = x.contiguous(memory_format=torch.channels_last)
    y = torch.randint(sizes.classes, (len(x),), generator=generator)
    weights = list(net.parameters())
    optimiser = torch.optim.SGD(weights, lr=1e-3, momentum=0.9, fused=True)

    def step() -> None:
        optimiser.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        nn.utils.clip_grad_norm_(weights, 5.0)
        optimiser.step()

    return step, lambda: net(x)


def measure(network: str, sizes: Sizes, rounds: int) -> Network:
    step, forward = step_of(network, sizes)
    step()
    seconds = []
    for _ in range(rounds):
        started = time.process_time()
        step()
        seconds.append(time.process_time() - started)
    train, test = count(step), count(forward)
    batch = BATCH[network]
    return Network(train // batch, test // batch, min(seconds) / batch)


def count(action) -> int:
    with FlopCounterMode(display=False) as counter:
        action()
    return counter.get_total_flops()


def cost(
    grid: Grid, recipes: Sequence[Recipe], network: Network, gpus: Sequence[Gpu]
) -> tuple[float, ...]:
    """Return the cells of a grid, their FLOPs, and their hours of a core and of each GPU."""
    sizes = SIZES[grid.dataset]
    flops = core = 0.0
    there = [0.0] * len(gpus)
    for recipe in recipes:
        work = sizes.train * network.train + sizes.test * network.test
        steps = -(-sizes.train // recipe.batch)
        flops += recipe.epochs * work
        core += recipe.epochs * work * network.seconds / network.train
        for i, gpu in enumerate(gpus):
            there[i] += recipe.epochs * max(work / gpu.flops, steps * gpu.step)
    return len(recipes), flops, core / 3600, *(seconds / 3600 for seconds in there)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu-tflops", type=float, help="achieved by your own GPU")
    parser.add_argument("--step-ms", type=float, default=4.0, help="assumed, least time of a step")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)

    grids = [load_grid(name) for name in GRIDS]
    networks: dict[str, Network] = {}
    print("| network | input | GFLOP a sample | samples/s of one core | GFLOP/s of one core |")
    print("| --- | --- | ---: | ---: | ---: |")
    for grid in grids:
        name, sizes = grid.recipe_of(grid.rows[0]).network, SIZES[grid.dataset]
        if name in networks:
            continue
        found = networks[name] = measure(name, sizes, arguments.rounds)
        shape = "x".join(map(str, sizes.shape))
        speed = f"{1 / found.seconds:,.{0 if found.seconds < 0.1 else 1}f}"
        print(
            f"| {name} | {shape} | {found.train / 1e9:.3g} | {speed} | "
            f"{found.train / found.seconds / 1e9:.0f} |"
        )

    step = arguments.step_ms / 1e3
    if arguments.gpu_tflops:
        gpus = [Gpu("GPU", arguments.gpu_tflops * 1e12, step)]
    else:
        each = networks["resnet50"].train
        gpus = [Gpu(name, images * each, step) for name, images in PUBLISHED.items()]
    print()
    print(f"| grid | cells | network | epochs | PFLOP | core hours | "
          f"{' | '.join(f'hours, {gpu.name}' for gpu in gpus)} |")  # fmt: skip
    print("| --- | ---: | --- | ---: | ---: | ---:" + " | ---:" * len(gpus) + " |")
    whole = [0.0] * (3 + len(gpus))
    for grid in grids:
        recipes = [cell.recipe for cell in cells_of([grid])]
        name = recipes[0].network
        values = cost(grid, recipes, networks[name], gpus)
        whole = [a + b for a, b in zip(whole, values, strict=True)]
        print(line(grid.name, values, name, str(recipes[0].epochs)))
    print(line("all", whole))


def line(name: str, values: Sequence[float], network: str = "", epochs: str = "") -> str:
    cells, flops, *hours = values
    return (
        f"| {name} | {cells:.0f} | {network} | {epochs} | {flops / 1e15:,.0f} | "
        f"{' | '.join(f'{hour:,.0f}' for hour in hours)} |"
    )


if __name__ == "__main__":
    main()
