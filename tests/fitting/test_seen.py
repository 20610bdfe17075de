"""Test rows that were trained on are counted, whatever types either has."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import noiseproof as nf

ROWS, AGAIN = 120, 25


def table(dtype: str = "float64") -> pd.DataFrame:
    numbers = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "offset": 1e3 + numbers.normal(size=ROWS),
            "small": 1e-3 * numbers.normal(size=ROWS),
            "gaps": np.where(np.arange(ROWS) % 7, numbers.normal(size=ROWS), np.nan),
        }
    )
    return frame.astype(dtype).assign(colour=np.array(["red", "blue"])[np.arange(ROWS) % 2])


LABELS = np.where(table()["offset"] > 1e3, "high", "low")


def seen(train: Any, test: Any, **options: Any) -> int:
    fitted = nf.fit(train, LABELS, test=(test, LABELS[: len(test)]), learners="linear", **options)
    assert fitted.test is not None
    return fitted.test.seen


@pytest.mark.parametrize("here", ["float64", "float32", "Float64", "Float32", "double[pyarrow]"])
@pytest.mark.parametrize("there", ["float64", "float32", "Float32", "float[pyarrow]", "float16"])
def test_copies_in_other_types_are_counted(here: str, there: str) -> None:
    again = table(here)[:AGAIN].astype(dict.fromkeys(["offset", "small", "gaps"], there))
    new = table(there)[AGAIN : 2 * AGAIN]
    new["small"] *= -1
    assert seen(table(here), pd.concat([again, new])) == AGAIN


@pytest.mark.parametrize("words", [False, True])
def test_copies_in_files_are_counted(tmp_path: Path, words: bool) -> None:
    full = table().assign(y=LABELS)
    if words:
        full["story"] = [f"once there was a number {at} in a long tale" for at in range(ROWS)]
    full.to_csv(tmp_path / "train.csv", index=False)
    again = full[:AGAIN].astype(dict.fromkeys(["offset", "small", "gaps"], "float32"))
    again.to_parquet(tmp_path / "test.parquet")
    fitted = nf.fit(
        tmp_path / "train.csv", "y", test=tmp_path / "test.parquet", learners="linear",
        encoder="tfidf" if words else "auto",
    )  # fmt: skip
    assert fitted.test is not None
    assert fitted.test.seen == AGAIN


def test_rows_that_differ_in_double_precision_alone_are_not_copies() -> None:
    time = 1.6e9 + np.random.default_rng(0).integers(0, 80, size=ROWS) / 2
    frame = pd.DataFrame({"time": time, "x": 0.1 * np.arange(ROWS)})
    later = frame[:AGAIN].assign(time=lambda f: f["time"] + 0.25)
    assert seen(frame, later) == 0
    assert seen(frame, frame[:AGAIN]) == AGAIN
    whole = frame.assign(time=np.floor(frame["time"]))
    assert seen(whole.astype({"time": int}), whole[:AGAIN]) == AGAIN
