"""Python as if only some modules were installed; far quicker than making a venv.

With this folder first on PYTHONPATH, Python imports this file at its start, and so do the processes
it starts. Of what is in site-packages, only the modules that NOISEPROOF_ONLY lists are then found.
"""

import importlib.machinery
import os
import sys

ALLOWED = {*os.environ["NOISEPROOF_ONLY"].split(), "noiseproof"}


class Only(importlib.machinery.PathFinder):
    """The usual finder, blind to what is not allowed."""

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        spec = super().find_spec(fullname, path, target)
        if path is not None or spec is None or fullname in ALLOWED:
            return spec
        places = [spec.origin or "", *(spec.submodule_search_locations or ())]
        return None if any("site-packages" in place for place in places) else spec


sys.meta_path[sys.meta_path.index(importlib.machinery.PathFinder)] = Only
