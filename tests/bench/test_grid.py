"""Grids against the paper's tables, files of the user's own, and keys that know the content."""

import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from small_grid import write_blobs, write_grid

from noiseproof.bench import Grid, Row, grid_names, load_grid
from noiseproof.bench.engines.engine import Settings
from noiseproof.bench.engines.run_cell import run_cell
from noiseproof.bench.grid_file import FIELDS
from noiseproof.bench.run import cells_of, read_shard
from noiseproof.errors import NoiseproofError, ParameterError
from noiseproof.losses import loss as read_loss
from noiseproof.paper import PARAMETERS
from noiseproof.train.recipe import Recipe

PAPER = Path(__file__).parents[3] / "shared/paper/asymmetric-loss-functions.tex"
TABLES = [f"{d}-{n}" for d in ("mnist", "cifar10", "cifar100") for n in ("symmetric", "asymmetric")]
RATES = {
    "symmetric": ("none", *(f"symmetric:0.{i}" for i in (2, 4, 6, 8))),
    "asymmetric": tuple(f"asymmetric:0.{i}" for i in (1, 2, 3, 4)),
}


def rows_of_the_paper(dataset, kind):
    """The methods of the supplement's full table, in its order."""
    if not PAPER.exists():
        pytest.skip("the paper's LaTeX is not at hand")
    text = PAPER.read_text("utf-8")
    table = text[text.index(rf"\label{{full-{kind}-noise}}") :]
    table = table[: table.index(r"\end{tabular}")]
    part = table[table.index(f"*{{{dataset.upper()}}}") :].split(r"\hline", 1)[0]
    lines = [line.split("&")[1] for line in part.splitlines() if line.count("&") >= 4]
    return [re.sub(r"\\textbf\{(.*)\}", r"\1", line.strip()) for line in lines]


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_the_paper(name):
    grid = load_grid(name)
    dataset, kind = name.split("-")
    assert (grid.dataset, grid.paper, grid.recipe) == (dataset, dataset, "paper")
    assert grid.noises == RATES[kind]
    assert grid.seeds == (1, 2, 3)
    assert len(grid.rows) == {"mnist": 14, "cifar10": 17, "cifar100": 14}[dataset]
    for row in grid.rows:
        assert str(read_loss(row.loss)) == str(read_loss(PARAMETERS[dataset][row.name]))
        assert row.method == "loss"  # one stage of NLNL is what the authors ran


@pytest.mark.parametrize("name", TABLES)
def test_rows_in_the_order_of_the_paper(name):
    assert [row.name for row in load_grid(name).rows] == rows_of_the_paper(*name.split("-"))


def test_webvision():
    grid = load_grid("webvision")
    assert [row.name for row in grid.rows] == ["CE", "GCE", "SCE", "NCE+RCE", "NCE+AGCE", "AGCE"]
    for row in grid.rows:
        assert str(read_loss(row.loss)) == str(read_loss(PARAMETERS["webvision"][row.name]))
    assert grid.cells()[0].recipe.network == "resnet50"


def test_human_labels_and_sweeps_and_digits():
    human = load_grid("cifar10-human")
    assert human.rows == load_grid("cifar10-symmetric").rows
    assert [noise[6:] for noise in human.noises] == [
        "aggregate", "random1", "random2", "random3", "worst",
    ]  # fmt: skip
    sweep = load_grid("cifar10-hyperparameters")
    assert sweep.noises == ("symmetric:0.8",)
    assert {row.name.split("(")[0] for row in sweep.rows} == {"AGCE", "AUL", "AEL"}
    for kind in RATES:
        digits = load_grid(f"digits-{kind}")
        assert (digits.recipe, digits.noises, digits.paper) == ("quick", RATES[kind], "")


@pytest.mark.parametrize("name", grid_names())
def test_every_cell_is_one_of_its_kind(name):
    # What is recommended may well be another row's loss.
    keys = [cell.key for cell in load_grid(name).cells() if cell.row != "recommend"]
    assert len(set(keys)) == len(keys)


