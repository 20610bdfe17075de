"""Which margin c*r pays: test accuracy by noise, family and margin, on easy and on hard data.

    python benchmarks/margin.py [--data DIR] [--seeds 3] [--out FILE]

Digits, which are fitted with ease; and CIFAR-10 as whitened patches (patch_features.py), which are
not, where `--data` or NOISEPROOF_DATA says where its files are. An MLP head for each loss whose
asymmetry ratio is margin / c, all losses of a noise trained side by side on the same batches of
noisy labels, tested on true ones.
"""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from patch_features import patch_features

import noiseproof as nf
from noiseproof import data, noise
from noiseproof.advise.families import families
from noiseproof.learn.learner import Problem, Task
from noiseproof.learn.learners import Hidden

NOISES = ("symmetric:0.2", "symmetric:0.4", "symmetric:0.6", "symmetric:0.8", "asymmetric:0.3")
MARGINS = (0.5, 1.0, 1.5, 2.0, 4.0, 8.0)
NAMES = [family.name for family in families()]


class Set(NamedTuple):
    """Data to measure on, and how to train on it."""

    name: str
    pairs: str  # whose pairs of classes asymmetric noise confuses
    epochs: int
    X: np.ndarray
    true: np.ndarray
    X_test: np.ndarray
    test: np.ndarray


def digits() -> Set:
    loaded = data.load("digits")
    train_set, test_set = loaded.train, loaded.test
    X, X_test = (one.inputs.flatten(1).numpy() for one in (train_set, test_set))
    epochs = 30
    return Set(
        "Digits, an MLP of 64 hidden units, 30 epochs",
        "mnist", epochs, X, train_set.labels.numpy(), X_test, test_set.labels.numpy(),
    )  # fmt: skip


def cifar10(directory: Path, rows: int = 5000) -> Set:
    loaded = data.load("cifar10", directory)
    train_set, test_set = loaded.train, loaded.test
    X, X_test = patch_features(train_set.inputs[:rows], test_set.inputs[:rows], centres=100)
    epochs = 20
    return Set(
        f"CIFAR-10, {rows} images as patches of 100 kinds, an MLP of 64 hidden units, 20 epochs",
        "cifar10", epochs, X, train_set.labels.numpy()[:rows], X_test,
        test_set.labels.numpy()[:rows],
    )  # fmt: skip


def measure(on: Set, seeds: int) -> dict[tuple[str, str, float], float]:
    """Return the test accuracy in per cent by noise, family and margin: the mean over seeds."""
    ones, mean = np.ones(len(on.true), dtype=np.float32), {}
    for text in NOISES:
        T = noise.parse(text, 10, on.pairs).transition
        plan = [("CE", 0.0, nf.CE())]
        plan += [
            (family.name, margin, family.loss(margin / T.clean_level, 10))
            for family in families()
            for margin in MARGINS
        ]
        right = np.zeros(len(plan))
        for seed in range(seeds):
            noisy = T.corrupt(on.true, seed=seed).labels
            problem = Problem(on.X, np.asarray(noisy), 10, ones, seed)
            learners = [Hidden(str(loss), epochs=on.epochs, width=64) for _, _, loss in plan]
            models = Hidden.train(problem, [Task(learner, ones) for learner in learners])
            right += [(m.probabilities(on.X_test).argmax(-1) == on.test).sum() for m in models]
        for (family, margin, _), count in zip(plan, right, strict=True):
            mean[text, family, margin] = 100 * count / (seeds * len(on.test))
        print(on.name.split(",")[0], text, "done", flush=True)
    return mean


def tables(on: Set, mean: dict[tuple[str, str, float], float]) -> Iterator[str]:
    """Yield the lines of the two tables of a set."""
    yield f"## {on.name}"
    yield ""
    yield "| noise | c | CE | " + " | ".join(f"margin {m:g}" for m in MARGINS) + " |"
    yield "| --- " * (3 + len(MARGINS)) + "|"
    for text in NOISES:
        c = noise.parse(text, 10, on.pairs).transition.clean_level
        means = [np.mean([mean[text, name, m] for name in NAMES]) for m in MARGINS]
        yield f"| {text} | {c:.3g} | {mean[text, 'CE', 0.0]:.1f} | " + joined(means)
    means = [np.mean([mean[t, name, m] for name in NAMES for t in NOISES]) for m in MARGINS]
    yield f"| mean | | {np.mean([mean[t, 'CE', 0.0] for t in NOISES]):.1f} | " + joined(means)
    yield ""
    yield "By family, the mean over the noises, and the worst of them in brackets:"
    yield ""
    yield "| family | " + " | ".join(f"margin {m:g}" for m in MARGINS) + " |"
    yield "| --- " * (1 + len(MARGINS)) + "|"
    for name in NAMES:
        by = [[mean[t, name, m] for t in NOISES] for m in MARGINS]
        yield f"| {name} | " + " | ".join(f"{np.mean(x):.1f} ({min(x):.1f})" for x in by) + " |"
    yield ""


def joined(values: list[float]) -> str:
    return " | ".join(f"{value:.1f}" for value in values) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("NOISEPROOF_DATA") or None, type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/margin.md"))
    arguments = parser.parse_args()
    lines = [
        "# Which margin c*r pays",
        "",
        f"Test accuracy in per cent, {arguments.seeds} seeds, the mean of the six families (AGCE,",
        "AUL, AEL, and NCE with each). c is the clean level of the noise; a loss has",
        "r = margin / c, and r = 1 where that would be more.",
        "",
    ]
    sets = [digits()] + ([cifar10(arguments.data)] if arguments.data else [])
    for on in sets:
        lines += tables(on, measure(on, arguments.seeds))
    where = " --data DIR" if arguments.data else ""
    command = f"python benchmarks/margin.py --seeds {arguments.seeds}{where}"
    lines.append(f"noiseproof {nf.__version__}; `{command}`.")
    arguments.out.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
