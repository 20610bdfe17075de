"""A store: records in a folder, one file each or packed, that merge by copying files."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from noiseproof import files
from noiseproof.errors import DataError
from noiseproof.results.key import Place
from noiseproof.results.pack import SUFFIX, parse_record, unpack
from noiseproof.results.plain import NotPlainError, read_plain
from noiseproof.results.record import OtherSchemaError, Record
from noiseproof.results.run_files import (
    AT_ONCE,
    RECORD_NAME,
    RECORDS_AT_ONCE,
    RunFiles,
    checkpoint_together,
    is_named,
    is_run_file,
    lock_file,
    records_together,
)
from noiseproof.train.checkpoint import whose
from noiseproof.train.tensors import read_tensors

#: So many damaged records of a packed file are listed; then it is not read any further.
WORST = 1000
#: Levels of folders below a store that are looked through; `--store /` must not read the disk.
DEPTH = 3


class Found(NamedTuple):
    """A record as it was found.

    Args:
        record: the record.
        values: the values in its file, exactly.
        path: the file, its own or a packed one.
    """

    record: Record
    values: dict[str, Any]
    path: Path


@dataclass(frozen=True)
class Dispute:
    """Records of one cell that disagree, so that none of them is believed.

    Args:
        place: the place of the cell.
        seed: its seed.
        paths: the files.
        words: what the records say.
    """

    place: Place
    seed: int
    paths: tuple[Path, ...]
    words: str

    def __str__(self) -> str:
        files = ", ".join(map(str, self.paths))
        return f"{self.words}; none is believed, remove what is wrong of {files}"


class Store:
    """The records in a folder and three levels of folders below it, or in one packed file.

    Nothing but whole, valid records count. A file that has the name of a record and is none is
    renamed to ``*.damaged``, if a run may have written it, and its cell is to be run again. What is
    not a plain file of the store (a pipe, a device, a link out of it) is not opened. Both are
    listed in ``damaged``.

    Records of one cell that agree count once. Where their results differ, none counts, and
    ``disputes`` says so.

    Args:
        path: the folder, which need not exist, or the packed file.
    """

    def __init__(self, path: Path | str) -> None:
        """Keep the path: no record is read yet."""
        self.path = Path(path)
        self.is_packed = self.path.name.endswith(SUFFIX) and self.path.is_file()
        if self.path.exists() and not self.path.is_dir() and not self.is_packed:
            raise DataError(f"{path} is a file: a store is a folder, or a packed *{SUFFIX}")
        self.damaged: list[str] = []
        self.disputes: dict[str, Dispute] = {}
        self._places: dict[str, list[tuple[Path, Record]]] = {}
        self._identities: set[str] = set()

    def records(self) -> dict[str, Record]:
        """Read the records, by the key of their cell."""
        return self.judge(self.found())

    def judge(self, found: Iterable[Found]) -> dict[str, Record]:
        """Return the records to be believed, by the key of their cell, of all that was found."""
        cells: dict[str, list[Found]] = {}
        contents: dict[str, set[str]] = {}
        self._places = {}
        for one in found:
            record = one.record
            key = record.key
            self._places.setdefault(key, []).append((one.path.parent, record))
            self._identities.add(record.identity)
            cells.setdefault(key, []).append(one)
            if not record.encoded:  # features made twice differ in their last bits
                contents.setdefault(record.place.data, set()).add(record.fingerprint)
        self.disputes = {
            key: _dispute(several)
            for key, several in cells.items()
            # A published name may stand for data that no fingerprint was recorded of.
            if _disagree(several) or len(contents.get(several[0].record.place.data, ())) > 1
        }
        return {k: several[0].record for k, several in cells.items() if k not in self.disputes}

    def found(self) -> Iterator[Found]:
        """Yield every valid record in the order of the files' names, duplicates included."""
        self.damaged = []
        for path in sorted(self._files()):
            packed = path.name.endswith(SUFFIX)
            yield from self._read_packed(path) if packed else self._read_single(path)

    def find(self, key: str) -> Record | None:
        """Return the record of one cell."""
        return self.records().get(key)

    def running(self, key: str) -> bool:
        """Return whether a process on this machine is at work on a cell."""
        return files.is_locked(lock_file(self.path, key))

    def has_locks(self) -> bool:
        """Return whether any process may be at work on a cell."""
        return next(self.path.glob(".*.lock"), None) is not None

    def is_done(self, record: Record, save: bool = False) -> bool:
        """Return whether nothing is left to do for a record's cell.

        Args:
            record: what the store has of the cell.
            save: whether the trained network is to be kept too.
        """
        return not save or record.status == "failed" or self.files(record).model.exists()

    def put(self, record: Record) -> Path:
        """Write a record where its run would have written it; return the file."""
        path = RunFiles.of(self.files(record).out, record).record
        record.write(path)
        return path

    def files(self, record: Record) -> RunFiles:
        """Return where the files of a record's run are, or belong.

        Of several copies of the record, those of the one with a network beside it.
        """
        places = self._places.get(record.key, [])
        found = (RunFiles.of(folder, copy) for folder, copy in places)
        first = RunFiles.of(places[0][0] if places else self.path, record)
        return next((files for files in found if files.model.exists()), first)

    def check_writable(self) -> None:
        """Raise an error now where a record could not be written later."""
        if self.is_packed:
            raise DataError(f"{self.path} is packed and can only be read: choose a folder")
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            with tempfile.TemporaryFile(dir=self.path) as file:
                file.write(b"0" * 4096)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None

    def settle(self) -> None:
        """Give each record of runs at once its own file, where the machine stopped during that."""
        for path in self.path.glob(RECORDS_AT_ONCE):
            records = [found.record for found in self._read_packed(path)]
            identity = " ".join(record.identity for record in records)
            if path == records_together(self.path, identity):  # else somebody else's, or damaged
                for record in records:
                    own = RunFiles.of(self.path, record)
                    if own.finished() is None:
                        record.write(own.record)
                path.unlink(missing_ok=True)
                checkpoint_together(self.path, identity).unlink(missing_ok=True)

    def tidy(self, more: Iterable[Record] = ()) -> None:
        """Remove checkpoints of runs that have their record.

        They were killed just after it, or at once with others and then run beside others. One that
        is newer than the record is of a run under way again, for its model.

        Args:
            more: records that were written after the store was read.
        """
        self._identities.update(record.identity for record in more)
        for path in self.path.glob(AT_ONCE):
            with suppress(DataError, OSError):  # somebody else's
                identity = whose(read_tensors(path) or {})
                if path == checkpoint_together(self.path, identity) and self._has_all(identity):
                    path.unlink(missing_ok=True)
        for path in self.path.glob("*.checkpoint.pt"):
            files = RunFiles(self.path, path.name.removesuffix(".checkpoint.pt"))
            with suppress(DataError, OSError):  # no record: of a run under way, or somebody else's
                finished = RunFiles.of(self.path, Record.read(files.record)) == files
                if finished and path.stat().st_mtime_ns <= files.record.stat().st_mtime_ns:
                    path.unlink(missing_ok=True)

    def _has_all(self, identities: str) -> bool:
        return self._identities.issuperset(identities.split())

    def _files(self) -> Iterator[Path]:
        if self.is_packed:
            yield self.path
        for root, folders, names in os.walk(self.path, onerror=self._cannot_list):
            here = (Path(root, name) for name in [*names, *folders])
            yield from (path for path in here if path.name.endswith((".json", SUFFIX)))
            if len(Path(root).relative_to(self.path).parts) == DEPTH:
                folders.clear()

    def _cannot_list(self, error: OSError) -> None:
        # A store need not be there, and a packed one is no folder.
        if not isinstance(error, (FileNotFoundError, NotADirectoryError)):
            self.damaged.append(f"{error.filename}: {error.strerror}, so nothing in it counts")

    def _read_packed(self, path: Path) -> Iterator[Found]:
        """Read a packed file, which is never renamed: it may be somebody's published results."""
        number, before = 0, len(self.damaged)
        try:
            for number, text in enumerate(unpack(read_plain(path, self.path)), start=1):
                if len(self.damaged) - before >= WORST:
                    raise DataError("so many are damaged that the rest is not read")
                try:
                    values = parse_record(text)
                    yield Found(Record.from_dict(values), values, path)
                except DataError as error:
                    self.damaged.append(f"{path}: record {number}: {error}")
                except (ValueError, RecursionError):
                    self.damaged.append(f"{path}: record {number}: not a record")
        except FileNotFoundError:  # its records have files of their own by now
            return
        except NotPlainError as error:
            self.damaged.append(str(error))
        except DataError as error:
            self.damaged.append(f"{path}: after record {number}: {error}")
        except OSError as error:
            self.damaged.append(f"{path}: {error.strerror}")

    def _read_single(self, path: Path) -> Iterator[Found]:
        name = RECORD_NAME.search(path.name)
        if not name and path.name != "record.json":
            return
        try:
            values = parse_record(read_plain(path, self.path))
            record = Record.from_dict(values)
            if name and not is_named(path, record):
                raise DataError("the record of another run under this name")
        except FileNotFoundError:
            return
        except NotPlainError as error:
            self.damaged.append(str(error))
        except OSError as error:  # it may not be read, so it is not ours to rename
            self.damaged.append(f"{path}: {error.strerror}")
        except OtherSchemaError as error:  # whole, but of another version: not ours to judge
            self.damaged.append(f"{path}: {error}")
        except DataError as error:
            self._set_aside(path, str(error))
        except (ValueError, RecursionError):
            self._set_aside(path, "not a record, or not all of one")
        else:
            yield Found(record, values, path)

    def _set_aside(self, path: Path, why: str) -> None:
        if not is_run_file(path):  # a user's own file, whose name happens to end as a record's
            self.damaged.append(f"{path}: left as it is: {why}")
            return
        with suppress(OSError):  # a store that cannot be written to can still be read
            path = files.set_aside(path)
        self.damaged.append(f"{path}: damaged, to be run again: {why}")


def _disagree(several: list[Found]) -> bool:
    return len({result(found.record) for found in several}) > 1


def result(record: Record) -> tuple[Any, ...]:
    """Return what two records of one cell must agree in: all that the last epoch measured."""
    last = record.outcome.last if record.status == "done" else None
    measured = last and (
        last.test_accuracy,
        last.held_out,
        last.train_accuracy,
        last.clean_part,
        last.corrupted_part,
        last.recovered,
    )
    return record.identity, record.status, record.noise_rate, measured


def _dispute(several: list[Found]) -> Dispute:
    record = several[0].record
    said = [_say(found.record) for found in several]
    if len(set(said)) == 1:
        other = f"other records of {record.dataset} are of other data"
        said.append("other shares of the labels" if _disagree(several) else other)
    what = f"{record.loss} on {record.dataset} with noise {record.noise}, seed {record.seed}"
    paths = tuple(dict.fromkeys(found.path for found in several))
    return Dispute(record.place, record.seed, paths, f"{what}: {' but '.join(dict.fromkeys(said))}")


def _say(record: Record) -> str:
    share = "failed" if record.accuracy is None else f"{record.accuracy:.2%}"
    return f"{share} (run {record.identity[:10]}, data {record.fingerprint[:10]})"
