"""What a reviewer is worth: accuracy on true labels and error of the noise rate by rows reviewed.

    python benchmarks/review.py run [--shared DIR] [--sets digits-next ...] [--draws 2] [--out FILE]
    python benchmarks/review.py draw [--out FILE] [--picture FILE]

A simulation with a perfect reviewer, who looks at 0, 30, 60, 120 or 300 of 1,000 rows in one go:

    doubtful   the rows that the first fit doubts most, and random ones where these are used up
    random     rows drawn at random
    mix        the two lists of the page in turn: a random row, a doubtful one, until 60 are random
    relabel    the random rows with their labels corrected, and nothing else known about them

The first three are what `fit --reviewed` does: corrected labels are trained on, rows drawn at
random choose the model and inform the estimate of the noise. `relabel` is what a user can do
without it.
The rate is that of the labels as given; its error is in percentage points. `random` and `mix`
also give the exact interval of the random rows alone.
"""

import argparse
import json
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from leaderboard_sets import Places, load

from noiseproof.fitting.review.reviewed import Reviewed
from noiseproof.learn.learn import learn
from noiseproof.noise import stream

ROWS, BUDGETS, SAMPLE = 1000, (0, 30, 60, 120, 300), 60
SETS = ("satellite-instance", "letter-next", "reviews-minilm")
ARMS = ("doubtful", "random", "mix", "relabel")
RESULTS, PICTURE = Path("benchmarks/results/review.jsonl"), Path("docs/images/review.svg")


def orders(doubtful, seed, N):
    """Return for each arm the rows in the order of review, and which of them count as random."""
    shuffled = stream(seed, "review").permutation(N)
    rest = shuffled[~np.isin(shuffled, doubtful)]
    mixed, random, used = [], [], set()
    first = iter([*doubtful, *rest])
    for at, row in enumerate(shuffled):
        if at < SAMPLE:
            random.append(row)
            if row not in used:
                mixed.append(row)
                used.add(row)
        other = next((r for r in first if r not in used), None)
        if other is not None:
            mixed.append(other)
            used.add(other)
    places = {int(row): at for at, row in enumerate(shuffled[:SAMPLE])}

    def drawn(rows):  # up to the last random row that was reached, as the page exports them
        reached = max((places[int(r)] for r in rows if int(r) in places), default=-1)
        return np.array([places.get(int(r), N) <= reached for r in rows])

    return {
        "doubtful": (np.array([*doubtful, *rest]), lambda rows: np.zeros(len(rows), bool)),
        "random": (shuffled, lambda rows: np.ones(len(rows), bool)),
        "mix": (np.array(mixed), drawn),
    }


def measure(problem, draw):
    """Yield one record for each arm and budget."""
    pick = stream(draw, "rows").permutation(len(problem.given))[:ROWS]
    X, given, true, K = problem.X[pick], problem.given[pick], problem.true[pick], problem.classes
    X, test = (np.asarray(part, dtype=np.float32) for part in (X, problem.X_test))
    wrong = given != true
    # One learner each, so that a run takes minutes: the best one for these data.
    learner = "linear" if problem.name.startswith("reviews") else "trees"
    options = {"learners": learner, "seed": draw, "minutes": 10}

    def record(arm, budget, learned, estimate, interval=None):
        right = learned.model.probabilities(test).argmax(1) == problem.test
        low, high = estimate.rate_interval
        return {
            "set": problem.name, "draw": draw, "arm": arm, "rows": budget,
            "accuracy": float(right.mean()), "rate": float(estimate.rate),
            "true_rate": float(wrong.mean()), "inside": bool(low <= wrong.mean() <= high),
            "width": float(high - low), "exact": interval,
        }  # fmt: skip

    plain = learn(X, given, K, **options)
    for arm in ARMS:
        yield record(arm, 0, plain, plain.estimate)
    found = orders(plain.suspects().rows, draw, len(given))
    for budget in BUDGETS[1:]:
        for arm, (order, drawn) in found.items():
            rows = np.sort(order[:budget])
            reviewed = Reviewed(rows, given[rows], true[rows], drawn(rows))
            learned = learn(
                X, given, K, trusted=reviewed.trusted, random=reviewed.random, **options
            )
            learned = replace(learned, estimate=reviewed.informed(learned))
            rate = reviewed.rate
            interval = None if rate is None else (rate.low, rate.high, len(rows[reviewed.random]))
            yield record(arm, budget, learned, learned.estimate, interval)
        rows = found["random"][0][:budget]
        labels = given.copy()
        labels[rows] = true[rows]
        learned = learn(X, labels, K, **options)
        one = record("relabel", budget, learned, learned.estimate)
        more = float(wrong[rows].sum()) / len(given)  # the labels as given had these wrong too
        yield one | {"rate": one["rate"] + more}


