"""A linear layer and its loss without the logits: time and memory against computing them first.

    python benchmarks/linear_speed.py [--repeats 3] [--out benchmarks/results]

Every case runs in turn with ``F.cross_entropy(F.linear(hidden, weight, bias), target)``. torch's
own ``F.linear_cross_entropy`` runs beside ours. Writes linear_speed.csv and linear_speed.md.
"""

import argparse
import csv
import platform
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from measure import peak_memory, ratio_of_pairs

import noiseproof as nf

N, D, K = 4096, 512, 128_000
TIME_LIMIT, MEMORY_LIMIT = 1.2, 0.1
LOSSES = ("CE", "AGCE(a=6, q=1.5)", "NCE + 4*AGCE(a=6, q=1.5)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3, help="pairs of runs, at least 2")
    parser.add_argument("--rows", type=int, default=N)
    parser.add_argument("--classes", type=int, default=K)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    n, k = arguments.rows, arguments.classes
    hidden = torch.randn(n, D, requires_grad=True)
    weight = (torch.randn(k, D) / D**0.5).requires_grad_()
    bias = torch.zeros(k, requires_grad=True)
    target = torch.randint(k, (n,))

    def step(loss: Callable[[], torch.Tensor]) -> Callable[[], None]:
        def run() -> None:
            hidden.grad = weight.grad = bias.grad = None
            loss().backward()

        return run

    options = torch.nn.LinearCrossEntropyOptions()
    baseline = step(lambda: F.cross_entropy(F.linear(hidden, weight, bias), target))
    cases = {
        "torch `F.linear_cross_entropy`": step(
            lambda: F.linear_cross_entropy(
                hidden, weight, target, linear_bias=bias, options=options
            )
        )
    }
    for text in LOSSES:
        loss = nf.loss(text)
        cases[f"`{text}`"] = step(
            lambda loss=loss: nf.linear_loss(hidden, weight, target, loss, bias)
        )

    hidden.grad = weight.grad = bias.grad = None
    first = peak_memory(baseline)
    print(f"logits first: {first / 2**20:.0f} MiB at the peak")
    rows = []
    for name, case in cases.items():
        hidden.grad = weight.grad = bias.grad = None
        memory = peak_memory(case)
        time = ratio_of_pairs(case, baseline, arguments.repeats)
        rows.append(
            {
                "case": name,
                "time": f"{time.median:.3f}",
                "low": f"{time.low:.3f}",
                "high": f"{time.high:.3f}",
                "memory_mib": f"{memory / 2**20:.0f}",
                "memory": f"{memory / first:.3f}",
            }
        )
        print(
            f"{name:34} time {time}  memory {memory / 2**20:.0f} MiB = {memory / first:.3f}",
            flush=True,
        )
    arguments.out.mkdir(parents=True, exist_ok=True)
    with open(arguments.out / "linear_speed.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    lines = [
        "# A linear layer and its loss, without the logits",
        "",
        f"N = {n}, d = {D}, K = {k}, float32, torch {torch.__version__}, "
        f"{arguments.threads} threads, {platform.machine()}.",
        "Time and peak memory of forward and backward, gradients of hidden, weight and bias",
        "included, as ratios to computing the logits first and `F.cross_entropy` on them",
        f"({first / 2**20:.0f} MiB). Goals: time <= {TIME_LIMIT}, memory <= {MEMORY_LIMIT}.",
        "",
        "| case | time | memory | MiB |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {r['case']} | {float(r['time']):.2f} ({float(r['low']):.2f}-{float(r['high']):.2f}) "
        f"| {r['memory']} | {r['memory_mib']} |"
        for r in rows
    ]
    (arguments.out / "linear_speed.md").write_text("\n".join(lines) + "\n")
    print(f"wrote {arguments.out}/linear_speed.csv and .md")


if __name__ == "__main__":
    main()
