"""A parameter or option changed after building counts as if the loss had been built with it."""

import copy
import dataclasses
import json
import pickle
import subprocess
import sys

import pytest
import torch
from loss_examples import CENTRAL, inside

import noiseproof as nf
from noiseproof.errors import ParameterError

NUMBERS = [(loss, name) for loss in CENTRAL if not loss.random for name in loss.domains()]


def rebuilt(loss, **changed):
    fields = {f.name: getattr(loss, f.name) for f in loss.parameters_declared()}
    return type(loss)(**{**fields, **changed})


@pytest.mark.parametrize("rows", [6, 4000], ids=["small", "in blocks"])
@pytest.mark.parametrize(("loss", "name"), NUMBERS, ids=str)
def test_a_number(loss, name, rows):
    z = 3 * torch.randn(rows, 5, dtype=torch.float64)
    z.requires_grad_()
    y = torch.arange(rows) % 5
    number = inside(loss.domains()[name], 0.37)
    changed, expected = rebuilt(loss), rebuilt(loss, **{name: number})
    setattr(changed, name, number)
    assert str(changed) == str(expected)
    torch.testing.assert_close(changed(z, y), expected(z, y), rtol=0, atol=0)
    one, other = (torch.autograd.grad(each(z, y), z)[0] for each in (changed, expected))
    torch.testing.assert_close(one, other, rtol=0, atol=0)


@pytest.mark.parametrize(("loss", "name"), NUMBERS, ids=str)
def test_a_wrong_number_is_refused_and_changes_nothing(loss, name):
    changed = rebuilt(loss)
    for wrong in (float("nan"), "much", None):
        with pytest.raises(ParameterError, match=name):
            setattr(changed, name, wrong)
    assert str(changed) == str(loss)


def test_a_flag():
    changed = nf.NFL(gamma=1.0)
    changed.detach = True
    assert changed.base.detach
    with pytest.raises(ParameterError, match="True or False"):
        changed.detach = 1


@pytest.mark.parametrize(
    "wrong", [{"reduction": "Mean"}, {"label_smoothing": 2}, {"ignore_index": None}], ids=str
)
def test_a_wrong_option_is_refused(wrong):
    loss = nf.AGCE(a=1, q=0.5)
    ((name, value),) = wrong.items()
    with pytest.raises(ParameterError, match=name):
        setattr(loss, name, value)
    assert not loss.options_changed
    assert dataclasses.is_dataclass(loss)


def a_step(loss, rows):
    """Return value and gradient, the loss of a linear layer, and the loss of soft labels."""
    z = torch.randn(rows, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(rows)) * 4
    y = torch.arange(rows) % 6
    soft = torch.nn.functional.one_hot(y, 6).double()
    z.requires_grad_()
    value = loss(z, y)
    (gradient,) = torch.autograd.grad(value, z)
    linear = nf.linear_loss(z.detach(), torch.eye(6, dtype=z.dtype), y, loss)
    return value, gradient, linear, loss(z, soft)


def set_base(loss, value):
    loss.base = value


INSIDE = [
    ("NCE + Spread(s=0.5)", lambda x: setattr(x.terms[1], "s", 0.1), "NCE + Spread(s=0.1)"),
    ("NCE + NNCE", lambda x: setattr(x.terms[1], "p_min", 1e-3), "NCE + NNCE(p_min=1e-3)"),
    ("NGCE + MAE", lambda x: setattr(x.terms[0], "q", 0.2), "NGCE(q=0.2) + MAE"),
    ("AGCE(1, 0.5) + MAE", lambda x: setattr(x.terms[0], "a", 3), "AGCE(3, 0.5) + MAE"),
    (
        "NCE + 4*CE",
        lambda x: setattr(x, "terms", torch.nn.ModuleList([nf.NCE(), nf.MAE()])),
        "NCE + 4*MAE",
    ),
    ("NCE + 4*CE", lambda x: setattr(x, "factors", (2.0, 3.0)), "2*NCE + 3*CE"),
    ("Normalized(CE)", lambda x: set_base(x, nf.MAE()), "Normalized(MAE)"),
    ("NCE + Normalized(CE)", lambda x: set_base(x.terms[1], nf.MAE()), "NCE + Normalized(MAE)"),
    ("Normalized(FL)", lambda x: setattr(x.base, "gamma", 200), "Normalized(FL(gamma=200))"),
    ("UnitLogits(NCE + MAE)", lambda x: set_base(x, nf.GCE()), "UnitLogits(GCE)"),
]


