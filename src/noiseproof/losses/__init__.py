"""What we minimise: every loss written once, as a function of log u, and the algebra of losses."""

from noiseproof.kernels import LogSum, PowerSum, Statistic
from noiseproof.losses.absolute import MAE, RCE
from noiseproof.losses.active_negative import NNCE, NNFL, l1_penalty
from noiseproof.losses.ael import AEL
from noiseproof.losses.agce import AGCE
from noiseproof.losses.amse import AMSE
from noiseproof.losses.aul import AUL
from noiseproof.losses.base import Loss, registry
from noiseproof.losses.biased import Biased
from noiseproof.losses.clipped import ClippedCE
from noiseproof.losses.combine import WeightedSum
from noiseproof.losses.cross_entropy import CE
from noiseproof.losses.eps_softmax import EpsSoftmax
from noiseproof.losses.expression import loss
from noiseproof.losses.focal import FL
from noiseproof.losses.generalized import GCE
from noiseproof.losses.linear import linear_loss
from noiseproof.losses.negative import NLNL
from noiseproof.losses.normalized import NCE, NFL, NGCE, Normalized
from noiseproof.losses.parameter import parameter
from noiseproof.losses.pointwise import Pointwise, RowLoss
from noiseproof.losses.settings import paper_loss
from noiseproof.losses.sparse import Spread, UnitLogits
from noiseproof.losses.symmetric import SCE
from noiseproof.losses.transformed import Transformed

__all__ = [
    "AEL",
    "AGCE",
    "AMSE",
    "AUL",
    "CE",
    "FL",
    "GCE",
    "MAE",
    "NCE",
    "NFL",
    "NGCE",
    "NLNL",
    "NNCE",
    "NNFL",
    "RCE",
    "SCE",
    "Biased",
    "ClippedCE",
    "EpsSoftmax",
    "LogSum",
    "Loss",
    "Normalized",
    "Pointwise",
    "PowerSum",
    "RowLoss",
    "Spread",
    "Statistic",
    "Transformed",
    "UnitLogits",
    "WeightedSum",
    "l1_penalty",
    "linear_loss",
    "loss",
    "paper_loss",
    "parameter",
    "registry",
]
