"""Calibration and the excess-risk bound, for two classes."""

import math

import numpy as np
import pytest
import torch

from noiseproof.errors import TheoryError
from noiseproof.losses import AGCE, Pointwise
from noiseproof.theory import calibration, check_excess_risk, excess_risk_constant


def entropy(eta):
    return -sum(p * np.log(np.clip(p, 1e-300, 1)) for p in (eta, 1 - eta))


def test_cross_entropy_has_the_entropy_for_h():
    found = calibration("CE")
    np.testing.assert_allclose(found.H, entropy(found.eta), atol=1e-10)
    np.testing.assert_allclose(found.H_minus, math.log(2))
    assert found.calibrated


def test_mae_is_linear_in_eta():
    found = calibration("MAE")
    np.testing.assert_allclose(found.H, 2 * np.minimum(found.eta, 1 - found.eta), atol=1e-14)
    np.testing.assert_allclose(found.H_minus, 1)


def test_a_concave_loss_by_its_formula():
    made = AGCE(a=1.8, q=3)
    l0, l1, half = (float(made.value(torch.tensor(u).double().log())) for u in (1e-300, 1, 0.5))
    found = calibration(made)
    larger = np.maximum(found.eta, 1 - found.eta)
    np.testing.assert_allclose(found.H, larger * l1 + (1 - larger) * l0, atol=1e-12)
    # The wrong vertex comes below the middle where eta is near 1/2.
    wrong = np.minimum(half, larger * l0 + (1 - larger) * l1)
    np.testing.assert_allclose(found.H_minus, wrong, atol=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        *("CE", "FL(gamma=2)", "GCE(q=0.01)", "SCE(alpha=1, beta=1)", "RCE", "AGCE(a=0.6, q=0.6)"),
        *("AGCE(a=0.1, q=5)", "AUL(a=3, p=0.1)", "AUL(a=1.1, p=3)", "AEL(a=1000)", "AEL(a=0.05)"),
    ],
)
def test_every_loss_of_the_paper_is_calibrated(text):
    found = calibration(text, eta=[0.1, 0.4999, 0.7])
    assert found.calibrated
    assert found.fails_at is None
    assert (found.H_minus > found.H).all()


class Satisfied(Pointwise, register=False):
    """No loss at all from u = 0.3 on, so that a guess of 1/2 is as good as any."""

    def value(self, log_u):
        return (0.3 - log_u.exp()).clamp_min(0)


def test_a_loss_that_is_not_calibrated():
    found = calibration(Satisfied())
    assert not found.calibrated
    assert found.fails_at == 0


def test_eta_has_to_be_a_probability():
    with pytest.raises(TheoryError, match="probabilities"):
        calibration("CE", eta=[0.5, 1.5])
    with pytest.raises(TheoryError, match="not pointwise"):
        calibration("NCE")


def test_the_constant():
    assert excess_risk_constant("MAE") == 1
    assert excess_risk_constant("RCE(A=-4)") == 0.5
    assert excess_risk_constant("AEL(a=2)") == pytest.approx(2 / (1 - math.exp(-0.5)))
    assert excess_risk_constant("GCE(q=1e-6)") == pytest.approx(2e-6)
    for text in ("CE", "FL", "SCE(alpha=1, beta=1)"):
        assert excess_risk_constant(text) == math.inf
    with pytest.raises(TheoryError, match="not pointwise"):
        excess_risk_constant("NCE")


@pytest.mark.parametrize(
    "text", ["MAE", "AGCE(a=6, q=1.5)", "AGCE(a=0.1, q=5)", "AUL(a=3, p=0.1)", "AUL(a=1.1, p=0.5)"]
)
def test_the_bound_holds_for_completely_asymmetric_losses(text):
    for seed in range(3):
        found = check_excess_risk(text, problems=500, seed=seed)
        assert found.holds
        assert found.violations == 0
        assert 0.4 < found.worst_ratio <= 1 + 1e-9


@pytest.mark.parametrize("text", ["AGCE(a=0.6, q=0.6)", "AEL(a=2.5)", "GCE(q=0.5)"])
def test_the_bound_fails_for_others(text):
    found = check_excess_risk(text, problems=500)
    assert not found.holds
    assert found.violations > 0
    assert found.worst_ratio > 1.5


def test_an_infinite_constant_bounds_nothing():
    found = check_excess_risk("CE", problems=100)
    assert found.holds
    assert found.worst_ratio == 0
    with pytest.raises(TheoryError, match="problems"):
        check_excess_risk("CE", problems=0)


def test_a_seed_of_numpy_is_a_seed():
    assert check_excess_risk("MAE", 10, np.int64(3)) == check_excess_risk("MAE", 10, 3)
