"""What the tests of the losses share."""

import pytest

from noiseproof.kernels import small


@pytest.fixture(params=["few rows", "kernel"])
def either_path(request, monkeypatch):
    """The way of a small batch, and the one of a large batch, whatever the size of the batch."""
    if request.param == "kernel":
        monkeypatch.setattr(small, "SMALL", 0)
