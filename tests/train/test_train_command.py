import json
import os
from pathlib import Path

import pytest
from tiny_runs import write_npz

from noiseproof.cli import main
from noiseproof.results import load_model

QUICK = ["--threads", "1", "--device", "cpu"]


@pytest.fixture
def data(tmp_path):
    return str(write_npz(tmp_path / "blobs.npz"))


def run(capsys, *arguments):
    code = main([str(a) for a in arguments])
    return code, *capsys.readouterr()


def test_digits_with_a_loss_and_nothing_else(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "train", "digits", "--loss", "CE", "--epochs", 2)
    assert code == 0
    assert out.startswith("CE on digits with noise none, seed 1: test accuracy 9")
    assert len(out.splitlines()) == 1
    assert len(err.splitlines()) == 2  # a line an epoch, as this is no terminal
    assert len(list(tmp_path.glob("runs/digits-CE-*.json"))) == 1


def test_json_save_and_resume(capsys, tmp_path, data):
    out = tmp_path / "runs"
    command = ("train", data, "--loss", "CE", "--network", "linear", "--epochs", 2, "--out", out)
    code, first, err = run(capsys, *command, "--json", "--save", *QUICK)
    assert (code, err) == (0, "")
    record = json.loads(first)
    assert record["last"]["number"] == record["recipe"]["epochs"] == 2
    _, again, _ = run(capsys, *command, "--json", "--resume", *QUICK)
    assert json.loads(again) == record
    model = load_model(next(out.glob("*.model.pt")))
    from noiseproof.data import load

    test = load(data).test
    right = (model.logits(test.inputs).argmax(1) == test.labels).float().mean()
    assert float(right) == pytest.approx(record["last"]["test_accuracy"])
    assert model.recipe.epochs == 2
    _, anew, _ = run(capsys, *command, "--json", "--restart", *QUICK)
    assert json.loads(anew)["seconds"] != record["seconds"]


def test_a_damaged_record_is_set_aside_and_told(capsys, tmp_path, data):
    out = tmp_path / "runs"
    command = ["train", data, "--loss", "CE", "--network", "linear", "--epochs", 1, "--quiet"]
    run(capsys, *command, "--out", out, *QUICK)
    (record,) = out.glob("*.json")
    os.truncate(record, 300)
    code, _, err = run(capsys, *command, "--out", out, *QUICK)
    (line,) = err.splitlines()
    aside = f"{record.name}.damaged"
    assert (code, line.endswith(f"set aside as {aside}, to be run again")) == (0, True)
    assert {path.name for path in out.iterdir()} == {record.name, aside}


def test_every_field_can_be_overridden(capsys, data):
    from noiseproof.train import Recipe

    values = {
        "network": "mlp", "epochs": 7, "batch": 9, "lr": 0.3, "momentum": 0.1, "nesterov": None,
        "weight-decay": 0.2, "schedule": "exponential", "decay": 0.9, "clip": 1.5,
        "augment": "flip,crop", "mean": "0.5", "std": "0.25", "exact": None, "train-size": 90,
        "test-size": 20, "hidden": "8,4", "precision": "bfloat16", "method": "nlnl",
    }  # fmt: skip
    options = [w for k, v in values.items() for w in (f"--{k}", *([] if v is None else [str(v)]))]
    code, out, _ = run(capsys, "train", data, "--loss", "NLNL", "--show", *options)
    assert code == 0
    fields = {line.split()[0]: " ".join(line.split()[1:]) for line in out.splitlines()[1:-1]}
    assert {k.replace("-", "_") for k in values} == set(fields)
    assert set(fields) | {"name"} == set(Recipe(network="mlp", epochs=1).to_dict())
    assert fields["hidden"] == "8, 4"
    assert fields["weight_decay"] == "0.2"
    assert fields["nesterov"] == "yes"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--loss", "AGEC(a=1)"], "unknown loss 'AGEC'"),
        (["--loss", "CE", "--noise", "symetric:0.4"], "did you mean 'symmetric'?"),
        (["--loss", "CE", "--noise", "asymmetric:0.4"], "blobs"),
        (["--loss", "CE", "--recipe", "fast"], "unknown recipe 'fast'; known: paper, quick"),
        (["--loss", "CE", "--recipe", "paper"], "the paper has no recipe for 'blobs': use quick"),
        (["--loss", "CE", "--epochs", "0"], "expected epochs >= 1, got 0"),
        (["--loss", "CE", "--device", "gpu"], "unknown device 'gpu'"),
        (["--loss", "CE", "--mean", "a,b"], "--mean: expected numbers and commas"),
        (["--loss", "CE", "--network", "cnn9"], "unknown network 'cnn9'"),
        (["--loss", "CE", "--method", "nlnl"], "the method nlnl trains with the loss NLNL"),
        ([], "Missing option '--loss'"),
    ],
)
def test_mistakes_are_one_line(capsys, tmp_path, data, options, message):
    code, out, err = run(capsys, "train", data, *options, "--out", tmp_path / "runs")
    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert message in err


