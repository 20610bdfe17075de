"""How near `noise.estimate` comes to noise that is known, beside cleanlab's confident joint.

    NOISEPROOF_DATA=DIR python benchmarks/estimate_noise.py [--quick] [--out FILE]

Out-of-fold probabilities by `noiseproof.learn`'s quick heads. Without NOISEPROOF_DATA the digits
alone; `--sentiment DIR` adds the film reviews with the answers of crowd workers.
"""

import argparse
import os
from pathlib import Path

import numpy as np
from cleanlab.count import estimate_joint
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from noiseproof import data, noise
from noiseproof.learn.folds import out_of_fold

NOISES = (
    "none",
    "symmetric:0.2",
    "symmetric:0.4",
    "symmetric:0.6",
    "asymmetric:0.1",
    "asymmetric:0.3",
)
LOSS = "GCE(q=0.7)"
GOAL = 0.03


def digits():
    whole = data.load("digits")
    parts = (whole.train, whole.test)
    X = np.concatenate([part.inputs.reshape(len(part), -1).numpy() for part in parts])
    return X.astype(np.float32), np.concatenate([part.labels.numpy() for part in parts])


def pixels(name, rows):
    whole = data.load(name).train
    chosen = np.random.default_rng(0).permutation(len(whole))[:rows]
    X = whole.inputs[chosen].reshape(rows, -1).numpy().astype(np.float32) / 255
    return whole, chosen, PCA(50, random_state=0).fit_transform(X), whole.labels[chosen].numpy()


def drawn(name, X, true, kind, dataset="mnist"):
    for text in NOISES:
        noisy = noise.parse(text, 10, dataset).transition.corrupt(true, seed=1).labels
        yield name, text, X, true, noisy, kind


def cases(quick, sentiment):
    yield from drawn("digits", *digits(), "linear")
    if os.environ.get("NOISEPROOF_DATA") and not quick:
        _, _, X, true = pixels("mnist", 10_000)
        yield from drawn("MNIST, 50 components", X, true, "mlp")
        yield from drawn("MNIST, 5 components", np.ascontiguousarray(X[:, :5]), true, "mlp")
        whole, rows, X, true = pixels("cifar10", 10_000)
        for which, labels in data.human_labels(whole, None).items():
            if which in ("aggregate", "random1", "worst"):
                yield (
                    "CIFAR-10N, 50 components",
                    f"human:{which}",
                    X,
                    true,
                    np.asarray(labels)[rows],
                    "mlp",
                )
    if sentiment:
        yield from reviews(Path(sentiment))


def reviews(where):
    text = (where / "Sentiment_text_train.txt").read_text(errors="replace").splitlines()
    true = np.loadtxt(where / "Sentiment_Z_train.txt").astype(int)
    answers = np.loadtxt(where / "answers.txt").astype(int)
    numbers = np.random.default_rng(1)
    given = np.array([numbers.choice(row[row >= 0]) for row in answers])
    words = TfidfVectorizer(min_df=2, ngram_range=(1, 2), sublinear_tf=True).fit_transform(text)
    X = TruncatedSVD(300, random_state=0).fit_transform(words).astype(np.float32)
    for name, labels in (("none", true), ("human, one worker's answer", given)):
        yield "film reviews, 300 components", name, X, true, labels, "linear"


def measure(name, text, X, true, given, kind):
    K = int(true.max()) + 1
    p = out_of_fold(X, given, K, loss=LOSS, kind=kind)
    T = noise.estimate(given, p)
    rate = float((true != given).mean())
    cleanlab = 1 - float(np.trace(estimate_joint(given, p.astype(np.float64))))
    disagree = float((p.argmax(1) != given).mean())
    errors = " | ".join(f"{100 * (found - rate):+.1f}" for found in (T.rate, cleanlab, disagree))
    low, high = T.rate_interval
    cells = (
        f"{100 * (p.argmax(1) == true).mean():.0f}",
        f"{100 * rate:.1f}",
        f"{100 * T.rate:.1f} ({100 * low:.1f} to {100 * high:.1f})",
    )
    return f"| {name} | {text} | {' | '.join(cells)} | {errors} |", abs(T.rate - rate) <= GOAL


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sentiment")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    lines = [
        "# How noisy? Estimated and true",
        "",
        f"Out-of-fold probabilities, 5 folds, heads trained by {LOSS}. Per cent; the last three",
        "columns are errors of the rate in points: `noise.estimate`, cleanlab's confident joint on",
        "the same probabilities, and the plain share of predictions that disagree with the label.",
        "`right` is how often the head is right about the true label. The interval is the",
        "bootstrap's.",
        "",
        "| data | noise | right | true rate | estimated | error | cleanlab | disagree |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    print("\n".join(lines), flush=True)
    reached = []
    for case in cases(arguments.quick, arguments.sentiment):
        line, good = measure(*case)
        reached.append((case[0], good))
        lines.append(line)
        print(line, flush=True)
    last = [""]
    for name in dict.fromkeys(name for name, _ in reached):
        of = [good for other, good in reached if other == name]
        last.append(f"- {name}: within {100 * GOAL:g} points in {sum(of)} of {len(of)}")
    print("\n".join(last))
    if arguments.out:
        arguments.out.write_text("\n".join(lines + last) + "\n")


if __name__ == "__main__":
    main()
