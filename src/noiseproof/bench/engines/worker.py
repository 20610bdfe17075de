"""A process that runs cells for the local engine, one after the other."""

import os
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from noiseproof.bench.engines.engine import Settings
from noiseproof.bench.engines.run_cell import run_cell, run_stack
from noiseproof.bench.engines.scheduler import Broken, Busy, Message, Mistake, News, Result, Results
from noiseproof.bench.engines.stack import Stack, Work
from noiseproof.errors import LockedError, NoiseproofError
from noiseproof.train import Epoch
from noiseproof.train.progress import Watcher


def serve(wire: Connection, out: Path, settings: Settings) -> None:
    """Run the work that comes over ``wire``, until None comes or nobody is there any more."""
    import torch

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # unwinds, so that no half file stays
    torch.set_num_threads(1)
    try:
        while (work := wire.recv()) is not None:
            wire.send(_answer(work, wire, out, settings))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        pass  # the engine is gone; the checkpoint of the last epoch is not
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # nothing is left to unwind


def _answer(work: Work, wire: Connection, out: Path, settings: Settings) -> Message:
    teller = Teller(wire)
    try:
        if isinstance(work, Stack):
            return Results(tuple(run_stack(work, out, settings, teller)), teller.began)
        return Result(run_cell(work, out, settings, teller), teller.began)
    except LockedError:
        return Busy()
    except (BrokenPipeError, ConnectionResetError):
        raise
    except MemoryError:
        os._exit(1)  # counts as a death: with fewer cells at work there may be enough
    except Exception as error:
        return explain(error, out)


def explain(error: Exception, out: Path, node: str = "") -> Mistake | Broken:
    """Return what an error means for the other cells: the user's mistake, or this cell's own.

    Args:
        error: what was raised while the cell ran.
        out: where its files are.
        node: the machine, where that is not obvious.
    """
    where, prefix = (f" (on {node})", f"{node}:") if node else ("", "")
    if isinstance(error, NoiseproofError):
        return Mistake(type(error)(f"{error}{where}"))
    if (cause := _system_error(error)) is not None:
        return Mistake(OSError(cause.errno, cause.strerror, f"{prefix}{cause.filename or out}"))
    return Broken(" ".join(f"{type(error).__name__}: {error}{where}".split()))


def _system_error(error: BaseException | None) -> OSError | None:
    """Return the system's error behind an exception: torch wraps that of a full disk."""
    while error is not None:
        if isinstance(error, OSError):
            return error
        error = error.__cause__ or error.__context__
    return None


class Teller(Watcher):
    """Tells the engine of every epoch, and ends with it."""

    def __init__(self, wire: Connection) -> None:
        """Remember whose child this is."""
        self.wire, self.parent, self.began = wire, os.getppid(), False

    def begin(self, epochs: int, samples: int, done: int) -> None:
        """Tell what a checkpoint brought."""
        self.began = True
        self.wire.send(News(done, None))

    def step(self, samples: int, loss: float) -> None:
        """Stop where the engine was killed."""
        if os.getppid() != self.parent:
            raise BrokenPipeError

    def epoch(self, row: Epoch) -> None:
        """Report a finished epoch to the parent process."""
        self.wire.send(News(row.number, row.test_accuracy))


def start(context: Any, out: Path, settings: Settings) -> tuple[Any, Connection]:
    """Start a worker; return its process and our end of the wire."""
    from multiprocessing import resource_tracker

    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, out, settings), daemon=True)
    # Ctrl-C reaches every process of the terminal. Only the engine shall act on it, so its
    # children begin with the signal blocked. (The tracker unblocks it when it starts: start first.)
    resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    theirs.close()
    return process, ours
