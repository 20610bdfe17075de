"""One thread for many small tensors.

torch has a number of threads for each thread of the process, and one for those that begin later.
"""

import _thread
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue

import torch

_lock = threading.Lock()
_own = threading.local()
#: A token for each thread inside :func:`one_torch_thread`, and the number for threads that begin
#: later, as it was before the first came.
_inside: frozenset[object] = frozenset()
_later = 1


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Keep torch on one thread: waking the others for a few thousand numbers costs far more.

    On a busy machine it costs a hundred times more, for each operation waits for all of them. The
    caller's number is restored afterwards; that for later threads, once nobody is inside.
    """
    global _inside, _later
    if getattr(_own, "token", None) is not None:
        yield
        return
    before, token, came = torch.get_num_threads(), object(), False
    try:
        with _lock:
            if not _inside:
                _later = _for_later_threads()  # another one inside threadpoolctl's limits
            elif before == 1:  # this thread began while others were inside
                before = _later
            # A signal is heard at calls, of which there is none here: all of this, or nothing.
            _inside, came, _own.token = _inside | {token}, True, token
            torch.set_num_threads(1)
        yield
    finally:
        if came:
            _own.token = None
            try:
                _leave(token, before)
            except BaseException:  # a signal is no reason to stop halfway
                _leave(token, before)
                raise


def _leave(token: object, before: int) -> None:
    """Restore this thread's number and that of later threads; again makes no difference."""
    global _inside
    with _lock:
        torch.set_num_threads(before)  # which sets that of later threads, too: so under the lock
        _inside = _inside - {token}
        later = 1 if _inside else _later
        if later != before and not sys.is_finalizing():  # no thread begins any more then
            _for_later_threads(later)


def _for_later_threads(number: int | None = None) -> int:
    """Return torch's number for threads that begin later, after setting it where one is given."""
    found: SimpleQueue[int] = SimpleQueue()

    def look() -> None:
        if number is not None:
            torch.set_num_threads(number)
        found.put(torch.get_num_threads())

    _thread.start_new_thread(look, ())  # `threading` raises KeyError for a Ctrl-C in its start()
    return found.get()


def _forget_other_threads() -> None:
    """Leave, in a forked child, for the threads that the parent alone still has."""
    global _lock, _inside
    _lock = threading.Lock()
    token = getattr(_own, "token", None)
    others, _inside = _inside, frozenset() if token is None else frozenset({token})
    if others and not _inside:
        _for_later_threads(_later)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)
