"""The excess-risk bound: how far the loss controls the error of the classifier."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from noiseproof.errors import TheoryError
from noiseproof.losses import Loss
from noiseproof.losses.parameter import is_whole
from noiseproof.theory.calibration import conditional_risk, conditional_risks
from noiseproof.theory.interval import as_pointwise, ends
from noiseproof.theory.surroundings import undisturbed

_POINTS = 8
_MOST = 1_000_000  # problems


@dataclass(frozen=True)
class ExcessRiskCheck:
    """How the two sides of the bound compared on simulated binary problems.

    Attributes:
        constant: 2 / (l(0) - l(1)).
        problems: how many were simulated.
        worst_ratio: the largest excess risk over its bound; at most 1 where the bound holds.
        violations: in how many problems it was exceeded.
        holds: whether it was in none.
    """

    constant: float
    problems: int
    worst_ratio: float
    violations: int
    holds: bool


@undisturbed()
def excess_risk_constant(loss: Loss | str) -> float:
    """Return 2 / (l(0) - l(1)); infinite where l(0) is, for then the theorem says nothing.

    Args:
        loss: a pointwise loss or its text.

    Example:
        >>> excess_risk_constant("MAE"), excess_risk_constant("CE")
        (1.0, inf)

    Reference:
        Theorem 2: R_01(f) - R_01* <= constant * (R_l(f) - R_l*), for losses that are completely
        and strictly asymmetric.
    """
    at_zero, at_one = ends(as_pointwise(loss, "the excess-risk constant"))
    if math.isinf(at_zero) or at_zero <= at_one:
        return math.inf
    return 2 / (at_zero - at_one)


@undisturbed()
def check_excess_risk(loss: Loss | str, problems: int = 1000, seed: int = 0) -> ExcessRiskCheck:
    """Compare both sides of the excess-risk bound on random binary problems.

    Each problem has eight points x with random probabilities, a random eta(x), often near 0 or 1,
    and a random prediction f(x), often near 1/2, where the bound is tightest. Either side is an
    exact expectation, R_l* that of H(eta(x)).

    Args:
        loss: a pointwise loss or its text.
        problems: how many to simulate.
        seed: of the simulation.

    Example:
        >>> check_excess_risk("AUL(a=3, p=0.1)").holds  # completely asymmetric
        True
        >>> check_excess_risk("AGCE(a=0.6, q=0.6)").holds  # not completely asymmetric
        False

    Reference:
        Theorem 2.
    """
    loss = as_pointwise(loss, "the excess-risk bound")
    if not is_whole(problems) or not 1 <= problems <= _MOST:
        raise TheoryError(f"expected 1 to {_MOST:,} `problems`, got {problems!r}")
    if not is_whole(seed) or not 0 <= seed < 2**64:
        raise TheoryError(f"expected `seed` to be a whole number from 0 to 2**64 - 1, got {seed!r}")
    constant = excess_risk_constant(loss)
    generator = torch.Generator().manual_seed(int(seed))

    def draw(scale: float) -> Tensor:
        shape = (problems, _POINTS)
        sharp = 10 ** (4 * torch.rand(shape, generator=generator, dtype=torch.float64) - 3)
        return scale * sharp * torch.randn(shape, generator=generator, dtype=torch.float64)

    probability = draw(2.0).softmax(-1)
    eta, logit = torch.sigmoid(draw(2.0)), draw(1.0)
    H, _ = conditional_risks(loss, eta.flatten().numpy())
    excess_loss = conditional_risk(loss, eta, logit) - torch.from_numpy(H).reshape(eta.shape)
    wrong = (logit > 0) != (eta > 0.5)
    left = (probability * wrong * (2 * eta - 1).abs()).sum(-1)
    right = (probability * excess_loss).sum(-1).clamp_min(1e-300) * constant
    # An excess at the level of rounding is none, on either side.
    rounding = 1e-12
    violated = left > right * (1 + 1e-9) + rounding
    ratio = torch.where(left > rounding, left / right.clamp_min(rounding), 0.0)
    return ExcessRiskCheck(
        constant=constant,
        problems=problems,
        worst_ratio=0.0 if math.isinf(constant) else float(ratio.max()),
        violations=int(violated.sum()),
        holds=not bool(violated.any()),
    )
