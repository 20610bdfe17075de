"""The files of a run: a checkpoint while it runs, then a record and, on request, a model."""

import hashlib
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from noiseproof.errors import DataError, DataWarning
from noiseproof.files import set_aside
from noiseproof.results.key import experiment_place
from noiseproof.results.pack import SUFFIX
from noiseproof.results.plain import read_plain
from noiseproof.results.record import Record
from noiseproof.train import Experiment
from noiseproof.train.checkpoint import UnfitError, load_checkpoint

#: How the name of a record ends: ten digits of a hash.
RECORD_NAME = re.compile(r"-([0-9a-f]{10})\.json$")
#: Letters of the words before it, at most.
WORDS = 100
#: The checkpoints of runs at once, each named by how many they are, and their records.
AT_ONCE = "*-at-once-*.checkpoint.pt"
RECORDS_AT_ONCE = f"*-at-once-*{SUFFIX}"


@dataclass(frozen=True)
class RunFiles:
    """The files of one run: side by side in one folder, under one name.

    Args:
        out: the folder, which may hold many runs: it is a store.
        name: the beginning of the files' names.
    """

    out: Path
    name: str

    @classmethod
    def of(cls, out: Path, run: Experiment | Record) -> "RunFiles":
        """Return the files of a run under ``out``, named by its words and its hash.

        Two experiments that differ in anything have different files, and so have two cells.
        """
        return cls(out, file_name(_words(run), _hash(run)))

    @property
    def checkpoint(self) -> Path:
        """The state after the last epoch; removed when the run is over."""
        return self.out / f"{self.name}.checkpoint.pt"

    @property
    def record(self) -> Path:
        """What happened."""
        return self.out / f"{self.name}.json"

    @property
    def model(self) -> Path:
        """The trained network, if it was to be kept."""
        return self.out / f"{self.name}.model.pt"

    def finished(self) -> Record | None:
        """Return the record of a finished run, None where it is not finished.

        A file that is not a whole, valid record of this run is set aside, with a warning: it is not
        finished.
        """
        if not self.record.exists():
            return None
        try:
            record = Record.read(self.record)
            if RunFiles.of(self.out, record) == self:
                return record
            why = f"{self.record}: the record of another run under this name"
        except DataError as error:
            why = str(error)
        place = set_aside(self.record)
        warnings.warn(f"{why}; set aside as {place.name}, to be run again", DataWarning, 2)
        return None


def is_run_file(path: Path) -> bool:
    """Return whether a run wrote this file, or the beginning of it, by its name or content.

    Ten digits at the end of a name may be a time, and ``record.json`` is anybody's.
    """
    words = RECORD_NAME.sub("", path.name)
    if words != path.name and (re.search(r"seed\d+$", words) or len(words) >= WORDS):
        return True
    try:
        return re.match(rb'\{\s*"schema":', read_plain(path)) is not None
    except (OSError, DataError):
        return False


def is_named(path: Path, record: Record) -> bool:
    """Return whether a file has the name of a record.

    A disk that knows no ``*`` may have written something else for it, or nothing.
    """
    words = _words(record)
    names = (
        file_name(words, _hash(record)),
        # How cells of matrices and encoders were named before their names told them apart,
        file_name(words, record.identity),
        # and how long names were cut before they had a hash of their own.
        _joined(_slug(words)[:WORDS], record.identity),
    )
    return any(re.fullmatch(re.escape(name).replace(r"\*", ".{0,3}"), path.stem) for name in names)


def checkpoint_together(out: Path, identity: str) -> Path:
    """Return the checkpoint of runs at once, by what :func:`identity_together` returned."""
    return out / f"{_name_together(identity)}.checkpoint.pt"


def records_together(out: Path, identity: str) -> Path:
    """Return the packed records of runs at once, which are there while each gets its own file."""
    return out / f"{_name_together(identity)}{SUFFIX}"


def _name_together(identity: str) -> str:
    digits = hashlib.sha256(identity.encode(errors="replace")).hexdigest()
    return _joined(f"{len(identity.split())}-at-once", digits)


def lock_file(out: Path, key: str) -> Path:
    """Return the lock of the run with a key, under ``out``: who trains it holds it."""
    return out / f".{key[:20]}.lock"


T = TypeVar("T")


def without_torn(checkpoint: Path, identity: str, run: Callable[[], T]) -> T:
    """Return what ``run`` returns, after a checkpoint that it cannot resume has been set aside.

    Nobody restarts single cells by hand.
    """
    try:
        load_checkpoint(checkpoint, identity)
    except (DataError, FileNotFoundError):
        set_aside(checkpoint)
    try:
        return run()
    except UnfitError:
        set_aside(checkpoint)
        return run()


def file_name(words: str, digits: str) -> str:
    """Return words and a hash as the beginning of a file's name.

    Words that are too long are cut, with a hash of all of them at the end: the same labels, and so
    the same identity, may come from two noises.

    >>> file_name("digits AGCE(a=4, q=0.2) symmetric:0.4 seed1", "0123456789abcdef")
    'digits-AGCE-a=4-q=0.2-symmetric-0.4-seed1-0123456789'
    """
    text = _slug(words)
    if len(text) > WORDS:
        whole = words.encode(errors="surrogatepass")  # a path may have bytes that are no text
        text = _joined(text[: WORDS - 11], hashlib.sha256(whole).hexdigest())
    return _joined(text, digits)


def _hash(run: Experiment | Record) -> str:
    """Return the identity of a run; with what else tells its cell apart, where there is more.

    Two matrices may draw the same labels, and two encoders make the same features.
    """
    place = run.place if isinstance(run, Record) else experiment_place(run)
    if not run.encoded and not place.noise.startswith("matrix:"):
        return run.identity
    return hashlib.sha256(f"{run.identity} {place.key(run.seed)}".encode()).hexdigest()


def _words(run: Experiment | Record) -> str:
    return f"{run.dataset} {run.loss} {run.noise} seed{run.seed}"


def _slug(words: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_.+*=]+", "-", words).strip("-")


def _joined(text: str, digits: str) -> str:
    return f"{text}-{digits[:10]}"
