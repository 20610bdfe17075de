"""The local engine: the same records as one process, whatever dies or is stopped on the way."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time

import pytest
from small_grid import results, write_grid

from noiseproof.bench import load_grid
from noiseproof.bench.engines import local
from noiseproof.bench.engines.engine import Settings
from noiseproof.bench.engines.run_cell import run_cell
from noiseproof.bench.engines.stack import Stacked, cells_in
from noiseproof.bench.run import cells_left, cells_of, run_grids
from noiseproof.cli import main
from noiseproof.files import locked
from noiseproof.files.lock import is_locked
from noiseproof.progress import SILENT, Progress
from noiseproof.results import Store


@pytest.fixture
def grid(tmp_path):
    return load_grid(write_grid(tmp_path))


def begin(grid, store, *options, **popen):
    """Start the command as a group of its own, with the signals a terminal would give it."""
    command = [sys.executable, "-m", "noiseproof", "bench", "run", str(grid), "--store", str(store)]
    return subprocess.Popen(
        [*command, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        **popen,
    )


def wait_until(process, condition):
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)


def test_the_records_of_one_process(grid, tmp_path):
    one, two = Store(tmp_path / "one"), Store(tmp_path / "two")
    for cell in grid.cells():
        run_cell(cell, one.path, Settings())
    tally = run_grids([grid], two, Settings(workers=2, save=True), SILENT)
    assert (tally.ran, tally.lost) == (12, {})
    assert results(two) == results(one)
    assert len(results(one)) == 12
    assert {path.suffixes[-2] for path in two.path.glob("*.pt")} == {".model"}
    again = run_grids([grid], two, Settings(workers=2, save=True), SILENT)
    assert again.ran == 0
    assert not cells_left(grid.cells(), one)
    assert len(cells_left(grid.cells(), one, save=True)) == 12  # the models are still to be made


class Heard(Progress):
    """Remembers what was said."""

    def __init__(self):
        self.said = []

    def say(self, line):
        self.said.append(line)


def test_a_worker_that_dies(grid, tmp_path, monkeypatch):
    cells = grid.select(rows=["CE"], seeds=[1, 2]).cells()
    times = {cells[0]: 9, cells[1]: 1}

    class Doomed(local.Processes):
        """Kills the process of certain cells when it begins them, each so often."""

        def start(self, slot, cell):
            answer = super().start(slot, cell)
            if times.get(cell):
                times[cell] -= 1
                os.kill(self.workers[slot].process.pid, signal.SIGKILL)
            return answer

    monkeypatch.setattr(local, "Processes", Doomed)
    store, board = Store(tmp_path / "runs"), Heard()
    tally = local.run(cells, store, Settings(workers=1), board)
    assert tally.lost == {cells[0]: "its process died 3 times (signal 9)"}
    assert times == {cells[0]: 6, cells[1]: 0}
    assert tally.ran == 3
    assert set(store.records()) == {cell.key for cell in cells[1:]}
    again = "its process died (signal 9), to be tried again"
    assert board.said.count(f"{cells[0]}: {again}") == 2
    assert board.said.count(f"{cells[1]}: {again}") == 1
    assert multiprocessing.active_children() == []


def test_stopped_and_killed_and_started_again(tmp_path, capsys):
    path, store = write_grid(tmp_path, epochs=40), Store(tmp_path / "runs")
    total = len(load_grid(path).cells())
    process = begin(path, store.path, "--workers", "2")
    wait_until(process, lambda: len(list(store.path.glob("*.json"))) >= 2)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "noiseproof: interrupted"
    assert "Traceback" not in err
    # A lock may be left by a signal that came just as it was taken, but nobody holds it.
    assert not any(map(is_locked, store.path.glob("*.lock")))
    first = {path: path.stat().st_mtime_ns for path in store.path.glob("*.json")}
    assert len(first) < total

    process = begin(path, store.path, "--workers", "2", "--quiet")
    more = len(first) + 1
    wait_until(process, lambda: len(list(store.path.glob("*.json"))) >= more)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    time.sleep(0.2)  # until the last of the group is gone
    done = {path: path.stat().st_mtime_ns for path in store.path.glob("*.json")}
    assert first.items() <= done.items()
    assert len(first) < len(done) < total

    command = ["bench", "run", str(path), "--store", str(store.path), "--workers", "1", "--json"]
    assert main(command) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["ran"] == total - len(done)  # nothing that was done is done again
    assert done.items() <= {p: p.stat().st_mtime_ns for p in store.path.glob("*.json")}.items()
    assert said["grids"][0]["done"] == total
    assert not list(store.path.glob("*.checkpoint.pt"))
    whole = Store(tmp_path / "whole")
    cells = load_grid(path).cells()
    for cell in (cells[0], cells[5], cells[-1]):
        run_cell(cell, whole.path, Settings())
    assert results(whole).items() <= results(store).items()


def test_two_commands_share_one_store(tmp_path):
    path, store = write_grid(tmp_path, epochs=10), tmp_path / "runs"
    processes = [begin(path, store, "--workers", "1", "--json") for _ in range(2)]
    said = [json.loads(process.communicate(timeout=120)[0]) for process in processes]
    assert sum(one["ran"] for one in said) == 12
    assert [one["grids"][0]["done"] for one in said] == [12, 12]


def test_a_cell_at_work_elsewhere_is_waited_for(grid, tmp_path, monkeypatch):
    store = Store(tmp_path / "runs")
    cell = cells_of([grid])[0]
    lock = locked(store.path / f".{cell.key[:20]}.lock", "it")
    lock.__enter__()
    seen = []
    running = store.running

    def look(key):
        seen.append(running(key))
        if len(seen) == 3:
            lock.__exit__(None, None, None)
        return seen[-1]

    monkeypatch.setattr(store, "running", look)
    assert local.run([cell], store, Settings(workers=1), SILENT).ran == 1
    assert seen[:4] == [True, True, True, False]


def test_a_full_disk(tmp_path):
    import resource

    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))

    path, store = write_grid(tmp_path, epochs=40), Store(tmp_path / "runs")
    before = run_cell(load_grid(path).cells()[-1], store.path, Settings())
    command = [sys.executable, "-m", "noiseproof", "bench", "run", str(path), "--quiet"]
    done = subprocess.run(
        [*command, "--workers", "1", "--store", str(store.path)],
        capture_output=True,
        text=True,
        preexec_fn=little_room,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"noiseproof: cannot write {store.path}/")
    assert done.stderr.endswith(".checkpoint.pt: file too large\n")
    assert len(done.stderr.splitlines()) == 1
    assert list(store.records().values()) == [before]
    assert not list(store.path.glob(".*"))  # no half file, no lock


@pytest.mark.filterwarnings("ignore:.*not numeric, and left out")  # the other label
def test_grids_with_two_labels_of_one_table_are_two_data_sets(tmp_path):
    """They are not trained at once, though the file, the recipe and the seed are the same."""
    lines = [f"{i % 7},{i % 3},{'xy'[i % 2]},{'uv'[i // 2 % 2]}" for i in range(80)]
    (tmp_path / "t.csv").write_text("\n".join(["f,g,one,two", *lines]))
    cells = []
    for label, noise in (("one", "symmetric:0.2"), ("two", "symmetric:0.3")):
        (tmp_path / f"{label}.toml").write_text(
            f'dataset = "t.csv"\nlabel = "{label}"\nnoises = ["{noise}"]\nseeds = [1]\n'
            '[rows]\nCE = "CE"\nMAE = "MAE"\n[overrides]\nepochs = 1\nheld_out = 10\n'
        )
        cells += load_grid(tmp_path / f"{label}.toml").cells()
    assert [len(cells_in(work)) for work in Stacked(cells, 1)] == [2, 2]
