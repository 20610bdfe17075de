"""Dates, in any of the ways that programs write them, as days since 1970."""

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.prepare.columns.values import as_text

#: Dates as texts: 2020-03-31 or 2020/3/31, and 31/3/2020, 31-3-2020 or 31.3.20, a time of day
#: after either; 2009.01.02 - 2012.05.14 is none. 10-11-12 may be anything.
ISO = r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?P<time>[T ]\s*\d.*)?"
SLASHED = (
    r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second>\d{1,2})[-/.](?P<year>\d{4}|(?<!-)\d{2})"
    r"(?P<time>\s+\d.*)?"
)
#: The same with the name of the month: 31-MAR-20, 31MAR2020, Tue, 31 Mar 2020, March 31, 2020.
MONTHS = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    "|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
FIRST = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
BEFORE = r"\[?(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,?\s+)?"
AFTER = r"(?:[T :]|,\s?)(?P<time>\d{1,2}[:hH].*?)"
#: The last is that of ctime, Apache's errors and Unix's date: Sat Jun  5 01:36:20 +0000 2021.
DAY_FIRST, MONTH_FIRST, YEAR_LAST = (
    re.compile(rf"{BEFORE}{day}\]?", re.IGNORECASE)
    for day in (
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?[-/ ]?(?P<month>{MONTHS})\.?[-/ ,]?"
        rf"(?P<year>\d{{4}}|\d{{2}})(?:{AFTER})?",
        rf"(?P<month>{MONTHS})\.?[-/ ](?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?[-/ ](?P<year>\d{{4}})"
        rf"(?:{AFTER})?",
        rf"(?P<month>{MONTHS}) {{1,2}}(?P<day>\d{{1,2}}) (?P<time>\d{{1,2}}:\d{{2}}(?::\d{{2}}"
        r"(?:\.\d{1,9})?)?(?: (?:[a-z]{1,5}|[-+]\d{2}:?\d{2}))?) (?P<year>\d{4})",
    )
)
#: Texts without it are none of these, nor the next.
LETTERS = re.compile(r"[A-Za-z]{3}|\dT\d")
#: 20200331T235900Z.
COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2}.*)")
#: The name of a zone behind a time, such as CET. It says little: most columns have one throughout;
#: and pandas before 3 fails on the names of this machine's own zone. Of GMT+0200 the rest counts.
NAME = r"(?<=[\d:])\s*(?:(?:GMT|UTC)(?=[+-]\d)|(?![AaPp][Mm]?$)[A-Za-z]+$)"
#: What may stand behind a time and is not understood: Europe/Berlin, [Europe/Berlin].
ZONE = r"(?<=[\d:])\s*\[?[A-Za-z][A-Za-z_]*(?:[/+-][A-Za-z_0-9]+)*\]?$"


def as_days(column: Any, day_first: bool | None) -> NDArray[np.float64]:
    """Return dates as days since 1970, NaN for what is not a date.

    Args:
        column: dates, or texts such as 2020-03-31 and 31/3/2020.
        day_first: whether 3/4/2020 is in April; None does not read dates written that way.
    """
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(column):
        return _days(column)
    codes, texts = as_text(column)
    different = pd.Series(list(map(in_numbers, texts)), dtype=object)
    days = _days(_parsed(different, day_first)) if len(different) else np.empty(0)
    return np.append(days, np.nan)[codes]


def _parsed(texts: Any, day_first: bool | None) -> Any:
    iso = texts.str.extract(f"^{ISO}$")
    parts = [iso["year"], iso["month"], iso["day"], iso["time"]]
    if day_first is not None:
        other = texts.str.extract(f"^{SLASHED}$")
        day, month = ("first", "second") if day_first else ("second", "first")
        parts = [
            part.where(part.notna(), more)
            for part, more in zip(
                parts, (_year(other["year"]), other[month], other[day], other["time"]), strict=True
            )
        ]
    year, month, day, time = parts
    written = year + "-" + month.str.zfill(2) + "-" + day.str.zfill(2)
    times = time.fillna("").astype(object)
    found = _read(written + times.str.replace(NAME, "", regex=True))
    named = found.isna() & written.notna() & times.str.contains(ZONE)
    if named.any():
        found[named] = _read((written + times.str.replace(ZONE, "", regex=True))[named])
    return found


