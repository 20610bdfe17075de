"""Published data are what they claim: checked when they are loaded, and read only once for it."""

import gzip
import hashlib
import json
import os
import subprocess
import sys

import pytest
from test_idx import write

from noiseproof import data
from noiseproof.cli import main
from noiseproof.data import checksums, places
from noiseproof.errors import DataError
from noiseproof.known import KNOWN


def test_made_up_images_under_the_names_of_mnist_are_refused(tmp_path, capsys):
    write(tmp_path / "MNIST/raw")
    with pytest.raises(DataError, match=r"train-images-idx3-ubyte.gz is not the published") as e:
        data.load("mnist", tmp_path)
    assert "\n" not in str(e.value)
    assert "data of your own is loaded by its path" in str(e.value)
    for packed in (True, False):
        write(tmp_path / "MNIST/raw", packed)
        command = ["train", "mnist", "--loss", "CE", "--data", str(tmp_path), "--out", "nowhere"]
        assert main(command) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "is not the published file of mnist" in line
    assert len(data.load("mnist", tmp_path, verify=False).train) == 5


def known_as(monkeypatch, name, folder):
    """Let the files in a folder be the published ones of a data set."""
    entry = KNOWN[name]
    for file in entry.files:
        content = (folder / os.path.basename(file.path)).read_bytes()
        digest = hashlib.md5(content, usedforsecurity=False).hexdigest()
        monkeypatch.setitem(file.__dict__, "md5", digest)
    monkeypatch.setitem(entry.__dict__, "samples", (5, 3))


def test_fashion_mnist_is_not_read_from_mnists_files(tmp_path, monkeypatch):
    write(tmp_path / "MNIST/raw")
    known_as(monkeypatch, "mnist", tmp_path / "MNIST/raw")
    assert len(data.load("mnist", tmp_path).train) == 5
    with pytest.raises(DataError, match="no fashion-mnist in"):
        data.load("fashion-mnist", tmp_path)
    with pytest.raises(DataError, match=r"published file of fashion-mnist: .*, a file of mnist"):
        data.load("fashion-mnist", tmp_path / "MNIST/raw")


def test_an_unpacked_file_without_a_checksum_is_refused(tmp_path):
    write(tmp_path / "FashionMNIST/raw", packed=False)
    with pytest.raises(DataError, match=r"only the checksum of train-images-idx3-ubyte.gz is publ"):
        data.load("fashion-mnist", tmp_path)


def test_the_number_of_samples_is_checked(tmp_path, monkeypatch):
    write(tmp_path)
    known_as(monkeypatch, "mnist", tmp_path)
    monkeypatch.setitem(KNOWN["mnist"].__dict__, "samples", (60_000, 10_000))
    with pytest.raises(DataError, match=r"mnist has 60000 \+ 10000 samples, but .* hold 5 \+ 3"):
        data.load("mnist", tmp_path)


def test_a_file_is_read_once_for_its_checksum(tmp_path, monkeypatch):
    write(tmp_path)
    known_as(monkeypatch, "mnist", tmp_path)
    read = []
    real = checksums._md5
    monkeypatch.setattr(checksums, "_md5", lambda path: read.append(path.name) or real(path))
    data.load("mnist", tmp_path)
    assert len(read) == 4
    data.load("mnist", tmp_path)
    assert len(read) == 4
    path = tmp_path / "t10k-labels-idx1-ubyte.gz"
    path.write_bytes(gzip.compress(b"something else"))
    with pytest.raises(DataError, match="t10k-labels"):
        data.load("mnist", tmp_path)
    assert read[4:] == ["t10k-labels-idx1-ubyte.gz"]
    data.verify("mnist", tmp_path)  # asked for, it reads them all
    assert len(read) == 9


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"x": 3}', "[" * 100_000])
def test_a_damaged_cache_costs_time_and_nothing_else(tmp_path, monkeypatch, damage):
    write(tmp_path)
    known_as(monkeypatch, "mnist", tmp_path)
    cache = places.cache_folder() / "checksums.json"
    cache.parent.mkdir(parents=True)
    cache.write_text(damage)
    assert len(data.load("mnist", tmp_path).train) == 5
    assert len(json.loads(cache.read_text())) >= 4


def test_without_a_place_for_the_cache_it_works_too(tmp_path, monkeypatch):
    write(tmp_path)
    known_as(monkeypatch, "mnist", tmp_path)
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert len(data.load("mnist", tmp_path).train) == 5


def test_the_command_verifies_all_that_is_there(tmp_path, monkeypatch, capsys):
    write(tmp_path / "MNIST/raw")
    known_as(monkeypatch, "mnist", tmp_path / "MNIST/raw")
    assert main(["data", "verify", "--data", str(tmp_path)]) == 0
    assert "mnist: 4 files, none wrong" in capsys.readouterr().out
    write(tmp_path / "FashionMNIST/raw")
    assert main(["data", "verify", "--data", str(tmp_path)]) == 2
    assert "published file of fashion-mnist" in capsys.readouterr().err
    assert main(["data", "verify", "--data", str(tmp_path / "file")]) == 2
    assert "no data set in" in capsys.readouterr().err


def test_the_command_takes_mnists_files_for_no_others(tmp_path, monkeypatch, capsys):
    """Those of Fashion-MNIST have the same names, where they are not in a folder of their own."""
    write(tmp_path)
    known_as(monkeypatch, "mnist", tmp_path)
    assert main(["data", "verify", "--data", str(tmp_path)]) == 0
    assert "fashion" not in capsys.readouterr().out
    assert main(["data", "list", "--json", "--data", str(tmp_path)]) == 0
    where = {found["name"]: found["where"] for found in json.loads(capsys.readouterr().out)}
    assert (where["mnist"], where["fashion-mnist"]) == (str(tmp_path), None)
    assert main(["data", "verify", "fashion-mnist", "--data", str(tmp_path)]) == 2
    (tmp_path / "t10k-labels-idx1-ubyte.gz").write_bytes(b"x")
    assert main(["data", "verify", "--data", str(tmp_path)]) == 2
    assert "published file of mnist" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["digits", "mnist", "cifar10"])
@pytest.mark.realdata
def test_the_published_content_has_the_fingerprint_on_record(name):
    from noiseproof.train.experiment import fingerprint

    assert fingerprint(data.load(name)) == KNOWN[name].fingerprint


def test_known_facts_cost_no_torch():
    code = "import sys, noiseproof.known; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
