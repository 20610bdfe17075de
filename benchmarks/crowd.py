"""Several answers a row: accuracy on true test labels by how the answers become labels.

    python benchmarks/crowd.py --shared DIR --cache CACHE [--data DIR] [--sets reviews]

    reviews   film-review sentences as MiniLM embeddings, the answers of 203 workers, 5.6 a sentence
    trec      questions as MiniLM embeddings, the votes of 68 hand-written rules, 1.8 a question
    cifar     5,000 images of CIFAR-10N as EfficientNet-lite0 embeddings, three people an image
    made-N    5 classes in 30 dimensions, 60 annotators, a fifth at random, 1 to 3 answers an item
    photos    eight classes of CIFAR-10 as EfficientNet-lite0 embeddings, 59 made-up annotators who
              confuse the same classes, a tenth at random, 2.6 answers an image
    few       1,000 of these images, and a third of the answers wrong
    single    one answer an image
    misled    of an eighth of the images, all annotators see the same wrong class
    copies    a fifth of the images, each five times with some noise on the embedding, and the
              same answers, as augmented sets have them

All rows of a table have the same learner: logistic regression, whose decay is the one that predicts
held-out labels best. Prints Markdown; `benchmarks/results/crowd.md` keeps it.
"""

import argparse
import os
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from cleanlab.multiannotator import get_label_quality_multiannotator
from leaderboard_sets import Places, load
from numpy.typing import NDArray
from platformdirs import user_cache_path

import noiseproof as nf
from noiseproof import data
from noiseproof.crowd.aggregate import aggregate
from noiseproof.crowd.answers import Answers
from noiseproof.crowd.with_features import agree
from noiseproof.fitting.crowd import Predict
from noiseproof.learn.folds import deal
from noiseproof.learn.learner import Problem
from noiseproof.learn.learners import Linear
from noiseproof.learn.trials import Folds, Setting

