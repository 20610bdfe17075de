"""Money, other amounts, spans and times of day: 2.680,83 €, 53,0 %, 1,200.50, 70 kg, 14:05:30."""

import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noiseproof.prepare.columns.values import as_numbers, as_text
from noiseproof.prepare.forms import LARGEST

PER = "%‰"
CODES = "EUR USD GBP CHF JPY CNY INR CAD AUD NZD SEK NOK DKK PLN CZK HUF BRL MXN ZAR RUB TRY KRW"
UNIT = rf"[$€£¥₹₽₩₺₫₴{PER}]|{'|'.join(CODES.split())}"
SIGN = "[-+\u2212]"
#: Any other unit, behind the number: kg, m², km/h, °C. One of a letter needs a space: 12a is none.
WORD = r"°?[^\W\d_]{1,8}(?:/[^\W\d_]{1,8})?|°"
#: With so few different amounts in such a unit, a column is better taken as categories.
FEW = 20
#: The units of times and spans, which are read as seconds. 12:34 is hours and minutes, but minutes
#: and seconds where other values are written like 1:12:34.
HOURS, FULL, MIXED = SPANS = ("h:mm", "h:mm:ss", "m:ss")
CLOCK = re.compile(
    rf"(?P<minus>{SIGN})?(?:(?P<days>[0-9]{{1,6}}) days?(?:,? (?=[-+]?[0-9])|$))?"
    r"(?:(?P<inner>[-+])?(?P<hours>[0-9]{1,4}):(?P<minutes>[0-5][0-9])"
    r"(?::(?P<seconds>[0-5][0-9](?:[.,][0-9]{1,9})?))?(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?)?"
)
#: No amount is longer; a long text of blanks would take the pattern hours.
LONGEST = 64
#: An amount with its unit before or after it, a minus before either, or brackets for one.
AMOUNT = re.compile(
    rf"(?P<bracket>\()?\s*(?P<minus>{SIGN})?\s*(?P<before>{UNIT})?\s*(?P<inner>{SIGN})?"
    rf"(?P<number>[0-9.,](?:[0-9.,'’\s]*[0-9])?)(?P<behind>-)?\s*(?P<after>{UNIT}|{WORD})?\s*"
    r"(?(bracket)\))"
)
#: Numbers by their decimal mark: thousands are apart by one and the same other mark, or by none.
#: The first thousands are never 0: 0,586 is no 586.
NUMBERS = {
    ".": re.compile(
        r"(?:[0-9]+|[1-9][0-9]{0,2}(?P<mark>[,'’\s])[0-9]{3}(?:(?P=mark)[0-9]{3})*"
        r"|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3})?(?:\.[0-9]+)?"
    ),
    ",": re.compile(
        r"(?:[0-9]+|[1-9][0-9]{0,2}(?P<mark>[.'’\s])[0-9]{3}(?:(?P=mark)[0-9]{3})*)?(?:,[0-9]+)?"
    ),
}


class Amounts(NamedTuple):
    """How the amounts of a column are written.

    Args:
        unit: the sign of a currency, %, or another unit; one of SPANS for times and spans; empty
            for numbers with marks between thousands.
        mark: the decimal mark.
    """

    unit: str
    mark: str

    @classmethod
    def of(cls, texts: Sequence[str], counts: NDArray[np.int64], least: float) -> "Amounts | None":
        """Return how texts are written; None where they are no amounts, or not all of one unit.

        Without a unit, some have to have both marks: 1,200 may be 1.2, and 1,3 a list.

        Args:
            texts: the different values.
            counts: how often each one occurs.
            least: how many of the values, repeated ones included, have to be amounts.

        >>> Amounts.of(["$1,200.50", "-$3", "($0.99)"], np.array([1, 1, 1]), 3)
        Amounts(unit='$', mark='.')
        >>> Amounts.of(["1.200 €", "950 €"], np.array([1, 1]), 2)  # 1.200 is 1200
        Amounts(unit='€', mark=',')
        >>> Amounts.of(["53,125 %", "7 %"], np.array([1, 1]), 2)
        Amounts(unit='%', mark=',')
        >>> Amounts.of(["3 €", "3 $"], np.array([50, 1]), 48)  # mixed: no numbers to compare
        >>> Amounts.of(["1.200,50", "950"], np.array([1, 1]), 2)
        Amounts(unit='', mark=',')
        """
        forms = [_form(text) for text in texts]
        if sum(int(n) for form, n in zip(forms, counts, strict=True) if form) >= least:
            found = set(forms) - {""}
            # A few times are shifts, but spans in days are what a column of pandas' spans is too.
            spans = [text for text, form in zip(texts, forms, strict=True) if form]
            if len(spans) <= FEW and not any("day" in span for span in spans):
                return None
            return cls(MIXED if len(found) > 1 else found.pop(), ".")
        parts = [_parts(text) for text in texts]
        units = {unit for unit, _, _ in parts if unit}
        if len(units) > 1:
            return None
        unit = next(iter(units), "")
        numbers = [number if its == unit else "" for its, number, _ in parts]
        if not unit and not any(map(_has_both_marks, numbers)):
            return None
        known = re.fullmatch(UNIT, unit) is not None
        if unit and not known and sum(map(bool, numbers)) <= FEW:
            return None
        read = {
            mark: sum(
                int(n)
                for number, n in zip(numbers, counts, strict=True)
                if number and NUMBERS[mark].fullmatch(number)
            )
            for mark in NUMBERS
        }
        if max(read.values()) < least:
            return None
        if read["."] != read[","]:
            return cls(unit, max(read, key=lambda mark: read[mark]))
        # Either mark fits: 1,200 of a currency is 1200, and 1,200 % is 1.2 %.
        used = {mark for mark in NUMBERS for number in numbers if mark in number}
        if len(used) == 2 or not unit or (used and not known):
            return None
        other = {".": ",", ",": "."}
        mark = next(iter(used), ".")
        return cls(unit, mark if unit in PER or not used else other[mark])

    def read(self, column: Any) -> NDArray[np.float64]:
        """Return a column as numbers: NaN for what is not written this way."""
        is_span = self.unit in SPANS
        if column.dtype.kind == "m":
            return as_numbers(column) if is_span else np.full(len(column), np.nan)
        codes, texts = as_text(column)
        found = np.array([self._number(text) for text in texts] + [np.nan])[codes]
        if is_span:  # 1405 may be 14:05, or minutes, or seconds
            spans = np.array(
                [isinstance(v, np.timedelta64 | timedelta) for v in column], dtype=bool
            )
            found[spans] = as_numbers(column[spans])
        if self.unit:
            return found
        plain = np.array([not isinstance(value, str) for value in column], dtype=np.bool_)
        if self.mark == ".":  # 1e3 is a number, too
            plain |= np.isnan(found)
        return np.where(plain, as_numbers(column, truth=False), found)

    def _number(self, text: str) -> float:
        if self.unit in SPANS:
            return _seconds(text, self.unit)
        unit, number, minus = _parts(text)
        if not number or unit != self.unit or not NUMBERS[self.mark].fullmatch(number):
            return np.nan
        whole, _, part = number.partition(self.mark)
        value = float(f"{re.sub('[^0-9]', '', whole) or '0'}.{part or '0'}")
        if value > LARGEST:
            return np.inf
        return -value if minus else value


