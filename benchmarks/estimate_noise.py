"""How near `noise.estimate` comes to noise that is known, and how often its intervals hold.

    python benchmarks/estimate_noise.py [--shared DIR --cache DIR] [--out FILE] [--every 3]

Simulations and scikit-learn's own tables need no files. `--shared` and `--cache` (embeddings) are
those of leaderboard.py and add film reviews, TREC rules, CIFAR-10N, letter and satellite. Held-out
probabilities are the mean of ExtraTrees and logistic regression, five folds. About ten minutes.
"""

import argparse
import itertools
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from cleanlab.count import estimate_joint
from leaderboard_sets import Places, load
from scipy.sparse import issparse
from sklearn import datasets
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from noiseproof import noise
from noiseproof.fitting.evaluate import estimated

KINDS = ("symmetric", "next", "one way", "instance")
RATES = (0.1, 0.2, 0.3, 0.4)
GOAL = 0.05
ROWS = 4_000  # of letter and satellite
TRUSTED = 60


def transition(kind, K, rate):
    if kind == "symmetric":
        return noise.symmetric(K, rate)
    T = np.eye(K)
    for i in range(0, K, 2 if kind == "one way" else 1):
        T[i, i], T[i, (i + 1) % K] = 1 - rate, rate
    return noise.TransitionMatrix(T)


# Simulations: scores of a known quality, no training.


