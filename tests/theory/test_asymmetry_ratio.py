"""The asymmetry ratio: measured against the closed forms, and for losses that have none."""

import math
import time

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from noiseproof.errors import ParameterError, TheoryError
from noiseproof.losses import (
    AEL,
    AGCE,
    AUL,
    CE,
    FL,
    GCE,
    MAE,
    NCE,
    NGCE,
    NLNL,
    RCE,
    SCE,
    Pointwise,
    UnitLogits,
    loss,
    parameter,
    registry,
)
from noiseproof.theory import (
    asymmetry_ratio,
    audit,
    is_asymmetric,
    is_completely_asymmetric,
    is_symmetric,
    numeric_asymmetry_ratio,
)

BOTH = pytest.mark.parametrize("strict", [False, True])


def agce(a, q, strict):
    return (a / (a + 1)) ** abs(1 - q) if strict or q < 1 else 1.0


def aul(a, p, strict):
    return ((a - 1) / a) ** abs(p - 1) if strict or p > 1 else 1.0


def powers(low, high):
    return st.floats(math.log10(low), math.log10(high)).map(lambda x: 10**x)


@BOTH
@pytest.mark.parametrize("q", [0.05, 0.5, 0.9, 0.999, 1, 1.5, 3])
@pytest.mark.parametrize("a", [1e-12, 1e-5, 0.01, 0.6, 1.8, 6, 1e3])
def test_measured_agce_over_its_range(a, q, strict):
    measured = numeric_asymmetry_ratio(AGCE(a=a, q=q), strict)
    assert measured == pytest.approx(agce(a, q, strict), abs=1e-8)


@BOTH
@pytest.mark.parametrize("p", [0.05, 0.1, 0.5, 1, 1.5, 3])
@pytest.mark.parametrize("a", [1 + 1e-6, 1.001, 1.1, 3, 5.5, 1e3])
def test_measured_aul_over_its_range(a, p, strict):
    measured = numeric_asymmetry_ratio(AUL(a=a, p=p), strict)
    assert measured == pytest.approx(aul(a, p, strict), abs=1e-8)


@BOTH
@pytest.mark.parametrize("a", [0.01, 0.1, 0.5, 2.5, 10, 1e3])
def test_measured_ael_over_its_range(a, strict):
    assert numeric_asymmetry_ratio(AEL(a=a), strict) == pytest.approx(math.exp(-1 / a), abs=1e-8)


@settings(max_examples=20)
@given(a=powers(1e-5, 1e3), q=powers(0.05, 3), strict=st.booleans())
def test_measured_agrees_with_the_closed_form_anywhere(a, q, strict):
    for made, exact in (
        (AGCE(a=a, q=q), agce(a, q, strict)),
        (AUL(a=1 + a, p=q), aul(1 + a, q, strict)),
    ):
        assert numeric_asymmetry_ratio(made, strict) == pytest.approx(exact, abs=1e-4)
        assert asymmetry_ratio(made, strict) == pytest.approx(exact, rel=1e-9)


def test_the_errata_values():
    assert round(asymmetry_ratio("AGCE(a=1.8, q=3)", strict=True), 3) == 0.413
    assert round(asymmetry_ratio("AUL(a=3, p=0.1)", strict=True), 3) == 0.694
    assert asymmetry_ratio("AGCE(a=1.8, q=3)") == asymmetry_ratio("AUL(a=3, p=0.1)") == 1
    for text in ("AGCE(a=0.6, q=0.6)", "AUL(a=5.5, p=3)", "AEL(a=2.5)"):
        assert 0.665 < asymmetry_ratio(text) < 0.68
    assert asymmetry_ratio("AGCE(a=1e-5, q=0.5)") == pytest.approx(0.00316, abs=1e-5)


@BOTH
@pytest.mark.parametrize(
    "made", [CE(), FL(gamma=0.5), FL(gamma=2), SCE(alpha=0.1, beta=10), GCE(q=1e-3), GCE(q=0.9)]
)
def test_an_infinite_slope_at_zero_is_a_ratio_of_zero(made, strict):
    assert asymmetry_ratio(made, strict) == numeric_asymmetry_ratio(made, strict) == 0


def test_gce_has_no_ratio_however_near_to_mae():
    assert numeric_asymmetry_ratio(GCE(q=1 - 1e-7)) == 0


@BOTH
@pytest.mark.parametrize("made", [MAE(), RCE(), GCE(q=1), 3 * MAE(), MAE() + RCE()])
def test_linear_losses_have_one(made, strict):
    assert asymmetry_ratio(made, strict) == numeric_asymmetry_ratio(made, strict) == 1


class Wave(Pointwise, register=False):
    """Decreasing, now convex, now concave."""

    def value(self, log_u):
        return 1 - log_u.exp() + 0.1 * torch.sin(6 * log_u.exp())


class Sigmoid(Pointwise, register=False):
    def value(self, log_u):
        return torch.sigmoid(10 * (0.5 - log_u.exp()))


class Kink(Pointwise, register=False):
    def value(self, log_u):
        u = log_u.exp()
        return torch.where(u < 0.3, 1 - u, 0.7 - 0.3 * (u - 0.3))


class Truncated(Pointwise, register=False):
    def value(self, log_u):
        return (1 - torch.exp(log_u / 2)).clamp_max(0.4)


