"""Who learns best from noisy labels: `noiseproof.fit` against scikit-learn, LightGBM and cleanlab.

    python benchmarks/leaderboard.py --shared DIR [--data DIR] [--sets letter trec] [--draws 3]

Every result is one line of `--out`'s .jsonl, keyed by set, draw and method, and is not computed
again unless `--again METHOD` asks for it. The sets are described in leaderboard_sets.py, the rivals
in leaderboard_rivals.py; leaderboard_table.py makes the tables.
"""

import argparse
import json
import os
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from leaderboard_rivals import CEILINGS, RIVALS, Answer, Method
from leaderboard_sets import NAMES, Codes, Places, Problem, draws, load
from leaderboard_table import table
from platformdirs import user_cache_path
from sklearn.metrics import average_precision_score
from threadpoolctl import threadpool_limits

import noiseproof as nf
from noiseproof.learn.learn import learn

RESULTS = Path(__file__).parent / "results" / "leaderboard"
OURS, LINEAR = "noiseproof", "noiseproof linear"
Key = tuple[str, int, str]
Record = dict[str, Any]


def noiseproof(problem: Problem, labels: Codes) -> Answer:
    if problem.texts:
        train, test = (pd.DataFrame({"text": texts}) for texts in problem.texts)
        fitted = nf.fit(train, labels, text="text")
    else:
        test, fitted = problem.X_test, nf.fit(problem.X, labels)
    full = np.zeros((len(problem.test), problem.classes))
    full[:, np.unique(labels)] = fitted.predict_proba(test)
    suspects = fitted.suspects["row"].to_numpy(np.int64)
    return Answer(full, suspects, fitted.estimate.rate, fitted.estimate.rate_interval)


def our_linear(problem: Problem, labels: Codes) -> Answer:
    """The linear learner alone, by cross entropy, to hold against LogisticRegressionCV."""
    learned = learn(problem.X, labels, problem.classes, learners="linear", losses=["CE"])
    return Answer(learned.baseline.probabilities(problem.X_test))


METHODS: dict[str, Method] = {OURS: noiseproof, LINEAR: our_linear, **RIVALS, **CEILINGS}


def measured(problem: Problem, method: str) -> Record:
    seconds, cpu = time.perf_counter(), _cpu()
    with threadpool_limits(1 if method != OURS else None), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = METHODS[method](problem, problem.given)
    seconds, cpu = time.perf_counter() - seconds, _cpu() - cpu
    wrong = problem.given != problem.true
    noise = problem.noise
    record = {
        "set": problem.name,
        "draw": problem.draw,
        "method": method,
        "accuracy": float((answer.probabilities.argmax(axis=1) == problem.test).mean()),
        "ece": calibration_error(answer.probabilities, problem.test),
        "seconds": seconds,
        "cpu": cpu,
        "true_rate": noise.rate,
        "clean_level": nf.noise.TransitionMatrix(noise.matrix).clean_level,
        "rate": answer.rate,
        "interval": answer.interval,
    }
    if answer.suspects is not None:
        score = np.zeros(len(wrong))
        score[answer.suspects] = np.arange(len(answer.suspects), 0, -1)
        if len(answer.suspects):
            record["precision_at_100"] = float(wrong[answer.suspects[:100]].mean())
        record["auprc"] = float(average_precision_score(wrong, score))
    return record


def _cpu() -> float:
    """Return the CPU seconds of this process and of those it has waited for."""
    return sum(os.times()[:4])


def calibration_error(probabilities: np.ndarray, test: Codes, bins: int = 15) -> float:
    """Return the expected calibration error of the most likely class, in equal bins."""
    sure, right = probabilities.max(axis=1), probabilities.argmax(axis=1) == test
    bin_of = np.minimum((sure * bins).astype(int), bins - 1)
    gaps = [abs((right - sure)[bin_of == b].sum()) for b in range(bins)]
    return float(sum(gaps) / len(test))


def read(path: Path) -> dict[Key, Record]:
    lines = path.read_text().splitlines() if path.exists() else []
    records = map(json.loads, lines)
    return {(one["set"], one["draw"], one["method"]): one for one in records}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    shared = os.environ.get("NOISEPROOF_SHARED", ".")
    parser.add_argument("--shared", type=Path, default=shared, help="reviews, questions, tables")
    parser.add_argument("--data", type=Path, default=os.environ.get("NOISEPROOF_DATA") or None)
    parser.add_argument("--cache", type=Path, default=user_cache_path("noiseproof") / "leaderboard")
    parser.add_argument("--sets", nargs="*", default=[""], help="the beginnings of names")
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--again", nargs="*", default=[], choices=list(METHODS))
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS, help="without the suffix")
    arguments = parser.parse_args()
    places = Places(arguments.shared, arguments.data, arguments.cache)
    places.cache.mkdir(parents=True, exist_ok=True)
    kept = arguments.out.with_suffix(".jsonl")
    known = {key: one for key, one in read(kept).items() if key[2] not in arguments.again}
    chosen = [name for name in NAMES if name.startswith(tuple(arguments.sets))]
    for name in chosen:
        for draw in range(draws(name, arguments.draws)):
            missing = [m for m in arguments.methods if (name, draw, m) not in known]
            if not missing:
                continue
            try:
                problem = load(name, draw, places)
            except FileNotFoundError as error:
                print(f"{name}: left out, no {error.filename}")
                break
            for method in missing:
                record = measured(problem, method)
                known[name, draw, method] = record
                with kept.open("a") as file:
                    file.write(json.dumps(record) + "\n")
                said = f"{record['accuracy']:.2%} in {record['seconds']:.0f} s"
                print(f"{name} {draw} {method}: {said}", flush=True)
    text = table(list(known.values()), OURS, list(RIVALS), list(CEILINGS))
    arguments.out.with_suffix(".md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
