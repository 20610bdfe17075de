"""What pyproject.toml declares, and which modules that makes importable."""

import re
import tomllib
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def distributions(*extras: str) -> frozenset[str]:
    """The distributions that ``pip install noiseproof[extras]`` names, not what those bring."""
    found = set()
    waiting = [*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    while waiting:
        requirement = Requirement(waiting.pop())
        if requirement.name == "noiseproof":
            waiting += [line for extra in requirement.extras for line in EXTRAS[extra]]
        else:
            found.add(canonical(requirement.name))
    return frozenset(found)


@cache
def with_their_own(roots: frozenset[str]) -> frozenset[str]:
    """The distributions and all that they need in turn, as installed here."""
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = canonical(waiting.pop())
        if name in found:
            continue
        found.add(name)
        needed = map(Requirement, metadata.requires(name) or ())
        waiting += [r.name for r in needed if not r.marker or r.marker.evaluate({"extra": ""})]
    return frozenset(found)


@cache
def _modules() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for module, names in metadata.packages_distributions().items():
        for name in names:
            found.setdefault(canonical(name), set()).add(module)
    return found


def modules(names: frozenset[str]) -> set[str]:
    """The top-level modules of some distributions."""
    return set().union(*(_modules().get(name, set()) for name in names))
