"""Print constraints that hold every dependency at the lower bound pyproject.toml gives it.

    python scripts/oldest_versions.py > oldest.txt

torch keeps the version of constraints.txt: older ones for the CPU are not on PyPI. So do the tools
that test, which are no dependencies of a user.
"""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ("dev", "all")


def main() -> None:
    """Print a line for each dependency, then the pins of the others that no bound names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    lines = [*project["dependencies"], *(x for e in extras if e not in TOOLS for x in extras[e])]
    bounds = dict(found.groups() for line in lines if (found := re.match(r"([\w-]+)>=(.+)", line)))
    del bounds["torch"]
    tools = {re.split(r"[>=\[]", line)[0] for line in extras["dev"]} | {"torch"}
    for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines():
        if line.split("==")[0].lower() in tools:
            print(line)
    for name, version in bounds.items():
        print(f"{name}=={version}")


if __name__ == "__main__":
    main()
