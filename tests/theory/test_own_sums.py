"""A sum with a loss of one's own, written with expm1, is judged like the same loss with exp."""

import pytest
import torch

import noiseproof as nf


class Shrinking(nf.Pointwise, register=False):
    t: int = nf.parameter(default=1, at_least=1)

    def value(self, log_u):
        wrong = -torch.expm1(log_u)
        return sum(wrong**n / n for n in range(1, self.t + 1))


class Plain(nf.Pointwise, register=False):
    t: int = nf.parameter(default=1, at_least=1)

    def value(self, log_u):
        wrong = 1 - torch.exp(log_u)
        return sum(wrong**n / n for n in range(1, self.t + 1))


@pytest.mark.parametrize("t", [1, 2, 4])
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "other", [nf.MAE(), 0.1 * nf.MAE(), nf.AUL(a=3, p=2), nf.AGCE(a=1, q=2), nf.AGCE(a=1, q=0.5)]
)
def test_the_ratio_of_a_sum(t, strict, other):
    found = nf.asymmetry_ratio(Shrinking(t=t) + other, strict=strict)
    assert found == pytest.approx(nf.asymmetry_ratio(Plain(t=t) + other, strict=strict), rel=1e-5)


@pytest.mark.parametrize("other", [nf.MAE(), 0.1 * nf.MAE(), nf.AGCE(a=1, q=1)])
def test_a_straight_line_has_a_ratio_of_one(other):
    assert nf.asymmetry_ratio(Shrinking() + other) == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("power", [0.3, 0.5, 0.9])
@pytest.mark.parametrize("wrong", [lambda x: -torch.expm1(x), lambda x: 1 - torch.exp(x)])
def test_a_slope_that_is_infinite_where_the_loss_is_0(power, wrong):
    class Steep(nf.Pointwise, register=False):
        def value(self, log_u):
            root = wrong(log_u).sqrt() if power == 0.5 else wrong(log_u) ** power
            return root + 0.1 * wrong(log_u)

    found = nf.audit(Steep(), classes=4)  # concave, so that no part moved gains less than it loses
    assert (found.ratio, found.completely_asymmetric) == (1, True)
    assert found.strict_ratio == 0
