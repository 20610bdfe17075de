"""Encode many inputs: what the cache has is read, the rest is made on all cores and kept."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noiseproof import parallel
from noiseproof.encoders import cache
from noiseproof.encoders.encoder import Encoder, panics_are_errors
from noiseproof.errors import DataError, NoiseproofError
from noiseproof.progress import SILENT, Progress, counted

#: The most embeddings that are written at a time, and so the most that a kill costs a core.
CHUNK = 256
#: What is wrong with an input that can be read.
UNUSABLE = "the encoder gives no finite numbers for it"


class Inputs(Protocol):
    """Pictures or texts, to be read when their turn comes."""

    def keys(self) -> Sequence[bytes | None]:
        """Return the hash of each one's content; None if it cannot be read."""

    def order(self, these: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return these inputs in the order in which to encode them."""

    def load(self, at: int, size: int) -> Any:
        """Return one input as the encoder reads it; raise where that cannot be done."""

    def stack(self, loaded: list[Any]) -> Any:
        """Return several loaded inputs as a batch."""

    def problem(self, at: int, error: Exception | None) -> str:
        """Return why an input could not be read."""


@dataclass(frozen=True)
class Embedded:
    """The embeddings.

    Args:
        values: (N, d), zeros where an input could not be read.
        problems: why it could not be, by number of the input.
        made: how many were not in the cache.
        seconds: how long those took.
    """

    values: NDArray[np.float32]
    problems: dict[int, str]
    made: int
    seconds: float


def embed(encoder: Encoder, inputs: Inputs, progress: Progress = SILENT) -> Embedded:
    """Return the embedding of each input; equal ones are encoded once."""
    cache.limit()  # a wrong setting is refused before any work
    keys = inputs.keys()
    first: dict[bytes, int] = {}
    for at, key in enumerate(keys):
        if key is not None:
            first.setdefault(key, at)
    store = cache.Cache(encoder.identity)
    known = store.find(first)
    todo = inputs.order(np.array([at for key, at in first.items() if key not in known], np.int64))
    problems = {at: inputs.problem(at, None) for at, key in enumerate(keys) if key is None}
    start, rate = time.perf_counter(), _Rate(len(todo), encoder.identity.encodes, progress)
    interrupted = threading.Event()

    def make(chunk: NDArray[np.int64]) -> cache.Vectors:
        made = cache.Vectors()
        for batch in _split(chunk, encoder.batch):
            if interrupted.is_set():  # keep what there is
                break
            good, loaded = [], []
            for at in batch.tolist():
                try:
                    loaded.append(inputs.load(at, encoder.identity.size))
                    good.append(at)
                except Exception as error:  # a decoder meets with anything
                    problems[at] = inputs.problem(at, error)
            if good:
                values = _encoded(encoder, inputs.stack(loaded), len(good))
                for at, value in zip(good, values, strict=True):
                    if np.isfinite(value).all():
                        made[_key(keys, at)] = value
                    else:
                        problems[at] = UNUSABLE
            rate.add(len(batch))
        if made:
            store.add(list(made), np.stack(list(made.values())))
        return made

    size = int(np.clip(-(-len(todo) // (4 * parallel.cores())), encoder.batch, CHUNK))
    jobs: list[Callable[[], cache.Vectors]] = [partial(make, c) for c in _split(todo, size)]
    for vectors in parallel.run(jobs, stop=interrupted.set) if jobs else ():
        known |= vectors
    seconds = time.perf_counter() - start
    if jobs:
        cache.trim()
    values = np.zeros((len(keys), encoder.identity.width), np.float32)
    for at, key in enumerate(keys):
        if key is not None and key in known:
            values[at] = known[key]
        elif key is not None:  # the twin of one that could not be read
            problems.setdefault(at, problems.get(first[key], "cannot be read"))
    made = sum(int(at) not in problems for at in todo)
    return Embedded(values, dict(sorted(problems.items())), made, seconds)


def need_all(problems: Mapping[int, str], what: str) -> None:
    """Raise for the first input without an embedding, where none can be set aside."""
    for at, why in problems.items():
        raise DataError(f"{what} {at}: {why}")


def _encoded(encoder: Encoder, batch: Any, count: int) -> NDArray[np.float32]:
    """Return the embeddings of a batch; errors caused by the encoder's files become one line."""
    identity = encoder.identity
    try:
        with panics_are_errors():
            values = encoder.encode(batch)
    except (NoiseproofError, MemoryError):
        raise
    except Exception as error:  # of many kinds, all from a network or tokenizer that does not fit
        said = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"encoder {identity.name}: fails on {identity.encodes} ({said})") from None
    if values.shape != (count, identity.width):
        raise DataError(
            f"encoder {identity.name}: expected {identity.width} features for each of "
            f"{counted(count, identity.encodes[:-1])}, got an array {values.shape}"
        )
    return values


class _Rate:
    """Tells how far the work is, from any thread."""

    def __init__(self, total: int, what: str, progress: Progress) -> None:
        self.total, self.what, self.progress = total, what, progress
        self.done, self.start = 0, time.perf_counter()
        self.lock = threading.Lock()

    def add(self, count: int) -> None:
        with self.lock:
            self.done += count
            rate = self.done / max(1e-9, time.perf_counter() - self.start)
            left = round((self.total - self.done) / rate)
            note = f"{rate:.0f} {self.what}/s, {left // 60}:{left % 60:02d} left"
            self.progress.update(self.done, self.total, note)


def _split(these: NDArray[np.int64], size: int) -> Iterator[NDArray[np.int64]]:
    for start in range(0, len(these), size):
        yield these[start : start + size]


def _key(keys: Sequence[bytes | None], at: int) -> bytes:
    key = keys[at]
    assert key is not None
    return key
