"""Grids on a frozen encoder: features made once, heads trained at once, records as before."""

import errno
import itertools
import json
import os
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from small_grid import results
from tiny_encoders import fresh, onnx_means  # noqa: F401  (a fixture)

from noiseproof.bench import collect, encoded, load_grid, source
from noiseproof.bench.cells import Remaining
from noiseproof.bench.engines.engine import Settings
from noiseproof.bench.engines.run_cell import run_cell, run_stack
from noiseproof.bench.engines.scheduler import Tally
from noiseproof.bench.engines.stack import Stack, Stacked, cells_in
from noiseproof.bench.pages.report import variants
from noiseproof.bench.pages.tables import results_table
from noiseproof.bench.run import cells_left, run_grids
from noiseproof.cli import main
from noiseproof.encoders.run import embed
from noiseproof.errors import FileError, LockedError, ParameterError
from noiseproof.files import locked
from noiseproof.progress import SILENT
from noiseproof.results import Record, Store
from noiseproof.results.verify import verify_store
from noiseproof.train.progress import Watcher

TOML = """
dataset = "{dataset}"
encoder = "means.onnx"
noises = ["none", "symmetric:0.4"]
seeds = [1, 2]
{more}

[rows]
CE = "CE"
MINE = "NCE+RCE"
STAGED = {{loss = "NLNL", method = "nlnl"}}

[overrides]
epochs = 3
batch = 16
"""


