"""A row whose loss is in the user's own Python file."""

import sys

import pytest
from small_grid import write_grid

import noiseproof as nf
from noiseproof.cli import main
from noiseproof.errors import ParameterError
from noiseproof.losses import own
from noiseproof.results import Store

FILE = """
import torch
import noiseproof as nf

class Scaled(nf.Pointwise):
    t: float = nf.parameter(default=2.0, above=0)
    def value(self, log_u):
        return -SCALE * self.t * torch.expm1(log_u)

class Fussy(nf.Pointwise):
    def value(self, log_u):
        if log_u.numel() > 12:
            raise KeyError("many")
        return -log_u
"""
SET = """
import torch
import noiseproof as nf

class Set(nf.Pointwise):
    k = 1.0
    def value(self, log_u):
        return -self.k * log_u

class Number(nf.Pointwise):
    def value(self, log_u):
        return 1.0

smoothed = nf.CE(label_smoothing=0.1)
weighted = 2 * Set(weight=torch.ones(10))
changed = Set()
changed.k = 5.0
"""
MAE = FILE.replace("SCALE", "1.0")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(own, "_loaded", {})
    (tmp_path / "mine.py").write_text(MAE)
    before, modules = dict(nf.registry), set(sys.modules)
    yield
    _forget(before, modules)


def _forget(losses, modules):
    """Take back what a file registered, as the next process would start."""
    nf.registry.clear()
    nf.registry.update(losses)
    own._loaded.clear()
    for name in set(sys.modules) - modules:
        if name.startswith("mine_"):
            del sys.modules[name]


def run(capsys, *arguments):
    code = main([str(a) for a in arguments])
    return code, *capsys.readouterr()


def bench(capsys, folder, *added):
    rows = [word for text in added for word in ("--add-loss", text)]
    options = ["--rows", "CE", "--noise", "none", "--seeds", 1, "--store", folder / "runs", *rows]
    return run(capsys, "bench", "run", folder / "small.toml", *options, "--workers", 1, "--quiet")


def accuracies(folder):
    return {r.loss: r.history[-1].to_dict() for r in Store(folder / "runs").records().values()}


def test_a_row_is_run_in_another_process_and_known_by_the_code(capsys, tmp_path):
    write_grid(tmp_path)
    code, out, err = bench(capsys, tmp_path, "OWN=mine.py:NCE + Scaled(t=1)", "MAE=NCE + 0.5*MAE")
    assert (code, err) == (0, "")
    assert "3 cells run" in out
    found = accuracies(tmp_path)
    mark = own.LossFile("mine.py", MAE).digest
    same = found[f"NCE + Scaled_{mark}(t=1)"]["loss"], found["NCE + 0.5*MAE"]["loss"]
    assert same[0] == pytest.approx(same[1], rel=1e-5)  # MAE is 2 (1 - u)


def test_a_changed_file_is_another_loss(capsys, tmp_path):
    write_grid(tmp_path)
    losses, modules = dict(nf.registry), set(sys.modules)
    assert "2 cells run" in bench(capsys, tmp_path, "OWN=mine.py:Scaled")[1]
    assert "0 cells run" in bench(capsys, tmp_path, "OWN=mine.py:Scaled")[1]
    _forget(losses, modules)
    (tmp_path / "mine.py").write_text(FILE.replace("SCALE", "3.0"))
    assert "1 cell run" in bench(capsys, tmp_path, "OWN=mine.py:Scaled")[1]
    assert len(accuracies(tmp_path)) == 3


def test_train_takes_it_too(capsys, tmp_path):
    options = ["--network", "linear", "--epochs", 1, "--train-size", 200, "--quiet", "--json"]
    code, out, _ = run(capsys, "train", "digits", "--loss", "mine.py:Scaled(t=3)", *options)
    assert code == 0
    assert f"Scaled_{own.LossFile('mine.py', MAE).digest}(t=3)" in out


def test_what_its_code_raises_is_one_line(capsys, tmp_path):
    write_grid(tmp_path)
    code, _, err = bench(capsys, tmp_path, "OWN=mine.py:Fussy")
    assert code == 1
    assert err == "noiseproof: no result for 1 cell: OWN none seed 1: KeyError: 'many'\n"
    options = ["--network", "linear", "--epochs", 1, "--batch", 16, "--quiet"]
    code, _, err = run(capsys, "train", "digits", "--loss", "mine.py:Fussy", *options)
    assert (code, err) == (2, "noiseproof: mine.py:Fussy: KeyError: 'many'\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("OWN=mine:Scaled", "mine is no file: name the loss as in mine.py:Loss"),
        ("OWN=other.py:Scaled", "other.py: no such file"),
        ("OWN=mine.py", "mine.py: which of its losses? Write mine.py:Loss"),
        ("OWN=/dev/zero:Scaled", "/dev/zero: expected a plain file, not a pipe or a device"),
        ("OWN=mine.py:Scald", "did you mean 'Scaled'?"),
        ("OWN=torn.py:Scaled", "cannot be imported: SyntaxError"),
        ("OWN=bytes.py:Scaled", "bytes.py is not a Python file"),
        ("OWN=set.py:smoothed", "set.py:smoothed sets label_smoothing, which is no part of a"),
        ("OWN=set.py:weighted", "set.py:weighted sets weight, which is no part of a"),
        ("OWN=set.py:changed", "set.py:changed is not the loss that its text"),
        ("OWN=set.py:Number", "set.py:Number: TypeError: "),
    ],
)
def test_mistakes(capsys, tmp_path, text, message):
    (tmp_path / "torn.py").write_text("class Scaled(")
    (tmp_path / "bytes.py").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "set.py").write_text(SET)
    write_grid(tmp_path)
    code, _, err = bench(capsys, tmp_path, text)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_a_grid_file_runs_no_code(capsys, tmp_path):
    grid = write_grid(tmp_path)
    grid.write_text(grid.read_text().replace("NCE+RCE", "mine.py:Scaled"))
    (tmp_path / "mine.py").write_text("raise SystemExit('ran')")
    code, _, err = bench(capsys, tmp_path)
    assert code == 2
    assert "a grid file runs no code; add the row by --add-loss" in err


def test_code_that_is_not_in_the_file_is_not_recorded(tmp_path):
    """It could change, and the cells of the old code would stand for the new."""
    (tmp_path / "mine_helper.py").write_text(MAE.replace("Fussy", "Fussier"))
    inside = "def made():\n    class Inner(nf.Pointwise):\n"
    inside += "        def value(self, log_u):\n            return -log_u\n    return Inner()\n"
    text = f"import noiseproof as nf\nimport mine_helper\nfrom mine_helper import *\n{inside}"
    (tmp_path / "mine.py").write_text(f"{text}inner = made()\n")
    for loss in ("Fussier", "Fussier()", "CE + 2*Fussier()", "Normalized(Fussier())"):
        with pytest.raises(ParameterError, match="Fussier is of mine_helper"):
            own.recorded_loss(f"mine.py:{loss}")
    digest = own._file("mine.py").digest
    for loss in ("inner", "2*Inner()"):
        assert f"Inner_{digest}" in str(own.recorded_loss(f"mine.py:{loss}"))


@pytest.mark.parametrize("first", [b"\xef\xbb\xbf", b"# coding: latin-1\n# caf\xe9\n", b"\n\r\n"])
def test_a_file_is_read_as_python_reads_it(tmp_path, first):
    (tmp_path / "mine.py").write_bytes(first + MAE.encode())
    assert str(own.recorded_loss("mine.py:Fussy")).startswith("Fussy_")