SETS = (
    "reviews", "trec", "cifar", "photos", "few", "single", "misled", "copies",
    "made-0", "made-1", "made-2",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Crowd:
    """Rows with answers, and true labels to be judged by."""

    X: Any
    answers: Answers
    true: NDArray[np.int64]
    X_test: Any
    test: NDArray[np.int64]


def reviews(places: Places) -> Crowd:
    found = load("reviews-minilm", 0, places)
    said = np.loadtxt(places.shared / "sentiment-mturk" / "answers.txt", dtype=np.int64)
    item, worker = np.nonzero(said >= 0)
    return crowd(found, item, worker, said[item, worker])


def trec(places: Places) -> Crowd:
    found = load("trec-minilm", 0, places)
    kinds = sorted(set(pd.read_csv(places.shared / "trec-rules" / "train.csv")["true"]))
    votes = pd.read_csv(places.shared / "trec-rules" / "votes.csv")
    code = pd.Categorical(votes["label"], kinds).codes.astype(np.int64)
    return crowd(found, votes["row"].to_numpy(), pd.factorize(votes["rule"])[0], code)


def cifar(places: Places) -> Crowd:
    found = load("cifar-random1", 0, places)
    loaded = data.load("cifar10", places.cifar)
    rows = np.sort(np.random.default_rng(0).choice(len(loaded.train), len(found.X), replace=False))
    people = data.human_labels(loaded.train, places.cifar)
    said = np.stack([people[f"random{k}"].numpy()[rows] for k in (1, 2, 3)], axis=1)
    item, worker = np.nonzero(said >= 0)
    return crowd(found, item, worker, said[item, worker])


def made(draw: int, rows: int = 3000, K: int = 5, people: int = 60) -> Crowd:
    rng = np.random.default_rng(draw)
    true = rng.integers(0, K, rows + 2000)
    X = 0.55 * rng.normal(size=(K, 30))[true] + rng.normal(size=(len(true), 30))
    skill = np.where(rng.random(people) < 0.2, 1 / K, rng.uniform(0.45, 0.95, people))
    same = rng.random(people) < 0.1
    item = np.repeat(np.arange(rows), rng.integers(1, 4, rows))
    worker = rng.choice(people, len(item), p=rng.dirichlet(np.full(people, 0.7)))
    item, worker = np.unique(np.stack([item, worker]), axis=1)
    wrong = (true[item] + rng.integers(1, K, len(item))) % K
    code = np.where(rng.random(len(item)) < skill[worker], true[item], wrong)
    code = np.where(same[worker], 0, code)
    X = X.astype(np.float32)
    return Crowd(X[:rows], numbered(item, worker, code, K), true[:rows], X[rows:], true[rows:])


def photos(
    places: Places, mean: float = 2.5, times: int = 1, rows: int | None = None,
    right: tuple[float, float] = (6, 2), misled: float = 0,
) -> Crowd:  # fmt: skip
    """Ask made-up annotators about real images: their mistakes are alike, and some just guess.

    Args:
        places: where the embeddings are.
        mean: about how many answers an image gets.
        times: how many copies of an image there are.
        rows: how many images; None takes all.
        right: the beta distribution of the annotators' accuracies.
        misled: the share of images that all annotators take for the same wrong class.
    """
    K, people, rng = 8, 59, np.random.default_rng(0)
    found = load("cifar-random1", 0, places)
    some, test = found.true < K, found.test < K
    X, true = found.X[some], found.true[some]
    X, true = (a[:: 5 if times > 1 else 1][:rows] for a in (X, true))
    usual = np.stack([rng.dirichlet(np.full(K, 0.25)) for _ in range(K)]) * (1 - np.eye(K))
    usual /= usual.sum(axis=1, keepdims=True)
    easy = np.clip(rng.normal(0, 0.1, K), -0.25, 0.15)
    skill = np.clip(rng.beta(*right, people)[:, None] + easy, 0.05, 0.99)
    guesses = rng.random(people) < 0.1
    number = np.maximum(1, rng.poisson(mean, len(true))) if mean > 1 else np.ones(len(true), int)
    often = rng.lognormal(0, 1, people)
    item = np.repeat(np.arange(len(true)), number)
    worker = np.concatenate([
        rng.choice(people, n, replace=False, p=often / often.sum()) for n in number
    ])  # fmt: skip
    seen = np.where(rng.random(len(true)) < misled, (true + 1) % K, true) if misled else true
    kind = seen[item]
    wrong = (usual.cumsum(axis=1)[kind] < rng.random(len(item))[:, None]).sum(axis=1)
    knows = rng.random(len(item)) < skill[worker, kind]
    code = np.where(knows, kind, np.minimum(wrong, K - 1))
    code = np.where(guesses[worker], rng.integers(0, K, len(item)), code)
    copied = np.arange(len(item)).repeat(times)
    item = item[copied] * times + np.tile(np.arange(times), len(item))
    X, true = X.repeat(times, axis=0), true.repeat(times)
    if times > 1:
        X = X + 0.5 * X.std(axis=0) * rng.normal(size=X.shape).astype(np.float32)
    answers = numbered(item, worker[copied], code[copied], K)
    return Crowd(X, answers, true, found.X_test[test], found.test[test])


def few(places: Places) -> Crowd:
    return photos(places, rows=1000, right=(5, 2.5))


def misled(places: Places) -> Crowd:
    return photos(places, misled=0.125)


def single(places: Places) -> Crowd:
    return photos(places, mean=1)


def copies(places: Places) -> Crowd:
    return photos(places, times=5)


def crowd(found: Any, item: Any, worker: Any, code: Any) -> Crowd:
    answers = numbered(item, worker, code, found.classes)
    return Crowd(found.X, answers, found.true, found.X_test, found.test)


def numbered(item: Any, worker: Any, code: Any, classes: int) -> Answers:
    names, worker = np.unique(worker, return_inverse=True)
    return Answers(item, worker, code, tuple(str(name) for name in names), classes)


def one_answer(answers: Answers, draw: int) -> NDArray[np.int64]:
    """Return the answer of one annotator about each item, drawn at random."""
    order = np.random.default_rng(draw).permutation(len(answers.item))
    _, first = np.unique(answers.item[order], return_index=True)
    return answers.code[order][first]


def cleanlab(found: Crowd) -> NDArray[np.int64]:
    """Return cleanlab's consensus, with held-out predictions of the same learner."""
    answers = found.answers
    frame = pd.DataFrame(np.nan, np.arange(answers.items), list(answers.names))
    values = frame.to_numpy().copy()
    values[answers.item, answers.annotator] = answers.code
    frame = pd.DataFrame(values, columns=list(answers.names))
    vote = answers.votes.argmax(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = get_label_quality_multiannotator(
            frame, held_out(found, vote), verbose=False, return_detailed_quality=False,
            return_annotator_stats=False,
        )  # fmt: skip
    return told["label_quality"]["consensus_label"].to_numpy().astype(np.int64)


def folds(found: Crowd, labels: Any, soft: Any = None, judge: Any = None) -> Folds:
    parts = [None if p is None else np.asarray(p, dtype=np.float32) for p in (soft, judge)]
    weights = np.ones(len(labels), dtype=np.float32)
    problem = Problem(found.X, labels, found.answers.classes, weights, 0, *parts)
    return Folds(problem, deal(labels, 5, 0, found.answers.copies()))


def settings() -> list[Setting]:
    return [Setting(Linear("CE", decay, "common")) for decay in (*Linear.DECAYS, 1e-5)]


def held_out(found: Crowd, labels: Any) -> Any:
    trials = folds(found, labels).run(settings())
    return max(trials, key=lambda trial: trial.accuracy).probabilities


def accuracy(found: Crowd, labels: Any, soft: Any = None, judge: Any = None) -> float:
    """Return the accuracy on true test labels of the decay that held-out labels choose."""
    some = folds(found, labels, soft, judge)
    best = max(some.run(settings()), key=lambda trial: trial.accuracy).setting
    (member,) = some.keep([best], [1.0], None)
    return float((member.trained.probabilities(found.X_test).argmax(1) == found.test).mean())


def ece(soft: Any, true: Any, bins: int = 15) -> float:
    """Return the expected calibration error of soft labels in points."""
    sure, right = soft.max(axis=1), soft.argmax(axis=1) == true
    bin_ = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = [abs((sure - right)[bin_ == k].sum()) for k in range(bins)]
    return 100 * float(np.sum(gaps)) / len(true)


def table(name: str, found: Crowd, draws: int) -> None:
    answers, true = found.answers, found.true
    wrong = (answers.code != true[answers.item]).mean()
    print(f"\n## {name}\n\n{len(true):,} rows, {len(answers.item):,} answers of ", end="")
    print(f"{len(answers.names)} annotators, {100 * wrong:.1f} % of them wrong\n")
    print(
        "| labels | % of the labels wrong | said to be | ECE | accuracy % on true test labels | s |"
    )
    print("| --- | --- | --- | --- | --- | --- |", flush=True)

    def row(told: str, labels: Any, seconds: float, soft: Any = None, judge: Any = None) -> None:
        agreed = labels if soft is None else soft.argmax(axis=1)
        off = 100 * (agreed != true).mean()
        right = 100 * accuracy(found, labels, soft, judge)
        said, error = "", ""
        if soft is not None:
            said, error = f"{100 * (1 - soft.max(axis=1).mean()):.1f}", f"{ece(soft, true):.1f}"
        print(
            f"| {told} | {off:.1f} | {said} | {error} | {right:.1f} | {seconds:.0f} |", flush=True
        )

    one = [one_answer(answers, draw) for draw in range(draws)]
    off = 100 * np.mean([(labels != true).mean() for labels in one])
    right = 100 * np.mean([accuracy(found, labels) for labels in one])
    print(f"| one answer each, mean of {draws} draws | {off:.1f} | | | {right:.1f} | |", flush=True)
    row("majority, ties to the first", answers.votes.argmax(axis=1), 0)
    for method in ("dawid-skene", "one-coin"):
        start = time.perf_counter()
        soft = aggregate(answers, method)
        seconds = time.perf_counter() - start
        row(f"{method} of crowd-kit", soft.argmax(axis=1), seconds)
        row(f"{method} of crowd-kit, soft labels", soft.argmax(axis=1), seconds, soft, soft)
    start = time.perf_counter()
    labels = cleanlab(found)
    row("cleanlab multiannotator", labels, time.perf_counter() - start)
    start = time.perf_counter()
    alone = agree(answers)
    seconds = time.perf_counter() - start
    row("ours, answers alone", alone.by_answers.argmax(1), seconds, alone.soft, alone.judge)
    start = time.perf_counter()
    ours = agree(answers, Predict(answers, found.X, 5, 0))
    seconds = time.perf_counter() - start
    row("ours, with the features", ours.by_answers.argmax(1), seconds, ours.soft, ours.judge)
    row("true labels", true, 0)


def main() -> None:
    shared = Path(__file__).parents[2] / "shared" / "data"
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--shared", type=Path, default=shared, help="reviews and questions")
    parser.add_argument("--data", type=Path, default=os.environ.get("NOISEPROOF_DATA") or None)
    parser.add_argument("--cache", type=Path, default=user_cache_path("noiseproof") / "leaderboard")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=SETS)
    parser.add_argument("--draws", type=int, default=2)
    given = parser.parse_args()
    places = Places(given.shared, given.data, given.cache)
    print(f"# Several answers a row\n\nnoiseproof {nf.__version__}, `benchmarks/crowd.py`")
    for name in given.sets:
        kind, _, draw = name.partition("-")
        try:
            found = made(int(draw)) if kind == "made" else globals()[kind](places)
        except FileNotFoundError as error:
            print(f"\n## {name}\n\nnot measured: {error}")
            continue
        table(name, found, given.draws)


if __name__ == "__main__":
    main()