def test_selection():
    grid = load_grid("mnist-symmetric")
    part = grid.select(rows=["AGCE", "CE"], noises=["symmetric:0.80", "pair-flip:.1"], seeds=[7])
    assert [row.name for row in part.rows] == ["CE", "AGCE"]
    assert part.noises == ("symmetric:0.8", "pair-flip:0.1")
    assert len(part.cells()) == 4
    assert part.cells()[0].key not in {cell.key for cell in grid.cells()}
    assert grid.select(recipe="quick").cells()[0].recipe.train_size == 8000
    assert grid.first_seeds(1) == (1,)
    assert grid.first_seeds(5) == (1, 2, 3, 4, 5)
    more = grid.with_row("MINE = AGCE(a=2, q=1.2)")
    assert more.rows[-1] == Row("MINE", "AGCE(a=2, q=1.2)")
    assert set(grid.cells()) < set(more.cells())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda g: g.select(rows=["AGEC"]),
            "no row 'AGEC' in mnist-symmetric; did you mean 'AGCE'?",
        ),
        (lambda g: g.select(noises=["symetric:0.4"]), "did you mean 'symmetric'?"),
        (lambda g: g.select(noises=["human:worst"]), "no human labels known for 'mnist'"),
        (lambda g: g.select(recipe="fast"), "unknown recipe 'fast'"),
        (lambda g: g.with_row("AGCE(a=2, q=1.2)"), "expected NAME=LOSS"),
        (lambda g: g.with_row("CE=CE"), "has a row 'CE' already"),
        (lambda g: g.with_row("MINE=AGEC"), "unknown loss 'AGEC'"),
        (lambda g: read_shard("0/4"), "expected a shard as in 3/16"),
        (lambda g: read_shard("5/4"), "expected a shard as in 3/16"),
    ],
)
def test_selections_that_are_none(change, message):
    with pytest.raises(NoiseproofError) as error:
        change(load_grid("mnist-symmetric"))
    assert message in str(error.value)


def test_shards_are_the_whole():
    grids = [load_grid("mnist-symmetric"), load_grid("mnist-symmetric").select(rows=["CE"])]
    whole = cells_of(grids)
    assert len(whole) == 210
    parts = [cells_of(grids, (i, 16)) for i in range(1, 17)]
    assert sorted(cell.key for part in parts for cell in part) == sorted(c.key for c in whole)
    assert {len(part) for part in parts} <= {13, 14}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title =", "titel =", "a grid has no 'titel'; did you mean 'title'?"),
        ('"blobs.npz"', '"blob.npz"', "no such file"),
        ('"blobs.npz"', '"minst"', "did you mean 'mnist'?"),
        ('"blobs.npz"', "3", "expected dataset to be a text, got 3"),
        ("[1, 2, 3]", "[1.5]", "expected seeds to be a list of whole numbers, got [1.5]"),
        ("[1, 2, 3]", "[]", "expected seeds to be a list of whole numbers"),
        ('"symmetric:0.4"', '"symmetric:4"', "expected a rate from 0 to 1"),
        ('"symmetric:0.4"', '"asymmetric:0.4"', "no asymmetric noise known for 'blobs'"),
        ('"none"', "0", "expected noises to be a list of texts"),
        ('CE = "CE"', 'CE = "EC"', "unknown loss 'EC'"),
        ('CE = "CE"', "CE = 1", "row 'CE': expected a loss, got 1"),
        ('CE = "CE"', 'CE = {loss = "CE", lr = 1}', "row 'CE' has no 'lr'"),
        ('CE = "CE"', 'CE = {loss = "CE", method = "x"}', "expected method loss or nlnl, got 'x'"),
        ('CE = "CE"', 'CE = {loss = "CE", method = 3}', "expected method loss or nlnl, got 3"),
        ('CE = "CE"', '"" = "CE"', "has no name"),
        ("epochs = 2", 'hidden = ["a"]', "expected hidden to be a list of numbers, got ['a']"),
        ('"linear"', '"linaer"', "unknown network 'linaer'; did you mean 'linear'?"),
        ("title =", 'paper = "mnits"\ntitle =', "no table 'mnits'; did you mean 'mnist'?"),
        ("epochs = 2", "epoch = 2", "a recipe has no 'epoch'; did you mean 'epochs'?"),
        ("epochs = 2", "epochs = 0", "expected epochs >= 1, got 0"),
        ("epochs = 2", 'epochs = "two"', "expected epochs to be of type int, got 'two'"),
        ("epochs = 2", "hidden = 8", "expected hidden to be a list, got 8"),
        ("epochs = 2", "lr = true", "expected lr to be of type float, got True"),
        ("[rows]", "[row]", "a grid has no 'row'"),
        ("noises =", "noises", "line 4"),
        # tomllib takes minutes for a key of so many parts, and 100 ms for one that is let pass
        ("title =", f"{'a.' * 100_000}a =", "a line of more than 12,000 letters; divide it"),
        ("title =", f"{'a.' * 2_000}a =", "a grid has no 'a'"),
    ],
)
def test_mistakes_in_a_file(tmp_path, old, new, message):
    path = write_grid(tmp_path)
    assert len(load_grid(path).cells()) == 12
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(NoiseproofError) as error:
        load_grid(path)
    assert message in str(error.value)
    assert len(str(error.value).splitlines()) == 1


def test_a_noise_that_is_named_twice_counts_once(tmp_path):
    path = write_grid(tmp_path)
    path.write_text(path.read_text().replace('"none"', '"none", "symmetric:0.40", "none"'))
    assert load_grid(path).noises == ("none", "symmetric:0.4")


