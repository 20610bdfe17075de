"""Arguments that nobody means: one line and exit code 2, whatever the command."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

import noiseproof as nf
from noiseproof.cli import main, options
from noiseproof.cli.app import print_json
from noiseproof.data.folder import list_images
from noiseproof.errors import DataError
from noiseproof.prepare.read import read
from noiseproof.theory import conditions


def run(capsys, *arguments):
    code = main(list(arguments))
    return code, *capsys.readouterr()


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "t.csv", "--label", "y", "--out", ""],
        ["fit", "t.csv", "--label", "y", "--out="],
        ["fit", "", "--label", "y"],
        ["fit", "t.csv", "--label", "y", "--encoding", ""],
        ["predict", "model", "t.csv", "--out", " "],
        ["clean", "t.csv", "--proposals", "0.5", "--out", ""],
        ["train", "digits", "--loss", "CE", "--out", ""],
        ["train", "digits", "--loss", "CE", "--tensorboard="],
        ["demo", "--out", ""],
        ["data", "verify", "--data", ""],
        ["figure", "curves", "--out", ""],
        [""],
    ],
    ids=" ".join,
)
def test_an_empty_argument_is_no_folder(capsys, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("noiseproof: the argument after ")
    assert err.endswith(" is empty\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("out", [".", "..", "/"])
def test_a_place_without_a_name(capsys, tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,y\n1,u\n")
    code, _, err = run(capsys, "clean", "t.csv", "--proposals", "0.5", "--out", out)
    assert (code, err) == (2, f"noiseproof: {out!r} names no file or folder to write\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "pipe.csv", "--label", "y"],
        ["train", "pipe.csv", "--label", "y", "--loss", "CE"],
        ["clean", "pipe.csv", "--label", "y", "--proposals", "0.5", "--out", "c.csv"],
    ],
    ids=" ".join,
)
def test_a_pipe_is_not_waited_for(capsys, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.csv")
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("noiseproof: pipe.csv: expected a ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("option", ["--reviewed", "--trusted"])
def test_a_list_far_too_long_is_not_read_to_its_end(capsys, tmp_path, monkeypatch, option):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("noiseproof.fitting.review.reviewed.LONGEST", 10**6)
    rows = [f"{i * i},{'ud'[i % 2]}" for i in range(20)]
    (tmp_path / "t.csv").write_text("\n".join(["a,y", *rows, ""]))
    (tmp_path / "long.csv").write_bytes(bytes(10**6 + 1))
    code, _, err = run(capsys, "fit", "t.csv", "--label", "y", option, "long.csv")
    assert (code, err) == (2, "noiseproof: long.csv: longer than 1 MB\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["audit", "CE", "--classes", "100000000"],
        ["audit", "CE", "--classes", "1" + "0" * 30],
        ["recommend", "--noise", "symmetric:0.2", "--classes", "3000000000"],
        ["train", "digits", "--loss", "CE", "--threads", "100000"],
    ],
    ids=" ".join,
)
def test_numbers_far_too_large(capsys, arguments):
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"noiseproof: Invalid value for '{arguments[-2]}'")
    assert err.count("\n") == 1


def test_as_many_classes_as_in_python():
    assert options.MOST_CLASSES == conditions.MOST_CLASSES


@pytest.mark.parametrize(
    "classes", [10**6, 10**9, 10**30, -3, 1, True, 2.5, float("nan"), "ten", [], object()]
)
@pytest.mark.parametrize(
    "ask",
    [
        lambda K: nf.audit("CE", classes=K),
        lambda K: nf.audit("CE", classes=K, noise="symmetric:0.2"),
        lambda K: nf.is_symmetric("CE", classes=K),
        lambda K: nf.is_completely_asymmetric("CE", classes=K),
        lambda K: nf.recommend("symmetric:0.2", classes=K),
        lambda K: nf.noise.parse("symmetric:0.2", classes=K),
        lambda K: nf.noise.identity(K),
        lambda K: nf.noise.symmetric(K, 0.2),
        lambda K: nf.noise.pair_flip(K, 0.2),
        lambda K: nf.noise.asymmetric({0: 1}, 0.2, classes=K),
    ],
)
def test_absurd_numbers_of_classes_are_one_line_in_python_too(ask, classes):
    with pytest.raises(nf.errors.NoiseproofError, match=r"\A.{5,200}\Z"):
        ask(classes)


@pytest.mark.parametrize(
    "ask",
    [
        lambda: nf.audit("CE", noise=np.eye(30)),
        lambda: nf.recommend("symmetric:0.2", classes=3, margin="2"),
        lambda: nf.recommend("symmetric:0.2", classes=3, margin=None),
        lambda: nf.noise.parse(0.4),
        lambda: nf.noise.parse(None),
        lambda: nf.noise.asymmetric(None, 0.2),
        lambda: nf.noise.asymmetric([1, 0], 0.2),
        lambda: nf.minimise_risk("CE", "ab"),
        lambda: nf.minimise_risk("CE", None),
        lambda: nf.minimise_risk("CE", [[1], [2, 3]]),
        lambda: nf.paper_loss(None, None),
        lambda: nf.paper_loss(["GCE"], "mnist"),
        lambda: nf.AGCE(a=1, q=0.5, weight=torch.tensor([1.0, float("nan")])),
        lambda: nf.fit(np.eye(9), [0, 1, 2] * 3, minutes="5"),
        lambda: nf.fit(np.eye(9), [0, 1, 2] * 3, minutes=None),
        lambda: nf.fit(np.eye(9), [0, 1, 2] * 3, folds=2.5),
        lambda: nf.fit(np.eye(9), [0, 1, 2] * 3, folds=None),
        lambda: nf.fit(np.eye(9), [0, 1, 2] * 3, search="3"),
        lambda: nf.fit(np.eye(9), answers=5),
    ],
)
def test_things_of_another_type_are_one_line(ask):
    with pytest.raises(nf.errors.NoiseproofError, match=r"\A.{5,300}\Z"):
        ask()


def test_numbers_of_numpy_are_numbers_of_classes():
    K = np.int64(3)
    assert nf.audit("CE", classes=K).classes == len(nf.noise.symmetric(K, 0.2)) == 3
    assert nf.is_symmetric("MAE", classes=K)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried 8 PB"),
        ImportError("lib.so: failed to map segment from shared object"),
        ImportError("lib.so: cannot allocate memory in static TLS block"),
        MemoryError(),
        MemoryError("8 PB"),
    ],
)
def test_memory_that_cannot_be_had_is_one_line(capsys, monkeypatch, error):
    def ask(*_, **__):
        raise error

    monkeypatch.setattr("noiseproof.theory.audit", ask)
    code, out, err = run(capsys, "audit", "CE")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("noiseproof: not enough memory")
    assert "()" not in err


def test_no_thread_can_be_started(capsys, monkeypatch):
    def ask(*_, **__):
        raise RuntimeError("can't start new thread")  # CPython's

    monkeypatch.setattr("noiseproof.theory.audit", ask)
    code, out, err = run(capsys, "audit", "CE")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "no thread can be started" in err


def test_no_folder_for_temporary_files_is_one_line(capsys, monkeypatch):
    def ask(*_, **__):
        return tempfile.mkdtemp()

    def none_usable():
        raise FileNotFoundError(2, "No usable temporary directory found in ['/tmp', '/']")

    monkeypatch.setattr("noiseproof.theory.audit", ask)
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("tempfile._get_default_tempdir", none_usable)
    code, out, err = run(capsys, "audit", "CE")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "TMPDIR names another" in err


def test_an_error_that_nobody_foresaw_is_one_line_and_its_traceback_is_kept(
    capsys, monkeypatch, tmp_path
):
    def ask(*_, **__):
        raise LookupError("odd\n\x1b[31m")

    monkeypatch.setattr("noiseproof.theory.audit", ask)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code, out, err = run(capsys, "audit", "CE")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("noiseproof: unexpected LookupError: odd \\x1b[31m (")
    (kept,) = tmp_path.iterdir()
    assert str(kept) in err
    assert "in ask\n" in kept.read_text()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    code, out, err = run(capsys, "audit", "CE")
    assert (code, out, err.count("\n")) == (1, "", 1)


def test_json_is_safe_on_a_terminal_and_the_same_to_a_program(capsys):
    odd = ["\x1b[31m\n", "caf\u00e9", "\udc80", "\U000e0001"]
    content = {"cat\x9b2J\u202e": odd, "path": Path("a")}
    print_json(content)
    out = capsys.readouterr().out
    assert out.replace("\n", "").isprintable()
    assert "caf\u00e9" in out
    assert json.loads(out) == content | {"path": "a"}


def test_a_pipe_among_pictures_is_not_waited_for(tmp_path):
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.png").write_bytes(b"")
        os.mkfifo(tmp_path / name / "pipe.png")
    files, _ = list_images(tmp_path)
    assert [file.name for file in files] == ["a.png", "a.png"]
    with pytest.raises(DataError, match="none of 2 pictures"):
        read(tmp_path, labelled=False)


@pytest.mark.parametrize(
    "arguments",
    [
        ["bench", "verify", "--store", "{}"],
        ["bench", "table", "digits-symmetric", "--store", "{}", "--out", "{}/t.tex"],
        ["bench", "report", "digits-symmetric", "--store", "{}", "--out", "{}/r.html"],
        ["bench", "unpack", "--store", "{}", "--out", "{}/records"],
        ["figure", "curves", "--out", "{}/c.svg"],
    ],
    ids=" ".join,
)
def test_names_of_folders_are_safe_on_a_terminal(capsys, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    name = "runs\x1b[2J\u202e"
    (tmp_path / name).mkdir()
    (tmp_path / name / "a\x1b[31m.json").write_text("{")
    _, out, err = run(capsys, *(word.replace("{}", name) for word in arguments))
    assert "2J" in out + err
    assert (out + err).replace("\n", "").isprintable()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("fit t.parquet --label y --encoding cp1252", "--encoding: t.parquet is not a text file"),
        ("fit t.npz --encoding cp1252", "--encoding: t.npz is not a text file"),
        ("fit . --encoding cp1252", "--encoding: . is not a text file"),
        ("fit t.csv --label y --encoder tfidf", "--encoder tfidf: no column is text"),
        ("fit t.npz --encoder tfidf", "--encoder tfidf: there is nothing to encode"),
        ("clean t.parquet --label y --proposals 1 --encoding cp1252 --out o.parquet",
         "--encoding: t.parquet is not a text file"),
        ("clean t.csv --label y --reviewed t.csv --fit f --out o.csv", "--fit: nothing is asked"),
        ("train digits --loss CE --label y", "--label: digits is not a table"),
        ("train t.npz --loss CE --label y", "--label: t.npz is not a table"),
        ("recommend --noise symmetric:0.4 --classes 5 --dataset mnist", "mnist has 10 classes"),
        ("recommend --noise symmetric:0.4 --classes 5 --dataset mine", "no data set 'mine'"),
        ("bench run digits-symmetric --address auto", "--address: expected --engine ray"),
        ("figure curves --out c.svg --grid digits-symmetric", "--grid: curves is drawn from the"),
        ("figure curves --out c.svg --rows CE", "--rows: curves is drawn from the theory"),
        ("figure curves --out c.svg --store results", "--store: curves is drawn from the theory"),
    ],
)  # fmt: skip
def test_an_option_that_would_do_nothing_is_refused(capsys, tmp_path, monkeypatch, arguments, line):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"a": np.arange(60) % 7, "y": ["u", "v"] * 30})
    frame.to_csv("t.csv", index=False)
    frame.to_parquet("t.parquet")
    np.savez("t.npz", X=frame[["a"]], y=frame["y"].to_numpy(str))
    before = sorted(tmp_path.iterdir())
    code, out, err = run(capsys, *arguments.split())
    assert (code, out) == (2, "")
    assert err.startswith(f"noiseproof: {line}")
    assert err.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before


def test_an_encoding_may_be_that_of_the_test_file_alone(tmp_path):
    frame = pd.DataFrame({"a": np.arange(60) % 7, "b": ["é", "è", "é"] * 20, "y": ["u", "v"] * 30})
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False, encoding="cp1252")
    fitted = nf.fit(tmp_path / "t.parquet", "y", test=tmp_path / "t.csv", encoding="cp1252")
    assert not fitted.test.changed


def test_that_the_time_was_up_is_told(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"a": np.arange(60) % 7, "y": ["u", "v"] * 30})
    frame.to_csv("t.csv", index=False)
    _, out, _ = run(capsys, "fit", "t.csv", "--label", "y", "--minutes", "0")
    assert "the time was up before everything was tried; --minutes allows more" in out


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.parametrize("stream", ["stderr", "stdout"])
def test_a_stream_that_takes_nothing_is_exit_code_2(stream):
    arguments = ["nope"] if stream == "stderr" else ["audit", "CE"]
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "noiseproof", *arguments]
        streams = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE} | {stream: full}
        assert subprocess.run(command, **streams, timeout=120).returncode == 2