def softmax(z):
    p = np.exp(z - z.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def simulated(K, rows, rate, kind, learner, seed):
    """Return labels, true labels and probabilities."""
    numbers = np.random.default_rng(seed)
    every, true = np.arange(rows), numbers.integers(0, K, rows)
    skill = {"good": 3.0, "weak": 1.5}.get(learner, 2.5) * (1 + 0.12 * np.log2(K / 2))
    scores = numbers.normal(size=(rows, K))
    scores[every, true] += skill
    q = softmax(skill * scores)
    T = transition("symmetric" if kind == "hard rows" else kind, K, rate)
    given = T.corrupt(true, seed=seed).labels
    if kind == "hard rows":  # half of the noise by difficulty, towards what the row looks like
        doubt = 1 - q.max(axis=1)
        chance = np.minimum(rate * (0.5 + 0.5 * doubt / doubt.mean()), 0.8)
        others = q + 1e-6
        others[every, true] = 0
        others = np.cumsum(others / others.sum(axis=1, keepdims=True), axis=1)
        drawn = (others > numbers.random((rows, 1))).argmax(axis=1)
        given = np.where(numbers.random(rows) < chance, drawn, true)
    if learner == "overconfident":
        q = softmax(3 * np.log(q + 1e-30))
    if learner == "learned the noise":
        q = softmax(np.log(q @ T.matrix + 1e-30) + 0.2 * numbers.normal(size=q.shape))
    return given, true, q


def simulations(every):
    kinds = ("symmetric", "next", "one way", "hard rows")
    learners = ("good", "overconfident", "weak", "learned the noise")
    sizes, rates = (200, 1000, 5000, 20000), (0.0, *RATES)
    grid = itertools.product((2, 4, 10, 50), sizes, rates, kinds, learners)
    for seed, (K, rows, rate, kind, learner) in enumerate(grid):
        if seed % every or (rate == 0 and kind != "symmetric"):
            continue
        given, true, p = simulated(K, rows, rate, kind, learner, seed)
        T = noise.estimate(given, p)
        yield {
            "classes": K,
            "rows": rows,
            "rate": rate,
            "noise": kind,
            "learner": learner,
            **outcome(T, given, true, p),
        }


def outcome(T, given, true, p):
    rate, right = float((given != true).mean()), float((p.argmax(1) == true).mean())
    accuracy = estimated(p.argmax(1), given, T)
    low, high = T.rate_interval
    return {
        "wrong": rate,
        "estimated": T.rate,
        "low": low,
        "high": high,
        "right": right,
        "accuracy": accuracy.value,
        "holds": low <= rate <= high,
        "accuracy holds": accuracy.low <= right <= accuracy.high,
        "width": high - low,
        "accuracy width": accuracy.high - accuracy.low,
    }


# Data: held-out probabilities of trained classifiers.


def held_out(X, given):
    # liblinear and lbfgs warn on spoiled labels that they have not converged: what of it
    trees = ExtraTreesClassifier(100, min_samples_leaf=3, random_state=0)
    linear = LogisticRegression(C=1.0, max_iter=200)
    if not issparse(X) and np.ptp(np.linalg.norm(X, axis=1)) > 1e-3:
        C = min(0.1, 2 / X.shape[1])
        linear = make_pipeline(StandardScaler(), LogisticRegression(C=C, max_iter=200))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [linear] if issparse(X) else [linear, trees]
        found = [cross_val_predict(m, X, given, method="predict_proba", cv=5) for m in models]
    return np.mean(found, axis=0)


def spoiled(X, true, kind, rate):
    if kind == "instance":
        scaled = (X - X.mean(0)) / np.maximum(X.std(0), 1e-9)
        return noise.instance_dependent(scaled, true, rate, seed=1).labels
    return transition(kind, int(true.max()) + 1, rate).corrupt(true, seed=1).labels


def tables(places):
    for name in ("wine", "breast_cancer", "digits"):
        yield name, *getattr(datasets, f"load_{name}")(return_X_y=True)
    if places:
        for name in ("satellite", "letter"):
            problem = load(f"{name}-symmetric", 0, places)
            yield name, problem.X[:ROWS].astype(float), problem.true[:ROWS]


def hard_and_clean():
    numbers = np.random.default_rng(3)
    X = numbers.normal(size=(2000, 8))
    yield "parity of four signs", X, (np.prod(np.sign(X[:, :4]), axis=1) > 0).astype(int)
    X = numbers.normal(size=(60, 5))
    yield "60 rows", X, (X[:, 0] + X[:, 1] > 0).astype(int)
    X = numbers.normal(size=(400, 500))
    yield "400 rows x 500, 498 of them irrelevant", X, (X[:, 0] + X[:, 1] / 2 > 0).astype(int)
    X, true = numbers.normal(size=(3000, 4)), numbers.integers(0, 4, 3000)
    X[np.arange(3000), true] += 1.5
    yield "four classes that overlap", X, true
    yield (
        "labels that have nothing to do with the rows",
        numbers.normal(size=(600, 20)),
        (numbers.integers(0, 3, 600)),
    )


def cases(places):
    """Yield the group, the name, the noise, X, true and given labels, and trusted rows or None."""
    if places:
        for name in ("reviews-minilm", "reviews-tfidf"):
            for draw in range(2):
                found = load(name, draw, places)
                yield "real", name, "one worker", found.X, found.true, found.given, None
        for name in ("cifar-aggregate", "cifar-random1", "cifar-worst", "trec-minilm"):
            found = load(name, 0, places)
            yield "real", name, "as found", found.X, found.true, found.given, None
            if name in ("cifar-worst", "trec-minilm"):
                rows = np.random.default_rng(0).choice(len(found.true), TRUSTED, replace=False)
                trusted = rows, found.true[rows]
                text = f"as found, {TRUSTED} trusted rows"
                yield "real", name, text, found.X, found.true, found.given, trusted
        for name in ("reviews-minilm", "cifar-worst", "trec-minilm"):
            found = load(name, 0, places)
            yield "clean", name.split("-")[0], "none", found.X, found.true, found.true, None
    for name, X, true in hard_and_clean():
        yield "clean", name, "none", X, true, true, None
    for name, X, true in tables(places):
        yield "clean", name, "none", X, true, true, None
        rates = RATES if len(true) < 2_000 else RATES[1::2]
        for kind, rate in itertools.product(KINDS, rates):
            given = spoiled(X, true, kind, rate)
            yield "spoiled tables", name, f"{kind} {rate}", X, true, given, None


def measured(places):
    kept = None, None, None
    for group, name, text, X, true, given, trusted in cases(places):
        if kept[0] is not X or kept[1] is not given:
            kept = X, given, held_out(X, given)
        p = kept[2]
        T = noise.estimate(given, p, trusted=trusted)
        joint = 1 - float(np.trace(estimate_joint(given, p)))
        found = outcome(T, given, true, p)
        yield {"group": group, "data": name, "noise": text, "cleanlab": joint, **found}


def coverage(frame, by):
    holds = frame.groupby(by)[["holds", "accuracy holds"]].mean()
    width = frame.groupby(by)[["width", "accuracy width"]].mean()
    return (100 * pd.concat([holds, width], axis=1)).round(0).astype(int)


def markdown(frame):
    rows = [list(map(str, frame.columns)), ["---"] * frame.shape[1]]
    rows += [[str(value) for value in row] for row in frame.itertuples(index=False)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def percent(value):
    return f"{100 * value:.1f}"


def shown(frame):
    columns = {
        "data": frame["data"],
        "noise": frame["noise"],
        "right": (100 * frame["right"]).round(0).astype(int),
        "wrong labels": frame["wrong"].map(percent),
        "estimated": [
            f"{percent(r.estimated)} ({percent(r.low)} to {percent(r.high)})"
            for r in frame.itertuples()
        ],
        "error": (frame["estimated"] - frame["wrong"]).map(lambda v: f"{100 * v:+.1f}"),
        "cleanlab": (frame["cleanlab"] - frame["wrong"]).map(lambda v: f"{100 * v:+.1f}"),
        "accuracy, estimated": frame["accuracy"].map(percent),
    }
    return pd.DataFrame(columns)


def summary(frame):
    for group, part in frame.groupby("group", sort=False):
        near = int((abs(part["estimated"] - part["wrong"]) <= GOAL).sum())
        theirs = int((abs(part["cleanlab"] - part["wrong"]) <= GOAL).sum())
        held, right = 100 * part["holds"].mean(), 100 * part["accuracy holds"].mean()
        yield (
            f"- {group}: within {100 * GOAL:g} points in {near} of {len(part)} (cleanlab's joint "
            f"{theirs}); the interval of the rate holds it in {held:.0f} %, that of the accuracy "
            f"in {right:.0f} %"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path)
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--cifar", type=Path)
    parser.add_argument("--every", type=int, default=3, help="simulate every so manieth case")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    start = time.perf_counter()
    frame = pd.DataFrame(simulations(arguments.every))
    near = (abs(frame["estimated"] - frame["wrong"]) <= GOAL).mean()
    text = [
        "# How noisy? Estimated and true",
        "",
        "Made by `benchmarks/estimate_noise.py`. All figures in per cent.",
        "",
        "## Do the intervals hold?",
        "",
        f"{len(frame):,} simulations. The 95 % interval of the rate holds it in "
        f"**{100 * frame['holds'].mean():.1f} %**, that of the accuracy on true labels in "
        f"**{100 * frame['accuracy holds'].mean():.1f} %**; the rate is within 5 points in "
        f"{100 * near:.0f} %. By what was varied (how often they hold, and how wide they are):",
        "",
    ]
    for by in ("rows", "classes", "rate", "noise", "learner"):
        text += [markdown(coverage(frame, by).reset_index()), ""]
    print("\n".join(text), flush=True)
    places = None
    if arguments.shared and arguments.cache:
        places = Places(arguments.shared, arguments.cifar, arguments.cache)
    frame = pd.DataFrame(measured(places))
    rest = ["## How near is it?", "", *summary(frame), ""]
    for group, part in frame.groupby("group", sort=False):
        rest += [f"### {group}", "", markdown(shown(part)), ""]
    rest.append(f"{(time.perf_counter() - start) / 60:.0f} minutes.")
    print("\n".join(rest))
    if arguments.out:
        arguments.out.write_text("\n".join(text + rest) + "\n")


if __name__ == "__main__":
    main()
