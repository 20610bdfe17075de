"""A store: a folder of records. Stores merge by copying files."""

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from noiseproof.errors import DataError
from noiseproof.results.files import RECORD_NAME, RunFiles, file_name, set_aside
from noiseproof.results.lock import is_locked, lock_file
from noiseproof.results.record import SCHEMA, Record


class Store:
    """The records under a folder, those of ``noiseproof train`` among them.

    Nothing but whole records counts. A file that has the name of a record and is none, or not all
    of one, is renamed to ``*.damaged``, listed in ``damaged``, and its cell is to be run again.

    Args:
        path: the folder; it need not exist.
    """

    def __init__(self, path: Path | str) -> None:
        """Keep the path: no record is read yet."""
        self.path = Path(path)
        if self.path.exists() and not self.path.is_dir():
            raise DataError(f"{path} is a file: a store is a folder")
        self.damaged: list[Path] = []
        self._folders: dict[str, Path] = {}

    def records(self) -> dict[str, Record]:
        """Read all records, by the key of their cell."""
        found: dict[str, Record] = {}
        for path in sorted(self.path.rglob("*.json")):
            if (record := self._read(path)) is None:
                continue
            self._folders.setdefault(record.identity, path.parent)
            # Of two for one cell the one with a result counts, whichever file comes first.
            if record.key not in found or found[record.key].status == "failed":
                found[record.key] = record
        return found

    def find(self, key: str) -> Record | None:
        """Return the record of one cell."""
        return self.records().get(key)

    def running(self, key: str) -> bool:
        """Say whether a process of this machine is at work on a cell."""
        return is_locked(lock_file(self.path, key))

    def put(self, record: Record) -> Path:
        """Write a record where the run it is of would have; return the file."""
        path = self.files(record).record
        record.write(path)
        return path

    def files(self, record: Record) -> RunFiles:
        """Return where the files of a record's run are: where the record was found, or belongs."""
        words = f"{record.dataset} {record.loss} {record.noise} seed{record.seed}"
        folder = self._folders.get(record.identity, self.path)
        return RunFiles(folder, file_name(words, record.identity))

    def check_writable(self) -> None:
        """Raise the system's error now where a record could not be written later."""
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            with tempfile.TemporaryFile(dir=self.path) as file:
                file.write(b"0" * 4096)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from None

    def tidy(self) -> None:
        """Remove checkpoints of runs that are over: they were killed just after their record."""
        for path in self.path.glob("*.checkpoint.pt"):
            if path.with_name(path.name.replace(".checkpoint.pt", ".json")).exists():
                path.unlink(missing_ok=True)

    def _read(self, path: Path) -> Record | None:
        name = RECORD_NAME.search(path.name)
        if not name and path.name != "record.json":
            return None
        try:
            values = json.loads(path.read_text("utf-8"))
            if isinstance(values, dict) and values.get("schema", SCHEMA) != SCHEMA:
                return None  # whole, but of another version
            record = Record.from_dict(values)
            if not _is_whole(record) or (name and not record.identity.startswith(name[1])):
                raise DataError("not all of a record")
        except FileNotFoundError:
            return None
        except OSError:  # a folder, or a file that may not be read: not ours to rename
            self.damaged.append(path)
            return None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self._set_aside(path)
            return None
        return record

    def _set_aside(self, path: Path) -> None:
        with suppress(OSError):  # a store that cannot be written to is read as well as it can be
            path = set_aside(path)
        self.damaged.append(path)


def _is_whole(record: Record) -> bool:
    if record.status == "failed":
        return bool(record.failure)
    return [row.number for row in record.history] == list(range(1, record.recipe.epochs + 1))
