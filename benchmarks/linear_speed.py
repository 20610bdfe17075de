"""A linear layer and its loss without the logits: time and memory against torch's own chunked one.

    python benchmarks/linear_speed.py [--rounds 3] [--threads 1] [--out benchmarks/results]

``F.linear_cross_entropy`` runs with each of several ``batch_chunk_size``, ours with its default,
and the logits first beside them: all in turn, ``--rounds`` times. A time is the least CPU time over
the rounds and is given as a ratio to torch's best chunk size. Writes linear_speed.csv and .md.
"""

import argparse
import csv
import os
import platform
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from measure import peak_memory

import noiseproof as nf

#: (rows, features, classes, dtype); ``logits first`` in bfloat16 takes minutes on most CPUs.
SIZES = (
    (1024, 256, 32_000, "float32"),
    (512, 256, 128_000, "float32"),
    (512, 256, 32_000, "bfloat16"),
)
CHUNKS = (128, 256, 512, 1024)
LOSSES = ("CE", "AGCE(a=6, q=1.5)", "NCE + 4*AGCE(a=6, q=1.5)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    arguments = parser.parse_args()
    arguments.load = os.getloadavg()[0]
    torch.set_num_threads(arguments.threads)
    warnings.simplefilter("ignore")
    rows = [row for size in SIZES for row in measure(*size, arguments.rounds)]
    arguments.out.mkdir(parents=True, exist_ok=True)
    with open(arguments.out / "linear_speed.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    (arguments.out / "linear_speed.md").write_text(page(rows, arguments))
    print(f"wrote {arguments.out}/linear_speed.csv and .md")


def measure(n: int, d: int, k: int, name: str, rounds: int) -> list[dict[str, str]]:
    torch.manual_seed(0)
    dtype = getattr(torch, name)
    hidden = torch.randn(n, d).to(dtype).requires_grad_()
    weight = (torch.randn(k, d) / d**0.5).to(dtype).requires_grad_()
    bias = torch.zeros(k, dtype=dtype, requires_grad=True)
    target = torch.randint(k, (n,))

    def torchs(chunk: int) -> torch.Tensor:
        options = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=chunk, chunking_method=None)
        return F.linear_cross_entropy(hidden, weight, target, linear_bias=bias, options=options)

    cases: dict[str, Callable[[], torch.Tensor]] = {}
    if dtype == torch.float32:
        cases["logits first"] = lambda: F.cross_entropy(F.linear(hidden, weight, bias), target)
    for chunk in CHUNKS:
        if chunk <= n:
            cases[f"torch, {chunk}"] = lambda chunk=chunk: torchs(chunk)
    for text in LOSSES:
        loss = nf.loss(text)
        cases[text] = lambda loss=loss: nf.linear_loss(hidden, weight, target, loss, bias)

    def run(name: str) -> None:
        hidden.grad = weight.grad = bias.grad = None
        cases[name]().backward()

    memory, seconds = {}, dict.fromkeys(cases, float("inf"))
    for name in cases:
        hidden.grad = weight.grad = bias.grad = None
        memory[name] = peak_memory(lambda name=name: run(name)) / 2**20
    for _ in range(rounds):
        for name in cases:
            start = time.process_time()
            run(name)
            seconds[name] = min(seconds[name], time.process_time() - start)
    chunked = [name for name in cases if name.startswith("torch")]
    best = min(chunked, key=seconds.__getitem__)
    # The allocator keeps smaller pieces between runs: their peaks say nothing.
    seen = memory[best] > 100
    found = []
    for name in cases:
        if name in chunked and name != best:
            continue
        found.append(
            {
                "size": f"{n} x {d} x {k}, {dtype}".replace("torch.", ""),
                "case": f"torch `F.linear_cross_entropy`, batch_chunk_size={best[7:]}"
                if name == best
                else name,
                "seconds": f"{seconds[name]:.3f}",
                "time": f"{seconds[name] / seconds[best]:.3f}",
                "memory_mib": f"{memory[name]:.0f}" if seen else "",
                "memory": f"{memory[name] / memory[best]:.3f}" if seen else "",
            }
        )
        print(found[-1], flush=True)
    return found


def page(rows: list[dict[str, str]], arguments: argparse.Namespace) -> str:
    lines = [
        "# A linear layer and its loss, without the logits",
        "",
        f"torch {torch.__version__}, threads: {arguments.threads}, {platform.machine()}. Time and "
        "peak memory of forward and backward, with",
        "the gradients of hidden, weight and bias, as ratios to `F.linear_cross_entropy` with the "
        f"fastest of {', '.join(map(str, CHUNKS))} rows a chunk.",
        f"Times are CPU times, the least of {arguments.rounds} runs in turn; load of the "
        f"machine at the start: {arguments.load:.1f}. Goal for `CE`: at most 1.0 of each.",
        "",
        "| rows × features × classes | case | time | memory | MiB |",
        "| --- | --- | --- | --- | --- |",
    ]
    for r in rows:
        case = r["case"] if r["case"][0].islower() else f"`{r['case']}`"
        memory = f"{float(r['memory']):.2f}" if r["memory"] else ""
        numbers = f"{float(r['time']):.2f} | {memory} | {r['memory_mib']}"
        lines.append(f"| {r['size'].replace('x', '×')} | {case} | {numbers} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