def is_amount(text: str) -> bool:
    """Return whether a text may be an amount in some unit, a time or a span."""
    return bool(_parts(text)[1] or _form(text))


def _clock(text: str) -> re.Match[str] | None:
    if len(text) > LONGEST or not (":" in text or "day" in text):
        return None
    found = CLOCK.fullmatch(text)
    return found if found and (found["days"] or found["hours"]) else None


def _form(text: str) -> str:
    """Return which of SPANS a time of day or a span is written like; empty for what is none."""
    found = _clock(text)
    if found is None or np.isnan(_seconds(text, MIXED)):
        return ""
    return HOURS if found["hours"] and not found["seconds"] else FULL


def _seconds(text: str, unit: str) -> float:
    """Return a time of day, or a span as pandas, Python and databases write it, in seconds.

    >>> [_seconds(text, FULL) for text in ("1 days 00:01:30", "-1 day, 23:59:30", "2:05 PM")]
    [86490.0, -30.0, 50700.0]
    >>> [_seconds(text, FULL) for text in ("-1 days +23:59:30", "-00:00:30", "14", "13:00 PM")]
    [-30.0, -30.0, nan, nan]
    >>> [_seconds("14:05", unit) for unit in SPANS], [_seconds("0:14:05", unit) for unit in SPANS]
    ([50700.0, nan, 845.0], [nan, 845.0, 845.0])
    """
    found = _clock(text)
    if found is None:
        return np.nan
    hours, half = int(found["hours"] or 0), (found["half"] or "").lower()
    if half and (hours > 12 or found["days"]):
        return np.nan
    hours = hours % 12 + 12 * (half == "p") if half else hours
    minutes, seconds = found["minutes"] or 0, (found["seconds"] or "0").replace(",", ".")
    time = 3600.0 * hours + 60 * int(minutes) + float(seconds)
    if not (half or found["days"]):
        if unit == MIXED and not found["seconds"]:
            time /= 60
        elif unit != MIXED and unit != (FULL if found["seconds"] else HOURS):
            return np.nan
    days, minus = 86400 * int(found["days"] or 0), found["minus"] not in (None, "+")
    if found["days"] is None:
        return -time if minus or found["inner"] == "-" else time
    return (-days if minus else days) + (-time if found["inner"] == "-" else time)


def _parts(text: str) -> tuple[str, str, bool]:
    """Return the unit, the number as it is written, and whether it is negative."""
    text = text.strip()
    found = AMOUNT.fullmatch(text) if len(text) <= LONGEST else None
    if found is None:
        return "", "", False
    before, after = found["before"], found["after"]
    signs = [found[name] for name in ("bracket", "minus", "inner", "behind") if found[name]]
    if (before and after) or len(signs) > 1:
        return "", "", False
    if (
        after
        and len(after) == 1
        and after.isalpha()
        and found.end("number") == found.start("after")
    ):
        return "", "", False
    return before or after or "", found["number"], bool(signs) and signs[0] != "+"


def _has_both_marks(number: str) -> bool:
    """Return whether a number has marks between its thousands and a decimal mark."""
    wholes = {mark: number.partition(mark)[0] for mark in NUMBERS if mark in number}
    return any(
        NUMBERS[mark].fullmatch(number) and re.search("[^0-9]", whole)
        for mark, whole in wholes.items()
    )
