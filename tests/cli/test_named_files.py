"""Whatever file a user names: one that cannot be read as meant is one line and exit code 2."""

import inspect
import os
import resource
import signal
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest

from noiseproof.cli import (
    commands,  # noqa: F401  (adds every command to the app)
    main,
)
from noiseproof.cli.app import app
from noiseproof.cli.bench import group
from noiseproof.fitting.fit import fit

#: A command, the ending of the file that {} stands for, and which option of the command that is.
READS = [
    ("fit {} --label y --out o", ".csv", "fit file"),
    ("fit {} --label y --out o", ".tsv", "fit file"),
    ("fit {} --label y --out o", ".csv.gz", "fit file"),
    ("fit {} --label y --out o", ".parquet", "fit file"),
    ("fit {} --out o", ".npz", "fit file"),
    ("fit t.csv --label y --test {} --out o", ".csv", "fit test"),
    ("fit t.csv --label y --trusted {} --out o", ".csv", "fit trusted"),
    ("fit t.csv --label y --reviewed {} --out o", ".csv", "fit reviewed"),
    ("fit t.csv --label y --embeddings {} --out o", ".npy", "fit embeddings"),
    ("fit t.csv --label y --embeddings {} --out o", ".npz", "fit embeddings"),
    (
        "fit t.csv --label y --test t.csv --embeddings e.npy --test-embeddings {} --out o",
        ".npy",
        "fit test_embeddings",
    ),
    ("predict {} t.csv --out p.csv", "", "predict folder"),
    ("predict t-fit {} --out p.csv", ".csv", "predict file"),
    ("predict t-fit {} --out p.csv", ".parquet", "predict file"),
    ("predict t-fit {} --out p.csv", ".npy", "predict file"),
    ("predict t-fit t.csv --embeddings {} --out p.csv", ".npy", "predict embeddings"),
    ("clean {} --label y --proposals 0.5 --fit t-fit --out c.csv", ".csv", "clean file"),
    ("clean t.csv --label y --reviewed {} --fit t-fit --out c.csv", ".csv", "clean reviewed"),
    ("clean t.csv --label y --proposals 0.5 --fit {} --out c.csv", "", "clean fit"),
    ("train {} --label y --loss CE --out o", ".csv", "train dataset"),
    ("train {} --loss CE --out o", ".npz", "train dataset"),
    ("train mnist --loss CE --data {} --out o", "", "train data"),
    ("train digits --loss CE --noise matrix:{} --out o", ".csv", "train noise"),
    ("audit CE --noise matrix:{}", ".csv", "audit noise"),
    ("audit {}:Mine", ".py", "audit loss"),
    ("recommend --noise matrix:{}", ".csv", "recommend noise"),
    ("bench run {} --store o", ".toml", "run names"),
    ("bench table {} --store t-fit", ".toml", "table names"),
    ("figure tsne --grid {} --store t-fit --out f.svg", ".toml", "figure grid"),
]
#: Options of paths that are written, that a folder without records is right for, or that name the
#: place of published data, whose files are checked by their hashes.
OTHERS = {"out", "plot", "figure", "tensorboard", "store", "data"}
KINDS = ["zero", "pipe", "folder", "missing", "empty", "secret", "circle", "under", "long"]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    X = np.random.default_rng(0).normal(size=(40, 2))
    rows = [f"{a},{b},{'uv'[int(a > 0)]}" for a, b in X]
    (home / "t.csv").write_text("\n".join(["a,b,y", *rows, ""]))
    np.save(home / "e.npy", X)
    fit(home / "t.csv", "y", learners=["linear"]).save(home / "t-fit")
    return home


@pytest.fixture
def bounded():
    """A read without an end fails, rather than take all memory or wait for ever."""

    def stop(*_):
        raise AssertionError("waits for ever")

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + (3 << 30), hard))
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def made(kind, ending):
    """Make a thing of a kind that cannot be read; return its name."""
    name = f"{kind}{ending}"
    if kind == "zero":
        os.symlink("/dev/zero", name)
    elif kind == "pipe":
        os.mkfifo(name)
    elif kind == "folder":
        os.mkdir(name)
    elif kind in ("empty", "secret"):
        Path(name).touch(mode=0o000 if kind == "secret" else 0o666)
    elif kind == "circle":
        os.symlink(name, name)
    elif kind == "under":
        Path("file").touch()
        return f"file/{name}"
    elif kind == "long":
        return "n" * 300 + ending
    return name


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("command", "ending", "_"), READS, ids=lambda one: one)
def test_what_cannot_be_read_is_one_line(
    home, tmp_path, monkeypatch, capsys, bounded, command, ending, _, kind
):
    if kind == "secret" and os.access("/", os.W_OK):
        pytest.skip("to root no file is secret")
    monkeypatch.chdir(tmp_path)
    for name in ("t.csv", "e.npy", "t-fit"):
        os.symlink(home / name, name)
    name = made(kind, ending)
    there = sorted(os.listdir())
    code = main([word.replace("{}", name) for word in command.split()])
    _, err = capsys.readouterr()
    assert code == 2
    assert err.startswith("noiseproof: ")
    assert err.count("\n") == 1
    assert len(err) < 1000
    assert sorted(os.listdir()) == there


def test_every_option_that_names_a_file_is_tried():
    tried = {option for *_, option in READS}
    for one in (*app.registered_commands, *group.registered_commands):
        name = one.name or one.callback.__name__
        hints = get_type_hints(one.callback)
        for option in inspect.signature(one.callback).parameters:
            kinds = {hints[option], *get_args(hints[option])}
            if Path in kinds and option not in OTHERS:
                assert f"{name} {option}" in tried
