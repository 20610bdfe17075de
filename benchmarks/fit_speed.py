"""Time and peak memory of a whole fit: by size, against a rival, and on a busy machine.

    python benchmarks/fit_speed.py                     # all of the usual cases
    python benchmarks/fit_speed.py rival busy          # parts of them
    python benchmarks/fit_speed.py size --case 50000x500x10 --case 5000x50x500

Every fit runs in a process of its own, from arrays in a file to the written folder, so that the
peak is the fit's own; importing is not counted. Memory is what the fit needed beyond a process that
has imported what it imports, and its ratio to the float32 input.

- ``size``: rows x columns x classes.
- ``rival``: the same rows by ``cleanlab.CleanLearning(LGBMClassifier(n_jobs=1))``, after the fit.
  With a thread for each core LightGBM is quicker on an idle machine; on a busy one its threads wait
  for each other by spinning (24 times the CPU time was seen).
- ``busy``: a fit alone and beside one busy loop for each core.

The time limit is an hour instead of five minutes, so that a busy machine leaves nothing out. CPU
seconds are of all threads; on a machine that others use they say more than the clock does.
Results go to results/fit_speed.jsonl, a line each, and fit_speed.md shows the last of each case.
"""

import argparse
import json
import multiprocessing
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from measure import peak_memory

from noiseproof.noise import symmetric

RATE = 0.3
#: Long, so that a busy machine does not change what is measured.
MINUTES = 60
RESULTS = Path(__file__).parent / "results"
CASES = {
    "size": [
        "1000x20x3",
        "1000x500x10",
        "10000x500x10",
        "50000x500x10",
        "5000x50x500",
        "50000x50x5000",
    ],
    "rival": ["846x18x4", "1000x20x3", "6435x36x6"],
    "busy": ["3000x20x5"],
}


