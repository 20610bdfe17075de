"""One way to tell how far a piece of work is, for every room.

Whatever may take longer than two seconds takes ``progress: Progress = SILENT`` and calls

    progress.step("features")             a part of the work begins, under this name
    progress.update(done, total, note)    so much of the step is done; cheap enough for every batch
    progress.say("784 columns")           a line worth keeping, of the step that is at work

It never asks who listens, prints nothing itself and imports no tqdm. Who starts the work (the
command line, a notebook) chooses: :data:`SILENT` keeps everything to itself, :class:`Terminal`
prints the lines and draws a bar, and a subclass of :class:`Progress` sends them wherever it likes.
What a program wants to compute with (the row of an epoch, a record) is no progress: hand it over
by a callback or a return value.
"""

import sys
from typing import Any, Self, TextIO

from noiseproof.extras import missing
from noiseproof.shown import printable

#: Seconds before a bar is drawn: what is done sooner needs none.
DELAY = 0.3


class Progress:
    """Keeps everything to itself; the base of those that show it."""

    def step(self, name: str) -> None:
        """Hear that the part of the work called ``name`` begins."""

    def update(self, done: int, total: int, note: str = "") -> None:
        """Hear that ``done`` of ``total`` units of the step are done, with a few words about it."""

    def say(self, line: str) -> None:
        """Hear a line worth keeping."""

    def close(self) -> None:
        """Hear that the work is over."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


SILENT = Progress()


class Terminal(Progress):
    """Prints the lines, each step's name before its first, and draws a bar on a terminal.

    Args:
        lines: where the lines go; None is standard error, where the bar always is.

    >>> with Terminal(sys.stdout) as progress:
    ...     progress.step("features")
    ...     progress.say("784 columns")
    ...     progress.say("3 of them constant")
    features  784 columns
              3 of them constant
    """

    def __init__(self, lines: TextIO | None = None) -> None:
        self.lines = lines or sys.stderr
        self.name, self.label = "", ""
        self.bar: Any = None

    def step(self, name: str) -> None:
        """Take the old step's bar away; the new one's comes with its first update."""
        self.close()
        self.name = self.label = name

    def update(self, done: int, total: int, note: str = "") -> None:
        """Move the bar."""
        if self.bar is None:
            self.bar = _bar(self.name)
        self.bar.total = total
        self.bar.set_postfix_str(printable(note), refresh=False)
        self.bar.update(done - self.bar.n)

    def say(self, line: str) -> None:
        """Print the line, above the bar where there is one."""
        if self.bar is not None:
            self.bar.clear()
        line = printable(line)
        text = f"{self.label:<9} {line}" if self.name else line
        print(text, file=self.lines, flush=True)
        self.label = ""
        if self.bar is not None:
            self.bar.refresh()

    def close(self) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None


class _NoBar:
    """Stands in for a bar where there is no terminal, or no tqdm."""

    n = total = 0

    def update(self, _: int) -> None: ...
    def set_postfix_str(self, _: str, refresh: bool) -> None: ...
    def clear(self) -> None: ...
    def refresh(self) -> None: ...
    def close(self) -> None: ...


def _bar(name: str) -> Any:
    if not sys.stderr.isatty() or missing("tqdm"):
        return _NoBar()
    from tqdm import tqdm

    return tqdm(
        desc=printable(name) or None, leave=False, delay=DELAY, unit_scale=True, dynamic_ncols=True,
        smoothing=0.05,
    )  # fmt: skip


def on_terminal(quiet: bool = False, lines: TextIO | None = None) -> Progress:
    """Return what a command shows: nothing where the user wants quiet."""
    return SILENT if quiet else Terminal(lines)


def counted(count: int, noun: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class")
    ('1 row', '1,200 rows', '2 classes')
    """
    ending = "" if count == 1 else "es" if noun.endswith("s") else "s"
    return f"{count:,} {noun}{ending}"
