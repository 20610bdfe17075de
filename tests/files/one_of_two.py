"""What another process does to a folder or file while the test is at work on it.

Without torch, so that it starts quickly.
"""

import importlib.util
import json
import os
import sys
import time
import types
from pathlib import Path

if __name__ == "__main__":  # and not where pytest looks for doctests
    package = types.ModuleType("noiseproof")  # in place of the real one, which imports torch
    package.__path__ = importlib.util.find_spec("noiseproof").submodule_search_locations
    sys.modules["noiseproof"] = package
    os.fsync = lambda _: None  # it takes time only

from noiseproof import files
from noiseproof.errors import ParameterError
from noiseproof.files.part import clean


def ask(path: Path) -> None:
    """Do all that a process does which may not, or not yet, replace what is there."""
    files.check_file(path.with_name("other"))
    try:
        files.check_folder(path)
    except ParameterError:
        clean(path)
    else:
        raise AssertionError("it may be replaced without force")


def replace(path: Path) -> None:
    """Replace a folder again and again; print how often, and everything that went wrong."""
    count, wrong, until = 0, [], time.monotonic() + 3
    while time.monotonic() < until:
        count += 1
        try:
            with files.replacing(path, force=True) as made:
                for name in "abcd":
                    (made / name).write_text(f"{os.getpid()} {count}")
        except Exception as error:
            wrong.append(f"{type(error).__name__}: {error}")
    print(json.dumps([count, wrong]))


if __name__ == "__main__":
    globals()[sys.argv[1]](Path(sys.argv[2]))
