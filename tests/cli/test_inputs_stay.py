"""No command that replaces its --out replaces a file that it reads, whatever --out says."""

import numpy as np
import pytest
from PIL import Image
from tiny_encoders import fresh, onnx_means, picture_folder  # noqa: F401  (a fixture)

from noiseproof.cli import main

GRID = """
dataset = "{data}"
label = "y"
noises = ["none", "matrix:T.csv"]
seeds = [1]
trials = 1
overrides = {{ network = "mlp", hidden = [4], epochs = 1, batch = 16, held_out = 20 }}

[rows]
GCE = "GCE(q=0.7)"
AGCE = "AGCE(a=4, q=0.2)"
"""
OWN = "from noiseproof import MAE\n\nclass Mine(MAE):\n    pass\n"
COMMANDS = ["bench table grid.toml", "bench leaderboard grid.toml"]
READ = ["grid.toml", "T.csv", "t.csv", "mine.py", "packed/grid.records.xz", "one"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "T.csv").write_text("0.8,0.2\n0.2,0.8\n")
    rows = np.random.default_rng(0).normal(size=(60, 2)).round(3).tolist()
    lines = [f"{a},{b},{'no' if i % 2 else 'yes'}" for i, (a, b) in enumerate(rows)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "packed").mkdir()
    (tmp_path / "grid.toml").write_text(GRID.format(data="t.csv"))
    return tmp_path


def test_a_table_replaces_nothing_that_it_reads(home, capsys):
    assert main(["bench", "run", "grid.toml", "--quiet", "--workers", "1"]) == 0
    assert main(["bench", "pack", "grid.toml", "--out", "packed"]) == 0
    (home / "one").symlink_to("t.csv")
    read = [home / name for name in READ] + [next((home / "runs").rglob("*.json"))]
    before = [path.read_bytes() for path in read]
    for command in COMMANDS:
        for path in read:
            store = path if path.name.endswith(".xz") else "runs"
            words = [*command.split(), "--store", str(store), "--out", str(path)]
            assert main([*words, "--add-loss", "MINE=mine.py:Mine"]) == 2, (command, path)
            assert "it is left as it is" in capsys.readouterr().err
    assert [path.read_bytes() for path in read] == before
    for name in ("table.md", "runs/table.md", "runs/table.md"):  # but what it wrote itself
        assert main(f"bench table grid.toml --out {name}".split()) == 0


def test_nothing_replaces_an_encoder(home, capsys):
    (home / "runs").mkdir()
    onnx_means(home / "means.onnx")
    picture_folder(home / "vit")
    (home / "vit" / "card.html").write_text("a page about it")
    pictures = np.random.default_rng(0).integers(0, 256, (40, 3, 8, 8), np.uint8)
    np.savez(home / "p.npz", X=pictures, y=np.arange(40) % 2)
    for encoder in ("means.onnx", "vit", "vit@16"):
        (home / f"{encoder}.toml").write_text(
            f'dataset = "p.npz"\nencoder = "{encoder}"\nnoises = ["none"]\nseeds = [1]\n'
            'trials = 1\noverrides = { held_out = 9 }\n[rows]\nCE = "CE"\n'
        )
    vit = [f"vit/{name}" for name in ("config.json", "model.safetensors", "card.html")]
    read = {"means.onnx": ["means.onnx", "means.json"], "vit": vit, "vit@16": vit}
    for encoder, names in read.items():
        for name in names:
            before = (home / name).read_bytes()
            for command in ("table", "leaderboard", "report"):
                if command == "report" and not name.endswith(".html"):
                    continue  # a page is called .html
                assert main(["bench", command, f"{encoder}.toml", "--out", name]) == 2
                assert f"{name} is an input; it is left as it is" in capsys.readouterr().err
            assert (home / name).read_bytes() == before


def test_a_figure_replaces_no_picture_that_it_is_drawn_from(home, capsys):
    for name in ("a", "b"):
        (home / "pictures" / name).mkdir(parents=True)
        for i in range(6):
            Image.new("L", (8, 8), 20 * i).save(home / "pictures" / name / f"{i}.png")
    (home / "grid.toml").write_text(GRID.format(data="pictures").replace('label = "y"\n', ""))
    before = (home / "pictures" / "a" / "0.png").read_bytes()
    assert main(["figure", "memorisation", "--grid", "grid.toml", "--out", "pictures/a/0.png"]) == 2
    assert "pictures/a/0.png is an input; it is left as it is" in capsys.readouterr().err
    assert (home / "pictures" / "a" / "0.png").read_bytes() == before


@pytest.fixture
def photos(home, capsys):
    """Copies of pictures that clean wrote, so that --force alone would let them be replaced."""
    for name in ("a", "b"):
        (home / "photos" / name).mkdir(parents=True)
        for i in range(12):
            shade = 20 * i if name == "a" else 255 - 20 * i
            Image.new("L", (8, 8), shade).save(home / "photos" / name / f"{i}.png")
    assert main(["fit", "photos", "--learner", "linear", "--out", "photos-fit", "--quiet"]) == 0
    for copy in ("one", "two"):
        assert main(["clean", "photos", "--proposals", "0.99", "--out", copy]) == 0
    capsys.readouterr()
    return home


@pytest.mark.parametrize(
    "command",
    [
        "fit one --out one",
        "fit photos --test two --out two",
        "clean one --fit photos-fit --proposals 0.99 --out photos-fit",
        "clean photos --proposals 0.99 --out photos-fit",
        "fit t.csv --label y --reviewed photos-fit/suspect_rows.csv --out photos-fit",
    ],
)
def test_no_folder_that_is_read_is_replaced(photos, capsys, command):
    before = {path: path.read_bytes() for path in photos.rglob("*") if path.is_file()}
    assert main([*command.split(), "--force"]) == 2
    assert " is an input; " in capsys.readouterr().err
    assert {path: path.read_bytes() for path in photos.rglob("*") if path.is_file()} == before
