"""The comparison that `learn` goes by: kinds of head, then losses, then treatments."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from noiseproof.learn.choose import Setting, Trial, mean_and_error
from noiseproof.learn.head import Kind, Training
from noiseproof.learn.trials import Bench

DECAY = 1e-3
DECAYS = (1e-4, 1e-3, 3e-3, 1e-2, 3e-2)
#: Of a head that decay draws to naive Bayes: there is no harm in much of it.
BAYES_DECAYS = (*DECAYS, 1e-1)
#: Compared when it is still unknown how noisy the labels are.
SCOUTS = ("CE", "GCE(q=0.7)")
#: With fewer rows than this, a rung of the comparison tells too little about a fold or two.
SMALL = 3000
KEPT = 3


@dataclass(frozen=True)
class Scouted:
    """What a first look showed.

    Args:
        training: with the kind of head that suits the data.
        plain_decay: the decay that suits CE.
        robust_decay: the decay that suits a robust loss.
        robust: the best trial of a robust loss.
    """

    training: Training
    plain_decay: float
    robust_decay: float
    robust: Trial


def scout(bench: Bench, training: Training, kinds: Sequence[Kind]) -> Scouted:
    """Choose the kind of head and how strongly its weights decay, by short runs.

    The first kind is kept unless another is better by more than a standard error.
    """
    found: list[tuple[Training, list[Trial], Trial]] = []
    for kind in kinds:
        chosen = replace(training, kind=kind)
        decays = BAYES_DECAYS if kind == "bayes" else DECAYS
        settings = [Setting(loss, decay) for loss in SCOUTS for decay in decays]
        trials = bench.run(settings, quick(chosen), few_folds(bench))
        found.append((chosen, trials, best(trials)))
    leader = found[0]
    for other in found[1:]:
        if ahead(other[2], leader[2]):
            leader = other
    training, trials, _ = leader
    plain, robust = (best([t for t in trials if t.setting.loss == loss]) for loss in SCOUTS)
    return Scouted(training, plain.setting.decay, robust.setting.decay, robust)


def compare(bench: Bench, scouted: Scouted, losses: Sequence[str]) -> list[Trial]:
    """Compare losses by successive halving: all in short runs, the best in full ones.

    CE, with the decay that suits it, is always among those that stay.
    """
    robust = [Setting(loss, scouted.robust_decay) for loss in losses if loss != "CE"]
    if len(robust) > KEPT:
        trials = bench.run(robust, quick(scouted.training), few_folds(bench))
        trials.sort(key=lambda trial: -trial.accuracy)
        robust = [trial.setting for trial in trials[:KEPT]]
    return bench.run([Setting("CE", scouted.plain_decay), *robust], scouted.training)


def treat(bench: Bench, training: Training, trials: list[Trial]) -> list[Trial]:
    """Try on the best of some trials what can be done about doubtful labels."""
    leader = best(trials).setting
    nested = bench.pairs(leader, training)
    treated = [
        Setting(leader.loss, leader.decay, treatment)
        for treatment in ("drop", "weigh", "refine", "forward")
    ]
    return bench.run(treated, training, nested=nested)


def best(trials: Sequence[Trial]) -> Trial:
    """Return the trial that predicts most."""
    return max(trials, key=lambda trial: trial.accuracy)


def ahead(one: Trial, other: Trial) -> bool:
    """Return whether one predicts more than the other by more than a standard error."""
    gain, error = mean_and_error(one.right - other.right, other.share)
    return gain > error


def quick(training: Training) -> Training:
    """Return a third of the training."""
    return replace(training, epochs=-(-training.epochs // 3), steps=training.steps // 3)


def few_folds(bench: Bench) -> int:
    """Return how many folds a short run holds out."""
    return bench.folds if len(bench.labels) < SMALL else min(2, bench.folds)