def test_names_that_are_no_grid(tmp_path):
    with pytest.raises(ParameterError, match="did you mean 'mnist-symmetric'"):
        load_grid("mnist-symetric")
    with pytest.raises(NoiseproofError, match="no such file"):
        load_grid(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(NoiseproofError, match="not a text file"):
        load_grid(tmp_path / "bytes.toml")


def test_a_record_has_the_key_of_its_cell(tmp_path):
    grid = load_grid(write_grid(tmp_path))
    cells = grid.select(rows=["MINE"], noises=["symmetric:0.4"], seeds=[2]).cells()
    record = run_cell(cells[0], tmp_path / "runs", Settings())
    assert record.key == cells[0].key
    assert record.loss == "NCE + RCE(A=-4)"
    digits = Grid("g", "", "digits", "quick", (Row("CE", "CE"),), ("asymmetric:0.4",), (1,),
                  overrides={"epochs": 1})  # fmt: skip
    (cell,) = digits.cells()
    assert run_cell(cell, tmp_path / "runs", Settings()).key == cell.key


def test_other_content_is_another_cell(tmp_path):
    path = write_grid(tmp_path)
    matrix = tmp_path / "T.csv"
    path.write_text(path.read_text().replace('"symmetric:0.4"', '"matrix:T.csv"'))
    rows = ["0.7,0.1,0.1,0.1", "0.1,0.7,0.1,0.1", "0.1,0.1,0.7,0.1", "0.1,0.1,0.1,0.7"]
    matrix.write_text("\n".join(rows))
    before = {cell.key for cell in load_grid(path).cells()}
    assert {cell.key for cell in load_grid(path).cells()} == before
    matrix.write_text("\n".join([*rows[:3], "0,0,0,1"]))
    after = {cell.key for cell in load_grid(path).cells()}
    assert len(before & after) == 6  # those without noise
    record = run_cell(load_grid(path).cells()[2], tmp_path / "runs", Settings())
    assert record.noise.endswith("T.csv")
    assert record.key in after - before
    write_blobs(tmp_path / "blobs.npz", seed=6)
    assert not {cell.key for cell in load_grid(path).cells()} & (before | after)


@pytest.mark.parametrize("folder", [False, True])
def test_own_data_cannot_pass_for_published(tmp_path, monkeypatch, folder):
    monkeypatch.chdir(tmp_path)
    path = write_grid(tmp_path)
    if folder:
        write_images(tmp_path / "mnist")
    else:
        (tmp_path / "blobs.npz").rename(tmp_path / "mnist.npz")
    given, name = ("./mnist", "mnist/") if folder else ("mnist.npz", "mnist.npz")
    path.write_text(
        path.read_text().replace("blobs.npz", given).replace("seeds", 'recipe = "quick"\nseeds')
    )
    grid = load_grid("small.toml")
    assert grid.source.name == name
    assert grid.source.fingerprint
    assert grid.recipe_of(grid.rows[0]).train_size == 0  # not that of MNIST
    record = run_cell(grid.cells()[0], tmp_path / "runs", Settings())
    assert (record.dataset, record.key) == (name, grid.cells()[0].key)
    for real in ("none", "symmetric:0.4"):
        published = replace(grid, dataset="mnist").select(noises=[real])
        assert not {cell.key for cell in published.cells()} & {cell.key for cell in grid.cells()}
    for change in ('recipe = "paper"', 'paper = "mnist"'):
        path.write_text(path.read_text().replace('recipe = "quick"', change))
        with pytest.raises(ParameterError, match=r"the paper has no recipe|its numbers are not of"):
            load_grid(path)
        path.write_text(path.read_text().replace(change, 'recipe = "quick"'))
    with pytest.raises(NoiseproofError, match="no asymmetric noise known"):
        grid.select(noises=["asymmetric:0.4"])


def write_images(root):
    from PIL import Image

    for number in range(20):
        folder = root / f"class{number % 4}"
        folder.mkdir(parents=True, exist_ok=True)
        pixels = np.random.default_rng(number).integers(0, 256, (8, 8), np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")


def write_table_grid(tmp_path, label):
    path = write_grid(tmp_path)
    arrays = np.load(tmp_path / "blobs.npz")
    names = [f"x{i}" for i in range(8)]
    frame = pd.DataFrame(arrays["X"], columns=names).assign(**{"klass é": arrays["y"]})
    frame.to_csv(tmp_path / "blobs.csv", index=False)
    path.write_text(path.read_text().replace('"blobs.npz"', f'"blobs.csv"\n{label}'))
    return path


def test_a_table_names_its_column_of_labels(tmp_path):
    grid = load_grid(write_table_grid(tmp_path, 'label = "klass é"'))
    assert grid.source.classes == ("0", "1", "2", "3")
    record = run_cell(grid.cells()[0], tmp_path / "runs", Settings())
    assert record.key == grid.cells()[0].key
    arrays = load_grid(write_grid(tmp_path))  # the same numbers as an .npz: the same cells
    assert [cell.key for cell in arrays.cells()] == [cell.key for cell in grid.cells()]


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("", "dataset with label = 'label': {csv}: no column 'label'"),
        ('label = "klas"', "dataset with label = 'klas': {csv}: no column 'klas'; did you mean"),
        ("label = 8", "expected label to be the name of a column, got 8"),
        ('label = ""', "expected label to be the name of a column, got ''"),
        ('label = ["klass é"]', "expected label to be the name of a column, got ['klass é']"),
    ],
)  # fmt: skip
def test_mistakes_in_the_column_of_labels(tmp_path, label, message):
    path = write_table_grid(tmp_path, label)
    with pytest.raises(ParameterError) as error:
        load_grid(path)
    assert str(error.value).startswith(f"{path}: " + message.format(csv=tmp_path / "blobs.csv"))
    assert len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("dataset", ["digits", "blobs.npz"])
