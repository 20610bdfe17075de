"""The leaderboard: trials, what is chosen by held-out labels, ranks, and a row of one's own."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from small_grid import write_blobs

from noiseproof.advise import recommend
from noiseproof.bench import Collected, grid_names, load_grid
from noiseproof.bench.advised import RECOMMEND, advised_loss
from noiseproof.bench.engines.engine import Settings
from noiseproof.bench.engines.run_cell import run_stack
from noiseproof.bench.engines.scheduler import Tally
from noiseproof.bench.engines.stack import Stacked, cells_in
from noiseproof.bench.grid_file import expand
from noiseproof.bench.leaderboard import Board, Column, board
from noiseproof.bench.pages.leaderboard_page import page
from noiseproof.bench.run import run_grids
from noiseproof.bench.trials import draw_trials
from noiseproof.cli import main
from noiseproof.errors import DataError, NoiseError, ParameterError
from noiseproof.noise import parse
from noiseproof.paper import LATER, METHODS
from noiseproof.progress import SILENT
from noiseproof.results import Record, Store
from noiseproof.results.verify import verify_store

TOML = """
dataset = "blobs.npz"
noises = ["symmetric:0.2", "symmetric:0.4"]
seeds = [1]
trials = 3

[rows]
CE = "CE"
AGCE = "AGCE(a=1, q=0.5)"
recommend = "recommend"

