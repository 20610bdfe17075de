"""What a column of a table becomes: numbers, one column a category, parts of a date."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

#: Values further out than this many inter-quartile ranges make a column be squashed.
FAR = 20.0
#: A larger number is none that float32 can hold.
LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True)
class Number:
    """A column of numbers or booleans: centred, scaled, its gaps filled and told.

    Args:
        name: of the column.
        median: what a missing value becomes.
        mean: to subtract.
        std: to divide by.
        spread: where not 0, x is first replaced by asinh((x - median) / spread), for columns with
            a few huge values.
        gaps: whether a second column says where values were missing.
    """

    kind: ClassVar[str] = "number"
    name: str
    median: float
    mean: float
    std: float
    spread: float = 0.0
    gaps: bool = False

    @classmethod
    def learn(cls, name: str, values: NDArray[np.float64]) -> "Number":
        """Measure a column that has at least two different values."""
        present = values[np.isfinite(values)]
        low, median, high = np.quantile(present, [0.25, 0.5, 0.75])
        spread = 0.0
        if np.abs(present - median).max() > FAR * (high - low) > 0:
            spread, present = float(high - low), np.arcsinh((present - median) / (high - low))
        mean, std = float(present.mean()), float(present.std()) or 1.0
        return cls(name, float(median), mean, std, spread, len(present) < len(values))

    @property
    def features(self) -> list[str]:
        """The names of the columns it becomes."""
        return [self.name, f"{self.name} missing"] if self.gaps else [self.name]

    def fill(self, column: Any, out: Floats) -> str | None:
        """Write the features of a column into ``out`` (N, width); say what could not be read."""
        values = as_numbers(column)
        absent, huge = ~np.isfinite(values), int(np.isinf(values).sum())
        values[absent] = self.median
        if self.spread:
            values = np.arcsinh((values - self.median) / self.spread)
        out[:, 0] = (values - self.mean) / self.std
        if self.gaps:
            out[:, 1] = absent
        unread = int(absent.sum() - column.isna().sum())
        if unread == huge > 0:
            return f"{unread} values of {self.name} are infinite or beyond {LARGEST:.0e}"
        return f"{unread} values of {self.name} are no numbers" if unread > 0 else None


@dataclass(frozen=True)
class Category:
    """A column of few different values: one column each, 1 where the row has it.

    Args:
        name: of the column.
        values: that have a column; any other value has none.
    """

    kind: ClassVar[str] = "category"
    name: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))

    @property
    def features(self) -> list[str]:
        """The names of the columns it becomes."""
        return [*(f"{self.name} = {value}" for value in self.values), f"{self.name} missing"]

    def fill(self, column: Any, out: Floats) -> str | None:
        """Write the features of a column into ``out`` (N, width); say what was never seen."""
        text = as_text(column)
        at = {value: i for i, value in enumerate(self.values)}
        codes = np.array(text.map(at).to_numpy(np.float64, na_value=np.nan))
        missing = text.isna().to_numpy()
        codes[missing] = len(self.values)
        known = ~np.isnan(codes)
        out[:] = 0
        out[np.flatnonzero(known), codes[known].astype(np.int64)] = 1
        new = text[~known].unique()
        shown = [value if len(value) <= 40 else f"{value[:39]}…" for value in new]
        return f"{self.name}: unseen or rare {few(shown)}" if shown else None


@dataclass(frozen=True)
class Date:
    """A column of dates: how late, and where in the year, the week and the day.

    Args:
        name: of the column.
        mean: of the days since 1970.
        std: of them.
        day_first: whether 3/4/2020 is in April.
    """

    kind: ClassVar[str] = "date"
    CYCLES: ClassVar[dict[str, float]] = {"year": 365.2425, "week": 7.0, "day": 1.0}
    name: str
    mean: float
    std: float
    day_first: bool = False

    @classmethod
    def learn(cls, name: str, column: Any, day_first: bool) -> "Date | None":
        """Measure a column of dates; None where it has none that can be read."""
        days = as_days(column, day_first)
        present = days[np.isfinite(days)]
        if len(present) == 0:
            return None
        return cls(name, float(present.mean()), float(present.std()) or 1.0, day_first)

    @property
    def features(self) -> list[str]:
        """The names of the columns it becomes."""
        turns = [f"{self.name} {part} of the {c}" for c in self.CYCLES for part in ("sin", "cos")]
        return [f"{self.name} days", *turns, f"{self.name} missing"]

    def fill(self, column: Any, out: Floats) -> str | None:
        """Write the features of a column into ``out`` (N, width); say what could not be read."""
        days = as_days(column, self.day_first)
        absent = ~np.isfinite(days)
        days[absent] = self.mean
        out[:, 0] = (days - self.mean) / self.std
        for i, period in enumerate(self.CYCLES.values()):
            angle = 2 * np.pi * (days % period) / period
            out[:, 1 + 2 * i], out[:, 2 + 2 * i] = np.sin(angle), np.cos(angle)
        out[:, -1] = absent
        unread = int(absent.sum() - column.isna().sum())
        return f"{unread} values of {self.name} are no dates" if unread > 0 else None


Column = Number | Category | Date
KINDS: dict[str, type[Column]] = {c.kind: c for c in (Number, Category, Date)}


@dataclass
class Notes:
    """Lines about what was done to the columns, alike ones gathered into one."""

    reasons: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, column: str) -> None:
        """Note that ``column`` was treated so for this ``reason``."""
        self.reasons.setdefault(reason, []).append(column)

    @property
    def lines(self) -> list[str]:
        """The notes, one line a reason."""
        return [f"{reason}: {few(columns)}" for reason, columns in self.reasons.items()]


def as_numbers(column: Any) -> NDArray[np.float64]:
    """Return a column as new floats, NaN for what is no number, infinite beyond LARGEST."""
    import pandas as pd

    if pd.api.types.is_timedelta64_dtype(column):
        return np.asarray(column.dt.total_seconds(), dtype=np.float64).copy()
    if pd.api.types.is_bool_dtype(column):
        column = column.astype("float64")
    elif not pd.api.types.is_numeric_dtype(column):
        column = pd.to_numeric(column, errors="coerce")
    numbers = np.array(column.to_numpy(np.float64, na_value=np.nan))
    numbers[np.abs(numbers) > LARGEST] = np.inf
    return numbers


def as_text(column: Any) -> Any:
    """Return a column as text, missing values kept; 3.0 and 3 are the same text."""
    import pandas as pd

    if pd.api.types.is_float_dtype(column):
        whole = column.dropna() % 1 == 0
        if whole.all():
            column = column.astype("Int64")
    text = column.astype(object)
    present = text.notna()
    return text.where(~present, text[present].map(lambda value: str(value).strip()))


def as_days(column: Any, day_first: bool) -> NDArray[np.float64]:
    """Return dates as days since 1970, NaN for what is no date."""
    import pandas as pd

    if not pd.api.types.is_datetime64_any_dtype(column):
        column = pd.to_datetime(
            column.astype(object), errors="coerce", format="mixed", dayfirst=day_first, utc=True
        )
    days = (column.dt.tz_localize(None) if column.dt.tz else column).astype("datetime64[s]")
    seconds = days.to_numpy().astype("datetime64[s]").astype(np.float64)
    seconds[column.isna().to_numpy()] = np.nan
    return np.asarray(seconds / 86400)


def few(values: Any, most: int = 4) -> str:
    """List the first of some values.

    >>> few(range(6))
    '0, 1, 2, 3 and 2 more'
    """
    names = [str(value) for value in values]
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