def test_only_a_table_has_a_column_of_labels(tmp_path, dataset):
    path = write_grid(tmp_path)
    text = path.read_text().replace('"blobs.npz"', f'"{dataset}"\nlabel = "y"')
    path.write_text(text)
    with pytest.raises(ParameterError, match="label = 'y' is for a table, such as"):
        load_grid(path)


VALUES = (
    '""', '"x"', "5", "-1", "0", "1.5", "nan", "true", "[]", "[[]]", '["a"]', "{}", "{a = 1}",
    "1979-05-27T07:32:00Z", '"\\u0000"', '"../"', '"~"', "9999999999999999999999", '["sym:0.4"]',
    '["symmetric:2"]', '["matrix:no.csv"]', '["human:worst"]', '"mnist"', "[true]", "[-1]", '"CE"',
    '"paper"', '["superclass:0.3"]', '"AGCE(a=-1, q=2)"', '"my.py:Loss"',
)  # fmt: skip


def mistake(path):
    """Return what is wrong with a grid; None if nothing is."""
    try:
        load_grid(path)
    except ParameterError as error:
        return str(error)
    return None


@pytest.mark.parametrize("field", [*FIELDS, "rows.R", "overrides.lr", "overrides.hidden", "other"])
def test_a_mistake_names_the_file_and_the_field(tmp_path, monkeypatch, field):
    monkeypatch.setenv("NOISEPROOF_DATA", str(tmp_path))
    write_table_grid(tmp_path, "")
    table, _, name = field.rpartition(".")
    refused = 0
    for value in VALUES:
        fields = {"dataset": '"blobs.csv"', "label": '"klass é"', "recipe": '"quick"'}
        fields["noises"] = '["none"]'
        tables = {"rows": {"CE": '"CE"'}, "overrides": {"epochs": "1"}}
        tables.get(table, fields)[name] = value
        lines = [f"{key} = {text}" for key, text in fields.items()]
        for key, texts in tables.items():
            if key not in fields:
                lines += [f"[{key}]", *(f"{one} = {text}" for one, text in texts.items())]
        path = tmp_path / "small.toml"
        path.write_text("\n".join(lines))
        told = mistake(path)
        if told is not None:
            refused += 1
            assert told.startswith(f"{path}: "), (value, told)
            assert len(told.splitlines()) == 1
            assert re.search(rf"\b{name.removesuffix('s')}", told), (value, told)
    assert refused > 3 or field == "title"


def test_the_grid_of_the_documentation(tmp_path):
    text = (Path(__file__).parents[2] / "docs/grids.md").read_text("utf-8")
    example = text.split("```toml\n", 1)[1].split("```", 1)[0]
    write_blobs(tmp_path / "blobs.npz")
    arrays = np.load(tmp_path / "blobs.npz")
    frame = pd.DataFrame(arrays["X"]).assign(grape=arrays["y"])
    frame.to_csv(tmp_path / "wine.csv", index=False)
    (tmp_path / "wine.toml").write_text(example)
    grid = load_grid(tmp_path / "wine.toml")
    assert (grid.label, len(grid.cells())) == ("grape", 12)
    described = re.findall(r"^\| `(\w+)`", text, re.MULTILINE)
    assert described == list(FIELDS)
    overridable = next(line for line in text.splitlines() if line.startswith("| `overrides`"))
    known = {field.name for field in fields(Recipe)} - {"name", "method"}
    assert set(re.findall(r"`(\w+)`", overridable)) == {"overrides", *known}
