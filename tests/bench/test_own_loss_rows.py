"""A row whose loss is in the user's own Python file."""

import sys
from dataclasses import replace

import pytest
import torch
from small_grid import write_grid
from stopped_runs import StopAfter

import noiseproof as nf
from noiseproof import data, train
from noiseproof.cli import main
from noiseproof.errors import NoiseproofError, ParameterError
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
        if name.startswith("mine_") or name == "helper":
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
        ("OWN=set.py:Number", "Number: value(log_u) has to be a tensor of the shape of log_u"),
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


def test_code_that_is_not_in_the_file_is_not_recorded(tmp_path, monkeypatch):
    """It could change, and the cells of the old code would stand for the new."""
    (tmp_path / "installed").mkdir()
    (tmp_path / "installed/mine_helper.py").write_text(MAE.replace("Fussy", "Fussier"))
    monkeypatch.syspath_prepend(tmp_path / "installed")
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


def test_a_report_needs_no_theory_of_it(capsys, tmp_path):
    """The theory asks for more than training does: what the code raises there stops no page."""
    mine = MAE.replace("numel() > 12", "dtype == torch.float64 and log_u.numel() > 99")
    (tmp_path / "mine.py").write_text(mine)
    grid = write_grid(tmp_path)
    assert bench(capsys, tmp_path, "OWN=mine.py:Fussy")[0] == 0
    asked = (grid, "--add-loss", "OWN=mine.py:Fussy", "--store", "runs")
    assert run(capsys, "bench", "report", *asked, "--out", "page.html")[0] == 0
    assert "OWN" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("first", [b"\xef\xbb\xbf", b"# coding: latin-1\n# caf\xe9\n", b"\n\r\n"])
def test_a_file_is_read_as_python_reads_it(tmp_path, first):
    (tmp_path / "mine.py").write_bytes(first + MAE.encode())
    assert str(own.recorded_loss("mine.py:Fussy")).startswith("Fussy_")


DRAWS = """
import torch
import noiseproof as nf

class Draws(nf.Pointwise):
    def value(self, log_u):
        return -log_u * torch.rand_like(log_u)

class Lies(nf.Pointwise):
    random = True
    def value(self, log_u):
        return -log_u * torch.rand_like(log_u)

class Counts(nf.Pointwise):
    calls = 0
    def value(self, log_u):
        self.calls += 1
        return -log_u * self.calls

CALLS = []

class Warms(nf.Pointwise):
    '''Another loss from its thousandth call on; where it counts is what differs.'''
    calls = 0
    @property
    def many(self):
        self.calls += 1
        return self.calls
    def value(self, log_u):
        return -log_u if self.many < 1000 else -torch.expm1(log_u)

class WarmsInClass(Warms):
    @property
    def many(self):
        type(self).calls += 1
        return self.calls

class WarmsInFile(Warms):
    @property
    def many(self):
        CALLS.append(0)
        return len(CALLS)

class Remembers(nf.Loss):
    '''What the last batch was, and what depends on the classes alone.'''
    def per_class(self, log_p):
        self.last = [log_p.detach().mean(), {"classes": log_p.shape[-1]}]
        if "ones" not in self.__dict__:
            self.ones = torch.ones(())
        return -log_p * self.ones

class Told(nf.Pointwise):
    random = True
    def value(self, log_u):
        return -log_u * torch.rand(log_u.shape, generator=self.generator)
"""


COUNTS = ["Counts", "Warms", "WarmsInClass", "WarmsInFile", "NCE + Warms"]


@pytest.mark.parametrize("name", ["Draws", "Lies", "2*Draws() + CE", *COUNTS])
def test_a_loss_that_cannot_be_repeated_is_refused(tmp_path, name):
    (tmp_path / "mine.py").write_text(DRAWS)
    with pytest.raises(NoiseproofError, match=r"gives other values when|depends .* on chance"):
        own.recorded_loss(f"mine.py:{name}")


@pytest.mark.parametrize("name", ["Told", "CE + 2*Told()", "NLNL()", "Remembers"])
def test_a_loss_that_draws_by_its_generator_is_repeated(tmp_path, name):
    (tmp_path / "mine.py").write_text(DRAWS)
    text = str(own.recorded_loss(f"mine.py:{name}"))
    recipe = train.Recipe(network="linear", epochs=2, train_size=200)
    one, other = (train.prepare(data.load("digits"), recipe, text) for _ in range(2))
    whole = one.run()[0]
    torch.rand(7)  # what another cell of the process drew
    half = tmp_path / "half.pt"
    with pytest.raises(KeyboardInterrupt):
        other.run(checkpoint=half, watch=StopAfter(1))
    assert shown(other.run(checkpoint=half)[0]) == shown(whole)


def shown(outcome):
    return [replace(row, seconds=0) for row in outcome.history]


@pytest.mark.parametrize(
    "line", ["import helper", "from helper import SCALE", "import pack.helper", "import space.one"]
)
@pytest.mark.parametrize("inside", [False, True])
def test_code_of_the_files_folder_is_refused(tmp_path, line, inside):
    """A change of it would not be seen: the digest is that of one file."""
    for place in ("helper.py", "pack/__init__.py", "pack/helper.py", "space/one.py"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text("SCALE = 2.0")
    text = MAE.replace("return", f"{line}\n        return", 1) if inside else f"{line}\n{MAE}"
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(ParameterError, match="from its own folder"):
        own.recorded_loss("mine.py:Scaled")


@pytest.mark.parametrize("line", ["importlib.import_module('helper')", "__import__('helper')"])
def test_code_of_the_files_folder_is_refused_however_it_is_imported(tmp_path, line):
    (tmp_path / "helper.py").write_text("SCALE = 2.0")
    (tmp_path / "mine.py").write_text(f"import importlib\n{line}\n{MAE}")
    for _ in range(2):
        with pytest.raises(ParameterError, match="imports helper from its own folder"):
            own.recorded_loss("mine.py:Scaled")


LEARNT = """
import torch
import noiseproof as nf

class Learnt(nf.Pointwise):
    def prepare(self):
        self.t = torch.nn.Parameter(torch.tensor(1.0))
    def value(self, log_u):
        return -torch.expm1(log_u) * self.t.exp()
"""


@pytest.mark.parametrize("name", ["Learnt", "CE + 2*Learnt()"])
def test_a_loss_that_learns_is_refused(tmp_path, name):
    """Nobody would train it."""
    (tmp_path / "mine.py").write_text(LEARNT)
    with pytest.raises(ParameterError, match="only the network's are trained"):
        own.recorded_loss(f"mine.py:{name}")


def test_installed_packages_may_be_imported_wherever_they_are(tmp_path):
    (tmp_path / "numpy").mkdir()  # a folder of that name is not the package
    (tmp_path / "mine.py").write_text(f"import numpy.linalg, noiseproof.noise\n{MAE}")
    own.recorded_loss("mine.py:Scaled")
