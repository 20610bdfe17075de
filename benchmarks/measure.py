"""Measuring on a shared machine: ratios of things run in turn, and peaks of resident memory."""

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Step = Callable[[], object]


@dataclass(frozen=True)
class Ratio:
    median: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.low:.2f}-{self.high:.2f})"


def ratio(step: Step, baseline: Step, seconds: float, least: int = 5) -> Ratio:
    """Time ``step`` and ``baseline`` in turn for about ``seconds``; the quartiles of the ratio."""
    step(), baseline(), step()
    once = _time(baseline, 1)
    count = max(1, int(0.01 / once))
    pairs = max(least, int(seconds / (4 * count * once)))
    return ratio_of_pairs(step, baseline, pairs, count)


def ratio_of_pairs(step: Step, baseline: Step, pairs: int, count: int = 1) -> Ratio:
    """Time ``step`` and ``baseline`` in turn, ``count`` times each, ``pairs`` times over."""
    ratios = []
    for i in range(pairs):
        # Whichever goes second finds the caches and the allocator warm: take turns.
        if i % 2:
            b, a = _time(baseline, count), _time(step, count)
        else:
            a, b = _time(step, count), _time(baseline, count)
        ratios.append(a / b)
    low, median, high = statistics.quantiles(ratios, n=4)
    return Ratio(median, low, high)


def _time(step: Step, count: int) -> float:
    start = time.process_time()  # what others do on the machine is not counted
    for _ in range(count):
        step()
    return (time.process_time() - start) / count


def peak_memory(step: Step) -> int:
    """Return how many bytes ``step`` needs at its peak beyond what was there (Linux)."""
    gc.collect()
    before = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    step()
    return max(0, _status("VmHWM") - before)


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {key} in /proc/self/status")