@pytest.mark.parametrize("rows", [6, 4000], ids=["small", "in blocks"])
@pytest.mark.parametrize(("text", "change", "expected"), INSIDE, ids=[row[2] for row in INSIDE])
def test_what_a_loss_is_made_of(text, change, expected, rows):
    changed, built = nf.loss(text), nf.loss(expected)
    changed(torch.zeros(1, 6), torch.tensor([0]))
    change(changed)
    assert str(changed) == str(built)
    for one, other in zip(a_step(changed, rows), a_step(built, rows), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("Normalized(CE)", lambda x: set_base(x, nf.loss("EpsSoftmax(CE)"))),
        ("Normalized(CE)", lambda x: set_base(x, nf.MAE(reduction="sum"))),
        ("Biased(MAE, eps=1)", lambda x: set_base(x, nf.NCE())),
        ("NCE + MAE", lambda x: setattr(x, "factors", (1.0, -1.0))),
        ("NCE + MAE", lambda x: setattr(x, "factors", (1.0,))),
        ("MAE", lambda x: setattr(x, "weight", torch.tensor([1.0, -1]))),
    ],
    ids=range(6),
)
def test_what_a_loss_cannot_be_made_of_is_refused_and_changes_nothing(text, change):
    loss = nf.loss(text)
    before = str(loss), loss.options_changed
    with pytest.raises(ParameterError):
        change(loss)
    assert (str(loss), loss.options_changed) == before
    loss(torch.zeros(1, 6), torch.tensor([0]))


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
@pytest.mark.parametrize("text", ["NCE", "NFL", "NGCE", "NNCE", "NNFL"])
def test_what_follows_from_the_parameters_is_changed_by_them_alone(text, copied):
    z, y = torch.randn(6, 5), torch.arange(6) % 5
    for loss in (nf.loss(text), copied(nf.loss(text))):
        before = loss(z, y)
        with pytest.raises(ParameterError, match="follows from"):
            loss.base = nf.FL(gamma=2)
        for name in loss.base.domains():
            with pytest.raises(ParameterError, match=f"`{name}` follows from {text}"):
                setattr(loss.base, name, 1)
        other = copied(loss)
        for name in loss.domains():
            setattr(other, name, 1e-4)
        torch.testing.assert_close(other(z, y), nf.loss(str(other))(z, y))
        assert torch.equal(loss(z, y), before)


def test_what_a_loss_counts_for_itself_is_its_own():
    class Counting(nf.MAE, register=False):
        calls: int = dataclasses.field(init=False, default=0)

        def value(self, log_u):
            self.calls += 1
            return super().value(log_u)

    loss = Counting()
    before = loss.calls
    loss(torch.zeros(1, 3), torch.tensor([0]))
    assert loss.calls == before + 1


def test_weights_that_torch_parametrizes():
    class Exp(torch.nn.Module):
        def forward(self, x):
            return x.exp()

    z, y, weight = torch.randn(6, 5), torch.arange(6) % 5, torch.rand(5)
    loss, known = nf.AGCE(a=1, q=0.5, weight=weight), set(nf.registry)
    torch.nn.utils.parametrize.register_parametrization(loss, "weight", Exp())
    assert loss(z, y) == nf.AGCE(a=1, q=0.5, weight=weight.exp())(z, y)
    with pytest.raises(ParameterError, match="`a` > 0"):
        loss.a = -1
    assert (str(loss), set(nf.registry)) == ("AGCE(a=1, q=0.5)", known)


def test_no_term_is_put_in_anothers_place():
    loss = nf.loss("CE + MAE")
    for change in (
        lambda: loss.terms.append(nf.MAE()),
        lambda: loss.terms.__setitem__(0, nf.GCE()),
        lambda: setattr(loss, "terms", torch.nn.ModuleList([nf.CE(), nf.NCE()])),
    ):
        with pytest.raises(ParameterError, match="build the sum again"):
            change()
    assert str(copy.deepcopy(loss)) == str(pickle.loads(pickle.dumps(loss))) == "CE + MAE"


def test_a_term_of_a_compiled_sum():
    torch.compiler.reset()
    z, y = torch.randn(7, 5), torch.arange(7) % 5
    loss = nf.loss("NCE + NNCE + Spread(s=0.5)")
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    compiled(z, y)
    loss.terms[2].s = 0.1
    torch.testing.assert_close(compiled(z, y), nf.loss("NCE + NNCE + Spread(s=0.1)")(z, y))


def test_a_number_is_not_to_be_learnt():
    to_learn = torch.nn.Parameter(torch.tensor(1.0))
    with pytest.raises(ParameterError, match="`a` to be a number"):
        nf.AGCE(a=to_learn, q=0.5)  # only the number would count, and never learn


def test_weights_of_classes_may_be_set_later():
    z, y, weight = torch.randn(6, 5), torch.arange(6) % 5, torch.nn.Parameter(torch.rand(5))
    loss = nf.AGCE(a=1, q=0.5)
    loss.weight = weight
    assert loss(z, y) == nf.AGCE(a=1, q=0.5, weight=weight)(z, y)
    assert not list(loss.parameters())


WRITE = """
import json, pickle, sys
import noiseproof as nf

changed = json.loads(sys.argv[2])
losses = [nf.loss(text) for text, _, _ in changed]
for loss, (_, name, number) in zip(losses, changed, strict=True):
    setattr(loss.terms[1], name, number)
pickle.dump(losses, open(sys.argv[1], "wb"))
"""
READ = """
import pickle, sys, torch

z = torch.linspace(-2, 2, 20, dtype=torch.float64).reshape(4, 5)
for loss in pickle.load(open(sys.argv[1], "rb")):
    print(loss, loss(z, torch.arange(4)).item(), sep="=")
"""


def test_a_changed_sum_in_another_process(tmp_path):
    changed = [
        (f"NCE + 2*{loss}", name, inside(loss.domains()[name], 0.37)) for loss, name in NUMBERS
    ]
    for script in (WRITE, READ):
        command = [sys.executable, "-c", script, str(tmp_path / "sums"), json.dumps(changed)]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    z = torch.linspace(-2, 2, 20, dtype=torch.float64).reshape(4, 5)
    for line in told.splitlines():
        text, _, value = line.rpartition("=")
        expected = nf.loss(text)(z, torch.arange(4)).item()
        assert float(value) == pytest.approx(expected, rel=1e-12), text
    assert len(told.splitlines()) == len(changed)
