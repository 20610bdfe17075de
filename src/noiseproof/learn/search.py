"""Further settings, proposed by optuna from what the earlier ones reached."""

from typing import Any

from noiseproof.extras import need
from noiseproof.learn.choose import Setting, Trial
from noiseproof.learn.head import Training
from noiseproof.learn.trials import Bench

#: Settings proposed at once: their heads are trained together.
AT_ONCE = 8


def search(bench: Bench, training: Training, trials: int) -> list[Trial]:
    """Try so many settings on all folds, and return the trials.

    Args:
        bench: what to try them on.
        training: how.
        trials: how many.
    """
    need("search", "optuna")
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(
        direction="maximize", sampler=optuna.samplers.TPESampler(seed=bench.seed)
    )
    done: list[Trial] = []
    while len(done) < trials:
        asked = [study.ask() for _ in range(min(AT_ONCE, trials - len(done)))]
        found = bench.run([_proposed(one) for one in asked], training)
        for one, trial in zip(asked, found, strict=True):
            study.tell(one, trial.accuracy)
        done += found
    return done


def _proposed(trial: Any) -> Setting:
    """Draw a setting: a loss of one of the families, and how strongly weights decay."""
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
    return Setting(loss, float(f"{_near(trial, 'decay', 1e-5, 1e-1):.2g}"))


def _near(trial: Any, name: str, low: float, high: float) -> float:
    """Draw a number on a logarithmic scale, to two digits."""
    return float(f"{trial.suggest_float(name, low, high, log=True):.2g}")
