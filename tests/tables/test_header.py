"""A missing header is told from names that are numbers: wavelengths, pixels, years."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noiseproof.tables.header import is_headless

SCALES = {
    "nanometres": [f"{400.5 + 0.5 * at:.1f}" for at in range(60)],
    "wave numbers, falling": [f"{3996.0 - 1.928 * at:.1f}" for at in range(60)],
    "a grating": [f"{340 + 0.38 * at - 0.0004 * at**2:.2f}" for at in range(60)],
    "decimal commas": [f"{400.5 + 0.5 * at:.1f}".replace(".", ",") for at in range(60)],
    "every ten": [str(400 + 10 * at) for at in range(60)],
    "m/z, uneven": [f"{value:.2f}" for value in 100 + np.cumsum(np.linspace(0.1, 9, 60) ** 2)],
    "eight": [str(400 + 50 * at) for at in range(8)],
    "logarithmic": [f"{value:.4g}" for value in np.geomspace(0.01, 100, 60)],
}


def spectra(columns: int, rows: int, scale: float) -> np.ndarray:
    """Return curves with a few peaks each, and a slope."""
    numbers = np.random.default_rng(columns)
    x = np.linspace(0, 1, columns)
    peaks = numbers.random((rows, 3, 1))
    curves = np.exp(-(((x - peaks) / 0.1) ** 2)).sum(axis=1) + x * numbers.normal(size=(rows, 1))
    return scale * (curves + 0.02 * numbers.normal(size=curves.shape))


@pytest.mark.parametrize("scale", [1.0, 1000.0])
@pytest.mark.parametrize("rows", [30, 200])
@pytest.mark.parametrize("kind", SCALES)
def test_scales_are_names(kind: str, rows: int, scale: float) -> None:
    names = SCALES[kind]
    assert not is_headless(pd.DataFrame(spectra(len(names), rows, scale), columns=names))


@pytest.mark.parametrize("kind", ["nanometres", "wave numbers, falling", "a grating"])
def test_even_scales_are_names_above_a_single_row(kind: str) -> None:
    assert not is_headless(pd.DataFrame(spectra(60, 1, 1000.0), columns=SCALES[kind]))


ROWS: dict[str, np.ndarray] = {
    "flowers, falling": np.array([5, 3.4, 1.5, 0.2])
    + np.random.default_rng(0).normal(size=(150, 4)) * [0.8, 0.4, 0.3, 0.1],
    "growth": np.cumsum(np.random.default_rng(0).random((80, 12)), axis=1),
    "smooth growth": np.outer(np.random.default_rng(0).random(80) + 1, np.arange(12.0) ** 2 + 1),
    "noisy growth": np.arange(9) + np.random.default_rng(0).normal(size=(80, 9)),
    "normal": np.random.default_rng(0).normal(size=(80, 20)),
    "counts": np.random.default_rng(0).integers(0, 50, size=(80, 6)),
    "one column": np.random.default_rng(0).normal(size=(80, 1)),
    "two rows": np.array([[5.1, 3.5, 1.4, 0.2], [4.9, 3.0, 1.3, 0.1]]),
    "six rows of one size": np.array([[1.0, 2, 3, 4]]) * np.linspace(3, 1, 6)[:, None],
}


@pytest.mark.parametrize("kind", ROWS)
def test_a_row_is_never_taken_for_names(kind: str) -> None:
    rows = ROWS[kind]
    for first in range(min(len(rows), 40)):
        # As pandas reads it: what repeats in the first line is numbered.
        texts = [f"{value:.3f}" for value in rows[first]]
        names = [t if t not in texts[:at] else f"{t}.{at}" for at, t in enumerate(texts)]
        assert is_headless(pd.DataFrame(np.delete(rows, first, 0), columns=names)), first


@given(st.integers(1, 12), st.integers(0, 40), st.integers(0, 10**6))
def test_a_row_drawn_as_the_others_is_none_of_a_scale(columns: int, rows: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(rows + 1, columns))
    names = [repr(float(value)) for value in values[0]]
    if columns < 8:
        assert is_headless(pd.DataFrame(values[1:], columns=names))


def test_words_pixels_and_years_are_names() -> None:
    for names in (["a", "1.5"], ["0", "1", "2"], ["2019", "2020"], ["Unnamed: 0", "7", "8"]):
        assert not is_headless(pd.DataFrame(np.ones((3, len(names))), columns=names))


@pytest.mark.parametrize("name", ["9" * 5000, "1e400", "-1e308"])
@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e308, np.nan])
def test_names_and_values_without_end_are_compared_without_a_warning(
    name: str, value: float
) -> None:
    frame = pd.DataFrame([[0.3, value, -value]] * 6, columns=["1", "2", name])
    assert is_headless(frame)
