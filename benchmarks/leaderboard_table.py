"""The leaderboard's records as tables in Markdown."""

from typing import Any

import numpy as np
import pandas as pd


def table(records: list[dict[str, Any]], ours: str, rivals: list[str], ceilings: list[str]) -> str:
    """Return the page: a summary, accuracy by set, calibration and time, noise and suspects."""
    frame = pd.DataFrame(records)
    accuracy = 100 * _by_set(frame, "accuracy")
    done = accuracy.reindex(columns=[ours, *rivals, *ceilings]).dropna().index
    if len(done) == 0:
        return "No set has been run with every method yet.\n"
    frame = frame[frame["set"].isin(done)]
    board = _accuracy(frame, ours, rivals, ceilings)
    return "\n\n".join([
        "Written by benchmarks/leaderboard.py. Accuracy (%) is on true labels, mean over draws; "
        "the best rival is chosen with hindsight, set by set.",
        _summary(frame, board, ours, rivals),
        _markdown(board),
        "Mean rank of each method over all sets and draws, and seconds of one core:",
        _markdown(_methods(frame, [ours, *rivals])),
        "Calibration error on true labels (%), CPU seconds, estimated rate of wrong labels (%), "
        "suspect rows (precision at 100, area under precision-recall):",
        _markdown(_rest(frame, ours, rivals)),
    ]) + "\n"  # fmt: skip


def _by_set(frame: pd.DataFrame, value: str) -> pd.DataFrame:
    return frame.pivot_table(index="set", columns="method", values=value, sort=False)


def _accuracy(
    frame: pd.DataFrame, ours: str, rivals: list[str], ceilings: list[str]
) -> pd.DataFrame:
    mean = 100 * _by_set(frame, "accuracy")
    best, top = mean[rivals].idxmax(axis=1), mean[ceilings].idxmax(axis=1)
    ceiling = mean[ceilings].max(axis=1)
    # The gap is what noise costs the kind of model that is best on clean labels.
    start = pd.Series(
        {name: mean.loc[name, top[name].removeprefix("clean ")] for name in mean.index}
    )
    gap = ceiling - start
    closed = (mean[ours] - start) / gap
    firsts = frame.groupby("set", sort=False)
    return pd.DataFrame({
        "draws": firsts["draw"].nunique(),
        "wrong %": 100 * firsts["true_rate"].mean(),
        "c": firsts["clean_level"].mean(),
        ours: mean[ours],
        "best rival": mean[rivals].max(axis=1),
        "which": best,
        "regret": mean[rivals].max(axis=1) - mean[ours],
        **{name: mean[name] for name in rivals if not name.startswith("cleanlab")},
        "cleanlab, best": mean[[r for r in rivals if r.startswith("cleanlab")]].max(axis=1),
        "clean": ceiling,
        "gap": gap,
        "closed %": (100 * closed).where(gap > 3),
    })  # fmt: skip


def _summary(frame: pd.DataFrame, board: pd.DataFrame, ours: str, rivals: list[str]) -> str:
    ranks = _ranks(frame, [ours, *rivals])
    asked = board[(board["gap"] > 3) & (board["c"] > 1.2)]
    mine = frame[(frame["method"] == ours) & frame["interval"].notna()]
    low, high = np.array(mine["interval"].tolist()).T
    covered = (low <= mine["true_rate"]) & (mine["true_rate"] <= high)
    off = 100 * (mine["rate"] - mine["true_rate"]).abs().groupby(mine["set"]).mean()
    sets = len(board)
    return "\n".join([
        f"- mean rank {ranks[ours]:.2f}; the best rival's {ranks[rivals].min():.2f} "
        f"({ranks[rivals].idxmin()}), of {len(ranks)} methods",
        f"- regret: worst {board['regret'].max():.2f} points ({board['regret'].idxmax()}), mean "
        f"{board['regret'].mean():.2f}; over 0.5 on {(board['regret'] > 0.5).sum()} of {sets} sets",
        f"- ahead of every rival on {(board['regret'] < 0).sum()} of {sets} sets",
        f"- half of the gap closed on {(asked['closed %'] >= 50).sum()} of the {len(asked)} sets "
        "where it is over 3 points and c > 1.2",
        f"- estimated rate: off by {off.mean():.1f} points on average, {off.max():.1f} at worst "
        f"({off.idxmax()}); its interval covers the truth in {covered.mean():.0%} of "
        f"{len(covered)} fits",
    ])  # fmt: skip


def _ranks(frame: pd.DataFrame, methods: list[str]) -> pd.Series:
    wide = frame.pivot_table(index=["set", "draw"], columns="method", values="accuracy")
    return wide[methods].dropna().rank(axis=1, ascending=False).mean()


def _methods(frame: pd.DataFrame, methods: list[str]) -> pd.DataFrame:
    by = frame[frame["method"].isin(methods)].groupby("method")
    return pd.DataFrame({
        "mean rank": _ranks(frame, methods),
        "accuracy": 100 * by["accuracy"].mean(),
        "calibration error": 100 * by["ece"].mean(),
        "seconds": by["seconds"].mean(),
        "CPU seconds": by["cpu"].mean(),
    }).sort_values("mean rank")  # fmt: skip


def _rest(frame: pd.DataFrame, ours: str, rivals: list[str]) -> pd.DataFrame:
    error, cpu, rate = 100 * _by_set(frame, "ece"), _by_set(frame, "cpu"), _by_set(frame, "rate")
    precision, area = _by_set(frame, "precision_at_100"), _by_set(frame, "auprc")
    cleanlab = [r for r in rivals if r.startswith("cleanlab")]
    return pd.DataFrame({
        f"error, {ours}": error[ours],
        "error, best rival": error[rivals].min(axis=1),
        f"CPU, {ours}": cpu[ours],
        "CPU, cleanlab lightgbm": cpu["cleanlab lightgbm"],
        "true rate": 100 * frame.groupby("set", sort=False)["true_rate"].mean(),
        f"rate, {ours}": 100 * rate[ours],
        "rate, cleanlab, median": 100 * rate[cleanlab].median(axis=1),
        f"at 100, {ours}": 100 * precision[ours],
        "at 100, cleanlab, best": 100 * precision[cleanlab].max(axis=1),
        f"area, {ours}": 100 * area[ours],
        "area, cleanlab, best": 100 * area[cleanlab].max(axis=1),
    })  # fmt: skip


def _markdown(frame: pd.DataFrame) -> str:
    head = [frame.index.name or "method", *frame.columns]
    lines = [f"| {' | '.join(head)} |", "| --- " * len(head) + "|"]
    for name, row in frame.iterrows():
        cells = [str(v) if isinstance(v, str) else "" if pd.isna(v) else f"{v:.2f}" for v in row]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)
