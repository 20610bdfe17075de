"""How good `fit` is on tables of your own, beside pipelines of scikit-learn and LightGBM.

    python benchmarks/own_tables.py FOLDER [--label label] [--rows 400] [--out FILE] [--quick]

FOLDER has CSV files with a column of labels; other columns may be numbers, categories or text, with
gaps. Some labels of at most --rows rows are made wrong, other rows are the test set; classes of
fewer than eight rows there are left out. Rivals get the usual encoding and choose their settings by
five folds of the same labels. About twenty seconds of one core for each table and noise; with
--quick about eight: fewer rivals, of fewer trees and settings, and 600 test rows at most. Results
are kept beside --out as they come, so a stopped run goes on where it was.
"""

import argparse
import json
import time
import warnings
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import noiseproof as nf

FEWEST, MOST_TESTED = 8, 1500
NOISES = {"none": 0.0, "symmetric": 0.3, "next class": 0.25}
LEAVES = {"min_samples_leaf": [1, 3, 8, 20]}
RIVALS = {
    "logistic regression": (LogisticRegression(max_iter=2000), {"C": [0.001, 0.01, 0.1, 1, 10]}),
    "ExtraTrees": (ExtraTreesClassifier(200, random_state=0), LEAVES),
    "random forest": (RandomForestClassifier(200, random_state=0), LEAVES),
    "LightGBM": (
        LGBMClassifier(n_jobs=1, verbose=-1, random_state=0),
        {"num_leaves": [4, 15], "learning_rate": [0.02, 0.08]},
    ),
}
QUICK, QUICKLY_TESTED = {"min_samples_leaf": [1, 4, 12]}, 600
QUICK_RIVALS = {
    "logistic regression": (LogisticRegression(max_iter=2000), {"C": [0.01, 0.1, 1]}),
    "ExtraTrees": (ExtraTreesClassifier(80, random_state=0), QUICK),
    "random forest": (RandomForestClassifier(80, random_state=0), QUICK),
}


def read(path, label, rows):
    """Return rows to learn from and to test on, and their classes."""
    table = pd.read_csv(path, low_memory=False).dropna(subset=[label])
    table = table.sample(frac=1, random_state=zlib.crc32(path.name.encode()), ignore_index=True)
    cut = min(rows, len(table) * 6 // 10)
    counts = table[label][:cut].value_counts()
    common = table[label].isin(counts.index[counts >= FEWEST])
    y, names = pd.factorize(table[label][common].astype(str), sort=True)
    X, learnt = table[common].drop(columns=label), int(common[:cut].sum())
    return X[:learnt], X[learnt : learnt + MOST_TESTED], y, np.asarray(names, object), learnt


def spoilt(y, noise, classes):
    numbers = np.random.default_rng(7)
    hit = numbers.random(len(y)) < NOISES[noise]
    step = numbers.integers(1, classes, len(y)) if noise == "symmetric" else 1
    return np.where(hit, (y + step) % classes, y)


def encoded(model):
    """Return the pipeline that a practitioner would write."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    categories = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"),
        OneHotEncoder(handle_unknown="ignore", min_frequency=2, sparse_output=False),
    )
    columns = ColumnTransformer(
        [
            ("numbers", numbers, make_column_selector(dtype_include="number")),
            ("categories", categories, make_column_selector(dtype_exclude="number")),
        ]
    )
    return Pipeline([("columns", columns), ("model", model)])


def score(path, label, rows, noise, rivals, most):
    """Return the accuracy of every method on true labels, and the CPU seconds of `fit`."""
    X, test, y, names, learnt = read(path, label, rows)
    test, true = test[:most], names[y[learnt : learnt + most]]
    given = spoilt(y[:learnt], noise, len(names))
    start = time.process_time()
    fitted = nf.fit(X, names[given])
    row = {"table": path.stem, "noise": noise, "seconds": time.process_time() - start}
    row["fit"] = float((np.asarray(fitted.predict(test)) == true).mean())
    for name, (model, grid) in rivals.items():
        tuned = GridSearchCV(
            encoded(model), {f"model__{key}": values for key, values in grid.items()},
            cv=KFold(5, shuffle=True, random_state=0),
        ).fit(X, names[given])  # fmt: skip
        row[name] = float((tuned.predict(test) == true).mean())
    return row


def tables(found, rows, rivals):
    """Return the page of results."""
    methods, quick = ["fit", *rivals], " --quick" if rivals is QUICK_RIVALS else ""
    lines = [
        "# Tables of one's own", "",
        f"Made by `benchmarks/own_tables.py{quick}`: {found.table.nunique()} tables, {rows} rows "
        "of each or three fifths of fewer, 30 % of the labels wrong evenly, 25 % as the next "
        "class, or none. Accuracy on true labels of other rows, in per cent, on average.", "",
        f"| noise | fits | {' | '.join(methods)} | `fit` less the best rival, by hindsight |",
        "| --- " * (len(methods) + 3) + "|",
    ]  # fmt: skip
    for noise, some in [*found.groupby("noise", sort=False), ("all", found)]:
        means = [f"{100 * some[name].mean():.1f}" for name in methods]
        behind = 100 * (some.fit - some[list(rivals)].max(axis=1)).mean()
        lines.append(f"| {noise} | {len(some)} | {' | '.join(means)} | {behind:+.1f} |")
    ranks = found[methods].rank(axis=1, ascending=False).mean()
    lines.append(f"| mean rank | | {' | '.join(f'{rank:.2f}' for rank in ranks)} | |")
    seconds = found.seconds.mean()
    tail = f"A fit takes {seconds:.1f} seconds of the main process on average. The tables: "
    return "\n".join([*lines, "", tail + ", ".join(found.table.unique()) + ".", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--label", default="label")
    parser.add_argument("--rows", type=int, default=400)
    parser.add_argument("--out", type=Path, default=Path("own_tables.md"))
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    rivals, most = (QUICK_RIVALS, QUICKLY_TESTED) if options.quick else (RIVALS, MOST_TESTED)
    warnings.simplefilter("ignore")
    checkpoint = options.out.with_suffix(".jsonl")
    lines = checkpoint.read_text().splitlines() if checkpoint.exists() else []
    found = [json.loads(line) for line in lines]
    done = {(one["table"], one["noise"]) for one in found}
    for path in sorted(options.folder.glob("*.csv")):
        for noise in NOISES:
            if (path.stem, noise) in done:
                continue
            found.append(score(path, options.label, options.rows, noise, rivals, most))
            with checkpoint.open("a") as file:
                file.write(json.dumps(found[-1]) + "\n")
            print(*(f"{v:.3f}" if isinstance(v, float) else v for v in found[-1].values()))
    options.out.write_text(tables(pd.DataFrame(found), options.rows, rivals))
    print(options.out.read_text())


if __name__ == "__main__":
    main()