def _read(texts: Any) -> Any:
    import pandas as pd

    return pd.to_datetime(texts.astype(object), errors="coerce", format="mixed", utc=True)


def in_numbers(text: str) -> str:
    """Return a date with the name of its month, or one without marks, as others are written.

    >>> in_numbers("29-JUN-22"), in_numbers("June 9th, 2022 2:02 PM"), in_numbers("June 2022")
    ('2022-06-29', '2022-06-09 2:02 PM', 'June 2022')
    >>> in_numbers("[29/Jun/2022:14:02:54 +0000]"), in_numbers("Wed Jun 29 14:02:54 2022")
    ('2022-06-29 14:02:54 +0000', '2022-06-29 14:02:54')
    >>> in_numbers("20220629T140254Z")
    '2022-06-29T14:02:54Z'
    """
    if len(text) > 64 or not LETTERS.search(text) or not text.isascii():
        return text
    if found := COMPACT.fullmatch(text):
        year, month, day, *time = found.groups()
        return f"{year}-{month}-{day}T{':'.join(time)}"
    found = DAY_FIRST.fullmatch(text) or MONTH_FIRST.fullmatch(text) or YEAR_LAST.fullmatch(text)
    if found is None:
        return text
    year = found["year"]
    if len(year) == 2:
        year = f"{'20' if year < '69' else '19'}{year}"
    month = 1 + FIRST.index(found["month"][:3].lower())
    day = found["day"].zfill(2)
    return f"{year}-{month:02}-{day}{' ' * bool(found['time'])}{found['time'] or ''}"


def _year(years: Any) -> Any:
    """Return years of two digits as POSIX reads them: 69 to 99 are 1969 to 1999."""
    short = years.str.len() == 2
    return years.where(~short, ("20" + years).where(years < "69", "19" + years))


def is_date(texts: Any) -> Any:
    """Return for each text whether it looks like a date."""
    texts = texts.map(in_numbers, na_action="ignore")
    return texts.str.fullmatch(ISO) | texts.str.fullmatch(SLASHED)


def is_impossible(column: Any) -> NDArray[np.bool_]:
    """Return which values are written as dates, and are no days whichever number is the month.

    >>> import pandas as pd
    >>> is_impossible(pd.Series(["2020-12-31", "31/12/2020", "0000-00-00", "often"])).tolist()
    [False, False, True, False]
    """
    import pandas as pd

    if pd.api.types.is_datetime64_any_dtype(column):
        return np.zeros(len(column), dtype=np.bool_)
    codes, texts = as_text(column)
    different = pd.Series(texts, dtype=object)
    found = np.array(is_date(different), dtype=np.bool_) if texts else np.empty(0, dtype=np.bool_)
    for day_first in (True, False):
        found &= np.isnan(as_days(different, day_first))
    return np.append(found, False)[codes]


def which_first(texts: Any) -> bool | None:
    """Return whether the day comes first in dates such as 31/3/2020; None where there are none.

    >>> import pandas as pd
    >>> which_first(pd.Series(["3/4/2020", "3/31/2020"])), which_first(pd.Series(["3.4.2020"]))
    (False, True)
    >>> which_first(pd.Series(["01/02/2020", "01/12/2024"]))  # months, by their first days
    True
    """
    parts = texts.str.extract(f"^{SLASHED}$")
    parts = parts[parts["first"].notna()]
    if len(parts) == 0:
        return None
    numbers = parts[["first", "second"]].astype(int)
    first, second = (numbers > 12).sum()
    if first != second:
        return bool(first > second)
    # Many series are of months, by their first days. Those of years may all begin in January, but
    # in its first week.
    first, second = (numbers == 1).all()
    if first != second and parts["year"].nunique() > 1 and numbers.max(axis=None) > 7:
        return bool(first)
    return bool((parts["mark"] != "/").mean() > 0.5)  # slashes are the American way


def _days(column: Any) -> NDArray[np.float64]:
    if str(column.dtype).startswith(
        ("date32", "date64")
    ):  # Arrow's own, which pandas knows no zone of
        column = column.astype("datetime64[s]")
    if column.dt.tz is not None:
        column = column.dt.tz_convert(None)
    seconds = column.to_numpy().astype("datetime64[s]").astype(np.float64)
    seconds[column.isna().to_numpy()] = np.nan
    return np.asarray(seconds / 86400)
