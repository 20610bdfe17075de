"""Commands whose files are all in a folder whose name is not UTF-8."""

import os

import numpy as np
import pytest

from noiseproof.cli import main

ODD = os.fsdecode(b"caf\xe9 \x1b[2J")
GRID = """
dataset = "blobs.npz"
noises = ["none", "symmetric:0.4"]
seeds = [1]
overrides = { network = "mlp", hidden = [4], epochs = 1, batch = 16 }

[rows]
GCE = "GCE(q=0.7)"
AGCE = "AGCE(a=4, q=0.2)"
"""
#: After the run of a grid: what reads its records and writes a file.
COMMANDS = [
    "bench status {grid} --store {store}",
    "bench table {grid} --store {store} --out {out}.md",
    "bench table {grid} --store {store} --out {out}.tex",
    "bench table {grid} --store {store} --format json",
    "bench report {grid} --store {store} --out {out}.html",
    "bench report --store {store} --out {out}.html",
    "bench pack {grid} --store {store} --out {here}",
    "bench verify --store {store}",
    *(
        f"figure {name} --grid {{grid}} --rows GCE,AGCE --store {{store}} --out {{out}}.svg"
        for name in ("memorisation", "margin", "noise", "hyperparameters", "tsne")
    ),
    "audit MAE --classes 3 --plot {out}.svg",
    "data list --data {here}",
]


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bytes") / ODD
    folder.mkdir()
    y = np.arange(60) % 3
    X = np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)
    np.savez(folder / "blobs.npz", X=X, y=y)
    (folder / "grid.toml").write_text(GRID)
    found = {"grid": folder / "grid.toml", "store": folder / "runs", "out": folder / "out"}
    run = ["bench", "run", str(found["grid"]), "--store", str(found["store"]), "--save", "--quiet"]
    assert main([*run, "--workers", "1"]) == 0
    return found | {"here": folder}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_takes_them_and_shows_them(places, command, capsys):
    assert main([word.format(**places) for word in command.split()]) == 0
    shown = "".join(capsys.readouterr())
    assert "\x1b" not in shown
    assert "\udce9" not in shown
    assert ODD not in shown
    if "{out}" in command:
        made = places["out"].with_suffix("." + command.rsplit(".", 1)[1])
        assert made.read_text(encoding="utf-8")
