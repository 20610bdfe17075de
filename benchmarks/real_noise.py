"""Real human noise: what `learn` reaches beside CE, robust losses, cleanlab and clean labels.

    python benchmarks/real_noise.py --sentiment DIR --data DIR [--rows 20000] [--draws 5]

Two kinds of data, each where its files are given:

    sentiment   film-review sentences, labelled each by one crowd worker drawn at random; TF-IDF of
                words and pairs; tested on sentences with true labels. `--sentiment`: a directory
                with Sentiment_text_train.txt, answers.txt ... as the authors publish them.
    cifar10n    CIFAR-10 with the labels aggregate, random1 and worst of CIFAR-10N; whitened 6 x 6
                patches and k-means (patch_features.py); tested on CIFAR-10's test set. `--data` or
                NOISEPROOF_DATA: where `noiseproof data fetch` put it.

Compared on the same features, with the same kind of head (the one `learn` chose):

    CE          the head as it is, with the default decay
    LOSS        the same with each loss that noiseproof.recommend names for the estimated noise
    cleanlab    CleanLearning around the head with CE
    learn       noiseproof.advise.learn
    clean       CE on the true labels: the ceiling
"""

import argparse
import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from patch_features import patch_features
from sklearn.feature_extraction.text import TfidfVectorizer

from noiseproof import data
from noiseproof.advise.learn import learn
from noiseproof.advise.recommend import recommend
from noiseproof.errors import TheoryError
from noiseproof.integrations.sklearn import RobustClassifier


class Task(NamedTuple):
    name: str
    X: Any
    given: np.ndarray
    true: np.ndarray
    X_test: Any
    test: np.ndarray


def sentiment(directory: Path, draws: int) -> Iterator[Task]:
    def lines(name: str) -> list[str]:
        return (directory / name).read_text(encoding="latin-1").splitlines()

    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, dtype=np.float32)
    X = words.fit_transform(lines("Sentiment_text_train.txt"))
    X_test = words.transform(lines("Sentiment_text_test.txt"))
    true = np.loadtxt(directory / "Sentiment_Z_train.txt", dtype=np.int64)
    test = np.loadtxt(directory / "Sentiment_Z_test.txt", dtype=np.int64)
    answers = np.loadtxt(directory / "answers.txt", dtype=np.int64)
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        given = np.array([rng.choice(row[row >= 0]) for row in answers])
        yield Task("sentiment", X, given, true, X_test, test)


def cifar10n(directory: Path, rows: int, test_rows: int, cache: Path) -> Iterator[Task]:
    loaded = data.load("cifar10", directory)
    human = data.human_labels(loaded.train, directory)
    chosen = np.sort(np.random.default_rng(0).choice(len(loaded.train), rows, replace=False))
    path = cache / f"cifar10-patches-{rows}-{test_rows}.npz"
    if not path.exists():
        X, X_test = patch_features(loaded.train.inputs[chosen], loaded.test.inputs[:test_rows])
        np.savez(path, X=X, X_test=X_test)
    with np.load(path) as features:
        X, X_test = features["X"], features["X_test"]
    true, test = loaded.train.labels.numpy()[chosen], loaded.test.labels.numpy()[:test_rows]
    for name in ("aggregate", "random1", "worst"):
        yield Task(f"cifar10n {name}", X, human[name].numpy()[chosen], true, X_test, test)


def compared(task: Task, head: str | None = None) -> dict[str, float]:
    """Return the accuracy on true labels of each way to train, in percent."""
    started = time.perf_counter()
    learned = learn(task.X, task.given, int(task.true.max()) + 1, head=head)
    seconds = time.perf_counter() - started
    kind = "linear" if len(learned.heads.layers) == 1 else "mlp"

    def percent(predicted: np.ndarray) -> float:
        return 100 * float((predicted == task.test).mean())

    def alone(loss: str, labels: np.ndarray) -> float:
        return percent(RobustClassifier(loss, head=kind).fit(task.X, labels).predict(task.X_test))

    found = {"CE": alone("CE", task.given)}
    for loss in recommended(learned):
        found[loss] = alone(loss, task.given)
    found["cleanlab"] = percent(cleaned(task, kind))
    found["learn"] = percent(learned.predict_proba(task.X_test).argmax(axis=1))
    found["clean"] = alone("CE", task.true)
    noise = float((task.given != task.true).mean())
    print(f"{task.name}: noise {noise:.3f}, estimated {learned.estimate.rate:.3f}; {kind} head")
    print(f"  {learned.why} ({seconds:.0f} s)")
    print("  " + ", ".join(f"{name} {value:.2f}" for name, value in found.items()), flush=True)
    return found


def recommended(learned: Any) -> list[str]:
    try:
        return [str(advice.loss) for advice in recommend(learned.estimate)][:3]
    except TheoryError:
        return []


def cleaned(task: Task, kind: str) -> np.ndarray:
    from cleanlab.classification import CleanLearning

    model = CleanLearning(RobustClassifier("CE", head=kind), seed=0)
    return model.fit(task.X, task.given).predict(task.X_test)


def summary(name: str, runs: list[dict[str, float]]) -> str:
    """Return a line of a table: means over the draws, and the part of the gap that is closed."""

    def mean(way: str) -> float:
        return statistics.mean(run[way] for run in runs)

    def spread(way: str) -> str:
        values = [run[way] for run in runs]
        return f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""

    gap = mean("clean") - mean("CE")
    closed = f"{(mean('learn') - mean('CE')) / gap:.0%}" if gap > 3 else "(gap under 3)"
    ways = (f"{mean(way):.2f}{spread(way)}" for way in ("CE", "cleanlab", "learn", "clean"))
    return f"| {name} | {' | '.join(ways)} | {closed} |"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sentiment", type=Path)
    parser.add_argument("--data", default=os.environ.get("NOISEPROOF_DATA"), type=Path)
    parser.add_argument("--cache", type=Path, default=Path("/tmp"), help="where features are kept")
    parser.add_argument("--rows", type=int, default=20000, help="CIFAR images to train on")
    parser.add_argument("--test-rows", type=int, default=10000)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--head", choices=["linear", "mlp"], help="instead of the better one")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    tasks: list[Iterator[Task]] = []
    if arguments.sentiment:
        tasks.append(sentiment(arguments.sentiment, arguments.draws))
    if arguments.data:
        cifar = (arguments.data, arguments.rows, arguments.test_rows, arguments.cache)
        tasks.append(cifar10n(*cifar))
    runs: dict[str, list[dict[str, float]]] = {}
    for group in tasks:
        for task in group:
            runs.setdefault(task.name, []).append(compared(task, arguments.head))
    print("\n| set | CE | cleanlab | learn | clean | gap closed |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, found in runs.items():
        print(summary(name, found))


if __name__ == "__main__":
    main()
