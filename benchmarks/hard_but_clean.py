"""How often a fit calls labels noisy that are all right, but hard to tell.

    python benchmarks/hard_but_clean.py [--seeds 8] [--out FILE]

Made-up tables of 300 rows. A 95 % interval of the rate should leave out 0 in one of twenty. About
six minutes.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets

from noiseproof.learn.learn import learn

ROWS = 300
LIKELY = 0.5  # a label that is wrong with this probability is probably wrong


def clusters(classes, informative, each, apart):
    def made(seed):
        return datasets.make_classification(
            ROWS, 20, n_informative=informative, n_classes=classes, n_clusters_per_class=each,
            class_sep=apart, flip_y=0, random_state=seed,
        )  # fmt: skip

    return made


def drawn(labelled):
    """Return a set of normal columns that a function labels."""

    def made(seed):
        X = np.random.default_rng(seed).normal(size=(ROWS, 8))
        return X, labelled(X).astype(int)

    return made


def chequered(seed):
    X = np.random.default_rng(seed).uniform(0, 4, (ROWS, 5))
    return X, np.floor(X[:, :2]).sum(axis=1).astype(int) % 2


def rings(seed):
    """Rings around the origin, of two classes in turn."""
    X = np.random.default_rng(seed).normal(size=(ROWS, 2))
    return X, np.floor(2 * np.hypot(*X.T)).astype(int) % 2


def own_covariances(seed):
    numbers = np.random.default_rng(seed)
    y = numbers.integers(0, 3, ROWS)
    turn = numbers.normal(size=(3, 5, 5))
    X = np.einsum("nd,nde->ne", numbers.normal(size=(ROWS, 5)), turn[y])
    return X + 0.5 * numbers.normal(size=X.shape), y


def by_chance(seed):
    """Classes that the columns leave open: each row has its own probability."""
    numbers = np.random.default_rng(seed)
    X = numbers.normal(size=(ROWS, 8))
    z = 2 * (X[:, 0] + X[:, 1] * X[:, 2])
    return X, (numbers.random(ROWS) < 1 / (1 + np.exp(-z))).astype(int)


def overlapping(seed):
    numbers = np.random.default_rng(seed)
    X, y = numbers.normal(size=(ROWS, 4)), numbers.integers(0, 4, ROWS)
    X[np.arange(ROWS), y] += 1.5
    return X, y


def kinds(seed):
    """Three kinds that are easily told apart, each of two sorts that overlap."""
    numbers = np.random.default_rng(seed)
    kind, sort = numbers.integers(0, 3, ROWS), numbers.integers(0, 2, ROWS)
    X = numbers.normal(size=(ROWS, 4))
    X[np.arange(ROWS), kind] += 5
    X[:, 3] += 0.8 * sort
    return X, 2 * kind + sort


def outlying(seed):
    """Columns with far more outliers than the normal distribution has: Student's t of 2."""
    numbers = np.random.default_rng(seed)
    X, y = numbers.standard_t(2, size=(ROWS, 5)), numbers.integers(0, 2, ROWS)
    X[:, 0] += 2 * y
    return X, y


def quarter(one, other):
    return 2 * (one > 0) + (other > 0)


def halves(X):
    """Return the products of the first three columns and of three from the third on."""
    return X[:, :3].prod(axis=1), X[:, 2:].prod(axis=1)


FAMILIES = {
    "moons, noise 0.5": lambda seed: datasets.make_moons(ROWS, noise=0.5, random_state=seed),
    "circles": lambda s: datasets.make_circles(ROWS, noise=0.25, factor=0.4, random_state=s),
    "three clusters, 0.5 apart": clusters(3, 3, 1, 0.5),
    "two classes of two clusters, 0.5 apart": clusters(2, 3, 2, 0.5),
    "two classes of two clusters, 0.8 apart": clusters(2, 5, 2, 0.8),
    "four clusters, 1 apart": clusters(4, 5, 1, 1.0),
    "chequered": chequered,
    "rings": rings,
    "parity of two signs": drawn(lambda X: X[:, 0] * X[:, 1] > 0),
    "parity of three signs": drawn(lambda X: X[:, 0] * X[:, 1] * X[:, 2] > 0),
    "shells": drawn(lambda X: np.digitize((X[:, :4] ** 2).sum(axis=1), [2, 5])),
    "covariances of their own": own_covariances,
    "four classes that overlap": overlapping,
    "easy kinds of two sorts that overlap": kinds,
    "classes by chance": by_chance,
    "a sign, or a parity of four": drawn(
        lambda X: np.where(X[:, 0] > 0, X[:, 1] > 0, X[:, 2:6].prod(axis=1) > 0)
    ),
    "two signs, or two parities": drawn(
        lambda X: np.where(X[:, 0] > 0, quarter(X[:, 1], X[:, 2]), quarter(*halves(X[:, 3:])))
    ),
    "columns full of outliers": outlying,
}


def measured(seeds):
    for name, made in FAMILIES.items():
        for seed in range(seeds):
            X, y = made(seed)
            learned = learn(X.astype(np.float32), y, int(y.max()) + 1)
            suspects = learned.suspects()
            yield {
                "data": name,
                "sets": 1,
                "right": float((learned.probabilities.argmax(1) == y).mean()),
                "estimated rate": learned.estimate.rate,
                "0 left out": int(learned.estimate.rate_interval[0] > 0),
                "probably wrong": int((suspects.confidence >= LIKELY).sum()),
            }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    start = time.process_time()
    frame = pd.DataFrame(measured(arguments.seeds))
    grouped = frame.groupby("data", sort=False)
    table = grouped.agg({
        "sets": "sum", "right": "mean", "estimated rate": "mean", "0 left out": "sum",
        "probably wrong": "mean",
    })  # fmt: skip
    lines = [
        "# Hard but clean: how often labels are called noisy that are all right",
        "",
        f"Made by `benchmarks/hard_but_clean.py`: tables of {ROWS} rows without a wrong label, "
        "each fitted as `fit` does. `right`: held-out predictions, in per cent; `estimated rate`: "
        "of wrong labels, in per cent; `0 left out`: sets whose 95 % interval of the rate leaves "
        "out 0; `probably wrong`: rows a set whose label is wrong with a probability of a half or "
        "more, as the fit says.",
        "",
        "| data | sets | right | estimated rate | 0 left out | probably wrong |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for name, row in table.iterrows():
        lines.append(
            f"| {name} | {row['sets']:.0f} | {100 * row['right']:.1f} | "
            f"{100 * row['estimated rate']:.1f} | {row['0 left out']:.0f} | "
            f"{row['probably wrong']:.1f} |"
        )
    usual = frame[frame["data"] != "columns full of outliers"]
    lines += [
        "",
        f"0 is left out in {frame['0 left out'].sum()} of {len(frame)} sets; without the columns "
        f"full of outliers, in {usual['0 left out'].sum()} of {len(usual)}.",
        "",
        f"{(time.process_time() - start) / 60:.0f} minutes of one core.",
    ]
    text = "\n".join(lines)
    print(text)
    if arguments.out:
        arguments.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
