"""How figures look, and how they are saved."""

import io
import warnings
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from noiseproof import files
from noiseproof.errors import DataWarning, ParameterError
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
    """Return the context that every figure is drawn in."""
    return mpl.rc_context(_STYLE)


def check(path: Path, inputs: Iterable[str | Path] = ()) -> None:
    """Raise ParameterError where no picture can be written; ask before the work, not after it.

    Args:
        path: the picture to be.
        inputs: files and folders that it is drawn from, which it must not replace.
    """
    if path.suffix.lower() not in KINDS:
        raise ParameterError(
            f"cannot draw {path.name!r}: expected a name ending {', '.join(KINDS)}"
        )
    files.check_file(path, force=True, inputs=inputs)


def save(figure: Figure, path: Path) -> None:
    """Write a figure whole or not at all; the same figure gives the same bytes."""
    check(path)
    kind = path.suffix.lower()[1:]
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
    content = io.BytesIO()
    with style(), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        figure.savefig(content, format=kind, bbox_inches="tight", metadata=metadata)
    files.write(path, content.getbuffer())
    glyphs = [one for one in told if str(one.message).startswith("Glyph ")]  # a warning a letter
    if glyphs and kind != "svg":  # which has names as text
        boxes = f"{path}: letters that {_STYLE['font.family']} does not have are drawn as boxes"
        warnings.warn(f"{boxes}; an .svg shows them", DataWarning, stacklevel=2)
    for one in told:
        if one not in glyphs:
            warnings.warn(one.message, one.category, stacklevel=2)
