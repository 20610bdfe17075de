"""What we minimise: every loss written once, as a function of log u, and the algebra of losses."""

from noiseproof.kernels import LogSum, PowerSum, Statistic
from noiseproof.losses.absolute import MAE, RCE
from noiseproof.losses.ael import AEL
from noiseproof.losses.agce import AGCE
from noiseproof.losses.aul import AUL
from noiseproof.losses.base import Loss, registry
from noiseproof.losses.combine import WeightedSum, weighted_sum
from noiseproof.losses.cross_entropy import CE
from noiseproof.losses.expression import loss
from noiseproof.losses.focal import FL
from noiseproof.losses.generalized import GCE
from noiseproof.losses.linear import linear_loss
from noiseproof.losses.negative import NLNL
from noiseproof.losses.normalized import NCE, NFL, NGCE, Normalized
from noiseproof.losses.parameter import parameter
from noiseproof.losses.pointwise import Pointwise, RowLoss
from noiseproof.losses.settings import paper_loss
from noiseproof.losses.symmetric import SCE
from noiseproof.losses.transformed import Transformed

__all__ = [
    "AEL",
    "AGCE",
    "AUL",
    "CE",
    "FL",
    "GCE",
    "MAE",
    "NCE",
    "NFL",
    "NGCE",
    "NLNL",
    "RCE",
    "SCE",
    "LogSum",
    "Loss",
    "Normalized",
    "Pointwise",
    "PowerSum",
    "RowLoss",
    "Statistic",
    "Transformed",
    "WeightedSum",
    "linear_loss",
    "loss",
    "paper_loss",
    "parameter",
    "registry",
    "weighted_sum",
]
