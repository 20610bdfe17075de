"""The table of a grid has our numbers in the right cells, the paper's beside them, and says how."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from latex import complaints
from made_records import made

from noiseproof import bench
from noiseproof.bench.collect import Collected
from noiseproof.bench.pages.report import variants
from noiseproof.bench.pages.tables import results_table
from noiseproof.cli import main
from noiseproof.errors import ParameterError
from noiseproof.report.table import render
from noiseproof.results import Store


def collected(grid, accuracies, failed=()):
    """A grid of which a store has these: accuracy by (row, noise, seed)."""
    records = {}
    for cell in grid.cells():
        place = cell.row, cell.noise, cell.seed
        if place in accuracies:
            records[cell.key] = made(cell, accuracies[place])
        elif place in failed:
            records[cell.key] = made(cell, 0.5, status="failed")
    return bench.Collected(grid, records)


@pytest.fixture(scope="module")
def mnist():
    return bench.load_grid("mnist-symmetric")


def entry(table, row, noise):
    entries = next(r.entries for r in table.rows if r.name == row)
    return entries[table.columns.index(noise)]


def test_means_deviations_and_the_papers_numbers(mnist):
    found = {("AGCE", "symmetric:0.8", s): a for s, a in ((1, 0.96), (2, 0.97), (3, 0.965))}
    found["CE", "symmetric:0.8", 2] = 0.2184
    table = results_table(collected(mnist, found, failed={("SCE", "none", 1), ("AGCE", "none", 3)}))
    agce = entry(table, "AGCE", "symmetric:0.8")
    assert agce.mean == pytest.approx(96.5)
    assert agce.std == pytest.approx(50**0.5 / 10 / 3**0.5)  # sqrt((.5² + .5² + 0) / 3)
    assert (agce.count, agce.planned, agce.state) == (3, 3, "done")
    assert (agce.paper.mean, agce.paper.std) == (96.59, 0.12)
    assert agce.difference == pytest.approx(-0.09)
    ce = entry(table, "CE", "symmetric:0.8")
    assert (ce.mean, ce.std, ce.count) == (pytest.approx(21.84), None, 1)
    assert ce.gap == "-0.82"
    assert entry(table, "SCE", "none").state == "failed"
    assert entry(table, "GCE", "none").state == "missing"
    assert "Of 70 cells: 66 missing (left blank), 2 failed, 1 with fewer seeds" in render(table)


@pytest.mark.parametrize("name", bench.grid_names())
def test_every_grid_has_a_table_and_every_cell_of_the_papers_its_number(name):
    grid = bench.load_grid(name).select(seeds=[1])
    table = results_table(collected(grid, {}))
    cells = [e for row in table.rows for e in row.entries]
    assert len(cells) == len(grid.rows) * len(grid.noises)
    if grid.paper:
        assert all(e.paper for e in cells)
    assert not any("in the paper" in note for note in table.notes)
    other = ("cifar10-hyperparameters", "leaderboard-mnist")  # and that they say so is right
    assert not table.notes[0].count("Deviations") or name in other


def test_deviations_are_in_the_caption(mnist):
    quick = results_table(collected(mnist.select(recipe="quick"), {}))
    assert (
        "Deviations from the paper's: epochs 18 (not 50), train_size 8000 (not 0), "
        "test_size 5000 (not 0)."
    ) in quick.caption[-1]
    staged = replace(mnist, rows=(*mnist.rows, bench.Row("staged", "NLNL", "nlnl")))
    assert results_table(collected(staged, {})).caption[-1] == (
        "staged is trained by the method nlnl."
    )
    assert (quick.about["grid"], quick.about["recipe"]) == ("mnist-symmetric", "quick")
    paper = results_table(collected(mnist, {}))
    assert "It is the paper's." in paper.caption[-1]
    other = results_table(collected(replace(mnist, overrides={"lr": 0.02}), {}))
    assert "Deviations from the paper's: lr 0.02 (not 0.01)." in other.caption[-1]
    digits = results_table(collected(bench.load_grid("digits-symmetric"), {}))
    assert any("The paper has no recipe for digits." in note for note in digits.notes)


def test_noise_that_is_not_the_papers_is_in_the_caption():
    grid = bench.load_grid("cifar100-asymmetric")
    words = "flips other labels"
    assert words in " ".join(results_table(collected(grid, {})).caption)
    theirs = grid.select(noises=["asymmetric:0.4:released"])
    table = results_table(collected(theirs, {}))
    assert words not in " ".join(table.caption)
    assert entry(table, "CE", "asymmetric:0.4:released").paper.mean == 40.17


def test_a_loss_of_the_users_own_has_a_row_and_no_number_of_the_papers(mnist):
    grid = mnist.with_row("MINE=AGCE(a=2, q=1.2)").select(rows=["CE", "MINE"])
    table = results_table(collected(grid, {("MINE", "none", 1): 0.5}))
    assert [row.name for row in table.rows] == ["CE", "MINE"]
    mine = entry(table, "MINE", "none")
    assert (mine.mean, mine.paper) == (50.0, None)


def test_another_loss_under_a_name_of_the_papers_is_said(mnist):
    grid = replace(mnist, rows=(bench.Row("AGCE", "AGCE(a=2, q=1.2)"),))
    notes = results_table(collected(grid, {})).notes
    assert notes[-1] == "AGCE is AGCE(a=2, q=1.2) here, in the paper AGCE(a=4, q=0.2)."


def test_an_unknown_table_of_the_paper(mnist):
    with pytest.raises(ParameterError, match="no table 'mnst' in the paper; did you mean 'mnist'"):
        results_table(collected(replace(mnist, paper="mnst"), {}))


@pytest.fixture
def store(mnist, tmp_path):
    """A store with one seed of two rows of mnist-symmetric, of the quick recipe."""
    grid = mnist.select(["CE", "AGCE"], ["none", "symmetric:0.8"], [1], "quick")
    for place, record in zip(grid.cells(), (0.981, 0.982, 0.25, 0.953), strict=True):
        Store(tmp_path / "store").put(made(place, record))
    return tmp_path / "store"


SELECTION = ["--rows", "CE,AGCE", "--noise", "none,symmetric:0.8", "--seeds", "1"]


def test_the_command_prints_it(store, capsys):
    code = main(
        ["bench", "table", "mnist-symmetric", f"--store={store}", "--recipe=quick", *SELECTION]
    )
    said = capsys.readouterr()
    assert (code, said.err) == (0, "")
    lines = said.out.splitlines()
    assert lines[0] == "## MNIST with symmetric noise"
    assert lines[-4:] == [
        "| CE      |         98.10 |         25.00 |",
        "| *paper* | 99.15 (-1.05) | 22.66 (+2.34) |",
        "| AGCE    |         98.20 |         95.30 |",
        "| *paper* | 99.05 (-0.85) | 96.59 (-1.29) |",
    ]
    assert "missing" not in said.out


def test_the_command_writes_it(store, tmp_path, capsys):
    out = tmp_path / "table.json"
    code = main(
        ["bench", "table", "mnist-symmetric", f"--store={store}", "--recipe=quick", *SELECTION,
         "--add-loss=MINE=AGCE(a=2, q=1.2)", "--rows=MINE", "--format=json", f"--out={out}"]
    )  # fmt: skip
    assert (code, capsys.readouterr().out) == (0, f"wrote {out}\n")
    cells = json.loads(out.read_text("utf-8"))["cells"]
    assert [(c["method"], c["noise"], c["state"]) for c in cells] == [
        ("CE", "none", "done"),
        ("CE", "symmetric:0.8", "done"),
        ("AGCE", "none", "done"),
        ("AGCE", "symmetric:0.8", "done"),
        ("MINE", "none", "missing"),
        ("MINE", "symmetric:0.8", "missing"),
    ]


def test_where_the_numbers_may_be(store, capsys):
    (store / "mnist-CE-none-seed1-0123456789.json").write_text("{")
    assert main(["bench", "table", "mnist-symmetric", f"--store={store}", *SELECTION]) == 0
    said = capsys.readouterr().err.splitlines()
    assert "mnist-CE-none-seed1-0123456789.json.damaged: damaged, to be run again" in said[0]
    assert said[1:] == [
        f"noiseproof: {store} has nothing of this; "
        f"`noiseproof bench run mnist-symmetric {' '.join(SELECTION)} --store {store}` fills it",
        f"noiseproof: {store} has 4 cells with --recipe quick",
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["mnist-symetric"], "unknown grid 'mnist-symetric'; did you mean 'mnist-symmetric'"),
        (["mnist-symmetric", "--rows=AGEC"], "no row 'AGEC' in mnist-symmetric; did you mean"),
        (["mnist-symmetric", "--noise=symetric:1"], "unknown noise 'symetric'"),
        (["mnist-symmetric", "--store=nowhere"], "nowhere: no such folder of records"),
        (["mnist-symmetric", "--format=docx"], "unknown format 'docx'; known: csv, html"),
        (["mnist-symmetric", "--out=."], ". is not a plain file; it is left as it is"),
        (["mnist-symmetric", "--recipe=slow"], "unknown recipe 'slow'"),
    ],
)
def test_mistakes_are_one_line(store, arguments, says, capsys, monkeypatch):
    monkeypatch.chdir(store.parent)
    assert main(["bench", "table", "--store=store", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert says in said.err
    assert said.err.count("\n") == 1


def test_latex_compiles_every_table(tmp_path):
    store = Store(Path(__file__).parents[2] / "results")  # as published
    records, texts = store.records(), []
    for name in bench.grid_names():
        for grid in variants(bench.load_grid(name)):
            texts.append(render(results_table(bench.Collected(grid, records)), "latex"))
    assert len(texts) > len(bench.grid_names())
    assert complaints(tmp_path, *texts) == []
    assert complaints(tmp_path, *texts, options="[twocolumn]") == []


def test_a_row_of_the_papers_that_is_recommended_is_said_to_be(tmp_path):
    (tmp_path / "mine.toml").write_text(
        'dataset = "mnist"\nrecipe = "quick"\npaper = "mnist"\nnoises = ["symmetric:0.4"]\n'
        '[rows]\nAGCE = "recommend"\nCE = "CE"\n'
    )
    table = results_table(Collected(bench.load_grid(tmp_path / "mine.toml"), {}))
    assert "AGCE is recommend here, in the paper AGCE(a=4, q=0.2)." in table.notes
