"""The published records make the published tables, to the digit."""

import re
import shlex
from functools import cache
from pathlib import Path

import pytest

from noiseproof.bench import load_grid
from noiseproof.cli import main
from noiseproof.data import load
from noiseproof.results import Store
from noiseproof.results.pack import SUFFIX
from noiseproof.results.verify import verify_store
from noiseproof.train import prepare
from noiseproof.train.experiment import fingerprint

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs/results"
#: A page, and the command that prints it, as docs/results/README.md has them.
COMMANDS = dict(
    re.findall(r"^\| \[([\w.-]+)\].*`noiseproof (bench (?:table|leaderboard) [^`]*)`",
               (PAGES / "README.md").read_text("utf-8"), re.MULTILINE)
)  # fmt: skip


FOUND = Store.found


@cache
def found_once(path):
    """The records of a store, which many tables are made of: reading them takes seconds."""
    store = Store(path)
    records = tuple(FOUND(store))
    assert not store.damaged
    return records


def test_every_page_has_its_command():
    assert set(COMMANDS) == {path.name for path in PAGES.glob("*.md")} - {"README.md"}


@pytest.mark.parametrize("page", sorted(COMMANDS))
def test_the_tables_are_those_of_the_records(page, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(Store, "found", lambda store: found_once(store.path.absolute()))
    assert main(shlex.split(COMMANDS[page])) == 0
    said = capsys.readouterr()
    assert said.out == (PAGES / page).read_text("utf-8")
    assert said.err == ""


def test_all_of_it_is_in_order():
    found = verify_store(Store(ROOT / "results"))
    assert (found.records, found.problems) == (16444, ())
    packed = list((ROOT / "results").iterdir())
    assert {path.name.removesuffix(SUFFIX) for path in packed} == {
        "digits-symmetric", "digits-asymmetric", "mnist-symmetric", "mnist-asymmetric",
        "cifar10-symmetric-frozen", "cifar10-asymmetric-frozen", "cifar10-human-frozen",
        "cifar10-symmetric-linear", "leaderboard-digits", "leaderboard-mnist",
        "leaderboard-cifar10", "leaderboard-cifar10n", "cifar10-hyperparameters-frozen",
        "cifar10-symmetric", "cifar10-asymmetric", "cifar10-hyperparameters",
    }  # fmt: skip
    # Three seeds of the frozen grids, and the trials of the leaderboard: thousands, 0.1 kB each.
    assert sum(path.stat().st_size for path in packed) < 3_000_000


def test_the_digits_and_the_noise_are_those_of_the_records():
    digits = load("digits")
    store = Store(ROOT / f"results/digits-asymmetric{SUFFIX}")
    records = store.records()
    assert {record.fingerprint for record in records.values()} == {fingerprint(digits)}
    for cell in load_grid("digits-asymmetric").select(rows=["CE"], seeds=[2]).cells():
        record = records[cell.key]
        drawn = prepare(digits, cell.recipe, cell.loss, cell.noise, cell.seed)
        assert drawn.identity == record.identity
        assert drawn.corruption.rate == record.noise_rate


@pytest.mark.realdata
def test_mnist_is_that_of_the_records():
    records = Store(ROOT / f"results/mnist-symmetric{SUFFIX}").records().values()
    assert {record.fingerprint for record in records} == {fingerprint(load("mnist"))}
