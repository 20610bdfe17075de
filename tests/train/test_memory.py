"""Memory kept between steps: pages are fetched once, not once a step, and given back after."""

import platform

import pytest
import torch

from noiseproof.train.memory import kept_memory

resource = pytest.importorskip("resource")
MEGABYTES, STEPS = 40, 20


def faults_of_steps() -> int:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(STEPS):
        torch.ones(MEGABYTES * 2**18)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_a_step_uses_the_pages_of_the_one_before():
    pages = MEGABYTES * 2**20 // resource.getpagesize()
    with kept_memory():
        faults_of_steps()
        assert faults_of_steps() < pages  # of the 20 times as many that are used
    with kept_memory():
        assert faults_of_steps() > 0.5 * pages  # the first step fetches what was given back


def test_another_c_library_is_left_alone(monkeypatch):
    monkeypatch.setattr("ctypes.CDLL", lambda _: object())
    with kept_memory():
        pass
