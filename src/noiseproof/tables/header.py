"""Whether the first line of a table is names of columns or a row."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.extras import need

#: A number; one that repeats is numbered as a name would be, 0.5 and 0.5.1.
NUMBER = re.compile(r"\s*[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?(\.[0-9]+)?\s*")
#: Rows that are looked at.
ROWS = 100
#: Fewer numbers than this may rise or fall throughout by chance.
MANY = 8
#: Steps of an even scale change by no more than this share of a step from one to the next.
EVEN = 0.25
#: An uneven scale has this many points at least, and this many rows below it.
UNEVEN, SEVERAL = 30, 20
#: With fewer rows than this, a row may be far outside the range of the others.
FEW = 5
#: Far is this many times the range.
FAR = 3
#: Larger values, and infinite ones, are not compared.
LARGE = 1e300


def is_headless(frame: Any) -> bool:
    """Return whether names of columns look like a row of numbers: then a header may be missing.

    Numbers from some start on, one after the other, are names: pixels, or years. So are numbers
    that rise or fall throughout, such as wavelengths, if the rows below them do not, or if each is
    far outside the range of its column.

    Args:
        frame: the table, or its first rows.

    >>> import pandas as pd
    >>> flowers = [[4.9, 3.0, 1.4, 0.2], [4.7, 3.2, 1.3, 0.2]]
    >>> is_headless(pd.DataFrame(flowers, columns=["5.1", "3.5", "1.4", "0.1"]))
    True
    >>> light = [[0.31, 0.52, 0.44], [0.35, 0.50, 0.47]] * 3
    >>> is_headless(pd.DataFrame(light, columns=["450.5", "550", "680.2"]))
    False
    >>> is_headless(pd.DataFrame([[3, 0, 7]], columns=["2019", "2020", "2021"]))
    False
    """
    names = [str(name) for name in frame.columns]
    named = [at for at, name in enumerate(names) if not re.fullmatch(r"Unnamed: \d+", name)]
    texts = [names[at] for at in named]
    if not texts or not all(NUMBER.fullmatch(text) for text in texts):
        return False
    first = int(texts[0]) if re.fullmatch("[0-9]{1,18}", texts[0]) else 0
    if texts == [str(first + place) for place in range(len(texts))]:
        return False
    numbers = _numbers(texts)
    return numbers is None or not _is_scale(numbers, _values(frame.iloc[:ROWS, named]))


def _numbers(texts: list[str]) -> NDArray[np.float64] | None:
    """Return names as numbers; None where one repeats and was numbered, or is too large."""
    try:
        numbers = np.array([float(text.replace(",", ".")) for text in texts])
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def _values(frame: Any) -> NDArray[np.float64]:
    need("fit", "pandas")
    import pandas as pd

    columns = [pd.to_numeric(frame.iloc[:, at], errors="coerce") for at in range(frame.shape[1])]
    values = np.stack([c.to_numpy(np.float64, na_value=np.nan) for c in columns], axis=1)
    return np.where(np.abs(values) < LARGE, values, np.nan)


def _is_scale(names: NDArray[np.float64], rows: NDArray[np.float64]) -> bool:
    """Return whether names are points of a scale, at each of which the rows have a value."""
    way = np.sign(names[-1] - names[0])
    steps = way * np.diff(names)
    if len(names) < 2 or not (steps > 0).all() or len(rows) == 0:
        return False
    alike = float((way * np.diff(rows, axis=1) >= 0).all(axis=1).mean())
    if len(names) >= MANY and alike < 0.5:
        if np.abs(np.diff(steps)).max() <= EVEN * steps.mean():
            return True
        if len(names) >= UNEVEN and len(rows) >= SEVERAL and not alike:
            return True
    low, high = np.fmin.reduce(rows, axis=0), np.fmax.reduce(rows, axis=0)
    beyond = np.fmax(low - names, names - high)
    return len(rows) >= FEW and bool((beyond > FAR * (high - low)).all())
