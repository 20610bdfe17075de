"""What every test and doctest starts from: the same seeds, one thread a worker."""

import os
import tempfile

import hypothesis
import numpy as np
import pytest
import torch

hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, print_blob=False)
hypothesis.settings.load_profile("ci")


class _Reseed:
    """Registered by hand: a fixture of this file would not reach the doctests outside tests/."""

    @pytest.fixture(autouse=True)
    def _reseed(self):
        # torch.manual_seed would format a stack for every device that is not there, 20,000 times.
        torch.default_generator.manual_seed(0)
        np.random.seed(0)  # noqa: NPY002  doctests and libraries may use the global one


def pytest_configure(config):
    config.pluginmanager.register(_Reseed(), "noiseproof-reseed")
    # The tensors are small and the workers share the cores: threads would only wait for each other.
    torch.set_num_threads(1)
    # Nothing of the user's is read or written: neither embeddings nor models.
    for name in ("NOISEPROOF_CACHE", "HF_HOME"):
        folder = tempfile.TemporaryDirectory(prefix="noiseproof-test-")
        config.add_cleanup(folder.cleanup)
        os.environ[name] = folder.name


def pytest_collection_modifyitems(items):
    if os.environ.get("NOISEPROOF_DATA"):
        return
    absent = pytest.mark.skip(reason="needs real data sets: set NOISEPROOF_DATA to where they are")
    for item in items:
        if "realdata" in item.keywords:
            item.add_marker(absent)
