"""Texts that a pattern could spend hours on are read at once, wherever they stand."""

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import noiseproof as nf
from noiseproof.errors import NoiseproofError
from noiseproof.files.spreadsheet import escape
from noiseproof.prepare.columns.amounts import Amounts
from noiseproof.tables.first_line import NAMED_ROW
from noiseproof.tables.header import NUMBER

LONG = 60_000
TEXTS = {
    "digits": "1" * LONG + "x",
    "points": "1." * LONG + "x",
    "blanks": " " * LONG + "x",
    "blanks in brackets": "(" + " " * LONG + "x",
    "blanks after a number": "1" + " " * LONG + "x",
    "lines": "\n" * LONG + "x",
    "quotes": '"' * LONG,
    "commas": ",1" * LONG,
    "an exponent": "1e" * LONG,
    "apostrophes": "'" * LONG + "=x",
}
#: Seconds of one core. Each takes tenths of one, or, with a pattern that goes back, minutes.
MOST = 20.0


def at_once(do: Callable[[], object]) -> None:
    start = time.process_time()
    do()
    assert time.process_time() - start < MOST


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_patterns_read_long_texts_at_once(text: str) -> None:
    at_once(lambda: NUMBER.fullmatch(text))
    at_once(lambda: NAMED_ROW.match(text))
    at_once(lambda: escape(text))
    at_once(lambda: Amounts.of([text, "1 €"], pd.Series([1, 1]).to_numpy(), 2))


@pytest.mark.parametrize("place", ["header", "label", "value"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_file_with_long_texts_is_read_at_once(text: str, place: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [str(i % 7) for i in range(20)], "y": ["a", "b"] * 10})
    if place == "header":
        frame = frame.rename(columns={"x": text})
    else:
        frame.loc[3, {"label": "y", "value": "x"}[place]] = text
    frame.to_csv(tmp_path / "t.csv", index=False)

    def fit() -> None:
        with contextlib.suppress(NoiseproofError):  # one clear line is an answer too
            nf.fit(tmp_path / "t.csv", "y", learners="linear", folds=2)

    at_once(fit)