@pytest.fixture
def grid(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    encoded.identify.cache_clear()
    return load_grid(write(tmp_path))


def write(folder, more="", dataset="colours.npz", seed=5):
    numbers = np.random.default_rng(seed)
    labels = np.arange(80) % 3
    images = numbers.integers(0, 150, (80, 3, 8, 8), np.uint8)
    images[np.arange(80), labels] += 60
    np.savez(folder / "colours.npz", X=images, y=labels)
    onnx_means(folder / "means.onnx")
    path = folder / "frozen.toml"
    path.write_text(TOML.format(dataset=dataset, more=more))
    return path


def test_the_records_of_stacks_are_those_of_single_cells(grid, tmp_path):
    one, two = Store(tmp_path / "one"), Store(tmp_path / "two")
    for cell in grid.cells():
        run_cell(cell, one.path, Settings())
    tally = run_grids([grid], two, Settings(workers=2, save=True), SILENT)
    assert (tally.ran, tally.lost) == (12, {})
    mine, theirs = results(two), results(one)
    assert mine.keys() == theirs.keys() == {cell.key for cell in grid.cells()}
    for key, rows in mine.items():
        for row, other in zip(rows, theirs[key], strict=True):
            assert row == pytest.approx(other, abs=0.02)
    assert {path.suffixes[-2] for path in two.path.glob("*.pt")} == {".model"}
    assert not list(two.path.glob(".*"))
    assert run_grids([grid], two, Settings(workers=2), SILENT).ran == 0
    assert not cells_left(grid.cells(), two)
    assert verify_store(two).problems == ()
    record = next(iter(two.records().values()))
    assert record.recipe.name == "frozen"
    assert record.encoded == grid.source.encoded
    assert json.loads(json.dumps(record.to_dict()))["encoded"].startswith("means.onnx:")
    assert Record.from_dict(record.to_dict()) == record
    table = results_table(collect(grid, two))
    assert all(entry.count == 2 for row in table.rows for entry in row.entries)


def test_other_features_are_other_cells(grid, tmp_path):
    keys = {cell.key for cell in grid.cells()}
    pictures = load_grid(write(tmp_path, seed=6))
    assert keys.isdisjoint(cell.key for cell in pictures.cells())
    write(tmp_path)
    about = json.loads((tmp_path / "means.json").read_text())
    (tmp_path / "means.json").write_text(json.dumps(about | {"mean": [0.5, 0.5, 0.5]}))
    encoded.identify.cache_clear()
    assert keys.isdisjoint(cell.key for cell in load_grid(tmp_path / "frozen.toml").cells())


def test_a_renamed_encoder_makes_the_same_cells(grid, tmp_path):
    for suffix in (".onnx", ".json"):
        (tmp_path / "means").with_suffix(suffix).rename(tmp_path / f"other{suffix}")
    toml = tmp_path / "frozen.toml"
    toml.write_text(toml.read_text().replace("means.onnx", "other.onnx"))
    assert [cell.key for cell in load_grid(toml).cells()] == [cell.key for cell in grid.cells()]


def test_features_are_made_once(grid, tmp_path, monkeypatch):
    made = []

    def counting(*arguments):
        found = embed(*arguments)
        made.append(found.made)
        return found

    def here(cells, store, settings, progress):
        run_stack(Stack(tuple(cells)), store.path, settings)
        return Tally()

    monkeypatch.setattr("noiseproof.encoders.run.embed", counting)
    monkeypatch.setattr("noiseproof.bench.run.find_engine", lambda _: here)
    source.load_data.cache_clear()
    store, part = Store(tmp_path / "runs"), grid.select(seeds=[1])
    run_grids([part], store, Settings(), SILENT)
    assert made == [65, 15, 0, 0]  # before any process starts, and in it
    run_grids([grid.select(seeds=[2])], store, Settings(), SILENT)
    assert made == [65, 15, 0, 0, 0, 0]  # the process has kept them


def test_what_is_trained_at_once(grid):
    cells = grid.cells()
    stacks = list(Stacked(cells, 1))
    assert [len(cells_in(stack)) for stack in stacks] == [6, 6]
    assert [{cell.seed for cell in stack.cells} for stack in stacks] == [{1}, {2}]
    assert [c for s in stacks for c in cells_in(s)] == list(cells)
    assert [len(cells_in(stack)) for stack in Stacked(cells, 4)] == [3, 3, 3, 3]
    assert stacks[0] in Stacked(cells, 1)
    digits = load_grid("digits-symmetric").select(seeds=[1]).cells()
    assert list(Stacked(digits, 1)) == list(digits)


@pytest.mark.parametrize("slots", range(1, 7))
def test_whatever_is_done_the_same_command_forms_the_same_stacks(grid, slots):
    """The rest was divided anew, by how many cells were left, and so gave other results."""
    cells = grid.cells()
    stacks = list(Stacked(Remaining.of(cells, []), slots))
    assert [cell for stack in stacks for cell in cells_in(stack)] == list(cells)
    for chosen in itertools.product([True, False], repeat=len(stacks)):
        left = [stack for stack, is_left in zip(stacks, chosen, strict=True) if is_left]
        done = [c for stack in stacks if stack not in left for c in cells_in(stack)]
        remaining = Remaining.of(cells, [(cell.place, cell.seed) for cell in done])
        assert list(Stacked(remaining, slots)) == left


def test_the_checkpoint_of_a_stack_goes_when_its_cells_are_done(grid, tmp_path):
    class Stop(Watcher):
        def epoch(self, row):
            if row.number == 2:
                raise KeyboardInterrupt

    store, cells = Store(tmp_path / "runs"), grid.cells()
    with pytest.raises(KeyboardInterrupt):
        run_stack(Stack(tuple(cells[:4])), store.path, Settings(), Stop())
    (left,) = store.path.glob("4-at-once-*.checkpoint.pt")
    mine = store.path / "2-at-once-0123456789.checkpoint.pt"
    mine.write_text("somebody else's")
    run_stack(Stack(tuple(cells[2:6])), store.path, Settings())
    store.records()
    store.tidy()
    assert left.exists()  # two of its cells are to be done
    assert run_grids([grid.select(seeds=[1])], store, Settings(workers=1), SILENT).ran == 2
    assert list(store.path.glob("*.pt")) == [mine]


@pytest.mark.parametrize("done", [0, 1])
def test_a_stack_that_was_stopped_is_formed_again(grid, tmp_path, done):
    class Stop(Watcher):
        def epoch(self, row):
            raise KeyboardInterrupt

    store = Store(tmp_path / "runs")
    stacks = list(Stacked(grid.cells(), 2))
    for stack in stacks[:done]:
        run_stack(stack, store.path, Settings())
    with pytest.raises(KeyboardInterrupt):
        run_stack(stacks[done], store.path, Settings(), Stop())

    formed = []

    def note(works, crew, progress):
        formed.extend(works)
        return Tally()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("noiseproof.bench.engines.local.schedule", note)
        run_grids([grid], Store(store.path), Settings(workers=2), SILENT)
    assert formed == stacks[done:]


def test_a_cell_at_work_elsewhere_holds_up_its_stack(grid, tmp_path):
    cells = grid.cells()[:3]
    stack = Stack(tuple(cells))
    with (
        locked(tmp_path / "runs" / f".{cells[1].key[:20]}.lock", "it"),
        pytest.raises(LockedError),
    ):
        run_stack(stack, tmp_path / "runs", Settings())
    assert not list((tmp_path / "runs").glob(".*"))
    assert [record.key for record in run_stack(stack, tmp_path / "runs", Settings())] == [
        cell.key for cell in cells
    ]


@pytest.mark.parametrize("held", [{}, {"train_size": 50, "held_out": 10}])
def test_a_stack_that_stops_at_any_write_gives_the_same_results(grid, tmp_path, held):
    """Cells without a record were trained anew beside others, which rounds differently."""
    cells = [replace(c, recipe=c.recipe.override(**held)) for c in grid.select(seeds=[1]).cells()]
    (stack,) = Stacked(cells, 1)
    whole = Store(tmp_path / "whole")
    run_stack(stack, whole.path, Settings())
    stopped = 0
    for at in range(100):
        store = Store(tmp_path / str(at))
        with pytest.MonkeyPatch.context() as patch:
            writes = stopping_at(at, patch)
            with suppress(FileError):
                run_stack(stack, store.path, Settings())
        if next(writes) <= at:
            break
        stopped += 0 < len(list(store.path.glob("*.json"))) < len(cells)
        store.settle()
        done = store.records()
        left = [cell for cell in cells if cell.key not in done]
        for again in Stacked(left, 1):
            run_stack(again, store.path, Settings())
        assert results(store) == results(whole)
        assert not [path for path in store.path.iterdir() if path.suffix != ".json"]
    assert stopped == len(cells) - 1


def test_a_stack_keeps_the_records_that_are_there(grid, tmp_path):
    """Another command may have formed another stack: the record was replaced, rounded otherwise."""
    cells, out = grid.cells(), tmp_path / "runs"
    run_cell(cells[2], out, Settings())
    (first,) = out.glob("*.json")
    before = first.read_bytes(), first.stat().st_mtime_ns
    records = run_stack(Stack(tuple(cells[:4])), out, Settings())
    assert (first.read_bytes(), first.stat().st_mtime_ns) == before
    assert records[2] == Record.read(first)
    assert len(list(out.glob("*.json"))) == 4
    run_stack(
        Stack(tuple(cells[:4])), out, Settings(save=True)
    )  # its network needs it trained anew
    assert len(list(out.glob("*.model.pt"))) == 4


def stopping_at(number, patch):
    """Fail that write of a whole file and all after it; return a counter of the writes."""
    counts, real = itertools.count(), os.replace

    def full(source, target):
        if next(counts) >= number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(source, target)

    patch.setattr(os, "replace", full)
    return counts


def test_a_stack_that_was_killed_resumes(grid, tmp_path, monkeypatch):
    from noiseproof.train.progress import Watcher

    class Stopper(Watcher):
        def __init__(self, at):
            self.at, self.begun = at, None

        def begin(self, epochs, samples, done):
            self.begun = done

        def epoch(self, row):
            if row.number == self.at:
                raise KeyboardInterrupt

    stack, out = Stack(tuple(grid.cells()[:6])), tmp_path / "runs"
    with pytest.raises(KeyboardInterrupt):
        run_stack(stack, out, Settings(), Stopper(2))
    (checkpoint,) = out.glob("*.checkpoint.pt")
    again = Stopper(0)
    run_stack(stack, out, Settings(), again)
    assert again.begun == 2
    assert not checkpoint.exists()
    whole = tmp_path / "whole"
    run_stack(stack, whole, Settings())
    assert results(Store(out)) == results(Store(whole))


def test_the_command_and_the_page(grid, tmp_path, capsys):
    run = ["bench", "run", "frozen.toml", "--seeds", "1", "--store", "runs", "--workers", "1"]
    assert main(run) == 0
    assert "frozen: 6 of 6 cells done" in capsys.readouterr().out
    assert main(["bench", "table", "frozen.toml", "--seeds", "1", "--store", "runs"]) == 0
    said = capsys.readouterr().out
    assert "linear head on features of means.onnx" in said
    assert "Accuracy on wrong training labels, last epoch, symmetric:0.4: CE " in said
    assert main(["bench", "report", "frozen.toml", "--seeds", "1", "--store", "runs"]) == 0
    (tmp_path / "packed").mkdir()
    assert main(["bench", "pack", "frozen.toml", "--store", "runs", "--out", "packed"]) == 0
    assert main(["bench", "verify", "--store", "packed"]) == 0


@pytest.mark.parametrize(("more", "said"), [
    ('head = "cnn4"', "unknown head 'cnn4'"),
    ('recipe = "paper"', "its recipe is 'frozen'"),
    ('head = 3', "expected head to be a text"),
])  # fmt: skip
def test_mistakes_in_the_file(tmp_path, more, said):
    with pytest.raises(ParameterError, match=said):
        load_grid(write(tmp_path, more))


def test_a_head_needs_an_encoder(tmp_path):
    path = write(tmp_path, 'head = "mlp"')
    path.write_text(path.read_text().replace('encoder = "means.onnx"\n', ""))
    with pytest.raises(ParameterError, match="needs an encoder"):
        load_grid(path)


def test_the_head_is_the_network(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    grid = load_grid(write(tmp_path, 'head = "mlp"'))
    assert {cell.recipe.network for cell in grid.cells()} == {"mlp"}
    assert variants(grid) == [grid]


def test_vectors_have_no_encoder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path)
    np.savez(tmp_path / "colours.npz", X=np.zeros((10, 4), np.float32), y=np.arange(10) % 2)
    with pytest.raises(ParameterError, match="is no set of pictures"):
        run_cell(load_grid(path).cells()[0], tmp_path / "runs", Settings())


def test_the_grids_of_the_paper_on_features_need_no_weights():
    grid = load_grid("cifar10-symmetric-frozen")
    assert (len(grid.rows), len(grid.cells())) == (17, 255)
    assert grid.source.encoded.startswith("efficientnet-lite0:579344248a93")
    plain = load_grid("cifar10-symmetric")
    assert grid.rows == plain.rows
    assert grid.source.encoded.endswith(plain.block.first[0].place.data)


def test_a_node_of_a_cluster_runs_such_a_cell_by_itself(grid, tmp_path, monkeypatch):
    from noiseproof.bench.engines.ray_task import Product, work

    cell = grid.cells()[0]
    absolute = replace(
        cell, dataset=str(tmp_path / cell.dataset), encoder=str(tmp_path / "means.onnx")
    )
    (tmp_path / "node").mkdir()
    monkeypatch.chdir(tmp_path / "node")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "node"))
    done = work(absolute, Settings(), "cells", None)
    assert isinstance(done, Product), done
    assert (done.record.key, done.record.encoded) == (cell.key, cell.encoded)
    monkeypatch.chdir(tmp_path)
    (alone,) = run_stack(Stack((cell,)), tmp_path / "here", Settings())
    assert alone.accuracy == pytest.approx(done.record.accuracy, abs=0.02)
