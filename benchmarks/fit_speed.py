"""Time and peak memory of a whole fit, by the number of rows.

    python benchmarks/fit_speed.py [--rows 1000 10000 50000] [--columns 500] [--csv]

Each size runs in a process of its own, from reading the file to the written folder, so that the
peak is the fit's own. Memory is what the fit needed beyond a process that has imported what it
imports, as a ratio to the input: the float32 matrix, or the table that the CSV is when loaded.
Goals: 50,000 x 500 under 300 s on two cores, 1,000 rows under 30 s, memory under 4 times the
input, both linear in the rows. CPU seconds are of all threads; on a busy machine they say more than
the clock does.
"""

import argparse
import csv
import json
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from measure import peak_memory

from noiseproof.noise import symmetric

CLASSES, RATE = 10, 0.3
SECONDS, SMALL_SECONDS, MEMORY = 300, 30, 4.0


def write(folder: Path, rows: int, columns: int, as_csv: bool) -> Path:
    """Write rows around a centre for each class, three labels in ten wrong."""
    numbers = np.random.default_rng(0)
    labels = numbers.integers(CLASSES, size=rows)
    centres = numbers.normal(size=(CLASSES, columns)).astype(np.float32)
    X = numbers.standard_normal((rows, columns), dtype=np.float32) * 6 + centres[labels]
    noisy = symmetric(CLASSES, RATE).corrupt(labels, seed=1).labels
    if not as_csv:
        np.savez(folder / "data.npz", X=X, y=noisy)
        return folder / "data.npz"
    import pandas as pd

    frame = pd.DataFrame(X.round(4), columns=[f"x{i}" for i in range(columns)])
    frame.assign(y=noisy).to_csv(folder / "data.csv", index=False)
    return folder / "data.csv"


def child(path: Path, folder: Path) -> None:
    """Fit once; print seconds and bytes."""
    import pandas  # noqa: F401  imported before the memory is counted
    import scipy.sparse  # noqa: F401
    import sklearn.cluster  # noqa: F401

    from noiseproof.fitting.fit import fit

    def run() -> None:
        fitted = fit(path, "y" if path.suffix == ".csv" else None)
        fitted.save(folder / "out")
        found.update(loss=fitted.recipe, noisy=fitted.noisy.value, true=fitted.true.value)

    found: dict[str, object] = {}
    start, cpu = time.perf_counter(), time.process_time()
    peak = peak_memory(run)
    times = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}
    print(json.dumps(found | times | {"bytes": peak}))


def measure(rows: int, columns: int, as_csv: bool) -> dict[str, object]:
    """Fit in a process of its own."""
    with tempfile.TemporaryDirectory() as name:
        path = write(Path(name), rows, columns, as_csv)
        command = [sys.executable, __file__, "--child", str(path), name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
    size = rows * columns * (8 if as_csv else 4)
    return {
        "rows": rows,
        "columns": columns,
        "kind": "csv" if as_csv else "npz",
        "seconds": round(found["seconds"], 1),
        "cpu_seconds": round(found["cpu_seconds"], 1),
        "cpu_per_1000_rows": round(found["cpu_seconds"] / rows * 1000, 3),
        "memory_mib": round(found["bytes"] / 2**20),
        "memory": round(found["bytes"] / size, 2),
        "loss": found["loss"],
    }


def main() -> None:
    """Measure each size, print and write the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 10_000, 50_000])
    parser.add_argument("--columns", type=int, default=500)
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--child", type=Path, nargs=2)
    arguments = parser.parse_args()
    if arguments.child:
        child(*arguments.child)
        return
    found = []
    for rows in arguments.rows:
        found.append(measure(rows, arguments.columns, arguments.csv))
        print(found[-1], flush=True)
    arguments.out.mkdir(parents=True, exist_ok=True)
    stem = "fit_speed_csv" if arguments.csv else "fit_speed"
    with open(arguments.out / f"{stem}.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, found[0])
        writer.writeheader()
        writer.writerows(found)
    lines = [
        "# A whole fit: time and memory by the number of rows",
        "",
        f"`noiseproof fit` on {arguments.columns} columns, {CLASSES} classes, {RATE:.0%} of the "
        f"labels wrong, from {found[0]['kind']}, {platform.machine()}.",
        f"Goals: 50,000 rows under {SECONDS} s on two quiet cores, 1,000 rows under "
        f"{SMALL_SECONDS} s, memory under {MEMORY:.0f} times the input.",
        "",
        "| rows | seconds | CPU seconds | for a thousand rows | memory, MiB | times the input |",
        "| --- | --- | --- | --- | --- | --- |",
        *(
            f"| {r['rows']:,} | {r['seconds']} | {r['cpu_seconds']} | {r['cpu_per_1000_rows']} | "
            f"{r['memory_mib']} | {r['memory']} |"
            for r in found
        ),
    ]
    (arguments.out / f"{stem}.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
