"""Jobs on all cores, one thread each.

Two threads of one operation wait for each other by spinning: on a busy machine that costs several
times the time and the CPU. Jobs that are independent never wait.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch
from threadpoolctl import threadpool_limits

Result = TypeVar("Result")


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch and BLAS to one thread, and give the caller's setting back."""
    before = torch.get_num_threads()
    with threadpool_limits(1):
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)


def run(
    jobs: Sequence[Callable[[], Result]], done: Callable[[int], None] | None = None
) -> list[Result]:
    """Return what each job returns, in order; the first error of any is raised.

    Args:
        jobs: they release the interpreter's lock while they compute.
        done: is told how many are done, after each.
    """
    out: list[Result] = []
    with one_thread(), ThreadPoolExecutor(max(1, min(cores(), len(jobs)))) as pool:
        started = [pool.submit(job) for job in jobs]
        try:
            for future in started:
                out.append(future.result())
                if done is not None:
                    done(len(out))
        except BaseException:
            for future in started:
                future.cancel()
            raise
    return out