def data(case: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return rows with noisy labels, and others with true ones."""
    rows, columns, classes = map(int, case.split("x"))
    numbers = np.random.default_rng(0)
    test = min(rows, 2000)
    if columns < 50:  # two clusters for each class, which a line does not tell apart
        from sklearn.datasets import make_classification

        X, labels = make_classification(
            rows + test, columns, n_informative=max(4, columns // 2), n_classes=classes,
            n_clusters_per_class=2, class_sep=1.2, random_state=0,
        )  # fmt: skip
        X = X.astype(np.float32)
    else:
        labels = numbers.integers(classes, size=rows + test)
        centres = numbers.normal(size=(classes, columns)).astype(np.float32)
        X = numbers.standard_normal((rows + test, columns), dtype=np.float32)
        X *= 0.25 * columns**0.5
        X += centres[labels]
    noisy = symmetric(classes, RATE).corrupt(labels[:rows], seed=1).labels
    return X[:rows], np.asarray(noisy), X[rows:], labels[rows:]


def child(how: str, folder: Path) -> None:
    """Fit once; print seconds, bytes and accuracy on true labels."""
    import pandas  # noqa: F401  imported before the memory is counted
    import scipy.sparse  # noqa: F401
    import sklearn.cluster  # noqa: F401

    from noiseproof.fitting.fit import fit

    with np.load(folder / "truth.npz") as file:
        X, y = file["X"], file["y"]
    found: dict[str, object] = {}

    def ours() -> None:
        fitted = fit(folder / "data.npz", minutes=MINUTES)
        fitted.save(folder / "out")
        found.update(model=fitted.learned.chosen, notes=list(fitted.learned.notes))
        found["predict"] = fitted.predict

    def rival() -> None:
        with np.load(folder / "data.npz") as file:
            given, labels = file["X"], file["y"]
        model = LGBMClassifier(verbosity=-1, n_jobs=1)
        found["predict"] = CleanLearning(model, seed=0).fit(given, labels).predict

    if how != "fit":
        import warnings

        from cleanlab.classification import CleanLearning
        from lightgbm import LGBMClassifier

        warnings.simplefilter("ignore")
    start, cpu = time.perf_counter(), time.process_time()
    peak = peak_memory(ours if how == "fit" else rival)
    found |= {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}
    found |= {"bytes": peak, "true": float(np.mean(found.pop("predict")(X) == y))}
    print(json.dumps(found))


def measure(case: str, *how: str) -> list[dict[str, object]]:
    """Fit the case in each way, in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        X, y, new, true = data(case)
        np.savez(Path(name) / "data.npz", X=X, y=y)
        np.savez(Path(name) / "truth.npz", X=new, y=true)
        size = X.nbytes
        del X, new
        out = []
        for one in how:
            command = [sys.executable, __file__, "--child", one, name]
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            found = json.loads(done.stdout)
            kept = {k: round(found[k], 3) for k in ("seconds", "cpu", "true")}
            memory = {"mib": round(found["bytes"] / 2**20), "memory": found["bytes"] / size}
            out.append(kept | memory | {k: found[k] for k in ("model", "notes") if k in found})
        return out


def spin(stop: float) -> None:
    """Keep a core busy."""
    while time.time() < stop:
        pass


def run(what: str, case: str) -> dict[str, object]:
    """Return one line of results."""
    load = round(os.getloadavg()[0], 1)
    head = {"what": what, "case": case, "load": load, "cores": len(os.sched_getaffinity(0))}
    if what == "size":
        return head | {"fit": measure(case, "fit")[0]}
    if what == "rival":
        ours, rival = measure(case, "fit", "rival")
        return head | {"fit": ours, "rival": rival}
    (alone,) = measure(case, "fit")
    context = multiprocessing.get_context("spawn")
    loops = [
        context.Process(target=spin, args=(time.time() + 1800,), daemon=True)
        for _ in range(int(head["cores"]))  # type: ignore[call-overload]
    ]
    for loop in loops:
        loop.start()
    try:
        (busy,) = measure(case, "fit")
    finally:
        for loop in loops:
            loop.kill()
    return head | {"fit": alone, "busy": busy}


def page(lines: list[dict]) -> str:
    """Return the results as Markdown."""
    last = {(line["what"], line["case"]): line for line in lines}
    of = {what: [v for (w, _), v in last.items() if w == what] for what in CASES}
    out = [
        "# A whole fit: time and memory",
        "",
        f"`nf.fit` on arrays, {RATE:.0%} of the labels wrong, {platform.machine()}. Importing is",
        "not counted. Where the load is above the number of cores, others used the machine, and",
        "CPU seconds say more than the clock does.",
        "",
        "| rows x columns x classes | seconds | CPU seconds | memory, MiB | times the input | "
        "right on true labels | load |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for line in of["size"]:
        r = line["fit"]
        out.append(
            f"| {line['case']} | {r['seconds']:.1f} | {r['cpu']:.1f} | {r['mib']} | "
            f"{r['memory']:.1f} | {100 * r['true']:.1f} % | {line['load']} |"
        )
    out += [
        "",
        "Against `cleanlab.CleanLearning(LGBMClassifier(n_jobs=1))`, run in turn: the fit's time",
        "divided by the rival's (goal: at most 1).",
        "",
        "| case | fit, CPU s | rival, CPU s | ratio of CPU time | of wall time | "
        "right: fit, rival | load |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for line in of["rival"]:
        r, one = line["fit"], line["rival"]
        out.append(
            f"| {line['case']} | {r['cpu']:.1f} | {one['cpu']:.1f} | "
            f"{r['cpu'] / one['cpu']:.2f} | {r['seconds'] / one['seconds']:.2f}"
            f" | {100 * r['true']:.1f} %, {100 * one['true']:.1f} % | {line['load']} |"
        )
    out += [
        "",
        "Beside one busy loop for each core (goal: 2.5 times the time at most, no more CPU time):",
        "",
        "| case | alone, s | busy, s | ratio | alone, CPU s | busy, CPU s | ratio | load before |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for line in of["busy"]:
        a, b = line["fit"], line["busy"]
        out.append(
            f"| {line['case']} | {a['seconds']:.1f} | {b['seconds']:.1f} | "
            f"{b['seconds'] / a['seconds']:.2f} | {a['cpu']:.1f} | {b['cpu']:.1f} | "
            f"{b['cpu'] / a['cpu']:.2f} | {line['load']} |"
        )
    return "\n".join(out) + "\n"


def main() -> None:
    """Measure, print, and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("what", nargs="*", choices=[*CASES, []], default=[])
    parser.add_argument("--case", action="append", help="rows x columns x classes: 1000x20x3")
    parser.add_argument("--child", nargs=2)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child[0], Path(arguments.child[1]))
        return
    path = RESULTS / "fit_speed.jsonl"
    for what in arguments.what or CASES:
        for case in arguments.case or CASES[what]:
            line = json.dumps(run(what, case))
            print(line, flush=True)
            with open(path, "a", encoding="utf-8") as file:
                file.write(line + "\n")
            lines = [json.loads(one) for one in path.read_text(encoding="utf-8").splitlines()]
            (RESULTS / "fit_speed.md").write_text(page(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
