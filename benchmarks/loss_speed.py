"""Forward and backward of every loss, as ratios to ``F.cross_entropy`` in the same run.

    python benchmarks/loss_speed.py [--seconds 2] [--only "128 x 10"] [--out benchmarks/results]

Writes loss_speed.csv and loss_speed.md; with --only, the other shapes keep their rows. Shapes of
four numbers are images, (N, K, height, width), as segmentation has them. Large shapes run with a
few losses only. The textbook form (softmax, one-hot, sum) is the one that the tests check the
losses against.

The process starts again with glibc's thresholds where they end up in a long training run: freed
arrays of up to 32 MiB are kept. In a young process they go back to the system and are faulted in
again, page by page, at every step, at a cost that varies from run to run and is larger for cross
entropy than for most of these losses.
"""

import argparse
import csv
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.nn.functional as F
from measure import peak_memory, ratio

import noiseproof as nf

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "losses"))
from references import textbook

#: Shapes of the logits, classes second, and their type.
SHAPES = {
    "2048 x 32000": ((2048, 32000), torch.float32),
    "512 x 1000": ((512, 1000), torch.float32),
    "128 x 10": ((128, 10), torch.float32),
    "4 x 21 x 128 x 128": ((4, 21, 128, 128), torch.float32),
    "512 x 1000, bfloat16": ((512, 1000), torch.bfloat16),
    "8 x 21 x 256 x 256": ((8, 21, 256, 256), torch.float32),
    "8 x 150 x 128 x 128": ((8, 150, 128, 128), torch.float32),
}

#: What large shapes are measured with.
FEW = ("CE", "AGCE(a=6, q=1.5)", "NCE", "NCE + 4*AGCE(a=6, q=1.5)", "NFL(gamma=0.5)")

#: The largest that glibc's own thresholds grow to.
KEEP = {"MALLOC_MMAP_THRESHOLD_": str(2**25), "MALLOC_TRIM_THRESHOLD_": str(2**26)}

#: Losses by what they may cost, as a ratio to cross entropy, for each shape.
GROUPS = {
    "pointwise": (
        (0.70, 1.1, 2.2, 0.8, 1.1, 0.8, 0.8),
        "CE", "FL(gamma=0.5)", "GCE(q=0.7)", "SCE(alpha=1, beta=1)", "MAE", "RCE",
        "AGCE(a=0.6, q=0.6)", "AGCE(a=6, q=1.5)", "AUL(a=3, p=0.1)", "AEL(a=2.5)",
        "CE + 2*AGCE(a=6, q=1.5)",
    ),
    "NCE": (
        (1.0, 1.5, 3.0, 1.0, 1.5, 1.0, 1.0),
        "NCE", "NCE + RCE", "NCE + 4*AGCE(a=6, q=1.5)", "NCE + 4*AUL(a=6.3, p=1.5)",
        "NCE + 4*AEL(a=5)",
    ),
    "normalised": ((2.5, 2.5, 4.0, 2.5, 2.5, 2.5, 2.5), "NFL(gamma=0.5)", "NGCE(q=0.7)"),
}  # fmt: skip

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=2.0, help="for each loss and shape")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", action="append", choices=SHAPES, help="measure this shape alone")
    arguments = parser.parse_args()
    if any(os.environ.get(name) != value for name, value in KEEP.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **KEEP})
    load = os.getloadavg()[0]
    torch.set_num_threads(arguments.threads)
    chosen = arguments.only or list(SHAPES)
    arguments.out.mkdir(parents=True, exist_ok=True)
    kept = []
    if arguments.only and (arguments.out / "loss_speed.csv").exists():
        with open(arguments.out / "loss_speed.csv", newline="") as file:
            kept = [row for row in csv.DictReader(file) if row["shape"] not in chosen]
    rows = kept + [row for shape in chosen for row in measure(shape, arguments.seconds)]
    with open(arguments.out / "loss_speed.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    (arguments.out / "loss_speed.md").write_text(page(rows, arguments.threads, load))
    print(f"wrote {arguments.out}/loss_speed.csv and .md")


def measure(shape: str, seconds: float) -> list[dict[str, str]]:
    which, (sizes, dtype) = list(SHAPES).index(shape), SHAPES[shape]
    torch.manual_seed(0)
    logits = torch.randn(sizes).to(dtype).requires_grad_()
    target = torch.randint(sizes[1], (sizes[0], *sizes[2:]))

    def step(loss: Loss) -> Callable[[], None]:
        def run() -> None:
            logits.grad = None
            loss(logits, target).backward()

        return run

    baseline, big = step(F.cross_entropy), logits.numel() > 10**7
    rows = []
    for group, (limits, *texts) in GROUPS.items():
        for text in texts:
            if big and text not in FEW:
                continue
            loss = nf.loss(text)
            ours = ratio(step(loss), baseline, seconds)
            plain = None
            if len(sizes) == 2 and dtype == torch.float32 and not big:
                plain = ratio(step(textbook(loss)), baseline, seconds / 2, least=3)
            memory = ["", ""]
            if big:
                logits.grad = None
                size = logits.numel() * logits.element_size()
                memory = [f"{peak_memory(step(loss)) / size:.2f}"]
                logits.grad = None
                memory.append(f"{peak_memory(baseline) / size:.2f}")
            rows.append(
                {
                    "shape": shape,
                    "group": group,
                    "loss": text,
                    "time": f"{ours.median:.3f}",
                    "low": f"{ours.low:.3f}",
                    "high": f"{ours.high:.3f}",
                    "limit": f"{limits[which]}",
                    "met": "yes" if ours.median <= limits[which] else "no",
                    "textbook": f"{plain.median:.3f}" if plain else "",
                    "memory": memory[0],
                    "memory_cross_entropy": memory[1],
                }
            )
            print(
                f"{shape:20} {text:28} {ours}  limit {limits[which]}  textbook {plain}",
                *memory,
                flush=True,
            )
    return rows


def page(rows: list[dict[str, str]], threads: int, load: float) -> str:
    lines = [
        "# Speed of the losses",
        "",
        "CPU time of forward and backward, as a ratio to `F.cross_entropy` measured in turn with",
        "it: median (quartiles). Memory is the peak beyond the logits, in multiples of their size.",
        f"torch {torch.__version__}, {threads} threads, {platform.machine()}, float32 unless said.",
        "Freed arrays of up to 32 MiB are kept by the process; load of the machine at the start: "
        f"{load:.1f}.",
        "",
    ]
    for shape in SHAPES:
        some = [row for row in rows if row["shape"] == shape]
        if not some:
            continue
        memory = bool(some[0]["memory"])
        lines += [f"## {shape}", ""]
        head = ["loss", "time / CE", "goal", "textbook / CE"] + (
            ["memory", "CE's memory"] if memory else []
        )
        lines += [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
        for row in some:
            cells = [
                f"`{row['loss']}`",
                f"{float(row['time']):.2f} ({float(row['low']):.2f}-{float(row['high']):.2f})",
                f"<= {row['limit']}" + ("" if row["met"] == "yes" else " **missed**"),
                f"{float(row['textbook']):.2f}" if row["textbook"] else "",
            ]
            if memory:
                cells += [row["memory"], row["memory_cross_entropy"]]
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
