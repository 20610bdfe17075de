"""The results of a grid in words. Every sentence is computed from records."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from noiseproof.bench.collect import Collected
from noiseproof.errors import NoiseproofError
from noiseproof.noise import parse
from noiseproof.noise.spec import RateNoise
from noiseproof.paper import paper_number
from noiseproof.report.history import mean_curve

#: Percentage points: who loses more has fallen, who loses less has held.
FELL, HELD = 20.0, 5.0
#: Percentage points within which we say that a number agrees with the paper's.
NEAR = 1.0


@dataclass(frozen=True)
class Change:
    """The accuracy of a row under the least and under the most noise, in per cent."""

    name: str
    before: float
    after: float

    @property
    def points(self) -> float:
        """Percentage points gained; negative where points were lost."""
        return self.after - self.before


def findings(collected: Collected) -> tuple[str, ...]:
    """Return sentences: how much was run, which rows fell or held, how the paper compares."""
    return (
        _progress(collected),
        *_changes(collected),
        *_memorised(collected),
        *_agreement(collected),
    )


def headline(collected: Collected) -> str:
    """Return the one sentence for the top of the page."""
    return next(iter([*_changes(collected), _progress(collected)]))


def _progress(collected: Collected) -> str:
    counts = collected.counts
    cells = counts["cells"]
    done = "All" if counts["done"] == cells else f"{counts['done']:,} of"
    words = f"{done} {cells:,} runs are done"
    states = ("missing", "failed", "disputed")
    others = [f"{counts[name]:,} {name}" for name in states if counts[name]]
    return f"{words}; {', '.join(others)}." if others else f"{words}."


def _changes(collected: Collected) -> Iterable[str]:
    ends = noise_range(collected)
    changes = sorted(changes_between(collected, *ends), key=lambda c: c.points) if ends else []
    if not ends or not changes:
        return
    first, last = (name_noise(noise) for noise in ends)
    worst, best = changes[0], changes[-1]
    if worst is best:
        yield f"From {first} to {last}, {_said(worst)}."
        return
    yield f"From {first} to {last}, {_said(worst)}, the most; {_said(best)}, the least."
    fell = [f"{c.name} ({c.points:+.1f})" for c in changes if c.points <= -FELL]
    held = [f"{c.name} ({c.points:+.1f})" for c in reversed(changes) if c.points > -HELD]
    if fell:
        yield f"More than {FELL:g} points were lost by {join(fell)}."
    yield (
        f"Less than {HELD:g} points were lost by {join(held)}."
        if held
        else f"No row lost less than {HELD:g} points."
    )


def _said(change: Change) -> str:
    verb = "fell" if change.points < 0 else "rose"
    points = f"{change.points:+.2f} points"
    return f"{change.name} {verb} from {change.before:.2f} % to {change.after:.2f} % ({points})"


def changes_between(collected: Collected, first: str, last: str) -> list[Change]:
    """Return the rows that were run under both noises."""
    found = []
    for row in collected.grid.rows:
        before, after = collected.summary(row, first), collected.summary(row, last)
        if before and after:
            found.append(Change(row.name, 100 * before.mean, 100 * after.mean))
    return found


def noise_range(collected: Collected) -> tuple[str, str] | None:
    """Return the noises of the lowest and the highest rate with results, if all are of one kind."""
    rates: dict[str, float] = {}
    kinds = set()
    for noise in collected.grid.noises:
        try:
            spec = parse(noise, None, collected.grid.source.name)
        except NoiseproofError:
            continue
        if isinstance(spec, RateNoise) and any(
            collected.summary(row, noise) for row in collected.grid.rows
        ):
            rates[noise] = spec.rate
            kinds.add(spec.kind)
    if len(rates) < 2 or len(kinds - {"none"}) != 1:
        return None
    return min(rates, key=rates.__getitem__), max(rates, key=rates.__getitem__)


def _memorised(collected: Collected) -> Iterable[str]:
    """Say which row learnt the wrong labels, under the last noise that shows it."""
    grid = collected.grid
    for noise in reversed(grid.noises):
        shares: dict[str, float] = {}
        for row in grid.rows:
            curve = mean_curve(collected.seeds(row, noise), "corrupted_part")
            if curve and curve[-1] is not None:
                shares[row.name] = 100 * curve[-1]
        if not shares:
            continue
        most, least = max(shares, key=shares.__getitem__), min(shares, key=shares.__getitem__)
        words = f"Under {noise}, {most} gives {shares[most]:.1f} % of the wrong labels back"
        if most != least:
            words += f" in the last epoch, {least} {shares[least]:.1f} %"
        yield f"{words}."
        return


def _agreement(collected: Collected) -> Iterable[str]:
    grid = collected.grid
    if not grid.paper:
        yield "The paper has no such table."
        return
    differences = {
        (row.name, noise): (100 * found.mean, paper.mean)
        for row in grid.rows
        for noise in grid.noises
        if (found := collected.summary(row, noise))
        and (paper := paper_number(grid.paper, row.name, noise))
    }
    if not differences:
        return
    away = {cell: ours - theirs for cell, (ours, theirs) in differences.items()}
    near = sum(abs(d) <= NEAR for d in away.values())
    median = statistics.median(abs(d) for d in away.values())
    yield (
        f"{near} of {len(away)} cells that the paper has too are within {NEAR:g} point of its "
        f"number; the median difference is {median:.2f} points."
    )
    cell = max(away, key=lambda key: abs(away[key]))
    ours, theirs = differences[cell]
    yield (
        f"The largest difference is {cell[0]}'s under {cell[1]}: {ours:.2f} here, "
        f"{theirs:.2f} in the paper."
    )


def name_noise(noise: str) -> str:
    """Return a noise in a sentence.

    >>> name_noise("none"), name_noise("symmetric:0.8")
    ('no noise', 'symmetric:0.8')
    """
    return "no noise" if noise == "none" else noise


def join(names: Sequence[str]) -> str:
    """Return a list as people write it.

    >>> join(["CE", "FL", "GCE"])
    'CE, FL and GCE'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
