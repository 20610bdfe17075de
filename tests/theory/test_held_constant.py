"""A loss that holds a part of itself constant in training has the theory of its value."""

import pytest
import torch

import noiseproof as nf


class Whole(nf.Pointwise, register=False):
    def value(self, log_u):
        wrong = 1 - torch.exp(log_u)
        return wrong * (2 + wrong)


class Detached(nf.Pointwise, register=False):
    def value(self, log_u):
        wrong = 1 - torch.exp(log_u)
        return wrong * (2 + wrong).detach()


class Unrecorded(nf.Pointwise, register=False):
    def value(self, log_u):
        wrong = 1 - torch.exp(log_u)
        with torch.no_grad():
            factor = 2 + wrong
        return wrong * factor


class InNumpy(nf.Pointwise, register=False):
    def value(self, log_u):
        wrong = 1 - torch.exp(log_u)
        return wrong * (2 + torch.from_numpy(wrong.detach().numpy()))


PAIRS = [
    *[(kind(), Whole()) for kind in (Detached, Unrecorded)],
    *[(nf.NCE() + kind(), nf.NCE() + Whole()) for kind in (Detached, Unrecorded)],
    *[
        (nf.loss(text.format("True")), nf.loss(text.format("False")))
        for text in (
            "FL(gamma=2, detach={})",
            "NCE + FL(gamma=5, detach={})",
            "Biased(FL(gamma=5, detach={}), eps=3)",
            "NFL(gamma=2, detach={0}) + FL(gamma=0.5, detach={0})",
            "EpsSoftmax(FL(gamma=2, detach={}), m=1)",
        )
    ],
]


@pytest.mark.parametrize(("held", "whole"), PAIRS, ids=str)
@pytest.mark.parametrize("weights", [[0.5, 0.3, 0.2], [0.9, 0.1], [0.6, 0.4, 0.0]])
def test_the_risk_is_least_at_the_same_place(held, whole, weights):
    found, expected = nf.minimise_risk(held, weights), nf.minimise_risk(whole, weights)
    assert found.risk == pytest.approx(expected.risk, rel=1e-9, abs=1e-12)
    torch.testing.assert_close(found.minimiser, expected.minimiser, rtol=0, atol=1e-5)
    assert nf.is_asymmetric(held, weights) == expected.attained


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("kind", [Detached, Unrecorded])
def test_the_ratio_is_the_same(kind, strict):
    expected = nf.asymmetry_ratio(Whole(), strict)
    assert expected == pytest.approx(0.5, rel=1e-4)  # s(u) = 4 - 2u, so s(1) / s(0)
    assert nf.asymmetry_ratio(kind(), strict) == pytest.approx(expected, rel=1e-9)


def test_a_formula_that_leaves_torch_is_answered_as_ever():
    found = nf.minimise_risk(InNumpy(), [0.5, 0.3, 0.2])
    assert found.risk == pytest.approx(nf.minimise_risk(Whole(), [0.5, 0.3, 0.2]).risk, rel=0.01)


def test_training_holds_it_constant_still():
    z = torch.zeros(1, 2, requires_grad=True)
    for loss in (nf.FL(gamma=2, detach=True), Detached(), Unrecorded()):
        nf.minimise_risk(loss, [0.6, 0.4])
        assert torch.is_grad_enabled()
        (gradient,) = torch.autograd.grad(loss(z, torch.tensor([0])), z)
        factor = 0.25 if isinstance(loss, nf.FL) else 2.5 * 0.5
        torch.testing.assert_close(gradient, torch.tensor([[-0.5, 0.5]]) * factor)
