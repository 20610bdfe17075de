"""How every picture looks, and how it reaches the disk."""

import os
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from noiseproof.errors import ParameterError
from noiseproof.extras import need

need("bench", "matplotlib", "cycler")

import matplotlib as mpl
from cycler import cycler
from matplotlib.figure import Figure

#: Colours that stay apart for colour-blind readers and in print (Okabe and Ito).
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

_STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e5e5e5",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.prop_cycle": cycler(color=COLOURS),
    "lines.linewidth": 1.6,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "figure.dpi": 120,
    "savefig.dpi": 200,
    "svg.fonttype": "none",
    "svg.hashsalt": "noiseproof",
}

KINDS = (".svg", ".png", ".pdf")


def style() -> AbstractContextManager[Any]:
    """Return the context every figure of the package is drawn in."""
    return mpl.rc_context(_STYLE)


def check(path: Path) -> None:
    """Say at once, not after a minute's computing, that a picture cannot be written there."""
    if path.suffix.lower() not in KINDS:
        raise ParameterError(
            f"cannot draw {path.name!r}: expected a name ending {', '.join(KINDS)}"
        )
    if not path.resolve().parent.is_dir():
        raise ParameterError(f"no directory {path.resolve().parent} to write {path.name} to")
    if path.is_dir() or not os.access(path.resolve().parent, os.W_OK):
        raise ParameterError(
            f"cannot write {path}: it is a directory, or its directory is not ours"
        )


def save(figure: Figure, path: Path) -> None:
    """Write a figure whole or not at all; the same figure gives the same bytes."""
    check(path)
    kind = path.suffix.lower()[1:]
    partial = path.with_name(f".{path.name}.partial")
    try:
        with style():
            metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
            figure.savefig(partial, format=kind, bbox_inches="tight", metadata=metadata)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
