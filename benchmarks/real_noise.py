"""Real human noise: what `learn` reaches beside CE, robust losses, cleanlab and clean labels.

    python benchmarks/real_noise.py --sentiment DIR --data DIR [--rows 5000] [--draws 5]

Three kinds of data, the first two where their files are given:

    sentiment   film-review sentences, labelled each by one crowd worker drawn at random; TF-IDF of
                words and pairs; tested on sentences with true labels. `--sentiment`: a directory
                with Sentiment_text_train.txt, answers.txt ... as the authors publish them.
    cifar10n    CIFAR-10 with the labels aggregate, random1 and worst of CIFAR-10N; whitened 6 x 6
                patches and k-means (patch_features.py); tested on CIFAR-10's test set. `--data` or
                NOISEPROOF_DATA: where `noiseproof data fetch` put it.

    docstrings  not human noise, but another text, so that nothing is tuned to one: paragraphs of
                the docstrings of eight packages, to be told apart; 40 % of the labels wrong.

Compared on the same features:

    CE              a linear head (an MLP where `learn` chose one), the default decay
    CE tuned        the head and the decay that predict held-out noisy labels best
    LOSS            the same with each loss that noiseproof.recommend names for the estimated noise
    cleanlab        CleanLearning around the head of CE
    cleanlab tuned  CleanLearning around the head of CE tuned
    learn           noiseproof.learn.learn, which is what `noiseproof fit` does
    clean           CE on the true labels: the ceiling
    clean tuned     CE tuned on the true labels
"""

import argparse
import ast
import dataclasses
import importlib.util
import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from cleanlab.classification import CleanLearning
from patch_features import patch_features
from sklearn.feature_extraction.text import TfidfVectorizer

import noiseproof as nf
from noiseproof import data
from noiseproof.advise.recommend import recommend
from noiseproof.errors import TheoryError
from noiseproof.integrations.sklearn import RobustClassifier
from noiseproof.learn.learn import Learned, learn

RESULTS = Path(__file__).parent / "results" / "real_noise.md"
WAYS = ("CE", "CE tuned", "cleanlab", "cleanlab tuned", "learn", "clean", "clean tuned")
PACKAGES = ("torch", "scipy", "pandas", "sklearn", "matplotlib", "sympy", "numpy", "networkx")


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


def docstrings(draws: int) -> Iterator[Task]:
    texts, classes = [], []
    for k, package in enumerate(PACKAGES):
        found = sorted(set(paragraphs(package)))
        chosen = np.random.default_rng(k).permutation(len(found))[:1200]
        texts += [found[i] for i in chosen]
        classes += [k] * len(chosen)
    order = np.random.default_rng(0).permutation(len(texts))
    texts, labels = [texts[i] for i in order], np.array(classes)[order]
    half = len(texts) // 2
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, dtype=np.float32)
    X, X_test = words.fit_transform(texts[:half]), words.transform(texts[half:])
    noise = nf.noise.symmetric(len(PACKAGES), 0.4)
    for draw in range(draws):
        given = noise.corrupt(labels[:half], seed=draw).labels
        yield Task("docstrings", X, given, labels[:half], X_test, labels[half:])


def paragraphs(package: str) -> Iterator[str]:
    (home,) = importlib.util.find_spec(package).submodule_search_locations
    for path in sorted(Path(home).rglob("*.py")):
        if "test" in str(path.relative_to(home)):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                for paragraph in (ast.get_docstring(node) or "").split("\n\n")[:3]:
                    text = " ".join(paragraph.split())
                    if 30 < len(text) < 300 and ">>>" not in text:
                        yield text


