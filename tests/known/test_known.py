"""One entry holds every fact of a data set: adding one is one entry, and a reader if need be."""

import ast
import hashlib
from pathlib import Path

import pytest

import noiseproof
from noiseproof import data, noise, train
from noiseproof.errors import DataError
from noiseproof.known import KNOWN, File, Known

TEXTS = {"train.txt": "0 1 0\n1 0 1\n0 2 2\n" * 4, "test.txt": "0 1 0\n1 0 1\n"}


@pytest.fixture
def cows(monkeypatch, tmp_path):
    """A throw-away data set, here and now: everything that is known of it is in this entry."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    entry = Known(
        "cows",
        "Cows: 12 + 2 rows of 2 numbers, 3 classes",
        reader="plain_text_set",
        classes=("calf", "heifer", "cow"),
        files=tuple(
            File(f"cows/{name}", "http://cows.invalid", hashlib.md5(text.encode()).hexdigest())
            for name, text in TEXTS.items()
        ),
        samples=(12, 2),
        confusions={0: 1},
        groups=("young", "young", "old"),
        recipes={"quick": {"network": "linear", "epochs": 2, "batch": 4}},
    )
    monkeypatch.setitem(KNOWN, "cows", entry)
    (tmp_path / "cows").mkdir()
    for name, text in TEXTS.items():
        (tmp_path / "cows" / name).write_text(text)
    return tmp_path


def test_a_new_data_set_is_one_entry(cows):
    parts = data.load("cows", cows)
    assert parts.train.classes == ("calf", "heifer", "cow")
    assert [c.state for c in data.verify("cows", cows)] == ["ok", "ok"]
    assert {a.name: a.where for a in data.available(cows)}["cows"] == cows
    assert noise.parse("asymmetric:0.2", dataset="cows").transition.matrix[0].tolist() == [
        0.8, 0.2, 0,
    ]  # fmt: skip
    assert noise.superclass("cows", 0.5).matrix[1].tolist() == [0.5, 0.5, 0]
    recipe = train.recipe("cows")
    assert (recipe.network, recipe.name) == ("linear", "quick")
    outcome, _ = train.prepare(parts, recipe, "CE", "asymmetric:0.2").run()
    assert len(outcome.history) == 2


def test_its_files_are_checked_like_any_other(cows):
    (cows / "cows" / "train.txt").write_text("0 0 0\n")
    with pytest.raises(DataError, match=r"train.txt is not the published file of cows"):
        data.load("cows", cows)
    assert len(data.load("cows", cows, verify=False).train) == 1


def test_no_other_file_asks_for_a_data_set_by_its_name():
    root = Path(noiseproof.__file__).parent
    # The paper's own tables are keyed by its names; the demonstration loads the digits.
    apart = {root / "demo.py", *(root / "known").iterdir(), *(root / "paper").iterdir()}
    found = []
    for path in set(root.rglob("*.py")) - apart:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and node.value in list(KNOWN):
                found.append(f"{path.relative_to(root)}:{node.lineno} {node.value!r}")
    assert found == []


@pytest.mark.parametrize("name", KNOWN)
def test_an_entry_fits_together(name):
    entry = KNOWN[name]
    K = len(entry.classes)
    assert entry.name == name
    assert len(set(entry.classes)) == K
    for mapping in (entry.confusions, *entry.released):
        assert all(0 <= i < K and 0 <= j < K and i != j for i, j in mapping.items())
    assert len(entry.groups) in (0, K)
    assert len(entry.mean) == len(entry.std)
    assert bool(K) != bool(entry.labels_of)
    assert entry.labels_of in ("", *KNOWN)
    for which in entry.recipes:
        assert train.recipe(name, which).name == which
