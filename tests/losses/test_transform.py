"""A loss that changes the logits first is one file, and every path honours the change."""

import importlib.util
import sys

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

import noiseproof as nf
from noiseproof.errors import ParameterError, TheoryError

FILE = '''
"""Two throw-away losses: a temperature, written as a loss and as a combinator."""

import torch

import noiseproof as nf


class CoolCE(nf.Pointwise):
    t: float = nf.parameter(default=2.0, above=0)
    bounded = False

    def transform(self, z):
        return z / self.t

    def value(self, log_u):
        return -log_u


class Unit(nf.Transformed):
    """Logits of length 1: not a function of the probabilities."""

    def transform(self, z):
        return z / z.norm(dim=-1, keepdim=True)


class Cooled(nf.Transformed):
    t: float = nf.parameter(default=2.0, above=0)

    def transform(self, z):
        return z / self.t
'''
NAMES = ("CoolCE", "Unit", "Cooled")


@pytest.fixture(autouse=True)
def _the_file(tmp_path):
    path = tmp_path / "throwaway_losses.py"
    path.write_text(FILE)
    spec = importlib.util.spec_from_file_location("throwaway_losses", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["throwaway_losses"] = module
    spec.loader.exec_module(module)
    yield
    for name in NAMES:
        del nf.registry[name]
    del sys.modules["throwaway_losses"]


#: Each text, and the same loss as a function of logits that this file has changed itself.
SAME = {
    "CoolCE(t=2)": ("CE", lambda z: z / 2),
    "Cooled(CE, t=2)": ("CE", lambda z: z / 2),
    "Cooled(NCE + 4*AGCE(a=6, q=1.5), t=3)": ("NCE + 4*AGCE(a=6, q=1.5)", lambda z: z / 3),
    "Cooled(Cooled(NFL(gamma=0.5), t=2), t=2)": ("NFL(gamma=0.5)", lambda z: z / 4),
    "Normalized(CoolCE(t=2))": ("NCE", lambda z: z / 2),
    "Unit(GCE(q=0.7))": ("GCE(q=0.7)", lambda z: z / z.norm(dim=-1, keepdim=True)),
}


def problem(rows, classes=6):
    z = 3 * torch.randn(rows, classes, dtype=torch.float64)
    return z.requires_grad_(), torch.arange(rows) % classes


def same(value, expected, *leaves):
    torch.testing.assert_close(value, expected)
    for one, other in zip(
        torch.autograd.grad(value.sum(), leaves),
        torch.autograd.grad(expected.sum(), leaves),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("text", SAME)
@pytest.mark.parametrize("rows", [7, 4000], ids=["small", "in blocks"])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_labels(text, rows, reduction):
    plain, change = SAME[text]
    z, y = problem(rows)
    options = {"reduction": reduction, "weight": torch.rand(6, dtype=torch.float64) + 0.1}
    y[3] = -100
    w = torch.rand(rows, dtype=torch.float64)
    loss, base = nf.loss(text, **options), nf.loss(plain, **options)
    same(loss(z, y, sample_weight=w), base(change(z), y, sample_weight=w), z)


@pytest.mark.parametrize("text", SAME)
def test_soft_targets_smoothing_and_shapes(text):
    plain, change = SAME[text]
    z, y = problem(7)
    t = torch.softmax(torch.randn(7, 6, dtype=torch.float64), 1)
    same(nf.loss(text)(z, t), nf.loss(plain)(change(z), t), z)
    smooth = {"label_smoothing": 0.2}
    same(nf.loss(text, **smooth)(z, y), nf.loss(plain, **smooth)(change(z), y), z)
    image = torch.randn(2, 6, 5, 4, dtype=torch.float64, requires_grad=True)
    labels = torch.randint(6, (2, 5, 4))
    rows = image.movedim(1, -1).reshape(-1, 6)
    same(nf.loss(text)(image, labels), nf.loss(plain)(change(rows), labels.flatten()), image)


@pytest.mark.parametrize("text", SAME)
def test_linear_loss_sums_compile_and_double_backward(text):
    plain, change = SAME[text]
    z, y = problem(9)
    h = torch.randn(9, 4, dtype=torch.float64, requires_grad=True)
    w = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
    for reduction in ("mean", "none"):
        loss, base = nf.loss(text, reduction=reduction), nf.loss(plain, reduction=reduction)
        same(nf.linear_loss(h, w, y, loss, block_rows=4), base(change(h @ w.T), y), h, w)
    both = nf.MAE() + 2 * nf.loss(text)
    same(both(z, y), nf.MAE()(z, y) + 2 * nf.loss(plain)(change(z), y), z)
    assert str(nf.loss(str(both))) == str(both)
    big, labels = problem(4000)
    same(both(big, labels), nf.MAE()(big, labels) + 2 * nf.loss(plain)(change(big), labels), big)
    assert torch.autograd.gradgradcheck(
        lambda z: nf.loss(text)(z, y[:3]), z[:3].detach().requires_grad_()
    )
    torch._dynamo.reset()
    compiled = torch.compile(nf.loss(text), fullgraph=True, backend="aot_eager")
    same(compiled(z, y), nf.loss(plain)(change(z), y), z)
    torch._dynamo.reset()


def test_theory_sees_the_change_or_refuses():
    audit = nf.audit("Cooled(MAE, t=2)", classes=4)
    assert not audit.pointwise
    assert audit.completely_asymmetric  # cooling moves no minimum that is at a vertex
    assert not nf.audit("Cooled(CE, t=2)", classes=4).completely_asymmetric
    # Where the risk of CE at half the logits is least, softmax(z / 2) = w: u is w^2, normalised.
    found = nf.minimise_risk("CoolCE(t=2)", [0.5, 0.3, 0.2])
    w = np.array([0.5, 0.3, 0.2]) ** 2
    np.testing.assert_allclose(found.minimiser, w / w.sum(), atol=1e-6)
    with pytest.raises(TheoryError, match="not a function of the probabilities"):
        nf.audit("Unit(CE)")
    with pytest.raises(TheoryError, match="not pointwise"):
        nf.asymmetry_ratio("CoolCE", strict=True)


def test_what_cannot_be_answered_is_refused_in_one_line():
    z, y = problem(5)
    with pytest.raises(ParameterError, match="changes the logits: it has no derivatives"):
        nf.loss("Cooled(MAE)").derivatives(z, y)
    with pytest.raises(ParameterError, match=r"no one log_p; ask rows\(logits, target\)"):
        (nf.MAE() + nf.loss("CoolCE")).per_class(torch.log_softmax(z, 1))
    with pytest.raises(ParameterError, match="give the options to Cooled"):
        type(nf.loss("Cooled(CE)"))(nf.CE(reduction="none"))
    with pytest.raises(ParameterError, match="Cooled takes a loss"):
        type(nf.loss("Cooled(CE)"))(3)


def test_training_and_evaluation_are_the_same_loss():
    """The slip this seam is for: a change that only one of the two paths knew."""
    z, y = problem(3000)
    loss = nf.loss("CoolCE(t=5)")
    training = loss(z, y)
    with torch.no_grad():
        evaluation = loss(z, y)
    torch.testing.assert_close(training.detach(), evaluation)
    torch.testing.assert_close(evaluation, cross_entropy(z.detach() / 5, y))
