"""The data sets of the leaderboard: noisy labels to learn from, true ones to be judged by.

Names that end in a noise are clean tables, spoiled here; the others are noisy as they were found.

    reviews-tfidf, reviews-minilm   film-review sentences; each draw takes one worker's answer a row
    cifar-aggregate, -random1, -worst   CIFAR-10N, 5,000 images as EfficientNet-lite0 features
    trec-tfidf, trec-minilm         questions labelled by the majority of hand-written rules
    docstrings                      paragraphs of the docstrings of eight packages, 40 % symmetric
    TABLE-NOISE                     letter, satellite, digits, cancer, wine, iris

Files are read from `Places`; a set whose files are missing raises FileNotFoundError.
"""

import ast
import importlib.util
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split

import noiseproof as nf
from noiseproof import data

Codes = NDArray[np.int64]

TABLES = ("letter", "satellite", "digits", "cancer", "wine", "iris")
NOISES = ("symmetric", "next", "one", "instance")
HUMAN = ("aggregate", "random1", "worst")
PACKAGES = ("torch", "scipy", "pandas", "sklearn", "matplotlib", "sympy", "numpy", "networkx")
NAMES = (
    "reviews-tfidf", "reviews-minilm", *(f"cifar-{labels}" for labels in HUMAN),
    "trec-tfidf", "trec-minilm", "docstrings",
    *(f"{table}-{noise}" for table in TABLES for noise in NOISES),
)  # fmt: skip
ONE_DRAW = ("cifar", "trec", "letter")  # whose noise is what it is, or whose size makes draws alike