def compared(task: Task, head: str | None = None) -> dict[str, float]:
    """Return the accuracy on true labels of each way to train, in percent."""
    started = time.perf_counter()
    classes = int(task.true.max()) + 1
    learned = learn(task.X, task.given, classes, head=head)
    seconds = time.perf_counter() - started
    decay = next(one.decay for one in learned.comparison if one.name == "CE")
    plain = {"head": "mlp" if learned.kind == "mlp" else "linear"}
    tuned = {"head": learned.kind, "weight_decay": decay}

    def percent(model: Any) -> float:
        return 100 * float((model.predict_proba(task.X_test).argmax(axis=1) == task.test).mean())

    def alone(loss: str, labels: np.ndarray, options: dict[str, Any]) -> float:
        return percent(RobustClassifier(loss, **options).fit(task.X, labels))

    def cleaned(options: dict[str, Any]) -> float:
        model = CleanLearning(RobustClassifier("CE", **options), seed=0)
        return percent(model.fit(task.X, task.given))

    found = {
        "CE": alone("CE", task.given, plain),
        "CE tuned": percent(baseline(learned)),
        "cleanlab": cleaned(plain),
        "cleanlab tuned": cleaned(tuned),
        "learn": percent(learned),
        "clean": alone("CE", task.true, plain),
        "clean tuned": percent(baseline(learn(task.X, task.true, classes, losses=["CE"]))),
    }
    for loss in recommended(learned):
        found[loss] = alone(loss, task.given, tuned)
    noise = float((task.given != task.true).mean())
    print(f"{task.name}: noise {noise:.3f}, estimated {learned.estimate.rate:.3f}; {tuned}")
    print(f"  {learned.why} ({seconds:.0f} s)")
    print("  " + ", ".join(f"{name} {value:.2f}" for name, value in found.items()), flush=True)
    return found


def baseline(learned: Learned) -> Learned:
    return dataclasses.replace(learned, heads=learned.baseline)


def recommended(learned: Learned) -> list[str]:
    try:
        return [str(advice.loss) for advice in recommend(learned.estimate)][:3]
    except TheoryError:
        return []


def table(runs: dict[str, list[dict[str, float]]]) -> str:
    """Return the means over the draws, and the part of the gap that `learn` closes."""
    more = ("best recommended loss alone", "gap closed", "tuned gap closed")
    lines = [
        f"| set | {' | '.join((*WAYS, *more))} |",
        "| --- " * (len(WAYS) + 4) + "|",
    ]
    for name, found in runs.items():
        means = {way: statistics.mean(run[way] for run in found) for way in WAYS}
        spread = {way: statistics.stdev([run[way] for run in found]) if len(found) > 1 else 0
                  for way in WAYS}  # fmt: skip
        cells = [f"{means[w]:.2f}" + f" ± {spread[w]:.2f}" * (len(found) > 1) for w in WAYS]
        others = [max((v for k, v in run.items() if k not in WAYS), default=0) for run in found]
        cells.append(f"{statistics.mean(others):.2f}" if all(others) else "none")
        for low, high in (("CE", "clean"), ("CE tuned", "clean tuned")):
            gap = means[high] - means[low]
            closed = (means["learn"] - means[low]) / gap if gap > 0 else 0
            cells.append(f"{closed:.0%} of {gap:.1f}" if gap > 3 else f"(gap {gap:.1f})")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sentiment", type=Path)
    parser.add_argument("--data", default=os.environ.get("NOISEPROOF_DATA") or None, type=Path)
    parser.add_argument("--cache", type=Path, default=Path("/tmp"), help="where features are kept")
    parser.add_argument("--rows", type=int, default=5000, help="CIFAR images to train on")
    parser.add_argument("--test-rows", type=int, default=5000)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--head", choices=["linear", "mlp"], help="instead of the better one")
    parser.add_argument("--out", type=Path, default=RESULTS, help="the table")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    tasks: list[Iterator[Task]] = [docstrings(min(arguments.draws, 2))]
    if arguments.sentiment:
        tasks.append(sentiment(arguments.sentiment, arguments.draws))
    if arguments.data:
        cifar = (arguments.data, arguments.rows, arguments.test_rows, arguments.cache)
        tasks.append(cifar10n(*cifar))
    runs: dict[str, list[dict[str, float]]] = {}
    for group in tasks:
        for task in group:
            runs.setdefault(task.name, []).append(compared(task, arguments.head))
            arguments.out.write_text(
                f"Written by benchmarks/real_noise.py: accuracy (%) on true labels, mean ± "
                f"standard deviation over draws; {arguments.rows} CIFAR images.\n\n{table(runs)}\n"
            )
    print(f"\n{table(runs)}")


if __name__ == "__main__":
    main()
