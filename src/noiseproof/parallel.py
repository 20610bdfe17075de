"""Run jobs on all cores, one thread each.

Two threads of one operation wait for each other by spinning, which on a busy machine costs several
times the time and the CPU. Independent jobs never wait.
"""

import os
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from noiseproof import threads
from noiseproof.extras import need
from noiseproof.torch_threads import one_torch_thread

need("fit", "threadpoolctl")
import numpy as np
from threadpoolctl import ThreadpoolController

Result = TypeVar("Result")
#: BLAS has one setting for all threads of a process, and so has Python for its warnings. A token
#: for each time that a thread is inside :func:`one_thread`, and what these were before the first.
_lock = threading.Lock()
_inside: frozenset[object] = frozenset()
_before: list[tuple[Any, int]] = []
_caught = warnings.catch_warnings()
#: The tokens of the thread itself.
_own = threading.local()


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit torch and BLAS to one thread, and restore the caller's setting afterwards.

    NumPy's underflows are no errors meanwhile, even where the caller asked for errors: small
    probabilities become 0, here and in the libraries that are called. Filters of warnings that
    scikit-learn sets for the length of a call are left behind by calls in several threads, which
    end in any order: they are restored too.
    """
    global _inside, _caught
    pools, own, token, came = ThreadpoolController(), _tokens(), object(), False
    try:
        with _lock:
            if not _inside:
                blas = [each for each in pools.lib_controllers if each.user_api == "blas"]
                _before[:] = [(each, each.get_num_threads()) for each in blas]
                _caught = warnings.catch_warnings()
                _caught.__enter__()
            # A signal is heard at calls, of which there is none here: all of this, or nothing.
            _inside, came, _own.tokens = _inside | {token}, True, own | {token}
        with one_torch_thread(), pools.limit(limits=1), np.errstate(under="ignore"):
            yield
    finally:
        if came:
            try:
                _leave(token, pools)
            except BaseException:  # a signal is no reason to stop halfway
                _leave(token, pools)
                raise


def _leave(token: object, pools: ThreadpoolController) -> None:
    """Restore what the limit of this thread leaves wrong; again makes no difference."""
    global _inside
    _own.tokens = _tokens() - {token}
    with _lock:
        _inside = _inside - {token}
        # The limit restored what it had found: 1 where another thread was inside already, and
        # too many where another one still is.
        for library, number in _before:
            library.set_num_threads(1 if _inside else number)
        if not _inside:
            _caught.__exit__(None, None, None)
        with pools.limit(limits=None):  # else threadpoolctl takes this thread for in charge
            pass


def _tokens() -> frozenset[object]:
    return getattr(_own, "tokens", frozenset())


def _forget_other_threads() -> None:
    """Leave, in a forked child, for the threads that the parent alone still has."""
    global _lock, _inside
    _lock = threading.Lock()
    others, _inside = _inside - _tokens(), _tokens()
    if others and not _inside:
        for library, number in _before:
            library.set_num_threads(number)
        _caught.__exit__(None, None, None)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)


def run(
    jobs: Sequence[Callable[[], Result]],
    done: Callable[[int], None] | None = None,
    stop: Callable[[], None] | None = None,
    at_once: int | None = None,
) -> list[Result]:
    """Return the results of the jobs in order; raise the first error.

    Args:
        jobs: functions that release the interpreter's lock while they compute.
        done: called after each job with the number of finished jobs.
        stop: called after an error or an interruption, while jobs that have begun go on: it may
            ask them to end early.
        at_once: how many run at a time; by default as many as there are cores.
    """
    with one_thread():
        return threads.each(lambda job: job(), jobs, at_once or cores(), done, stop)
