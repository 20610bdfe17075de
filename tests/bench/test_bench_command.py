"""The commands: selections, mistakes of one line, status, and the run itself."""

import json
import re

import numpy as np
import pytest
from made_records import identified
from small_grid import write_blobs, write_grid

from noiseproof.bench import load_grid
from noiseproof.bench.engines.engine import Settings
from noiseproof.bench.engines.run_cell import run_cell
from noiseproof.bench.selection import Selection
from noiseproof.cli import main
from noiseproof.files import locked
from noiseproof.results import Store
from noiseproof.results.run_files import lock_file
from noiseproof.train.schedule import learning_rate


def run(capsys, *arguments):
    code = main([str(a) for a in arguments])
    return code, *capsys.readouterr()


@pytest.fixture
def toml(tmp_path):
    return write_grid(tmp_path)


def test_run(capsys, tmp_path, toml):
    store = tmp_path / "runs"
    options = ["--store", store, "--workers", 1, "--seeds", 1, "--add-loss", "OWN=AGCE(a=2, q=1.2)"]
    code, out, err = run(capsys, "bench", "run", toml, *options, "--rows", "CE,OWN")
    assert code == 0
    assert out == f"4 cells run, records in {store}\nsmall: 4 of 4 cells done\n"
    lines = err.splitlines()
    assert lines[0] == "4 cells to run"
    assert [line.split(":")[0] for line in lines[1:]] == [
        "1/4 CE none seed 1",
        "2/4 OWN none seed 1",
        "3/4 CE symmetric",
        "4/4 OWN symmetric",
    ]
    record = next(r for r in Store(store).records().values() if r.loss == "AGCE(a=2, q=1.2)")
    assert f" {record.accuracy:.2%} in " in err
    said = json.loads(run(capsys, "bench", "run", toml, *options, "--rows", "OWN", "--json")[1])
    assert said["ran"] == 0
    assert said["grids"][0]["done"] == 2


def test_status(capsys, tmp_path, toml):
    store = tmp_path / "runs"
    command = ["bench", "status", toml, "--store", store, "--workers", 2]
    assert run(capsys, *command)[1] == "small: 0 of 12 cells done, 12 missing, time left unknown\n"
    cells = load_grid(toml).cells()
    seconds = [run_cell(cell, store, Settings()).seconds for cell in cells[:2]]
    torn = next(store.glob("*.json"))
    torn.write_text("{")
    with locked(lock_file(store, cells[5].key), "it"):
        code, out, err = run(capsys, *command)
        assert code == 0
        assert out.startswith("small: 1 of 12 cells done, 1 running, 10 missing, about ")
        why = "not a record, or not all of one"
        assert err == f"noiseproof: {torn}.damaged: damaged, to be run again: {why}\n"
        (status,) = json.loads(run(capsys, *command, "--json")[1])
    assert (status["done"], status["running"], status["missing"]) == (1, 1, 10)
    assert any(status["seconds_left"] == pytest.approx(11 * s / 2) for s in seconds)


def test_status_of_all_that_was_begun(capsys, tmp_path):
    command = ["bench", "status", "--store", tmp_path]
    assert run(capsys, *command)[:2] == (0, f"no record of any grid in {tmp_path}\n")
    grid = load_grid("digits-asymmetric")
    from dataclasses import replace

    cell = grid.cells()[0]
    record = run_cell(replace(cell, recipe=cell.recipe.override(epochs=1)), tmp_path, Settings())
    row = record.history[0]
    history = tuple(
        replace(row, number=i, lr=learning_rate(cell.recipe, i - 1), seconds=0.1)
        for i in range(1, cell.recipe.epochs + 1)
    )
    whole = replace(
        record, recipe=cell.recipe, recipe_hash=cell.recipe.hash, history=history, seconds=6.0
    )
    Store(tmp_path).put(identified(whole))
    out = run(capsys, *command, "--workers", 1)[1]
    assert out == "digits-asymmetric: 1 of 168 cells done, 167 missing, about 17 min left\n"


def test_a_loss_that_is_not_finite_is_a_record(capsys, tmp_path, toml):
    text = toml.read_text() + "lr = 1e38\nweight_decay = 10\nclip = 0\n"
    toml.write_text(text)
    cell = load_grid(toml).cells()[0]
    assert run_cell(cell, tmp_path / "runs", Settings()).status == "failed"
    options = ["--rows", "CE", "--noise", "none", "--seeds", 1, "--store", tmp_path / "runs"]
    code, out, _ = run(capsys, "bench", "run", toml, *options)
    assert code == 0
    assert out.endswith("small: 0 of 1 cell done, 1 failed\n")


