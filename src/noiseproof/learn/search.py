"""Search further settings with Optuna, which learns from the earlier ones."""

from typing import Any

from noiseproof.extras import need
from noiseproof.learn.learner import Learner
from noiseproof.learn.trials import Folds, Setting, Trial

#: Settings to propose at once; they are trained together.
AT_ONCE = 8


def search(folds: Folds, leader: Learner, trials: int) -> list[Trial]:
    """Try further losses and decays on all folds.

    Args:
        folds: the folds.
        leader: the learner to vary, which takes a loss.
        trials: the number of settings.
    """
    need("search", "optuna")
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.TPESampler(seed=folds.problem.seed)
    )
    done: list[Trial] = []
    while len(done) < trials and not folds.late:
        asked = [study.ask() for _ in range(min(AT_ONCE, trials - len(done)))]
        found = folds.run([Setting(_proposed(one, leader)) for one in asked])
        if len(found) < len(asked):  # the time was up, and which of them ran does not matter
            return done + found
        for one, trial in zip(asked, found, strict=True):
            study.tell(one, trial.accuracy)
        done += found
    return done


def _proposed(trial: Any, base: Learner) -> Learner:
    """Return a learner with a loss and a decay that Optuna suggests."""
    family = trial.suggest_categorical("family", ["CE", "GCE", "AGCE", "AUL", "AEL"])
    if family == "GCE":
        loss = f"GCE(q={_near(trial, 'GCE q', 0.1, 1):g})"
    elif family == "AGCE":
        a, q = _near(trial, "AGCE a", 0.01, 10), _near(trial, "AGCE q", 0.1, 3)
        loss = f"AGCE(a={a:g}, q={q:g})"
    elif family == "AUL":
        a, p = 1 + _near(trial, "AUL a", 0.01, 10), _near(trial, "AUL p", 0.1, 8)
        loss = f"AUL(a={a:g}, p={p:g})"
    elif family == "AEL":
        loss = f"AEL(a={_near(trial, 'AEL a', 0.3, 10):g})"
    else:
        loss = "CE"
    if family not in ("CE", "GCE") and trial.suggest_categorical("with NCE", [False, True]):
        loss = f"NCE + {_near(trial, 'factor', 0.1, 10):g}*{loss}"
    changed = base.with_loss(loss)
    assert changed is not None, "the base takes a loss"
    return changed.varied(decay=float(f"{_near(trial, 'decay', 1e-5, 1e-1):.2g}"))


def _near(trial: Any, name: str, low: float, high: float) -> float:
    """Suggest a number on a logarithmic scale, rounded to two digits."""
    return float(f"{trial.suggest_float(name, low, high, log=True):.2g}")
