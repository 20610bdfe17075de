"""Search further settings with Optuna, which learns from the earlier ones."""

from typing import Any

from noiseproof.extras import need
from noiseproof.learn.learner import Learner
from noiseproof.learn.trials import Folds, Setting, Trial

#: Settings to propose at once; they are trained together.
AT_ONCE = 8
#: Optuna may propose a setting again. How often to ask, for each setting that is wanted.
MOST_ASKED = 10


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
    sampler = optuna.samplers.TPESampler(seed=folds.problem.seed % 2**32)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    done: dict[Setting, Trial] = {}
    while len(done) < trials and len(study.trials) < MOST_ASKED * trials and not folds.late:
        asked = [study.ask() for _ in range(min(AT_ONCE, trials - len(done)))]
        settings = [Setting(_proposed(one, leader)) for one in asked]
        done |= {t.setting: t for t in folds.run([s for s in settings if s not in done])}
        if not all(setting in done for setting in settings):  # the time was up
            break
        for one, setting in zip(asked, settings, strict=True):
            study.tell(one, done[setting].accuracy)
    return list(done.values())


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
