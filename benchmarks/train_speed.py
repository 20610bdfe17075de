"""Samples a second of the training loop, as ratios of things measured in turn in the same run.

    python benchmarks/train_speed.py [--networks cnn4 cnn8] [--rounds 5] [--threads 2]

Measured, on random pixels, batch 128:

    plain   NCHW, eager, a DataLoader over a TensorDataset, torch's own SGD and cross entropy
    step    forward, backward, clip and step on one batch that is in memory, the best way
    ours    the loop of noiseproof.train, with checks, predictions and batches of its own
    bound   the convolutions of a step alone, forward and backward, channels last: what no loop
            can be faster than while these run in oneDNN
    compiled  ours through torch.compile (with --compile)
    two     ours twice at once, one thread each, as `bench` runs many cells (with --two)

Each line is the median over the rounds of a ratio within a round, with the range in brackets.
"""

import argparse
import multiprocessing
import resource
import statistics
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from noiseproof import models
from noiseproof.data import Dataset, TrainTest
from noiseproof.train import Machine, Recipe, prepare

SHAPES = {"cnn4": (1, 28, 28), "cnn8": (3, 32, 32)}
AUGMENT = {"cnn4": (), "cnn8": ("crop", "flip")}
STEPS = {"cnn4": 20, "cnn8": 4}
BATCH = 128


def pixels(network: str) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    count = STEPS[network] * BATCH
    shape = (count, *SHAPES[network])
    images = torch.randint(256, shape, generator=generator, dtype=torch.uint8)
    return images, torch.randint(10, (count,), generator=generator)


def fresh(network: str) -> models.Network:
    generator = torch.Generator().manual_seed(1)
    return models.build(network, 10, SHAPES[network], generator=generator)


def plain(network: str):
    images, labels = pixels(network)
    net = fresh(network)
    optimiser = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-3)
    loader = DataLoader(TensorDataset(images.float() / 255, labels), BATCH, shuffle=True)

    def epoch() -> float:
        net.train()
        started = time.perf_counter()
        for x, y in loader:
            optimiser.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            optimiser.step()
        return time.perf_counter() - started

    return epoch


def step(network: str):
    images, labels = pixels(network)
    net = fresh(network).to(memory_format=torch.channels_last)
    x = (images[:BATCH].float() / 255).contiguous(memory_format=torch.channels_last)
    y, weights = labels[:BATCH], list(net.parameters())
    optimiser = torch.optim.SGD(weights, lr=0.01, momentum=0.9, weight_decay=1e-3, fused=True)

    def epoch() -> float:
        net.train()
        started = time.perf_counter()
        for _ in range(STEPS[network]):
            optimiser.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            nn.utils.clip_grad_norm_(weights, 5.0)
            optimiser.step()
        return time.perf_counter() - started

    return epoch


def bound(network: str):
    calls: list[tuple[nn.Conv2d, torch.Tensor, torch.Tensor]] = []
    net = fresh(network).to(memory_format=torch.channels_last)
    for module in net.modules():
        if isinstance(module, nn.Conv2d):
            module.register_forward_hook(lambda m, x, y: calls.append((m, x[0].detach(), y)))
    images, _ = pixels(network)
    with torch.no_grad():
        net((images[:BATCH].float() / 255).contiguous(memory_format=torch.channels_last))

    def epoch() -> float:
        started = time.perf_counter()
        for _ in range(STEPS[network]):
            for first, (conv, x, y) in enumerate(calls):
                with torch.no_grad():
                    nn.functional.conv2d(x, conv.weight, conv.bias, padding=1)
                    torch.ops.aten.convolution_backward(
                        y, x, conv.weight, [y.shape[1]], [1, 1], [1, 1], [1, 1], False, [0, 0], 1,
                        [first > 0, True, True],
                    )  # fmt: skip
        return time.perf_counter() - started

    return epoch


def ours(network: str, threads: int, compiled: bool = False):
    images, labels = pixels(network)
    names = tuple("0123456789")
    data = TrainTest(
        Dataset(images, labels, names, "pixels"),
        Dataset(images[:2], labels[:2], names, "pixels"),
    )
    recipe = Recipe(
        network=network, epochs=1, batch=BATCH, weight_decay=1e-3, augment=AUGMENT[network]
    )
    experiment = prepare(data, recipe, "AGCE(a=4, q=0.2)", "symmetric:0.4")

    def epoch() -> float:
        return experiment.run(Machine(threads=threads, compile=compiled))[0].seconds

    def batches_alone() -> float:
        train = experiment.job(Machine(threads=threads)).train
        started = time.perf_counter()
        for _ in train.shuffled(1, 0):
            pass
        return time.perf_counter() - started

    return epoch, batches_alone


def _worker(network: str, rounds: int, barrier, results) -> None:
    torch.set_num_threads(1)
    epoch, _ = ours(network, 1)
    epoch()
    for _ in range(rounds):
        barrier.wait()
        results.put(epoch())
        barrier.wait()


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} [{min(values):.2f} to {max(values):.2f}]"


def compare(network: str, rounds: int, threads: int, two: bool, compiled: bool) -> None:
    torch.set_num_threads(threads)
    mine, batches_alone = ours(network, threads)
    runs = {"plain": plain(network), "step": step(network), "ours": mine, "data": batches_alone}
    runs["bound"] = bound(network)
    if compiled:
        runs["compiled"], _ = ours(network, threads, compiled=True)
    barrier = None
    if two:
        context = multiprocessing.get_context("spawn")
        barrier, results = context.Barrier(3), context.Queue()
        workers = [
            context.Process(target=_worker, args=(network, rounds, barrier, results), daemon=True)
            for _ in range(2)
        ]
        for worker in workers:
            worker.start()
    for run in runs.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in [*runs, "two"]}
    for _ in range(rounds):
        for name, run in runs.items():
            seconds[name].append(run())
        if barrier is not None:
            barrier.wait()
            barrier.wait()
            # The slower of the two, for twice the samples.
            seconds["two"].append(max(results.get() for _ in range(2)) / 2)

    def ratio(slow: str, fast: str) -> str:
        return spread([a / b for a, b in zip(seconds[slow], seconds[fast], strict=True)])

    samples = STEPS[network] * BATCH
    print(f"{network}, {threads} threads, {samples} samples a round, {rounds} rounds")
    print(f"  ours                 {samples / statistics.median(seconds['ours']):.0f} samples/s")
    print(f"  ours over plain      {ratio('plain', 'ours')}")
    print(f"  ours over step       {ratio('step', 'ours')}")
    print(f"  bound over plain     {ratio('plain', 'bound')}")
    share = [a / b for a, b in zip(seconds["data"], seconds["ours"], strict=True)]
    print(f"  data over ours       {statistics.median(share):.2%}, at most {max(share):.2%}")
    if compiled:
        print(f"  compiled over plain  {ratio('plain', 'compiled')}")
    if two:
        print(f"  two over plain       {ratio('plain', 'two')}")
        for worker in workers:
            worker.join()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--networks", nargs="+", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--two", action="store_true", help="also two processes of one thread")
    parser.add_argument("--compile", action="store_true", help="also through torch.compile")
    arguments = parser.parse_args()
    torch.set_flush_denormal(True)
    for network in arguments.networks:
        compare(network, arguments.rounds, arguments.threads, arguments.two, arguments.compile)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory {peak:.2f} GB")


if __name__ == "__main__":
    main()