@dataclass(frozen=True)
class Places:
    """Where files are: `shared` has sentiment-mturk/, trec-rules/ and tables/."""

    shared: Path
    cifar: Path | None
    cache: Path


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows to learn from and rows to test on; `texts` where the features come from text."""

    name: str
    draw: int
    X: Any
    given: Codes
    true: Codes
    X_test: Any
    test: Codes
    texts: tuple[list[str], list[str]] | None = None

    @property
    def classes(self) -> int:
        return int(max(self.true.max(), self.test.max())) + 1

    @property
    def noise(self) -> nf.noise.Corruption[Codes]:
        return nf.noise.human_corruption(self.true, self.given, self.classes)


def draws(name: str, most: int) -> int:
    """Return how many draws of a set differ from each other, up to ``most``."""
    return 1 if name.startswith(ONE_DRAW) else most


def load(name: str, draw: int, places: Places) -> Problem:
    kind, _, rest = name.partition("-")
    if kind == "reviews":
        return _reviews(name, rest, draw, places)
    if kind == "trec":
        return _trec(name, rest, places)
    if kind == "cifar":
        return _cifar(name, rest, places)
    if kind == "docstrings":
        return _docstrings(name, draw, places)
    return _spoiled(name, kind, rest, draw, places)


def _reviews(name: str, features: str, draw: int, places: Places) -> Problem:
    folder = places.shared / "sentiment-mturk"
    texts = (
        _lines(folder / "Sentiment_text_train.txt"),
        _lines(folder / "Sentiment_text_test.txt"),
    )
    answers = np.loadtxt(folder / "answers.txt", dtype=np.int64)
    rng = np.random.default_rng(draw)
    given = np.array([rng.choice(row[row >= 0]) for row in answers])
    true = np.loadtxt(folder / "Sentiment_Z_train.txt", dtype=np.int64)
    test = np.loadtxt(folder / "Sentiment_Z_test.txt", dtype=np.int64)
    return _of_text(name, features, draw, texts, given, true, test, places)


def _trec(name: str, features: str, places: Places) -> Problem:
    train = pd.read_csv(places.shared / "trec-rules" / "train.csv")
    test = pd.read_csv(places.shared / "trec-rules" / "test.csv")
    classes = sorted(set(train["true"]))
    codes = [pd.Categorical(column, classes).codes.astype(np.int64)
             for column in (train["label"], train["true"], test["label"])]  # fmt: skip
    texts = (list(train["text"]), list(test["text"]))
    return _of_text(name, features, 0, texts, *codes, places)


def _of_text(
    name: str, features: str, draw: int, texts: tuple[list[str], list[str]],
    given: Codes, true: Codes, test: Codes, places: Places,
) -> Problem:  # fmt: skip
    if features == "tfidf":
        X, X_test = _tfidf(*texts)
        return Problem(name, draw, X, given, true, X_test, test, texts)
    X, X_test = _cached(places, f"{name}.npz")
    return Problem(name, draw, X, given, true, X_test, test)


def _cifar(name: str, labels: str, places: Places) -> Problem:
    X, X_test = _cached(places, "cifar10-lite0-5000.npz")
    loaded = data.load("cifar10", places.cifar)
    rows = np.sort(np.random.default_rng(0).choice(len(loaded.train), len(X), replace=False))
    given = data.human_labels(loaded.train, places.cifar)[labels].numpy()[rows]
    true, test = loaded.train.labels.numpy()[rows], loaded.test.labels.numpy()[: len(X_test)]
    return Problem(name, 0, X, given, true, X_test, test)


def _docstrings(name: str, draw: int, places: Places) -> Problem:
    kept = places.cache / "docstrings.json"  # other versions of the packages have other texts
    if not kept.exists():
        kept.write_text(json.dumps(_paragraphs()))
    texts, codes = json.loads(kept.read_text())
    labels, half = np.array(codes), len(texts) // 2
    X, X_test = _tfidf(texts[:half], texts[half:])
    given = nf.noise.symmetric(len(PACKAGES), 0.4).corrupt(labels[:half], seed=draw).labels
    both = (texts[:half], texts[half:])
    return Problem(name, draw, X, given, labels[:half], X_test, labels[half:], both)


def _spoiled(name: str, table: str, noise: str, draw: int, places: Places) -> Problem:
    X, y = _table(table, places)
    X, X_test, true, test = train_test_split(X, y, test_size=0.3, random_state=draw, stratify=y)
    return Problem(name, draw, X, _spoil(X, true, noise, draw), true, X_test, test)


def _spoil(X: NDArray[Any], true: Codes, noise: str, seed: int) -> Codes:
    K = int(true.max()) + 1
    if noise == "instance":
        scaled = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
        return nf.noise.instance_dependent(scaled, true, 0.3, seed).labels
    if noise == "one":  # every class is taken for the first
        to_first = dict.fromkeys(range(1, K), 0)
        return nf.noise.asymmetric(to_first, 0.3, K).corrupt(true, seed).labels
    if noise == "next" and K > 2:
        return nf.noise.pair_flip(K, 0.3).corrupt(true, seed).labels
    if noise == "next":  # of two classes, symmetric noise has this already: less of it
        return nf.noise.symmetric(K, 0.2).corrupt(true, seed).labels
    return nf.noise.symmetric(K, 0.3).corrupt(true, seed).labels


@cache
def _table(table: str, places: Places) -> tuple[NDArray[np.float32], Codes]:
    if table in ("letter", "satellite"):
        frame = pd.read_csv(places.shared / "tables" / f"{table}.csv")
        labels = frame.pop("lettr" if table == "letter" else "classes")
        return frame.to_numpy(np.float32), pd.Categorical(labels).codes.astype(np.int64)
    named = "breast_cancer" if table == "cancer" else table
    X, y = getattr(datasets, f"load_{named}")(return_X_y=True)
    return X.astype(np.float32), y.astype(np.int64)


def _tfidf(texts: list[str], test: list[str]) -> tuple[Any, Any]:
    words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True, dtype=np.float32)
    return words.fit_transform(texts), words.transform(test)


def _cached(places: Places, file: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    with np.load(places.cache / file) as found:
        return found["X"], found["X_test"]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="latin-1").splitlines()


def _paragraphs() -> tuple[list[str], list[int]]:
    """Return 1,200 paragraphs of each package and which package each is from, in random order."""
    texts, labels = list[str](), list[int]()
    for k, package in enumerate(PACKAGES):
        found = sorted(set(_docs(package)))
        chosen = np.random.default_rng(k).permutation(len(found))[:1200]
        texts += [found[i] for i in chosen]
        labels += [k] * len(chosen)
    order = np.random.default_rng(0).permutation(len(texts))
    return [texts[i] for i in order], [labels[i] for i in order]


def _docs(package: str) -> Iterator[str]:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    (home,) = spec.submodule_search_locations or ()
    for path in sorted(Path(home).rglob("*.py")):
        if "test" in str(path.relative_to(home)):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                for paragraph in (ast.get_docstring(node) or "").split("\n\n")[:3]:
                    text = " ".join(paragraph.split())
                    if 30 < len(text) < 300 and ">>>" not in text:
                        yield text
