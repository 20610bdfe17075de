"""``noiseproof audit file.py:Loss`` audits a loss of the user's own."""

import json
import sys

import pytest

import noiseproof as nf
from noiseproof.cli import main

FILE = """
import torch
import noiseproof as nf

class Squared(nf.Pointwise):
    scale: float = nf.parameter(default=1.0, above=0)
    def value(self, log_u):
        return self.scale * torch.expm1(log_u) ** 2

class Straight(nf.Pointwise):
    slope: float = nf.parameter(above=0)
    def value(self, log_u):
        return -self.slope * torch.expm1(log_u)

mine = nf.AGCE(a=6, q=1.5)
number = 3
plain = torch.nn.CrossEntropyLoss()
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before, modules = dict(nf.registry), set(sys.modules)
    (tmp_path / "my_losses.py").write_text(FILE)
    yield
    nf.registry.clear()
    nf.registry.update(before)
    for name in set(sys.modules) - modules:
        if name.startswith("my_"):
            del sys.modules[name]


def run(capsys, *arguments):
    code = main(["audit", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("where", ["my_losses", "my_losses.py", "./my_losses.py"])
def test_a_class_an_instance_and_an_expression(capsys, where):
    # (1 - u)^2 is flat at u = 1: r = 0. A straight line is MAE's: r = 1.
    for what, ratio in (
        ("Squared", 0),
        ("Straight(slope=2)", 1),
        ("mine", 1),
        ("NCE + 2*Straight(slope=2)", 1),
    ):
        code, out, err = run(capsys, f"{where}:{what}", "--json")
        assert (code, err) == (0, "")
        assert json.loads(out)["ratio"] == pytest.approx(ratio, abs=1e-9)


def test_the_text_is_that_of_the_loss(capsys):
    _, out, _ = run(capsys, "my_losses.py:mine", "--json")
    _, same, _ = run(capsys, "AGCE(a=6, q=1.5)", "--json")
    assert out == same


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("my_losses.py:Squard", "did you mean 'Squared'?"),
        ("my_losses.py:Straight", "Straight needs parameters: my_losses.py:'Straight(slope=...)'"),
        ("my_losses.py:number", "is int, not a noiseproof loss"),
        ("my_losses.py:plain", "is a torch module, not a noiseproof loss"),
        ("my_losses.py:Squared(scale=-1)", "expected `scale` > 0, got -1"),
        ("my_losses.py:", "expected module:Loss or path/to/file.py:Loss"),
        ("nowhere.py:Loss", "nowhere.py: no such file"),
        ("no_such_module:Loss", "No module named 'no_such_module'"),
        ("json:Loss", "json has no 'Loss'; it has no losses"),
        ("my_broken.py:Loss", "my_broken.py cannot be imported: SyntaxError"),
        ("my_leaving.py:Loss", "my_leaving.py cannot be imported: SystemExit"),
        ("my_twin.py:MAE", "has a loss named MAE already"),
        (".:Loss", ".: expected a plain file, not a folder"),
    ],
)
def test_a_mistake_is_one_line(capsys, tmp_path, text, message):
    (tmp_path / "my_broken.py").write_text("def (")
    (tmp_path / "my_leaving.py").write_text("raise SystemExit('bye')")
    (tmp_path / "my_twin.py").write_text("import noiseproof as nf\nclass MAE(nf.Pointwise): pass")
    code, out, err = run(capsys, text)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_the_path_of_imports_is_left_as_it_was(capsys):
    before = list(sys.path)
    run(capsys, "my_losses.py:mine")
    run(capsys, "my_losses.py:nothing")
    assert sys.path == before


@pytest.mark.parametrize("kind", ["RuntimeError", "SystemExit"])
def test_a_loss_that_raises_is_one_line(tmp_path, capsys, kind):
    code = "import noiseproof as nf\nclass Broken(nf.Pointwise):\n"
    code += f"    def value(self, log_u):\n        raise {kind}('not\\nyet')\n"
    (tmp_path / "broken.py").write_text(code)
    assert main(["audit", f"{tmp_path / 'broken.py'}:Broken"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{kind}: not yet" in line
