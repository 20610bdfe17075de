"""Rows a second of `predict`, from file to file, and the memory it needs.

    python benchmarks/predict_speed.py [--rows 300000] [--columns 20]

For CSV and Parquet, with a linear model and with one that does nothing (what is left is reading,
features and writing). As a ratio: the time that `pandas.read_csv` alone takes for the same CSV in
the same run. Goal: 100,000 rows a second x 20 columns on an idle core; CPU seconds are of all
threads, and on a busy machine they say more than the clock does.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from noiseproof.fitting.fit import fit
from noiseproof.fitting.predict import predict_file


class Nothing:
    """Stands in for a learner: every class is as likely as any other."""

    def probabilities(self, X):
        return np.full((len(X), 3), 1 / 3, dtype=np.float32)


def timed(run):
    wall, cpu = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--columns", type=int, default=20)
    chosen = parser.parse_args()
    numbers = np.random.default_rng(0)
    names = [f"x{i}" for i in range(chosen.columns)]
    sample = pd.DataFrame(numbers.normal(size=(90, chosen.columns)), columns=names)
    model = fit(sample.assign(y=sample.iloc[:, :3].to_numpy().argmax(axis=1)), "y").model
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        table = pa.table({name: numbers.normal(size=chosen.rows) for name in names})
        pyarrow.csv.write_csv(table, folder / "a.csv")
        pyarrow.parquet.write_table(table, folder / "a.parquet", row_group_size=100_000)
        print(f"{chosen.rows:,} rows x {chosen.columns} columns, a linear model of 3 classes\n")
        print("| file | model | rows a second | a CPU second | CPU time / pandas.read_csv |")
        print("| --- | --- | --- | --- | --- |")
        base = timed(lambda: pd.read_csv(folder / "a.csv"))[1]
        for name in ("a.csv", "a.parquet"):
            for kind, asked in (("linear", model), ("none", replace(model, ensemble=Nothing()))):
                out = folder / f"out{Path(name).suffix}"
                wall, cpu = timed(lambda: predict_file(asked, folder / name, out))  # noqa: B023
                print(
                    f"| {name[2:]} | {kind} | {chosen.rows / wall:,.0f} | {chosen.rows / cpu:,.0f} "
                    f"| {cpu / base:.1f} |"
                )


if __name__ == "__main__":
    main()