def run(names, draws, places, out):
    out.parent.mkdir(parents=True, exist_ok=True)
    for draw in range(draws):
        for name in names:
            start = time.perf_counter()
            for one in measure(load(name, draw, places), draw):
                with out.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(one) + "\n")
                print(name, draw, one["arm"], one["rows"], f"{one['accuracy']:.3f}",
                      f"{abs(one['rate'] - one['true_rate']):.3f}",
                      f"{time.perf_counter() - start:.0f} s", flush=True)  # fmt: skip


def table(records):
    """Return the means over draws and sets as Markdown."""
    lines = ["| set | arm | " + " | ".join(f"{b} rows" for b in BUDGETS) + " |"]
    lines.append("| --- | --- |" + " --- |" * len(BUDGETS))
    for name in dict.fromkeys(r["set"] for r in records):
        for arm in ARMS:
            cells = []
            for budget in BUDGETS:
                mine = [
                    r for r in records if (r["set"], r["arm"], r["rows"]) == (name, arm, budget)
                ]
                if mine:
                    accuracy = 100 * np.mean([r["accuracy"] for r in mine])
                    error = 100 * np.mean([abs(r["rate"] - r["true_rate"]) for r in mine])
                    cells.append(f"{accuracy:.1f} / {error:.1f}")
                else:
                    cells.append("-")
            lines.append(f"| {name} | {arm} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def draw_picture(records, path):
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "review"
    from matplotlib import pyplot as plt

    names = list(dict.fromkeys(r["set"] for r in records))
    figure, axes = plt.subplots(2, len(names), figsize=(4 * len(names), 6), squeeze=False)
    for column, name in enumerate(names):
        for arm, colour in zip(ARMS, ("#d55e00", "#0072b2", "#009e73", "#888888"), strict=True):
            mine = [r for r in records if (r["set"], r["arm"]) == (name, arm)]
            for row, value in enumerate(
                (lambda r: 100 * r["accuracy"], lambda r: 100 * abs(r["rate"] - r["true_rate"]))
            ):
                found = [[value(r) for r in mine if r["rows"] == b] for b in BUDGETS]
                shown = [(b, np.mean(v)) for b, v in zip(BUDGETS, found, strict=True) if v]
                axes[row][column].plot(*zip(*shown, strict=True), "o-", color=colour, label=arm)
        axes[0][column].set_title(name)
        axes[0][column].set_ylabel("accuracy on true labels (%)")
        axes[1][column].set_ylabel("error of the noise rate (points)")
        axes[1][column].set_ylim(bottom=0)
        axes[1][column].set_xlabel("rows reviewed of 1,000")
    axes[0][0].legend()
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["run", "draw"])
    shared = os.environ.get("NOISEPROOF_SHARED", ".")
    parser.add_argument(
        "--shared", type=Path, default=shared, help="where tables/ and sentiment-mturk/ are"
    )
    parser.add_argument("--cache", type=Path, default=".", help="where reviews-minilm.npz is")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--picture", type=Path, default=PICTURE)
    options = parser.parse_args()
    if options.what == "run":
        run(options.sets, options.draws, Places(options.shared, None, options.cache), options.out)
    records = [json.loads(line) for line in options.out.read_text("utf-8").splitlines()]
    print(table(records))
    draw_picture(records, options.picture)


if __name__ == "__main__":
    main()
