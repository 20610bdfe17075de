"""All learners, one file each beside what they are built on; importing this fills the registry."""

from noiseproof.learn.learner import Learner, registry
from noiseproof.learn.learners.bayes import Bayes
from noiseproof.learn.learners.boosting import Boosting
from noiseproof.learn.learners.discriminant import Discriminant
from noiseproof.learn.learners.hidden import Hidden
from noiseproof.learn.learners.linear import Linear
from noiseproof.learn.learners.neighbours import Neighbours
from noiseproof.learn.learners.quadratic import Quadratic
from noiseproof.learn.learners.trees import Trees

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
