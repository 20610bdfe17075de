"""The losses that came after the paper: values, theory and settings from their own papers."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import one_hot

import noiseproof as nf
from noiseproof.errors import ParameterError, TheoryError
from noiseproof.losses import l1_penalty

Z = torch.tensor([[2.0, 1.0, 0.5, -1.0]], dtype=torch.float64)
Y = torch.tensor([1])


@pytest.mark.parametrize(
    ("text", "value"),
    [("NNCE", 0.743420), ("AMSE(a=30)", 221.747164), ("NCE + AMSE(a=30)", 0.199871 + 221.747164)],
)
def test_check_values(text, value):
    """Numbers computed apart from this program, for z = [2, 1, 0.5, -1] and y = 1."""
    assert float(nf.loss(text)(Z, Y)) == pytest.approx(value, abs=1e-6)


def _eps_softmax(z, m):
    p = torch.softmax(z, 1)
    return (p + m * one_hot(p.argmax(1), z.shape[1])) / (m + 1)


def _unit(z, tau):
    return torch.softmax(z / z.norm(dim=1, keepdim=True) / tau, 1)


def _of(p, y):
    return p.gather(1, y[:, None])[:, 0]


TRANSFORMED = {
    "EpsSoftmax(CE, m=3)": lambda z, y: -_of(_eps_softmax(z, 3), y).log(),
    "EpsSoftmax(MAE, m=100000)": lambda z, y: 2 - 2 * _of(_eps_softmax(z, 1e5), y),
    "0.01*EpsSoftmax(CE, m=100000) + 5*MAE": lambda z, y: (
        -0.01 * _of(_eps_softmax(z, 1e5), y).log() + 5 * (2 - 2 * _of(torch.softmax(z, 1), y))
    ),
    "UnitLogits(CE + 1.2*Spread(s=0.1), tau=0.5)": lambda z, y: (
        -_of(_unit(z, 0.5), y).log() + 1.2 * (_unit(z, 0.5) ** 0.1).sum(1)
    ),
}


@pytest.mark.parametrize("text", TRANSFORMED)
@pytest.mark.parametrize("rows", [7, 4000], ids=["small", "in blocks"])
def test_transformed_losses_against_their_formulas(text, rows):
    z = (2 * torch.randn(rows, 5, dtype=torch.float64)).requires_grad_()
    y = torch.arange(rows) % 5
    loss = nf.loss(text)
    assert str(loss) == str(nf.loss(str(loss)))
    value, expected = loss(z, y), TRANSFORMED[text](z, y).mean()
    torch.testing.assert_close(value, expected)
    mine, theirs = (torch.autograd.grad(v, z)[0] for v in (value, expected))
    torch.testing.assert_close(mine, theirs, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("text", TRANSFORMED)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("size", [0.0, 1.0, 6e4, 3e38])
def test_transformed_losses_are_finite(text, dtype, size):
    row = size * torch.tensor([1.0, -1.0, 0.5, 0.0], dtype=torch.float64)
    z = row.clamp(-torch.finfo(dtype).max, torch.finfo(dtype).max).to(dtype).repeat(4, 1)
    z.requires_grad_()
    value = nf.loss(text)(z, torch.arange(4))
    assert value.isfinite()
    assert torch.autograd.grad(value, z)[0].isfinite().all()


@pytest.mark.parametrize("base", ["MAE", "AGCE(a=0.6, q=0.6)", "GCE(q=0.7)", "CE"])
@pytest.mark.parametrize("eps", [-2.0, 0.0, 1e-3, 4.6, 30.0])
def test_a_biased_loss_is_the_loss_with_the_labels_logit_raised(base, eps):
    z = (2 * torch.randn(9, 6, dtype=torch.float64)).requires_grad_()
    y = torch.arange(9) % 6
    loss = nf.loss(f"Biased({base}, eps={eps})")
    value, expected = loss(z, y), nf.loss(base)(z + eps * one_hot(y, 6), y)
    torch.testing.assert_close(value, expected)
    mine, theirs = (torch.autograd.grad(v, z)[0] for v in (value, expected))
    torch.testing.assert_close(mine, theirs, rtol=1e-6, atol=1e-12)


def test_biased_makes_many_classes_look_like_ten():
    z, y = torch.zeros(1, 1000, requires_grad=True), torch.tensor([3])
    few = torch.zeros(1, 10, requires_grad=True)
    biased = nf.Biased(nf.MAE(), eps=nf.Biased.eps_for(1000))
    slopes = [
        torch.autograd.grad(*pair)[0][0, 3]
        for pair in ((biased(z, y), z), (nf.MAE()(few, y), few), (nf.MAE()(z, y), z))
    ]
    assert float(slopes[0]) == pytest.approx(float(slopes[1]))
    assert float(slopes[2]) == pytest.approx(-0.002, rel=1e-2)  # a hundredth of it
    with pytest.raises(ParameterError, match="Biased takes a pointwise loss"):
        nf.Biased(nf.NCE(), eps=1)
    assert nf.audit(biased, classes=1000).pointwise


@pytest.mark.parametrize("a", [3.0, 5.0, 30.0])
def test_the_closed_condition_of_amse_is_where_the_risk_is_least_at_the_vertex(a):
    rng = np.random.default_rng(0)
    loss = nf.AMSE(a)
    seen = set()
    for _ in range(12):
        w = rng.dirichlet([2.0, 1.0, 0.7, 0.3])
        first, second = np.sort(w)[::-1][:2]
        margin = a * (first - second) - 1
        if abs(margin) > 1e-3:
            assert nf.minimise_risk(loss, w).attained == loss.asymmetric_on(w) == (margin > 0)
            seen.add(bool(margin > 0))
    assert seen == {True, False} or a == 30.0
    assert loss.asymmetric_on(loss_edge := np.array([0.5 + 0.5 / a, 0.5 - 0.5 / a])), loss_edge


def test_jal_in_the_audit():
    # a (T_ii - T_ij) >= 1: with a = 30 symmetric noise of 10 classes up to e = .87.
    rate = nf.audit("AMSE(a=30)", classes=10).max_symmetric_rate
    assert rate == pytest.approx(0.9 * (1 - 1 / 30), abs=2e-3)
    jal = nf.paper_loss("JAL-CE", "cifar10")
    assert nf.audit(jal, noise=nf.noise.symmetric(10, 0.8)).tolerant
    assert nf.audit(jal, noise=nf.noise.asymmetric("cifar10", 0.4)).tolerant  # .6 - .4 >= 1 / 30
    assert nf.AMSE.a_for(gap=0.2) == pytest.approx(5)


def test_what_the_others_tolerate():
    assert nf.audit("NNCE", classes=10).symmetric
    assert nf.audit("NNFL", classes=10).symmetric
    # The slope of the clipped loss is 1 / max(u, t): t at u = 1 against 1 at u = 0.
    assert nf.asymmetry_ratio("ClippedCE(t=0.2)") == pytest.approx(
        min(
            math.log(1 / (1 - x)) / (x / 0.2 if x < 0.2 else 1 + math.log(x / 0.2))
            for x in np.linspace(1e-4, 0.999, 4000)
        ),
        rel=1e-2,
    )
    with pytest.raises(TheoryError, match="not a function of the probabilities"):
        nf.audit("UnitLogits(CE)")
    assert not nf.audit("EpsSoftmax(CE, m=10)", classes=4).pointwise


def test_settings_and_the_penalty_of_anl():
    # Epsilon-softmax: alpha = 0.01, beta = 5, m = 1e5 for symmetric noise.
    assert str(nf.paper_loss("CE_eps+MAE", "cifar10")) == "0.01*EpsSoftmax(CE, m=100000) + 5*MAE"
    assert str(nf.paper_loss("ANL-CE", "cifar10")) == "5*NCE + 5*NNCE(p_min=1e-07)"
    with pytest.raises(ParameterError, match="no parameters for webvision"):
        nf.paper_loss("JAL-CE", "webvision")
    layer = nn.Linear(2, 2, bias=False)
    nn.init.constant_(layer.weight, -3.0)
    assert float(l1_penalty(layer).detach()) == 12
    assert float(l1_penalty(nn.ReLU())) == 0
