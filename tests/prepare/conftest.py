"""Features are made inside `one_thread`, as a fit makes them: threads would wait for each other."""

import pytest

from noiseproof.parallel import one_thread


@pytest.fixture(autouse=True)
def _one_thread():
    with one_thread():
        yield
