"""The steps of a fit as lines, and a bar on a terminal."""

import sys
from typing import Any

from noiseproof.extras import need
from noiseproof.progress import printable


class Steps:
    """Prints each line of a fit under the name of its step, and shows how far it is.

    Args:
        silent: print nothing.
    """

    def __init__(self, silent: bool) -> None:
        self.shown = not silent
        self.step, self.what = "", ""
        self.bar: Any = None

    def say(self, step: str, line: str) -> None:
        """Print a line, the name of the step before its first."""
        if self.shown:
            self.close()
            print(f"{step if step != self.step else '':<9} {printable(line)}", flush=True)
            self.step = step

    def progress(self, what: str, done: int, total: int) -> None:
        """Move the bar of ``what``."""
        if not self.shown or not sys.stderr.isatty():
            return
        if self.bar is None or what != self.what:
            need("fit", "tqdm")
            from tqdm import tqdm

            self.close()
            self.what, self.bar = what, tqdm(desc=what, dynamic_ncols=True, leave=False)
        self.bar.total = total
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None
