"""One thread for many small tensors.

torch has a number of threads for each thread of the process, and one for those that begin later.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_lock = threading.Lock()
_own = threading.local()
#: How many threads are inside :func:`one_torch_thread`, and the number for threads that begin
#: later, as it was before the first came.
_inside, _later = 0, 1


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Keep torch on one thread: waking the others for a few thousand numbers costs far more.

    On a busy machine it costs a hundred times more, for each operation waits for all of them. The
    caller's number is restored afterwards; that for later threads, once nobody is inside.
    """
    global _inside, _later
    if getattr(_own, "inside", False):
        yield
        return
    with _lock:
        before = torch.get_num_threads()
        if _inside == 0:
            _later = _for_later_threads()  # another one inside threadpoolctl's limits
        elif before == 1:  # this thread began while others were inside
            before = _later
        _inside += 1
    _own.inside = True
    try:
        torch.set_num_threads(1)
        yield
    finally:
        _own.inside = False
        with _lock:
            _inside -= 1
            torch.set_num_threads(before)
            if before != (later := 1 if _inside else _later):
                _for_later_threads(later)


def _for_later_threads(number: int | None = None) -> int:
    """Return torch's number for threads that begin later, after setting it where one is given."""
    found: list[int] = []

    def look() -> None:
        if number is not None:
            torch.set_num_threads(number)
        found.append(torch.get_num_threads())

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    return found[0]


def _forget_other_threads() -> None:
    """Leave, in a forked child, for the threads that the parent alone still has."""
    global _lock, _inside
    _lock = threading.Lock()
    others, _inside = _inside, int(getattr(_own, "inside", False))
    if others and not _inside:
        _for_later_threads(_later)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_other_threads)
