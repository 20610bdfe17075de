"""Every test has a cache of its own."""

import pytest


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("NOISEPROOF_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(autouse=True)
def _nothing_loaded():
    from noiseproof.prepare.encoders import choose

    choose._loaded.clear()
