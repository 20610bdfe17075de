"""What a record must be before anybody averages it: of the right types, possible, consistent."""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from noiseproof.errors import DataError, NoiseError
from noiseproof.known import KNOWN
from noiseproof.models import NAMES as NETWORKS
from noiseproof.noise import parse
from noiseproof.results.key import fingerprint_of_pictures
from noiseproof.train import Recipe
from noiseproof.train.possible import (
    Checks,
    Run,
    check_count,
    check_epoch,
    check_fields,
    check_history,
    is_count,
    is_positive,
    is_share,
    is_time,
    short,
)

STATUSES = ("done", "failed")
_HASH = re.compile(r"[0-9a-f]{64}")
#: Noises whose rate is the share of wrong labels that is expected.
_BY_RATE = ("symmetric", "pair-flip")
#: The noise whose rate is that before truncation, which adds or takes off a tenth at most.
_TRUNCATED, _TENTH = "instance", 0.1
#: Noises that leave some classes alone, so that it is less.
_AT_MOST = ("asymmetric", "superclass")
#: Of an even share, what a class of the published data sets with such noise has at least.
_EVEN = 0.8
#: Standard deviations from it, and labels besides, at which a share is not believed.
_FAR, _FEW = 6, 10


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_hash(value: Any) -> bool:
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def _is_hash_or_empty(value: Any) -> bool:
    return value == "" or _is_hash(value)


_RECORD: Checks = {
    "identity": _is_hash,
    "dataset": _is_text,
    "fingerprint": _is_hash,
    "recipe": lambda value: isinstance(value, dict),
    "recipe_hash": _is_hash,
    "loss": _is_text,
    "noise": _is_text,
    "noise_rate": is_share,
    "noise_hash": _is_hash,
    "train_samples": is_positive,
    "test_samples": is_positive,
    "seed": is_count,
    "status": lambda value: value in STATUSES,
    "failure": _is_text,
    "history": lambda value: isinstance(value, list),
    "seconds": is_time,
    "machine": lambda value: isinstance(value, dict),
    "noiseproof": _is_text,
    "matrix": _is_hash_or_empty,
    "encoded": _is_text,
}


def check_values(values: Mapping[str, Any]) -> None:
    """Raise DataError for a field of a record that is missing, of another type or impossible."""
    check_fields(values, _RECORD)
    for number, row in enumerate(values["history"], start=1):
        check_epoch(row, number)


def check_outcome(values: Mapping[str, Any], recipe: Recipe) -> None:
    """Raise DataError for a record whose fields contradict each other.

    Args:
        values: fields that :func:`check_values` accepted.
        recipe: the recipe among them.
    """
    history, failed = values["history"], values["status"] == "failed"
    if not isinstance(recipe.name, str) or values["recipe_hash"] != recipe.hash:
        raise DataError("the recipe is not the one its hash was made of")
    if recipe.network not in NETWORKS:
        raise DataError(f"this version knows no network {short(recipe.network)}")
    if values["identity"] != identity_of(values):
        raise DataError("the identity is not that of this data, noise, loss, recipe and seed")
    if failed != bool(values["failure"]):
        raise DataError(f"status {values['status']!r} with failure {values['failure']!r}")
    _check_samples(values, recipe)
    _check_noise(values, recipe)
    run = Run(recipe, values["train_samples"], values["test_samples"], values["noise_rate"])
    check_history(history, run, whole=not failed)
    if not math.isclose(values["seconds"], math.fsum(row["seconds"] for row in history)):
        raise DataError(f"seconds is {values['seconds']}, which is not the sum of the epochs'")
    best = max(history, key=lambda row: row["test_accuracy"], default=None)
    for name, row in (("last", history[-1] if history else None), ("best", best)):
        if values.get(name, row) != row:
            raise DataError(f"the {name} epoch is not that of the history")


def _is_published(values: Mapping[str, Any]) -> bool:
    """Return whether the data, or the pictures that features were made of, are those published."""
    known = KNOWN.get(values["dataset"])
    content = fingerprint_of_pictures(values["encoded"]) or values["fingerprint"]
    return known is not None and content == known.fingerprint


def _check_samples(values: Mapping[str, Any], recipe: Recipe) -> None:
    """Raise DataError for numbers of samples that the data and the recipe do not give."""
    there = KNOWN[values["dataset"]].samples if _is_published(values) else (0, 0)
    asked = (recipe.train_size, recipe.held_out), (recipe.test_size, 0)
    for name, total, (size, held) in zip(
        ("train_samples", "test_samples"), there, asked, strict=True
    ):
        found, wanted = values[name] + held, size and size + held
        most = min(total, wanted) if total and wanted else total or wanted
        if most and (found > most or (total and found < most)):
            raise DataError(f"{name} is {values[name]}, and by data and recipe {most - held}")


def _check_noise(values: Mapping[str, Any], recipe: Recipe) -> None:
    """Raise DataError for a share of wrong labels that is not the noise's, which no hash holds."""
    noise, rate, samples = values["noise"], values["noise_rate"], values["train_samples"]
    kind, _, rest = noise.partition(":")
    if values["matrix"] and kind != "matrix":
        raise DataError(f"the hash of a matrix, but the noise is {short(noise)}")
    check_count("noise_rate", rate, samples)
    if kind not in ("none", _TRUNCATED, *_BY_RATE, *_AT_MOST):
        return
    try:
        expected = 0.0 if kind == "none" else float(rest.partition(":")[0])
        above = _far(expected, samples)
    except ValueError:
        raise DataError(f"noise is {short(noise)}") from None
    # An exact number is rounded in each class, and there may be as many classes as samples.
    classes = len(KNOWN[values["dataset"]].classes) if values["dataset"] in KNOWN else samples
    slack = (_FEW + (classes if recipe.exact else 0)) / samples if expected else 0
    slack += _TENTH if kind == _TRUNCATED else 0
    least = expected
    if kind in _AT_MOST:
        least = _EVEN * _mean_rate(noise, values["dataset"]) if _is_published(values) else 0.0
    if not least - _far(least, samples) - slack <= rate <= expected + above + slack:
        raise DataError(f"noise_rate is {rate} with noise {short(noise)}")


def _far(share: float, samples: int) -> float:
    return _FAR * math.sqrt(share * (1 - share) / samples)


@lru_cache
def _mean_rate(noise: str, dataset: str) -> float:
    """Return the share of wrong labels that a noise makes where all classes are as frequent."""
    try:
        transition = parse(noise, dataset=dataset).transition
    except NoiseError as error:
        raise DataError(str(error)) from None
    return 0.0 if transition is None else transition.rate


def identity_of(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what decides a result, as an experiment's ``identity`` has it."""
    names = ("fingerprint", "noise_hash", "loss", "recipe_hash", "seed")
    return hashlib.sha256(json.dumps([values[name] for name in names]).encode()).hexdigest()
