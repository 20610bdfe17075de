"""What can be proved or measured of a loss: the paper's definitions and theorems, callable."""

from noiseproof.theory.audit import Audit, audit
from noiseproof.theory.calibration import Calibration, calibration
from noiseproof.theory.conditions import is_asymmetric, is_completely_asymmetric, is_symmetric
from noiseproof.theory.excess_risk import (
    ExcessRiskCheck,
    check_excess_risk,
    excess_risk_constant,
)
from noiseproof.theory.mass import numeric_asymmetry_ratio
from noiseproof.theory.ratio import asymmetry_ratio
from noiseproof.theory.risk import RiskMinimum, minimise_risk
from noiseproof.theory.tolerance import ClassMargin

__all__ = [
    "Audit",
    "Calibration",
    "ClassMargin",
    "ExcessRiskCheck",
    "RiskMinimum",
    "asymmetry_ratio",
    "audit",
    "calibration",
    "check_excess_risk",
    "excess_risk_constant",
    "is_asymmetric",
    "is_completely_asymmetric",
    "is_symmetric",
    "minimise_risk",
    "numeric_asymmetry_ratio",
]
