"""How good a fit of very few rows is, beside scikit-learn, and how often its intervals hold.

    python benchmarks/few_rows.py [--draws 2] [--out FILE]

Rows are drawn from scikit-learn's own tables, some labels are made wrong, and the remaining rows
are the test set. Rivals choose their settings by five folds of the same noisy labels. About a
quarter of an hour of one core.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from noiseproof import noise
from noiseproof.fitting.evaluate import estimated
from noiseproof.learn.learn import learn

SETS = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
}
ROWS = (12, 20, 30, 50, 75, 95)
LEAVES = {"min_samples_leaf": [1, 3, 8]}
FEWEST = 3  # rows of a class


def rivals(seed):
    numbers = {"random_state": seed}
    return {
        "logistic regression": make_pipeline(
            StandardScaler(), LogisticRegressionCV(cv=5, max_iter=1000)
        ),
        "ExtraTrees": GridSearchCV(ExtraTreesClassifier(100, **numbers), LEAVES, cv=5),
        "random forest": GridSearchCV(RandomForestClassifier(100, **numbers), LEAVES, cv=5),
    }


def noises(classes):
    """Return what makes labels wrong, by name; the right label of a row stays the likeliest."""
    return {
        "none": None,
        "symmetric": noise.symmetric(classes, 0.2 if classes == 2 else 0.3),
        "next class": noise.pair_flip(classes, 0.25),
    }


def drawn(load, rows, seed):
    """Return rows to learn from, their classes, and others to test with."""
    X, y = load(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(y))
    mine, other = order[:rows], order[rows:]
    known = np.flatnonzero(np.bincount(y[mine]) >= FEWEST)
    mine, other = (part[np.isin(y[part], known)] for part in (mine, other))
    X = X.astype(np.float32)
    return X[mine], np.searchsorted(known, y[mine]), X[other], np.searchsorted(known, y[other])


def fitted(X, given, true, X_test, y_test, classes, seed):
    start = time.process_time()
    learned = learn(X, given, classes, seed=seed)
    seconds = time.process_time() - start
    right = float((learned.model.probabilities(X_test).argmax(1) == y_test).mean())
    low, high = learned.estimate.rate_interval
    told = estimated(learned.predicted, given, learned.estimate, learned.units)
    return {
        "fit": right,
        "seconds": seconds,
        "rate held": low <= (given != true).mean() <= high,
        "accuracy held": told.low <= right <= told.high,
        "0 left out": low > 0,
    }


def measured(draws):
    for name, load in SETS.items():
        for rows in ROWS:
            for seed in range(draws):
                X, y, X_test, y_test = drawn(load, rows, seed)
                classes = len(np.unique(y))
                if classes < 2:
                    continue
                for kind, made in noises(classes).items():
                    given = y if made is None else np.asarray(made.corrupt(y, seed=seed).labels)
                    if len(np.unique(given)) < classes:
                        continue
                    row = {"data": name, "rows": rows, "noise": kind}
                    row |= fitted(X, given, y, X_test, y_test, classes, seed)
                    for rival, model in rivals(seed).items():
                        try:
                            row[rival] = model.fit(X, given).score(X_test, y_test)
                        except ValueError:  # every class has fewer rows than there are folds
                            row[rival] = np.nan
                    yield row


def table_of(frame, by):
    names = ["fit", "logistic regression", "ExtraTrees", "random forest"]
    lines = [f"| {by} | fits | " + " | ".join(names) + " |", "| --- " * (2 + len(names)) + "|"]
    for value, part in frame.groupby(by, sort=False):
        cells = " | ".join(f"{100 * part[name].mean():.1f}" for name in names)
        lines.append(f"| {value} | {len(part)} | {cells} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    start = time.process_time()
    frame = pd.DataFrame(list(measured(arguments.draws)))
    compared = frame.dropna()
    clean, noisy = (frame[(frame["noise"] == "none") == is_clean] for is_clean in (True, False))
    lines = [
        "# Very few rows",
        "",
        "Made by `benchmarks/few_rows.py`: 12 to 95 rows of iris, wine, breast cancer and digits, "
        "with right labels, 20 or 30 % wrong evenly, or 25 % wrong as the next class. Accuracy on "
        "true labels of the other rows, in per cent; rivals choose their settings on the same "
        f"labels. {len(frame) - len(compared)} of {len(frame)} sets are left out of the "
        "tables: a rival refuses rows of which every class has fewer than there are folds.",
        "",
        *table_of(compared, "rows"),
        "",
        *table_of(compared, "noise"),
        "",
        *table_of(compared, "data"),
        "",
        f"Of all {len(frame)} fits, the 95 % interval of the rate holds the rate in "
        f"{100 * frame['rate held'].mean():.0f} %, and that of the accuracy holds the model's "
        f"accuracy on the other rows in {100 * frame['accuracy held'].mean():.0f} %. The interval "
        f"of the rate leaves out 0 in {clean['0 left out'].sum()} of {len(clean)} sets without a "
        f"wrong label, and in {noisy['0 left out'].sum()} of {len(noisy)} others. A fit takes "
        f"{frame['seconds'].mean():.1f} seconds of one core on average.",
        "",
        f"{(time.process_time() - start) / 60:.0f} minutes of one core.",
    ]
    text = "\n".join(lines)
    print(text)
    if arguments.out:
        arguments.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
