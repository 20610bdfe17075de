"""What treatments go by: held-out opinions on the labels, made by a judge and by neighbours."""

from noiseproof.learn.posterior import Posterior
from noiseproof.learn.treat import Opinion, Opinions
from noiseproof.learn.trials import Folds, Trial


def opinions_of(folds: Folds, judge: Trial, near: Trial | None = None) -> Opinions | None:
    """Return the opinions of a judge and of neighbours; None if the time runs out.

    Those for the training rows of a fold come from models that saw neither the row nor the fold.
    """
    labels, known = folds.problem.labels, folds.problem.known
    by_pairs = folds.pairs(judge.setting.learner)
    near_pairs = None if near is None else folds.pairs(near.setting.learner)
    if by_pairs is None:
        return None
    nested = []
    for f, p in enumerate(by_pairs):
        posterior = Posterior.of(p, labels, folds.fold != f, known)
        nested.append(Opinion(p, None if near_pairs is None else near_pairs[f], posterior))
    whole = Posterior.of(judge.probabilities, labels, known=known)
    neighbours = None if near is None else near.probabilities
    return Opinions(tuple(nested), Opinion(judge.probabilities, neighbours, whole))
