"""Which margin c*r pays: test accuracy on digits, by noise, family and margin.

    python benchmarks/margin.py [--seeds 3] [--out FILE]

An MLP head on four fifths of the digits for each loss whose asymmetry ratio is margin / c, all
losses of a noise trained side by side on the same batches, tested on the true labels of the rest.
"""

import argparse
from pathlib import Path

import numpy as np

import noiseproof as nf
from noiseproof import data, noise
from noiseproof.advise.families import families
from noiseproof.advise.head import Task, Training, train
from noiseproof.advise.matrix import Matrix

NOISES = ("symmetric:0.2", "symmetric:0.4", "symmetric:0.6", "symmetric:0.8", "asymmetric:0.3")
MARGINS = (0.5, 1.0, 1.5, 2.0, 4.0, 8.0)


TRAINING = Training(kind="mlp", width=64, dropout=0.0, epochs=30, batch=64, lr=0.005, warm=0.0)


def measure(seeds):
    digits = data.load("digits")
    inputs, test = (
        Matrix(digits.train.inputs.flatten(1).numpy()),
        Matrix(digits.test.inputs.flatten(1).numpy()),
    )
    true, answers = digits.train.labels.numpy(), digits.test.labels.numpy()
    rows = np.ones(len(true), dtype=np.float32)
    for text in NOISES:
        T = noise.parse(text, 10, "mnist").transition
        plan = [("CE", 0.0, nf.CE())]
        plan += [
            (family.name, margin, family.loss(margin / T.clean_level, 10))
            for family in families()
            for margin in MARGINS
        ]
        tasks = [Task(loss, rows) for _, _, loss in plan]
        for seed in range(seeds):
            noisy = T.corrupt(true, seed=seed).labels
            heads = train(inputs, noisy, 10, tasks, TRAINING, seed)
            right = np.zeros(len(plan))
            for block, p in heads.blocks(test):
                right += (p.argmax(-1) == answers[block]).sum(axis=1)
            for (family, margin, _), count in zip(plan, right, strict=True):
                yield text, family, margin, count / len(answers)


def table(rows):
    cells = {}
    for text, family, margin, value in rows:
        cells.setdefault((text, family, margin), []).append(value)
    mean = {key: 100 * float(np.mean(values)) for key, values in cells.items()}
    names = [family.name for family in families()]
    seeds = len(next(iter(cells.values())))
    yield "# Which margin c*r pays"
    yield ""
    yield f"Digits, an MLP of 64 hidden units, 30 epochs, {seeds} seeds: test accuracy in per cent,"
    yield "the mean of the six families (AGCE, AUL, AEL, and NCE with each). c is the clean level"
    yield "of the noise; a loss has r = margin / c, and r = 1 where that would be more."
    yield ""
    yield "| noise | c | CE | " + " | ".join(f"margin {m:g}" for m in MARGINS) + " |"
    yield "| --- " * (3 + len(MARGINS)) + "|"
    for text in NOISES:
        c = noise.parse(text, 10, "mnist").transition.clean_level
        means = [np.mean([mean[text, name, m] for name in names]) for m in MARGINS]
        yield (
            f"| {text} | {c:.3g} | {mean[text, 'CE', 0.0]:.1f} | "
            + " | ".join(f"{x:.1f}" for x in means)
            + " |"
        )
    means = [np.mean([mean[t, name, m] for name in names for t in NOISES]) for m in MARGINS]
    ce = np.mean([mean[t, "CE", 0.0] for t in NOISES])
    yield f"| mean | | {ce:.1f} | " + " | ".join(f"{x:.1f}" for x in means) + " |"
    yield ""
    yield "The same by family, the mean over the noises, and the worst of them in brackets:"
    yield ""
    yield "| family | " + " | ".join(f"margin {m:g}" for m in MARGINS) + " |"
    yield "| --- " * (1 + len(MARGINS)) + "|"
    for name in names:
        by = [[mean[t, name, m] for t in NOISES] for m in MARGINS]
        yield f"| {name} | " + " | ".join(f"{np.mean(x):.1f} ({min(x):.1f})" for x in by) + " |"
    yield ""
    yield f"noiseproof {nf.__version__}; `python benchmarks/margin.py --seeds {seeds}`."


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/margin.md"))
    arguments = parser.parse_args()
    lines = list(table(list(measure(arguments.seeds))))
    arguments.out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
