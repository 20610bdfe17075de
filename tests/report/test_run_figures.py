import dataclasses
from itertools import pairwise

import numpy as np
import pytest
import torch
from made_records import Made, identified
from matplotlib import pyplot as plt
from matplotlib.text import Text

from noiseproof.bench import load_grid
from noiseproof.bench.collect import Collected
from noiseproof.bench.grid import Row
from noiseproof.bench.pages.figures import FIGURES, Material, gather
from noiseproof.bench.selection import Selection
from noiseproof.cli import main
from noiseproof.cli.figure import OF_RUNS
from noiseproof.errors import DataError
from noiseproof.report.figures.hyperparameters import split
from noiseproof.report.figures.margin import Point
from noiseproof.report.figures.margin import margin as draw_margin
from noiseproof.report.figures.tsne import Features, embed, thin
from noiseproof.results import Store, complete
from noiseproof.train import Machine, prepare

TOML = """
dataset = "blobs.npz"
noises = ["none", "symmetric:0.4"]
seeds = [1]
overrides = { network = "mlp", hidden = [8], epochs = 2, batch = 16 }

[rows]
GCE = "GCE(q=0.7)"
AGCE = "AGCE(a=4, q=0.2)"
"""


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture
def grid(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    labels = np.arange(120) % 4
    points = np.random.default_rng(5).normal(size=(120, 8)) + 3 * np.eye(8)[labels]
    np.savez("blobs.npz", X=points.astype(np.float32), y=labels)
    (tmp_path / "small.toml").write_text(TOML)
    return load_grid("small.toml")


def train(grid, *, save, only=lambda cell: True):
    from noiseproof.bench.source import load_data

    for cell in filter(only, grid.cells()):
        whole = load_data(cell.dataset)
        experiment = prepare(whole, cell.recipe, cell.loss, cell.noise, cell.seed)
        complete(experiment, Store("runs").path, Machine(threads=1), save=save)


def figure(capsys, name, *options):
    arguments = ["figure", name, "--grid", "small.toml", "--out", f"{name}.svg", *options]
    code = main(arguments)
    return code, *capsys.readouterr()


def test_the_command_knows_every_figure():
    assert tuple(FIGURES) == OF_RUNS


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_without_runs_says_what_would_make_them(name, grid, capsys, tmp_path):
    code, out, err = figure(capsys, name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "`noiseproof bench run small.toml" in err
    assert ("--save" in err) == (name == "tsne")
    assert not list(tmp_path.glob("*.svg"))


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_of_real_runs(name, grid, capsys, tmp_path):
    train(grid, save=name == "tsne")
    code, out, err = figure(capsys, name)
    assert (code, out, err) == (0, f"wrote {name}.svg\n", "")
    assert "</svg>" in (tmp_path / f"{name}.svg").read_text()


def test_tsne_shows_the_networks_there_are_and_names_the_others(grid, capsys, tmp_path):
    train(grid, save=False)
    code, _, err = figure(capsys, "tsne")
    assert code == 2
    assert "no saved network of GCE or AGCE" in err
    train(grid, save=True, only=lambda cell: cell.row == "AGCE")
    code, _, err = figure(capsys, "tsne")
    assert code == 0
    assert "no saved network for GCE none, GCE symmetric:0.4; `noiseproof bench run" in err
    # The accuracy above a panel is that of the network on the test set, so the record's.
    records = Store("runs").records().values()
    accuracy = next(r.accuracy for r in records if "AGCE" in r.loss and r.noise != "none")
    assert f"symmetric:0.4: {accuracy:.1%}" in (tmp_path / "tsne.svg").read_text()


@pytest.mark.parametrize(("part", "factor"), [("head.weight", -1), ("body.2.weight", 1e39)])
def test_a_network_that_is_not_the_records_is_refused(grid, capsys, tmp_path, part, factor):
    train(grid, save=True, only=lambda cell: cell.row == "AGCE" and cell.noise == "none")
    (path,) = tmp_path.glob("runs/*.model.pt")
    content = torch.load(path)
    content["network"][part].mul_(factor).clamp_(-3e38, 3e38)  # a finite number
    torch.save(content, path)
    code, _, err = figure(capsys, "tsne")
    assert code == 2
    assert f"{path.name}: not the network of its record: " in err
    assert len(err.splitlines()) == 1


def test_noise_that_is_not_the_records_is_refused(grid, capsys):
    train(grid, save=False, only=lambda cell: cell.noise != "none")
    store = Store("runs")
    for record in store.records().values():
        store.files(record).record.unlink()
        store.put(identified(dataclasses.replace(record, noise_hash="0" * 64)))
    code, _, err = figure(capsys, "noise")
    assert code == 2
    assert "not the data or not the noise of the run" in err
    assert "recorded 000000000000" in err


def test_the_noise_figure_shows_the_matrix_that_was_drawn(grid):
    train(grid, save=False)
    material = gather("small.toml", Store("runs"))
    drawn = FIGURES["noise"][0](material)
    record = material.seeds("GCE", "symmetric:0.4")[0]
    matrix = material.experiment(record, record.noise).corruption.matrix
    (image,) = drawn.figure.axes[0].get_images()
    assert np.array_equal(image.get_array(), matrix)
    assert f"{record.noise_rate:.2%}" in drawn.figure.axes[0].get_title()


@pytest.mark.parametrize("name", ["noise", "tsne"])
def test_a_grid_with_a_matrix_is_drawn_from_any_folder(name, grid, capsys, tmp_path, monkeypatch):
    np.savetxt("T.csv", 0.6 * np.eye(4) + 0.1, delimiter=",")
    (tmp_path / "small.toml").write_text(TOML.replace("symmetric:0.4", "matrix:T.csv"))
    train(load_grid("small.toml"), save=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    given = ["--grid", "../small.toml", "--store", "../runs", "--out", "drawn.svg"]
    assert (main(["figure", name, *given]), capsys.readouterr().err) == (0, "")


def test_memorisation_draws_what_the_records_have():
    grid = load_grid("digits-symmetric").select(rows=["CE", "AGCE"])
    store = Made(grid, lambda cell: 0.9 if cell.seed == 1 else None)
    drawn = FIGURES["memorisation"][0](Material(Collected(grid, store.records()), store))
    assert len(drawn.figure.axes) == 8  # four noises, right and wrong labels
    wrong = drawn.figure.axes[-1].get_lines()
    assert [line.get_label() for line in wrong] == ["CE", "AGCE"]
    assert [line.get_ydata()[-1] for line in wrong] == pytest.approx([0.9, 0.05])
    assert drawn.remarks[0].startswith("20 of 30 runs are missing; `noiseproof bench run digits-")


def test_hyperparameters_has_a_panel_a_family_and_a_line_a_value():
    grid = load_grid("cifar10-hyperparameters").select(seeds=[1])
    store = Made(grid, lambda cell: 0.5)
    drawn = FIGURES["hyperparameters"][0](Material(Collected(grid, store.records()), store))
    shown = {ax.get_title(): len(ax.get_lines()) for ax in drawn.figure.axes if ax.get_visible()}
    assert set(shown) == {"AGCE, q = 0.5", "AGCE, q = 1.5", "AUL, p = 0.5", "AUL, p = 2", "AEL"}
    assert sum(shown.values()) == len(grid.rows)
    assert drawn.remarks == ()
    assert split("AUL(a=3, p=0.1)") == ("AUL, p = 0.1", "a = 3")


def test_hyperparameters_draws_every_row_that_has_runs():
    rows = Row("MINE", "AGCE(a=1, q=2)"), Row("NEG", "NLNL", "nlnl"), Row("ONCE", "NLNL")
    grid = dataclasses.replace(load_grid("digits-symmetric").select(seeds=[1]), rows=rows)
    store = Made(grid, lambda cell: 0.5)
    drawn = FIGURES["hyperparameters"][0](Material(Collected(grid, store.records()), store))
    lines = [line.get_label() for ax in drawn.figure.axes for line in ax.get_lines()]
    assert lines == ["a = 1", "NEG: NLNL", "ONCE: NLNL"]


@pytest.mark.parametrize("name", ["memorisation", "hyperparameters"])
def test_runs_that_are_measured_once_have_no_curve(name):
    grid = load_grid("leaderboard-digits").select(rows=["CE"])
    with pytest.raises(DataError, match=r"leaderboard-digits are measured once, .* no curve"):
        FIGURES[name][0](Material(Collected(grid, {}), Made(grid, lambda cell: None)))
    grid = dataclasses.replace(load_grid("digits-symmetric"), overrides={"epochs": 1})
    store = Made(grid.select(["CE"], ["symmetric:0.8"], [1]), lambda cell: 0.5)
    drawn = FIGURES[name][0](Material(Collected(grid, store.records()), store))
    lines = [line for ax in drawn.figure.axes for line in ax.get_lines()]
    assert [line.get_marker() for line in lines] == ["o"] * len(lines)
    assert lines


def test_an_embedding_keeps_what_is_near_near():
    random = np.random.default_rng(1)
    labels = np.arange(60) % 3
    values = (random.normal(size=(60, 5)) + 20 * np.eye(5)[labels]).astype(np.float32)
    few = thin(Features(values, labels, 1.0), most=45)
    places = embed(few.values, seed=0)
    assert len(places) == len(few.labels) == 45
    middles = np.stack([places[few.labels == k].mean(0) for k in range(3)])
    nearest = np.linalg.norm(places[:, None] - middles, axis=2).argmin(1)
    assert np.array_equal(nearest, few.labels)


def test_a_network_of_another_run_is_refused(grid):
    train(grid, save=True)
    store = Store("runs")
    material = gather("small.toml", store, selection=Selection(rows=("AGCE",)))
    one, two = (material.seeds("AGCE", noise)[0] for noise in grid.noises)
    store.files(one).model.replace(store.files(two).model)
    with pytest.raises(DataError, match="the network of another run"):
        FIGURES["tsne"][0](material)


def test_the_margin_figure_has_a_point_a_loss_and_the_correlation():
    grid = load_grid("digits-asymmetric").select(rows=["CE", "AUL", "NLNL"], seeds=[1])
    whole = grid.select(noises=["none", *grid.noises])
    after = {"CE": 0.5, "AUL": 0.8, "NLNL": 0.7}
    store = Made(whole, lambda cell: 0.9 if cell.noise == "none" else after[cell.row])
    drawn = FIGURES["margin"][0](Material(Collected(grid, store.records()), store))
    assert [ax.get_title() for ax in drawn.figure.axes] == [
        f"{noise}\nrank correlation -1.00" for noise in grid.noises
    ]
    (points,) = drawn.figure.axes[-1].collections
    # CE: r = 0. AUL(a=3, p=0.1): r = 1, c = 0.6 / 0.4. The ratio of NLNL is not known.
    assert points.get_offsets().tolist() == [
        pytest.approx([0.0, 40.0], abs=0.2),  # of 355 test samples
        pytest.approx([1.5, 10.0], abs=0.2),
    ]


def test_no_two_names_of_the_margin_figure_overlap():
    points = [Point(f"loss {i}", 2.25, 50 + 0.01 * i) for i in range(14)]
    points += [Point("CE", 0.0, 65.3), Point("FL", 0.0, 65.2)]
    drawn = draw_margin({"symmetric:0.8": points})
    drawn.canvas.draw()
    (ax,) = drawn.axes
    boxes = sorted((Text.get_window_extent(text) for text in ax.texts), key=lambda box: box.y0)
    assert len(boxes) == 16
    assert all(below.y1 <= above.y0 + 1 for below, above in pairwise(boxes))


@pytest.mark.parametrize(
    ("selected", "noises"),
    [
        (None, None),
        (("none",), None),
        (("symmetric:0.4",), "none,symmetric:0.4"),
        (("symmetric:0.4", "none"), "none,symmetric:0.4"),
    ],
)
def test_the_command_for_the_margin_makes_clean_runs_and_noisy_ones(grid, selected, noises):
    material = gather("small.toml", Store("runs"), selection=Selection(noises=selected))
    with pytest.raises(DataError, match="makes them") as error:
        FIGURES["margin"][0](material)
    words = str(error.value).replace("`", "").split()
    assert (words[words.index("--noise") + 1] if "--noise" in words else None) == noises
