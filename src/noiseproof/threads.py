"""Several threads, which no signal leaves waiting for each other.

Python raises what Ctrl-C and SIGTERM mean anywhere in the main thread, even between taking a lock
and the ``try`` that would give it back. The locks of ``ThreadPoolExecutor`` are taken in Python:
its workers then wait for the main thread, which waits for them. Here threads share queues only,
which are written in C, and which a signal leaves whole.
"""

import _thread
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def each(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    threads: int,
    done: Callable[[int], None] | None = None,
    stop: Callable[[], None] | None = None,
) -> list[Result]:
    """Return what a function makes of each item, in order; raise the first error.

    Args:
        function: releases the interpreter's lock while it computes.
        items: what to call it with.
        threads: how many calls run at a time, at most.
        done: called with the number of items that are done, after each.
        stop: called after an error or an interruption, while calls that have begun go on: it may
            ask them to end early.

    >>> each(abs, [-3, 1, -2], threads=2)
    [3, 1, 2]
    """
    tasks: SimpleQueue[tuple[int, Item]] = SimpleQueue()
    news: SimpleQueue[None] = SimpleQueue()
    found: dict[int, Callable[[], Result]] = {}
    ended: list[bool] = []
    for task in enumerate(items):
        tasks.put(task)

    def work() -> None:
        with suppress(Empty):
            while True:
                at, item = tasks.get_nowait()
                found[at] = _outcome(function, item)
                news.put(None)
        ended.append(True)
        news.put(None)

    out: list[Result] = []
    started = 0
    try:
        for _ in range(min(threads, len(items))):
            _thread.start_new_thread(work, ())
            started += 1
        for at in range(len(items)):
            while at not in found:
                news.get()
            out.append(found.pop(at)())
            if done is not None:
                done(len(out))
    except BaseException:
        with suppress(Empty):
            while True:
                tasks.get_nowait()
        if stop is not None:
            stop()
        raise
    finally:
        # What is true is asked first: a piece of news may have been taken by who was interrupted.
        while len(ended) < started:
            news.get()
    return out


def _outcome(function: Callable[[Item], Result], item: Item) -> Callable[[], Result]:
    """Return a function that returns what another one made of an item, or raises its error."""
    try:
        result = function(item)
    except BaseException as error:
        raised = error

        def fail() -> Result:
            raise raised

        return fail
    return lambda: result