def test_changed_data_is_not_done(capsys, tmp_path, toml):
    store = tmp_path / "runs"
    run_cell(load_grid(toml).cells()[0], store, Settings())
    command = ["bench", "status", toml, "--store", store]
    assert "1 of 12 cells done" in run(capsys, *command)[1]
    write_blobs(tmp_path / "blobs.npz", seed=6)
    assert "0 of 12 cells done" in run(capsys, *command)[1]


def test_a_matrix_that_changed_is_another_cell(capsys, tmp_path, monkeypatch):
    """In its last digits, so that it draws the same labels."""
    monkeypatch.chdir(tmp_path)
    toml = write_grid(tmp_path)
    toml.write_text(toml.read_text().replace('"none", "symmetric:0.4"', '"matrix:T.csv"'))
    for low in (0.1, 0.1000001):
        T = np.full((4, 4), low) + np.diag([1 - 4 * low] * 4)
        np.savetxt("T.csv", T, delimiter=",", fmt="%.9f")
        code, out, err = run(capsys, "bench", "run", toml, "--rows", "CE", "--seeds", 1, "--quiet")
        assert (code, err) == (0, "")
        assert "1 of 1 cell done" in out
    assert len(Store("runs").records()) == 2


def test_list(capsys):
    code, out, _ = run(capsys, "bench", "list")
    assert code == 0
    assert re.search("(?m)^mnist-symmetric +210 cells  MNIST with symmetric noise$", out)
    assert len({line.index(" cells  ") for line in out.splitlines()}) == 1  # one column
    assert {"name", "title", "cells"} == set(
        json.loads(run(capsys, "bench", "list", "--json")[1])[0]
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["mnist-symetric"], "unknown grid 'mnist-symetric'; did you mean 'mnist-symmetric'?"),
        (["no.toml"], "no.toml: no such file"),
        (["--rows", "CE,AGEC"], "no row 'AGEC' in digits-symmetric; did you mean 'AGCE'?"),
        (["--noise", "symetric:0.4"], "did you mean 'symmetric'?"),
        (["--recipe", "paper"], "the paper has no recipe for 'digits': use quick"),
        (["--seeds", "0"], "Invalid value for '--seeds'"),
        (["--engine", "rya"], "unknown engine 'rya'; did you mean 'ray'?"),
        (["--shard", "4"], "expected a shard as in 3/16"),
        (["--add-loss", "MINE"], "expected NAME=LOSS"),
        (["--device", "gpu"], "unknown device 'gpu'"),
        (["mnist-symmetric", "--data", "/nowhere", "--workers", "1"], "no mnist in /nowhere"),
    ],
)
def test_mistakes_are_one_line(capsys, tmp_path, options, message):
    store = tmp_path / "runs"
    code, out, err = run(capsys, "bench", "run", *options, "--store", store, "--quiet")
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert message in err
    assert not list(store.glob("*"))


def test_a_store_that_is_a_file(capsys, tmp_path, toml):
    (tmp_path / "file").write_text("")
    code, out, err = run(capsys, "bench", "run", toml, "--store", tmp_path / "file")
    assert (code, out) == (2, "")
    start = f"noiseproof: {tmp_path / 'file'} is a file: a store is a folder, or a packed"
    assert err == f"{start} *.records.xz\n"


def test_options_that_some_grids_lack(capsys, tmp_path):
    command = ["bench", "status", "--store", tmp_path]
    for options in (["--recipe", "quick"], ["--rows", "CE,AGCE"]):
        assert run(capsys, *command, *options)[:2] == (0, f"no record of any grid in {tmp_path}\n")
    code, _, error = run(capsys, *command, "--rows", "NOBODY")
    assert (code, len(error.splitlines())) == (2, 1)


def test_a_row_that_is_added_is_among_those_selected(toml):
    grid = Selection.read(["NEW=MAE"], ["CE"]).grid(str(toml))
    assert [row.name for row in grid.rows] == ["CE", "NEW"]


def test_a_selection_is_written_as_it_was_read():
    given = ["AGCE(a=1, q=2), CE", "GCE"]
    chosen = Selection.read(["MINE=AUL(a=3, p=0.1)"], given, ["none,symmetric:0.4"], 2, "quick")
    assert chosen.rows == ("AGCE(a=1, q=2)", "CE", "GCE")
    names, values = chosen.options[::2], chosen.options[1::2]
    again = dict(zip(names, values, strict=True))
    assert again.pop("--seeds") == "2"
    assert again.pop("--recipe") == "quick"
    assert chosen == Selection.read(*([value] for value in again.values()), 2, "quick")
