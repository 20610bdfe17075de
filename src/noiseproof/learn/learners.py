"""All learners; importing this file fills the registry. A new learner needs one line here."""

from noiseproof.learn.bayes import Bayes
from noiseproof.learn.boosting import Boosting
from noiseproof.learn.discriminant import Discriminant
from noiseproof.learn.hidden import Hidden
from noiseproof.learn.learner import Learner, registry
from noiseproof.learn.linear import Linear
from noiseproof.learn.neighbours import Neighbours
from noiseproof.learn.quadratic import Quadratic
from noiseproof.learn.trees import Trees

__all__ = [
    "Bayes",
    "Boosting",
    "Discriminant",
    "Hidden",
    "Learner",
    "Linear",
    "Neighbours",
    "Quadratic",
    "Trees",
    "registry",
]
