"""Threads: results in order, the first error, and no signal leaves anybody waiting."""

import os
import subprocess
import sys
import threading
import time
import warnings
from contextlib import nullcontext, suppress

import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

from noiseproof import parallel
from noiseproof.threads import each
from noiseproof.torch_threads import one_torch_thread

#: Raises KeyboardInterrupt at each step of the main thread in turn, as a signal may.
INTERRUPT = """
import sys, time
import noiseproof.parallel, noiseproof.threads
calls = {
    "each": lambda: noiseproof.threads.each(lambda n: time.sleep(0.0003), range(4), 2),
    "run": lambda: noiseproof.parallel.run([lambda: time.sleep(0.0003)] * 4),
}
call = calls[sys.argv[1]]
def step(frame, event, argument):
    global left
    if frame.f_globals["__name__"] in ("threadpoolctl", "torch"):
        return None  # restores settings of a process that ends
    frame.f_trace_opcodes = True
    left -= 1
    if left == 0:
        raise KeyboardInterrupt
    return step
at, ended = 0, ""
while ended != "done":
    at += 1 + at // 150
    left = at
    sys.settrace(step)
    try:
        call()
        ended = "done" if left > 0 else "raised and forgotten"
    except KeyboardInterrupt:
        ended = "interrupted"
    sys.settrace(None)
    assert ended in ("done", "interrupted"), ended
print(at)
"""


@pytest.mark.parametrize("call", ["each", "run"])
def test_an_interruption_at_any_step_ends_it(call):
    made = subprocess.run(
        [sys.executable, "-c", INTERRUPT, call], capture_output=True, text=True, timeout=60
    )
    assert made.returncode == 0, made.stderr[-2000:]
    assert int(made.stdout) > 100


def test_results_come_in_order_and_are_counted():
    counts = []
    found = each(lambda n: time.sleep(0.01 / (n + 1)) or n, range(7), 3, counts.append)
    assert found == list(range(7))
    assert counts == list(range(1, 8))
    assert each(abs, [], 3) == []


def test_the_first_error_is_raised_and_nothing_more_is_begun():
    begun, stopped = [], threading.Event()

    def work(n):
        begun.append(n)
        if n in (1, 2):
            raise ValueError(n)
        if n > 2:
            stopped.wait(60)

    with pytest.raises(ValueError, match="1"):
        each(work, range(100), 2, stop=stopped.set)
    assert stopped.is_set()
    assert len(begun) <= 5


def test_jobs_that_raise_an_interruption_are_heard():
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        parallel.run([interrupted])


def in_another_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


@pytest.mark.parametrize("limited", [True, False])
@pytest.mark.parametrize("inside", [parallel.one_thread, one_torch_thread])
def test_threads_that_begin_later_have_their_own_number(inside, limited):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with threadpool_limits(1) if limited else nullcontext():  # of this thread alone
            with inside():
                assert in_another_thread(torch.get_num_threads) == 1
            assert in_another_thread(torch.get_num_threads) == 2
            assert torch.get_num_threads() == (1 if limited else 2)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_several_that_come_and_go_at_once_leave_later_threads_their_number():
    def often():
        for _ in range(60):
            with one_torch_thread():
                pass

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        for _ in range(8):
            several = [threading.Thread(target=often) for _ in range(4)]
            for thread in several:
                thread.start()
            for thread in several:
                thread.join()
            assert in_another_thread(torch.get_num_threads) == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("inside", [parallel.one_thread, one_torch_thread])
def test_an_interruption_leaves_the_callers_settings_alone(inside):
    def settings():
        found = [pool["num_threads"] for pool in threadpool_info()]
        return torch.get_num_threads(), in_another_thread(torch.get_num_threads), found

    def interrupt(frame, event, argument):
        nonlocal left  # Python hears signals where a function begins and after calls of C
        if event in ("call", "c_return") and frame.f_globals["__name__"].startswith("noiseproof."):
            left -= 1
            if left == 0:
                sys.setprofile(None)
                raise KeyboardInterrupt

    before, at, left = torch.get_num_threads(), 0, 0
    torch.set_num_threads(2)
    try:
        expected = settings()
        while left == 0:
            at += 1
            left = at
            with suppress(KeyboardInterrupt):
                sys.setprofile(interrupt)
                try:
                    with inside():
                        pass
                finally:
                    sys.setprofile(None)
            with inside():
                assert in_another_thread(torch.get_num_threads) == 1
            assert settings() == expected, at
        assert at > 10
    finally:
        torch.set_num_threads(before)


def test_filters_of_warnings_that_threads_leave_behind_are_forgotten():
    def work(inside, leave):
        with parallel.one_thread(), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            inside.set()
            leave.wait(60)

    before = list(warnings.filters)
    events = [(threading.Event(), threading.Event()) for _ in range(2)]
    workers = [threading.Thread(target=work, args=pair) for pair in events]
    for worker, (inside, _) in zip(workers, events, strict=True):
        worker.start()
        inside.wait(60)
    for worker, (_, leave) in zip(workers, events, strict=True):  # the first to come leaves first
        leave.set()
        worker.join()
    assert list(warnings.filters) == before


#: A process that forks: a child waits for ever for threads of torch's that its parent began.
FORK = """
import os, signal, sys, numpy, torch
torch.set_num_threads(2)
import noiseproof as nf
from noiseproof.integrations.sklearn import RobustClassifier
X = numpy.random.default_rng(0).normal(size=(60, 3))
y = (X[:, 0] > 0).astype(int)
calls = {
    "loss": lambda: RobustClassifier("AGCE(a=1, q=0.5)").fit(X, y).predict(X),
    "auto": lambda: RobustClassifier(learner="linear").fit(X, y).predict(X),
    "fit": lambda: nf.fit(X, y).predict(X),
    "audit": lambda: nf.audit("GCE(q=0.7)"),
}
for name, call in calls.items():
    call()
    child = os.fork()
    if not child:
        signal.alarm(20)
        call()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, name
assert torch.get_num_threads() == 2
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_what_was_called_before_a_fork_works_in_the_child():
    made = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK], capture_output=True, text=True, timeout=90
    )
    assert made.returncode == 0, made.stderr[-2000:]


#: A process that forks while another of its threads is at work, and while it is itself.
FORK_INSIDE = """
import os, sys, threading, signal, torch, numpy
from threadpoolctl import threadpool_info
from noiseproof.parallel import one_thread
torch.set_num_threads(2)
def settings():
    found = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    thread = threading.Thread(target=lambda: found.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    return [*found, torch.get_num_threads()]
before = settings()
inside, leave = threading.Event(), threading.Event()
def work():
    with one_thread():
        inside.set()
        leave.wait(60)
def child_has(expected, then=None):
    child = os.fork()
    if not child:
        signal.alarm(20)
        same = settings() == expected
        with one_thread():
            same &= set(settings()) == {1}
        same &= settings() == expected
        if then is not None:
            same &= then()
        os._exit(not same)
    assert os.waitpid(child, 0)[1] == 0
thread = threading.Thread(target=work)
thread.start()
inside.wait(60)
child_has(before)
with one_thread():
    pass
leave.set()
thread.join()
assert settings() == before
limited = one_thread()
limited.__enter__()
child_has([1] * len(before), lambda: limited.__exit__(None, None, None) or settings() == before)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_forked_amid_the_work_of_other_threads_has_the_callers_settings():
    made = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORK_INSIDE],
        capture_output=True,
        text=True,
        timeout=90,
    )
    assert made.returncode == 0, made.stderr[-2000:]
