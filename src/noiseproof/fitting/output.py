"""The folder that a fit writes: whole, or not at all."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from noiseproof.errors import ParameterError
from noiseproof.fitting.model import RECIPE, write_json

if TYPE_CHECKING:
    from noiseproof.fitting.fit import Fitted

SUMMARY, REPORT, SUSPECTS = "summary.json", "report.html", "suspect_rows.csv"


def check(folder: Path, force: bool = False) -> None:
    """Say at once, not after the fit, that a folder cannot be written."""
    if folder.exists() or folder.is_symlink():
        if not force:
            raise ParameterError(f"{folder} exists; nothing is overwritten without --force")
        ours = (folder / "model" / RECIPE).is_file() and (folder / SUMMARY).is_file()
        if not ours or folder.is_symlink():
            raise ParameterError(f"{folder} exists and is no folder of a fit; it is left as it is")
    check_parent(folder)


def check_parent(path: Path) -> None:
    """Say at once that there is no directory to write a file or folder into."""
    parent = path.resolve().parent
    if not parent.is_dir():
        raise ParameterError(f"no directory {parent} to make {path.name} in")
    if not os.access(parent, os.W_OK):
        raise ParameterError(f"cannot write into {parent}")


def write(fitted: "Fitted", folder: Path, force: bool = False) -> Path:
    """Write the files beside ``folder`` and move them there when the last one is there."""
    check(folder, force)
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent))
    try:
        mask = os.umask(0)
        os.umask(mask)
        made.chmod(0o777 & ~mask)
        (made / "model").mkdir()
        fitted.model.save(made / "model")
        write_json(made / SUMMARY, fitted.summary)
        (made / REPORT).write_text(fitted.report, encoding="utf-8")
        fitted.suspects.to_csv(made / SUSPECTS, index=False)
        _move(made, folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    return folder


def _move(made: Path, folder: Path) -> None:
    if not folder.exists():
        made.rename(folder)
        return
    old = made.with_suffix(".old")
    folder.rename(old)
    try:
        made.rename(folder)
    except BaseException:
        old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)