def by_brute_force(made, strict, n=2000):
    u = torch.linspace(0, 1, n + 1, dtype=torch.float64)
    value = made.value(u.clamp_min(1e-300).log()).numpy()
    if strict:
        s = -np.diff(value)
        lowest = np.minimum.accumulate(s)[::-1]
        return (lowest[s > 1e-12] / s[s > 1e-12]).min()
    ratios = [
        ((value[: n + 1 - j] - value[j:]) / (value[0] - value[j])).min()
        for j in range(1, n + 1)
        if value[0] - value[j] > 1e-9
    ]
    return min(ratios)


@BOTH
@pytest.mark.parametrize("made", [Wave(), Sigmoid(), Kink(), Truncated()], ids=str)
def test_a_users_loss_against_brute_force(made, strict):
    assert asymmetry_ratio(made, strict) == pytest.approx(by_brute_force(made, strict), abs=3e-4)


class PowerThroughExpm1(Pointwise, register=False):
    """AUL(a=2, p=2), with a slope that autograd loses below u = 1e-16."""

    def value(self, log_u):
        return (1 - torch.expm1(log_u)) ** 2


def test_a_slope_that_autograd_rounds_away():
    assert asymmetry_ratio(PowerThroughExpm1()) == pytest.approx(0.5, abs=1e-6)
    assert asymmetry_ratio(PowerThroughExpm1(), strict=True) == pytest.approx(0.5, abs=1e-6)


class SlowEnd(Pointwise, register=False):
    """Its slope vanishes at u = 1 as (1 - u)^0.01: 1e-3 still at 1 - u = 1e-300."""

    def value(self, log_u):
        return (-torch.expm1(log_u)) ** 1.01


def test_a_slope_that_vanishes_slowly():
    assert asymmetry_ratio(SlowEnd()) == 0


class Valley(Pointwise, register=False):
    def value(self, log_u):
        return (log_u.exp() - 0.6) ** 2


class Level(Pointwise, register=False):
    def value(self, log_u):
        return 0 * log_u + 1


def test_what_does_not_decrease_is_told_where():
    with pytest.raises(TheoryError, match=r"Valley does not decrease: it rises at u = 0\.\d+"):
        asymmetry_ratio(Valley())
    with pytest.raises(TheoryError, match="constant"):
        asymmetry_ratio(Level())


class Stairs(Pointwise, register=False):
    at: float = parameter(default=0.4)

    def value(self, log_u):
        return (log_u.exp() < self.at).to(log_u.dtype)


def test_what_falls_by_steps_has_no_slope_and_still_a_ratio():
    # Two classes above the step cost nothing more: the second gains what the first does not lose.
    assert asymmetry_ratio(Stairs()) == asymmetry_ratio(Stairs(), strict=True) == 0
    assert not is_completely_asymmetric(Stairs(), classes=3)
    # No two classes fit above this one.
    assert asymmetry_ratio(Stairs(at=0.6)) == 1


def test_a_registered_loss_is_read_from_text():
    class Brier(Pointwise):
        def value(self, log_u):
            return torch.expm1(log_u) ** 2

    try:
        assert asymmetry_ratio("NCE + 2*Brier") == 0
    finally:
        del registry["Brier"]


def test_sums():
    whole = numeric_asymmetry_ratio("AGCE(a=1, q=0.5) + MAE")
    # Slopes (1 + u)^-1/2 + 2: least at 1, largest at 0.
    assert whole == pytest.approx((2**-0.5 + 2) / 3, abs=1e-8)
    assert asymmetry_ratio(4 * AGCE(a=1, q=0.5)) == AGCE(a=1, q=0.5).asymmetry_ratio()
    assert asymmetry_ratio("NCE + 4*AGCE(a=1, q=0.5)") == AGCE(a=1, q=0.5).asymmetry_ratio()
    assert asymmetry_ratio("NCE + MAE") == asymmetry_ratio("NFL + RCE") == 1


def test_the_others():
    assert asymmetry_ratio(NCE()) == 1
    for made in (NLNL(), NGCE(q=0.7), NGCE(q=0.7) + MAE()):
        with pytest.raises(TheoryError, match="ask is_asymmetric"):
            asymmetry_ratio(made)
    with pytest.raises(TheoryError, match="not pointwise"):
        asymmetry_ratio(NCE(), strict=True)
    with pytest.raises(ParameterError, match="expected a loss"):
        asymmetry_ratio(3)


@pytest.mark.parametrize(
    "ask",
    [asymmetry_ratio, audit, lambda asked: is_symmetric(asked, classes=3),
     lambda asked: is_asymmetric(asked, [0.6, 0.3, 0.1])],
)  # fmt: skip
def test_a_text_is_asked_about_as_the_loss_it_is(ask):
    for asked in ("UnitLogits(CE)", UnitLogits(CE())):
        with pytest.raises(TheoryError, match="not a function of the probabilities"):
            ask(asked)


def test_it_takes_less_than_two_seconds():
    made = loss("AGCE(a=1e-5, q=0.3) + AUL(a=3, p=2) + AEL(a=2)")
    start = time.process_time()  # of this process: others may be busy
    numeric_asymmetry_ratio(made)
    assert time.process_time() - start < 2
