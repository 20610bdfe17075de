import pytest


@pytest.fixture(autouse=True)
def _a_cache_of_its_own(monkeypatch, tmp_path_factory):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
