"""The job array of docs/scaling.md, run as Slurm would run it, and merged as the page says."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from small_grid import results, write_grid

from noiseproof.bench import load_grid
from noiseproof.bench.engines.engine import Settings
from noiseproof.bench.run import run_grids
from noiseproof.progress import SILENT
from noiseproof.results import Store

PAGE = Path(__file__).parents[2] / "docs/scaling.md"
TASKS = 3


def scripts():
    """The script of the job array and the lines that merge its stores, for three cells."""
    section = PAGE.read_text("utf-8").partition("## A Slurm array")[2].partition("\n## ")[0]
    script, merge = re.findall(r"```\n(.*?)```", section, re.DOTALL)
    assert script.startswith("#!/bin/bash\n#SBATCH")
    for old, new in (("cifar10-symmetric", "small.toml --seeds 3 --rows CE --noise none"),
                     ("/16", f"/{TASKS}")):  # fmt: skip
        assert old in script
        script, merge = script.replace(old, new), merge.replace(old, new)
    return script, merge


def bash(script, folder, **variables):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1", **variables}
    return subprocess.run(
        ["bash", "-e", "-c", script], cwd=folder, env=environment, text=True, timeout=600,
        capture_output=True, check=True,
    ).stdout  # fmt: skip


@pytest.mark.slow
def test_the_parts_of_a_job_array_are_the_whole(tmp_path):
    write_grid(tmp_path)
    script, merge = scripts()
    for task in range(1, TASKS + 1):
        assert "1 cell run" in bash(script, tmp_path, SLURM_ARRAY_TASK_ID=str(task))
    assert "small: 3 of 3 cells done" in bash(merge, tmp_path)

    whole = load_grid(tmp_path / "small.toml").select(rows=["CE"], noises=["none"])
    run_grids([whole], Store(tmp_path / "whole"), Settings(workers=1), SILENT)
    assert results(Store(tmp_path / "runs")) == results(Store(tmp_path / "whole"))
