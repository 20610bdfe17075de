"""Memory kept between steps: pages are fetched once, not once a step, and given back after."""

import platform
import subprocess
import sys

import pytest

from noiseproof.train.memory import kept_memory

# A process of its own: one that ran other tests may hold free pages that cannot be given back.
COUNT = """
import resource, torch
from noiseproof.train.memory import kept_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        torch.ones(40 * 2**18)  # 40 MB
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

with kept_memory():
    faults()
    later = faults()
with kept_memory():
    first = faults()
print(40 * 2**20 // resource.getpagesize(), later, first)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library is not glibc")
def test_a_step_uses_the_pages_of_the_one_before():
    run = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, check=True)
    pages, later, first = map(int, run.stdout.split())
    assert later < pages  # of the 20 times as many that are used
    assert first > 0.5 * pages  # the first step fetches what was given back


def test_another_c_library_is_left_alone(monkeypatch):
    monkeypatch.setattr("ctypes.CDLL", lambda _: object())
    with kept_memory():
        pass
