"""The leaderboard as a page of Markdown. Every number is computed from records."""

from collections.abc import Iterator

from noiseproof.bench.advised import RECOMMEND
from noiseproof.bench.leaderboard import Board, Score
from noiseproof.report.table.markdown import plain


def page(board: Board) -> str:
    """Return the page."""
    return "\n".join(_lines(board)) + "\n"


def _lines(board: Board) -> Iterator[str]:
    authors, tuned = board.scores
    order = board.order
    yield "## Leaderboard of losses"
    yield ""
    yield from _about(board)
    yield ""
    yield "| Loss | rank | mean % | worst % | rank, tuned | mean %, tuned | worst %, tuned |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for name in order:
        yield f"| {plain(name)} | {_cells(authors[name])} | {_cells(tuned[name])} |"
    if RECOMMEND in board.rows:
        yield ""
        yield from _recommended(board)
    yield ""
    yield "Mean accuracy (%) by data set, with the authors' parameters and tuned:"
    yield ""
    means = board.by_data()
    yield "| Loss | " + " | ".join(f"{data} | {data}, tuned" for data in map(plain, means)) + " |"
    yield "| --- |" + " ---: |" * (2 * len(means))
    places = {name: index for index, name in enumerate(board.rows)}
    for name in order:
        numbers = (f"{part[places[name]]:.1f}" for pair in means.values() for part in pair)
        yield f"| {plain(name)} | " + " | ".join(numbers) + " |"


def _about(board: Board) -> Iterator[str]:
    sets: dict[str, list[str]] = {}
    for column in board.columns:
        sets.setdefault(column.data, []).append(column.noise)
    yield (
        f"{len(board.rows)} rows under {len(board.columns)} columns (a data set with a noise): "
        + "; ".join(
            f"{plain(data)}: {', '.join(map(plain, noises))}" for data, noises in sets.items()
        )
        + ".  "
    )
    yield (
        "Rank is the mean over the columns of the place among all rows (1 is best), with a 95 % "
        "interval from resampling the columns; worst is the lowest accuracy of any column.  "
    )
    yield (
        f"Tuned: of {board.trials} settings, the authors' among them, the one that agrees best "
        "with held-out labels, as noisy as the rest. `recommend` is never tuned.  "
    )
    yield (
        f"By Nemenyi's test at 5 %, mean ranks that are {board.critical_difference:.1f} apart "
        "differ; columns of one data set are not independent, so this is a lower bound."
    )
    if board.missing:
        yield ""
        missing = ", ".join(plain(str(column)) for column in board.missing)
        yield f"Not complete, so not counted: {missing}."


def _cells(score: Score) -> str:
    low, high = score.rank_interval
    return (
        f"{score.rank:.1f} ({low:.1f} to {high:.1f}) | {score.mean:.1f} | "
        f"{score.worst:.1f} ({plain(str(score.where))})"
    )


def _recommended(board: Board) -> Iterator[str]:
    against = board.at_least_as_good(RECOMMEND)
    tuned = board.at_least_as_good(RECOMMEND, tuned=True)
    share = sum(against.values()) / len(against)
    yield (
        f"`{RECOMMEND}`, which is told the noise and nothing else, is at least as good as the "
        f"authors' own parameters in {100 * share:.0f} % of the {len(against)} x "
        f"{len(board.columns)} cells, and as the tuned ones in "
        f"{100 * sum(tuned.values()) / len(tuned):.0f} %."
    )
    ahead = [
        f"{plain(name)} {100 * s:.0f}" for name, s in sorted(against.items(), key=lambda p: p[1])
    ]
    yield ""
    yield f"By row, in per cent of the columns: {', '.join(ahead)}."
