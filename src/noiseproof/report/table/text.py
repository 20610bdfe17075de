"""What every format writes into a cell: our number, and names that can do no harm."""

from noiseproof.report.table.content import Entry
from noiseproof.shown import printable


def our_number(entry: Entry, plus_minus: str = "±") -> str:
    """Return mean, deviation and remark of a cell; ``"failed"`` or nothing where there is no mean.

    >>> our_number(Entry(97.25, 0.5, count=2, planned=3))
    '97.25 ± 0.50 [2]'
    """
    if entry.mean is None:
        return "failed" if entry.state == "failed" else ""
    remark = f" [{entry.remark}]" if entry.remark else ""
    return number(entry.mean, entry.std, plus_minus) + remark


def number(mean: float, std: float | None, plus_minus: str = "±") -> str:
    """Return a mean with its deviation, if there is one."""
    return f"{mean:.2f}" if std is None else f"{mean:.2f} {plus_minus} {std:.2f}"


def one_line(text: str) -> str:
    r"""Return a text without line breaks, its control characters spelled out.

    >>> one_line("two\nlines\x1b[31m")
    'two lines\\x1b[31m'
    """
    return printable(" ".join(text.split()))