@pytest.mark.parametrize("name", ["crop", "shift", "flip", "rotation", "colour"])
def test_columns_are_not_augmented(capsys, tmp_path, name):
    table = tmp_path / "t.csv"
    rows = [f"{i},{i % 3},{i % 2}" for i in range(40)]
    table.write_text("\n".join(["a,b,label", *rows]))
    code, _, err = run(capsys, "train", table, "--loss", "CE", "--augment", name)
    assert code == 2
    assert err.splitlines() == [
        f"noiseproof: {name} augments images, but t has 2 columns; use --augment none"
    ]


def test_a_failed_run_says_so(capsys, tmp_path, data):
    out = tmp_path / "runs"
    # With so much decay every step multiplies the weights by 1e39, and float32 ends at 3e38.
    fields = ("--lr", "1e38", "--weight-decay", 10, "--clip", 0, "--network", "linear")
    command = ("train", data, "--loss", "CE", *fields, "--out", out, "--quiet", *QUICK)
    for _ in range(2):  # and says so again when it is asked again
        code, out_text, text = run(capsys, *command)
        assert (code, out_text) == (2, "")
        assert len(text.splitlines()) == 1
        assert "failed, the loss is" in text
        assert "of epoch" in text
    record = json.loads(next(out.glob("*.json")).read_text())
    assert record["status"] == "failed"
    assert "step" in record["failure"]


@pytest.mark.parametrize("name", [b"board", b"new/board", b"caf\xe9"])
def test_tensorboard(capsys, tmp_path, data, name):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    board = tmp_path / os.fsdecode(name)
    command = ("train", data, "--loss", "CE", "--network", "linear", "--epochs", 2, "--quiet")
    assert run(capsys, *command, "--tensorboard", board, "--out", tmp_path / "runs", *QUICK)[0] == 0
    (path,) = board.iterdir()
    assert path.name.startswith("events.out.tfevents.")
    read = path.rename(tmp_path / path.name)  # TensorBoard's reader wants UTF-8
    points = [(e.step, v.tag) for e in EventFileLoader(str(read)).Load() for v in e.summary.value]
    assert {(1, "loss"), (2, "loss"), (1, "test_accuracy"), (2, "test_accuracy")} <= set(points)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk is needed")
@pytest.mark.parametrize("full_from", [1, 2])
def test_a_full_disk_for_tensorboard_is_one_line(capsys, tmp_path, data, monkeypatch, full_from):
    pytest.importorskip("tensorboard")
    from noiseproof.train.progress import TensorBoard

    write, count = TensorBoard._write, 0

    def fails(board, event):
        nonlocal count
        count += 1
        if count == full_from:
            board.path.unlink(missing_ok=True)
            board.path.symlink_to("/dev/full")
        write(board, event)

    monkeypatch.setattr(TensorBoard, "_write", fails)
    command = ("train", data, "--loss", "CE", "--network", "linear", "--epochs", 2, "--quiet")
    places = ("--tensorboard", tmp_path / "board", "--out", tmp_path / "runs")
    code, out, err = run(capsys, *command, *places, *QUICK)
    assert (code, out) == (2, "")
    (line,) = err.splitlines()
    assert line.startswith(f"noiseproof: cannot write {tmp_path / 'board'}")
    assert line.endswith("no space left on device")


def test_data_commands(capsys, tmp_path):
    code, out, _ = run(capsys, "data", "list", "--data", tmp_path)
    assert code == 0
    assert "digits          built in" in out
    assert "mnist           not here" in out
    rows = json.loads(run(capsys, "data", "list", "--data", tmp_path, "--json")[1])
    assert {"name", "title", "where", "built_in"} == set(rows[0])
    code, out, err = run(capsys, "data", "verify", "mnist", "--data", tmp_path)
    assert code == 2
    assert len(err.splitlines()) == 1
    assert "no such file" in err
    assert run(capsys, "data", "verify", "digits")[:2] == (0, "digits needs no file\n")
    assert run(capsys, "data", "fetch", "digits")[:2] == (0, "digits needs no file\n")
    code, _, err = run(capsys, "data", "fetch", "minst")
    assert code == 2
    assert "did you mean 'mnist'?" in err
