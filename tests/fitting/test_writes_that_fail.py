"""Whatever write of fit, predict or clean fails, and however: the old output or the new, whole."""

import json
import os
import subprocess
import sys
from pathlib import Path

DRIVER = Path(__file__).parent / "failing_writes.py"
REASON = {"full": "no space left on device", "forbidden": "permission denied"}


def test_every_write_fails_in_turn(tmp_path):
    # A process with threads of BLAS or OpenMP must not fork: the child would wait for them.
    alone = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    run = subprocess.run(
        [sys.executable, DRIVER, tmp_path / "place"], capture_output=True, text=True, env=alone,
        timeout=300,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    for command, calls in (("fit", 40), ("predict", 5), ("clean", 10), ("clean folder", 20)):
        for kind in ("full", "forbidden", "killed"):
            faults = found.pop(f"{command} {kind}")
            assert len(faults) >= calls
            assert any("old" in fault["whole"] for fault in faults)
            for fault in faults:
                check(fault, kind)
    assert not found


def check(fault, kind):
    of, *about = fault["whole"]
    assert of in ("old", "new")
    # A list of changes is about the data beside it; between the two renames there is none.
    assert set(about) <= {of, "gone"}
    assert fault["again"]
    assert fault["left_then"] == []
    if kind == "killed":
        return
    assert fault["left"] == []
    if fault["code"] == 0:  # what the result does not need may fail: modes, the sync of a folder
        assert set(fault["whole"]) == {"new"}
        return
    (line,) = fault["lines"]
    assert fault["code"] == 2
    assert line.startswith("noiseproof: cannot write ")
    assert line.endswith(REASON[kind])
