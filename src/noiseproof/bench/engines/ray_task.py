"""What the Ray engine does on a node: one cell, in a folder of the node's own."""

import os
import platform
import shutil
import stat
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noiseproof.bench.cell import Cell
from noiseproof.bench.engines.engine import Settings
from noiseproof.bench.engines.run_cell import run_cell
from noiseproof.bench.engines.scheduler import PATIENCE, Broken, Mistake, News
from noiseproof.bench.engines.worker import explain
from noiseproof.errors import DataError, LockedError
from noiseproof.results import Record, Store
from noiseproof.train import Epoch
from noiseproof.train.progress import Watcher


@dataclass(frozen=True)
class Product:
    """What comes back from a node.

    Args:
        record: of the cell.
        model: the file of the trained network, where that is to be kept.
    """

    record: Record
    model: bytes | None = None


def work(cell: Cell, settings: Settings, folder: str, post: Any) -> Product | Mistake | Broken:
    """Run one cell on this node.

    Its folder has the same name each time, so that a cell whose process died resumes from its
    checkpoint if it comes to the same node again. The folder is removed when the cell is done. No
    folder holds those of all cells: one cell would remove it while another begins.
    """
    out = Path(tempfile.gettempdir()) / f"{folder}-{cell.key[:20]}"
    try:
        _make_own(out)
        record = _run_alone(cell, out, settings, Sender(post, cell.key) if post else None)
        model = Store(out).files(record).model
        product = Product(record, model.read_bytes() if model.exists() else None)
    except MemoryError:
        os._exit(1)  # counts as a death: with fewer cells at work there may be enough
    except Exception as error:
        return explain(error, out, platform.node())
    shutil.rmtree(out, ignore_errors=True)
    return product


def _make_own(folder: Path) -> None:
    """Make a folder that nobody else writes to: a record or a checkpoint in it is believed."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()  # its name can be known before, and others have the same /tmp
    user = getattr(os, "geteuid", lambda: found.st_uid)()  # Windows has a /tmp for each user
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != user:
        raise DataError(f"{folder} is not this user's folder; remove it, or set TMPDIR")
    folder.chmod(0o700)


def _run_alone(cell: Cell, out: Path, settings: Settings, watch: Watcher | None) -> Record:
    """Run a cell as soon as the task of an interrupted run, if any, has let go of it."""
    while True:
        try:
            return run_cell(cell, out, settings, watch)
        except LockedError:
            time.sleep(PATIENCE)


class Sender(Watcher):
    """Posts every epoch to the engine."""

    def __init__(self, post: Any, key: str) -> None:
        """Remember the :class:`Post`, which is a Ray actor, and whose epochs these are."""
        self.post, self.key = post, key

    def epoch(self, row: Epoch) -> None:
        """Post it, and do not wait."""
        self.post.put.remote(self.key, News(row.number, row.test_accuracy))


class Post:
    """Keeps the latest news of each cell until the engine asks."""

    def __init__(self) -> None:
        """Begin without any."""
        self.news: dict[str, News] = {}

    def put(self, key: str, news: News) -> None:
        """Keep the news of a cell."""
        self.news[key] = news

    def take(self) -> dict[str, News]:
        """Return all news since the last time."""
        news, self.news = self.news, {}
        return news