[overrides]
network = "linear"
epochs = 3
batch = 16
held_out = 40
lr = 0.3
"""


@pytest.fixture
def grid(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_blobs(tmp_path / "blobs.npz")
    (tmp_path / "small.toml").write_text(TOML)
    return load_grid("small.toml")


@pytest.fixture
def store(grid, tmp_path, monkeypatch):
    monkeypatch.setattr("noiseproof.bench.run.find_engine", lambda _: run_here)
    kept = Store(tmp_path / "runs")
    assert run_grids([grid], kept, Settings(), SILENT).ran == 2 * (2 * 3 + 1)
    return kept


def run_here(cells, store, settings, progress):
    """An engine without processes of its own, which take seconds to start."""
    records = [r for work in Stacked(cells, 1) for r in run_stack(work, store.path, settings)]
    return Tally({record.key: record for record in records}, ran=len(records))


@pytest.mark.parametrize("name", expand(["leaderboard"]))
def test_the_trials_are_other_settings_of_the_same_loss(name):
    grid = load_grid(name)
    for row in grid.rows:
        lines = grid.trials_of(row)
        losses = {line.loss for line in lines}
        assert len(losses) == len(lines) == (1 if row.loss == RECOMMEND else 16)
        assert lines[0] == row
        names = {tuple(re.findall(r"[A-Za-z_]{2,}\w*|(?<=\W)[a-zA-Z](?==)", x)) for x in losses}
        assert len(names) == 1  # of the losses and their parameters


def test_each_number_is_multiplied_by_one_between_an_eighth_and_eight():
    given, *others = draw_trials("2*AGCE(a=6, q=0.5)", 16)
    assert given == "2*AGCE(a=6, q=0.5)"
    numbers = [[float(x) for x in _numbers(text)] for text in others]
    factors = np.array(numbers) / [2, 6, 0.5]
    assert factors.min() >= 0.999 / 8
    assert factors.max() <= 1.001 * 8
    assert factors.std(axis=0).min() > 0.3  # not the same each time


def _numbers(text):
    weight, _, rest = text.partition("*")
    a, q = rest.removeprefix("AGCE(").removesuffix(")").split(", ")
    return weight, a.removeprefix("a="), q.removeprefix("q=")


def test_the_leaderboard_has_every_published_loss_in_every_grid():
    grids = [load_grid(name) for name in expand(["leaderboard"])]
    assert len(grids) == 4
    for grid in grids:
        assert {*METHODS, *LATER, RECOMMEND} <= {row.name for row in grid.rows}
        assert grid.trials == 16
        assert [row.name for row in grid.rows] == [row.name for row in grids[0].rows]
    assert "leaderboard" not in grid_names()


def test_recommended_under_each_noise_and_by_the_rate_where_there_is_no_matrix():
    worst = advised_loss(parse("human:worst", dataset="cifar10"), "cifar10")
    assert worst == advised_loss(parse("symmetric:0.4021", 10), "cifar10")
    grid = load_grid("leaderboard-digits").select([RECOMMEND], ["none", "symmetric:0.4"])
    clean, noisy = (cell.loss for cell in grid.cells())
    assert clean == str(recommend("none", 10)[0].loss)
    assert noisy == str(recommend("symmetric:0.4", 10)[0].loss) != clean
    with pytest.raises(NoiseError, match="rate of human:mine is not known"):
        advised_loss(type(parse("human:worst", dataset="cifar10"))("mine"), "cifar10")


def test_those_of_one_loss_are_trained_side_by_side(grid):
    (stack,) = Stacked(grid.cells(), 1)
    assert [cell.loss for cell in cells_in(stack)][:4:2] == [row.loss for row in grid.lines[:2]]
    assert len(cells_in(stack)) == len(grid.cells()) == 14


def test_a_record_has_the_held_out_labels_and_one_epoch(grid, store):
    assert verify_store(store).problems == ()
    for record in store.records().values():
        (last,) = record.history
        assert last.number == 3
        assert record.train_samples == 120  # of 160, after every fifth of 200 became the test set
        assert 0 <= last.held_out <= 1
        assert Record.from_dict(json.loads(json.dumps(record.to_dict()))) == record
    ends = [r.history[0] for r in store.records().values() if r.noise == "symmetric:0.4"]
    held, test = (sum(getattr(e, name) for e in ends) for name in ("held_out", "test_accuracy"))
    assert held < 0.8 * test  # their labels are as noisy as the rest


def test_a_record_without_its_held_out_share_is_none(store):
    values = next(iter(store.records().values())).to_dict()
    for row in (*values["history"], values["last"], values["best"]):
        row.pop("held_out", None)
    with pytest.raises(Exception, match="held-out"):
        Record.from_dict(values)


def test_the_tuned_row_is_the_trial_that_held_out_labels_choose(grid, store):
    found = board([Collected(grid, store.records())])
    assert found.columns == (Column("small", "symmetric:0.2"), Column("small", "symmetric:0.4"))
    for place, column in enumerate(found.columns):
        runs = [
            Collected(grid, store.records()).seeds(line, column.noise)[0].history[0]
            for line in grid.trials_of(grid.rows[1])
        ]
        chosen = max(runs, key=lambda row: row.held_out)
        assert found.tuned[place, 1] == pytest.approx(100 * chosen.test_accuracy)
        assert found.authors[place, 1] == pytest.approx(100 * runs[0].test_accuracy)
    assert (found.tuned[:, 2] == found.authors[:, 2]).all()  # recommend is not tuned


def test_a_grid_may_list_the_rows_in_another_order(grid, store):
    turned = replace(grid, name="turned", rows=grid.rows[::-1])
    records = store.records()
    once = board([Collected(grid, records)])
    twice = board([Collected(grid, records), Collected(turned, records)])
    np.testing.assert_array_equal(twice.authors, np.vstack([once.authors] * 2))
    np.testing.assert_array_equal(twice.tuned, np.vstack([once.tuned] * 2))


def test_what_does_not_count_is_said(grid, store, capsys):
    path = sorted(store.path.glob("*.json"))[0]
    path.write_text(path.read_text()[:-9])
    assert main(["bench", "leaderboard", "small.toml"]) == 0
    out, err = capsys.readouterr()
    assert "Not complete, so not counted" in out
    assert f"{path.name}.damaged: damaged, to be run again" in err


def test_two_grids_of_one_name_are_not_taken_for_one_data_set(grid, store):
    for other in (grid, replace(grid, name=f"leaderboard-{grid.name}")):
        with pytest.raises(DataError, match="two grids are called 'small'"):
            board([Collected(grid, store.records()), Collected(other, store.records())])


def test_a_row_is_not_taken_for_a_trial_of_another(grid):
    """The tuned number of CE was the one of a row called `CE #2`."""
    rows = (*grid.rows, replace(grid.rows[1], name="CE #2"))
    for ask in (lambda grid: grid.lines, lambda grid: grid.cells(), lambda grid: grid.places):
        with pytest.raises(ParameterError, match="row 'CE #2' has the name of a trial"):
            ask(replace(grid, rows=rows))


def test_one_row_is_no_leaderboard(grid, store):
    with pytest.raises(DataError, match="two rows or more"):
        board([Collected(replace(grid, rows=grid.rows[-1:]), store.records())])


def test_a_grid_without_trials_is_no_leaderboard(grid, store):
    with pytest.raises(DataError, match="small has no trials"):
        board([Collected(replace(grid, trials=0), store.records())])


@pytest.mark.parametrize("figure", ["page.txt", "page.md", "page.svg"])
def test_what_cannot_be_written_is_said_before_anything_is(grid, figure, capsys, tmp_path):
    page = tmp_path / ("page.svg" if figure == "page.svg" else "page.md")
    (tmp_path / "runs").mkdir()
    command = ["bench", "leaderboard", "--store", str(tmp_path / "runs"), "--out", str(page)]
    assert main([*command, "--figure", str(tmp_path / figure)]) == 2
    assert figure in capsys.readouterr().err
    assert not page.exists()
    assert main([*command]) == 2
    assert "`noiseproof bench run leaderboard --store" in capsys.readouterr().err


def test_ranks_means_worst_and_shares():
    columns = tuple(Column("leaderboard-digits", f"symmetric:0.{i}") for i in (2, 4, 6, 8))
    authors = np.array([[90.0, 95, 93], [80, 85, 90], [70, 75, 72], [20, 40, 40]])
    found = Board(columns, {"CE": "CE", "MAE": "MAE", RECOMMEND: RECOMMEND}, authors, authors, 16)
    scores = found.scores[0]
    assert scores["CE"].rank == 3
    assert scores["MAE"].rank == (1 + 2 + 1 + 1.5) / 4
    assert (scores["CE"].mean, scores["CE"].worst) == (65, 20)
    assert scores["CE"].where == "digits symmetric:0.8"
    low, high = scores["MAE"].rank_interval
    assert 1 <= low < scores["MAE"].rank < high <= 2
    assert found.at_least_as_good(RECOMMEND) == {"CE": 1.0, "MAE": 0.5}
    # Demšar 2006, table 5: q = 2.343 for three classifiers at 5 %.
    assert found.critical_difference == pytest.approx(2.343 * (3 * 4 / (6 * 4)) ** 0.5, abs=1e-3)
    assert "in 75 % of the 2 x 4 cells" in page(found)


def test_a_row_of_ones_own_is_on_the_page(grid, store, capsys, tmp_path):
    mine = ["--add-loss", "MINE=NCE + MAE", "--store", "runs"]
    assert main(["bench", "leaderboard", "small.toml", *mine]) == 2
    assert "every row" in capsys.readouterr().err
    assert main(["bench", "run", "small.toml", *mine, "--workers", "1", "--quiet"]) == 0
    assert "6 cells run" in capsys.readouterr().out  # the others are there
    files = ["--out", "board.md", "--figure", "board.svg"]
    assert main(["bench", "leaderboard", "small.toml", *mine, *files]) == 0
    assert "| MINE |" in (tmp_path / "board.md").read_text()
    assert "MINE" in (tmp_path / "board.svg").read_text()
    assert main(["bench", "report", "small.toml", *mine]) == 0
    html = (tmp_path / "report.html").read_text()
    assert re.search(r'id="leaderboard".*<th scope="row">MINE</th>', html, re.DOTALL)
    assert main(["bench", "leaderboard", "small.toml", *mine, "--json"]) == 0
    said = capsys.readouterr().out
    rows = json.loads(said[said.index("{") :])["rows"]
    assert [row["name"] for row in rows] == ["CE", "AGCE", "recommend", "MINE"]


def test_trials_need_labels_to_choose_by(tmp_path, grid):
    (tmp_path / "other.toml").write_text(TOML.replace("held_out = 40\n", ""))
    with pytest.raises(ParameterError, match="needs held_out"):
        load_grid("other.toml")
    (tmp_path / "other.toml").write_text(TOML.replace("held_out = 40", "held_out = 4000"))
    other = load_grid("other.toml")
    with pytest.raises(ParameterError, match="4000 samples to hold out, but only 160"):
        run_here(other.cells(), Store("elsewhere"), Settings(), SILENT)
