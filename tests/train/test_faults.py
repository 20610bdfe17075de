"""What goes wrong while a run writes: the old or the new, whole, one line, and an exit code."""

import errno
import os
import resource
import signal
import subprocess
import sys
import time

import pytest
from tiny_runs import write_npz

from noiseproof import files
from noiseproof.cli import main
from noiseproof.results import Record

FIELDS = [
    "--loss", "CE", "--network", "linear", "--epochs", "2", "--threads", "1", "--save", "--quiet",
    "--device", "cpu",
]  # fmt: skip


@pytest.fixture
def command(tmp_path):
    data = write_npz(tmp_path / "blobs.npz")
    return ["train", str(data), *FIELDS, "--out", str(tmp_path / "runs")]


def one_line(capsys):
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("noiseproof: ")
    return line


def whole(out):
    """Check that every file is whole, and nothing else is there."""
    names = sorted(path.name for path in out.iterdir() if not path.name.endswith(".lock"))
    assert not [name for name in names if name.endswith(".part")]
    for path in out.glob("*.json"):
        Record.read(path)
    return names


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_every_write_may_fail_in_turn(command, tmp_path, monkeypatch, capsys, number, call):
    out, real, failed = tmp_path / "runs", getattr(os, call), []
    out.mkdir()  # making it would be one more sync, of the folder above
    # A checkpoint after either epoch, the model, the record; each syncs file and folder.
    for fail_at in range(20):
        count = 0

        def faulty(*arguments, fail_at=fail_at):
            nonlocal count
            count += 1
            if count == fail_at + 1:
                raise OSError(number, os.strerror(number))
            return real(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(os, call, faulty)
            code = main([*command, "--restart"])
        if count <= fail_at:
            break
        if code == 0:  # a folder that cannot be synced for lack of permission is let pass
            assert (call, number) == ("fsync", errno.EACCES)
            continue
        assert code == 2
        assert os.strerror(number).lower() in one_line(capsys).lower()
        failed.append(whole(out))
        assert main(command) == 0  # and then it goes on
        assert len(whole(out)) == 2
        capsys.readouterr()
    assert len(failed) >= 4


def test_a_folder_that_cannot_be_made_for_good_is_one_line(command, tmp_path, monkeypatch, capsys):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert main(command) == 2
    assert "no space left" in one_line(capsys).lower()
    assert main(command) == 0
    assert len(whole(tmp_path / "runs")) == 2


def test_a_full_disk(command, tmp_path, capsys):
    def small():
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))

    run = subprocess.run(
        [sys.executable, "-m", "noiseproof", *command],
        capture_output=True, text=True, preexec_fn=small,
    )  # fmt: skip
    assert run.returncode == 2
    (line,) = run.stderr.splitlines()
    assert "checkpoint.pt: file too large" in line
    assert whole(tmp_path / "runs") == []


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/nowhere"])
def test_a_place_that_cannot_be_written(command, tmp_path, capsys, place):
    (tmp_path / "file").touch()
    assert main([*command[:-1], str(tmp_path / place)]) == 2
    one_line(capsys)


def test_terminated_it_says_so_and_leaves_nothing_half_done(tmp_path):
    data = write_npz(tmp_path / "blobs.npz", count=2000)
    out = tmp_path / "runs"
    command = [sys.executable, "-m", "noiseproof", "train", str(data), "--loss", "CE", "--quiet"]
    command += ["--network", "mlp", "--epochs", "100000", "--out", str(out)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not list(out.glob("*.checkpoint.pt")):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (143, "noiseproof: terminated\n")
    assert [name.split(".")[-2:] for name in whole(out)] == [["checkpoint", "pt"]]
    assert not any(files.is_locked(path) for path in out.glob(".*.lock"))


def test_without_a_working_directory(tmp_path, monkeypatch, capsys):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["train", "digits", "--loss", "CE"]) == 2
    assert "the working directory does not exist any more" in one_line(capsys)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--hidden", "-5"], "expected hidden layers of 1 to 1000000, got -5"),
        (["--hidden", "8,0"], "expected hidden layers of 1 to 1000000, got 0"),
        (["--hidden", "99999999999"], "expected hidden layers of 1 to 1000000, got 99999999999"),
        (["--mean", "1,2", "--std", "1,1"], "2 numbers in mean, but blobs has 1 channels"),
        (["--mean", "nan", "--std", "1"], "expected a finite mean, got nan"),
    ],
)
def test_numbers_that_cannot_be(command, capsys, options, message):
    assert main([*command, *options]) == 2
    assert one_line(capsys) == f"noiseproof: {message}"
