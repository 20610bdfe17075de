"""Fetching and verifying, against a server on this machine."""

import errno
import gc
import hashlib
import os
import threading
import warnings
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from noiseproof import data
from noiseproof.data import download
from noiseproof.data.checksums import check_read
from noiseproof.errors import DataError, DataWarning, FileError, ParameterError
from noiseproof.known import KNOWN, File

CONTENT = b"forty-two bytes of a data set, more or less"


@pytest.fixture(autouse=True)
def _no_place_but_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("NOISEPROOF_DATA", raising=False)


class Quiet(SimpleHTTPRequestHandler):
    asked: list[str] = []  # noqa: RUF012 - one list for the class is what is wanted

    def log_message(self, *_):
        self.asked.append(self.path)


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A data set ``little`` of one file, published by a server; yields the server's folder."""
    folder = tmp_path / "published"
    folder.mkdir()
    (folder / "little.bin").write_bytes(CONTENT)
    Quiet.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,))
        thread.start()
        url = f"http://127.0.0.1:{http.server_port}/little.bin"
        digest = hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()
        entry = data.Known("little", "a", "none", files=(File("sub/little.bin", url, digest),))
        monkeypatch.setitem(KNOWN, "little", entry)
        yield folder
        http.shutdown()
        thread.join()


def test_fetch_puts_the_file_in_its_place_and_not_twice(server, tmp_path):
    target = tmp_path / "here/sub/little.bin"
    for _ in range(2):
        assert data.fetch("little", tmp_path / "here", progress=False) == [target]
        assert target.read_bytes() == CONTENT
    assert len(Quiet.asked) == 1
    assert list(target.parent.iterdir()) == [target]


def test_fetch_shows_progress_unless_it_is_quiet(server, tmp_path, capfd):
    data.fetch("little", tmp_path / "quiet", progress=False)
    assert capfd.readouterr() == ("", "")
    data.fetch("little", tmp_path)
    assert "100%" in capfd.readouterr().err


def test_fetch_keeps_what_it_replaces(server, tmp_path):
    """A user may have made a data set of their own under the published names."""
    target = tmp_path / "here/sub/little.bin"
    target.parent.mkdir(parents=True)
    for number, own in enumerate((CONTENT[:9], b"my own")):
        target.write_bytes(own)
        with pytest.warns(DataWarning, match="was not the published file, and is little.bin"):
            data.fetch("little", tmp_path / "here", progress=False)
        assert target.read_bytes() == CONTENT
        assert len(list(target.parent.glob("*.damaged"))) == number + 1
    kept = {path.read_bytes() for path in target.parent.glob("*.damaged")}
    assert kept == {CONTENT[:9], b"my own"}


@pytest.fixture
def archive(server, monkeypatch):
    """A data set ``packed`` of an archive that holds two files, published by the server."""
    md5 = {name: hashlib.md5(name.encode(), usedforsecurity=False).hexdigest() for name in "ab"}
    entry = data.Known(
        "packed", "a", "none",
        files=KNOWN["little"].files,
        unpacked=tuple(File(f"inside/{name}", md5=md5[name]) for name in "ab"),
    )  # fmt: skip
    monkeypatch.setitem(KNOWN, "packed", entry)
    return entry


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("wrong", ["a", "ab"])
def test_what_fetch_leaves_is_what_load_takes(archive, tmp_path, there, wrong):
    """Wrong files that came out of an archive were read in its place after every fetch."""
    if there:
        data.fetch("packed", tmp_path, progress=False)
    (tmp_path / "inside").mkdir()
    for name in "ab":
        (tmp_path / "inside" / name).write_text("mine" if name in wrong else name)
    with pytest.raises(DataError, match="data fetch packed` gets the right one"):
        check_read(archive, tmp_path)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        data.fetch("packed", tmp_path, progress=False)
    assert [str(line.message) for line in told] == [
        f"{tmp_path / 'inside' / n} was not the published file, and is {n}.damaged now"
        for n in wrong
    ]
    check_read(archive, tmp_path)
    kept = {path.name: path.read_text() for path in (tmp_path / "inside").iterdir()}
    assert kept == {f"{n}.damaged" if n in wrong else n: "mine" if n in wrong else n for n in "ab"}
    assert {check.state for check in data.verify("packed", tmp_path)} == {"ok"}
    data.fetch("packed", tmp_path, progress=False)
    assert len(Quiet.asked) == 1


def test_fetch_renames_no_file_that_would_not_be_read(archive, tmp_path):
    """A file called ``train`` may be anybody's: with nothing but that, the archive is read."""
    (tmp_path / "a").write_text("mine")
    data.fetch("packed", tmp_path, progress=False)
    check_read(archive, tmp_path)
    assert (tmp_path / "a").read_text() == "mine"


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_fetch_opens_and_fills_nothing_but_files(server, tmp_path, make):
    """A pipe was waited for, and a folder got a file of a random name."""
    (tmp_path / "sub").mkdir()
    make(tmp_path / "sub/little.bin")
    with pytest.raises(DataError, match="expected a plain file"):
        data.fetch("little", tmp_path, progress=False)
    assert os.listdir(tmp_path / "sub") == ["little.bin"]


def test_fetch_removes_what_a_killed_one_left_and_the_file_is_as_any_other(server, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/.little.bin.0123abcd.part").write_bytes(CONTENT[:9])
    (made,) = data.fetch("little", tmp_path, progress=False)
    assert os.listdir(tmp_path / "sub") == ["little.bin"]
    (tmp_path / "other").touch()
    assert made.stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_full_disk_is_not_blamed_on_the_network(server, tmp_path, monkeypatch):
    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    (tmp_path / "sub").mkdir()
    with pytest.raises(FileError, match=r"cannot write .*little.bin: no space left on device"):
        data.fetch("little", tmp_path, progress=False)
    assert os.listdir(tmp_path / "sub") == []


def test_fetch_goes_where_noiseproof_data_says_or_else_to_the_cache(server, tmp_path, monkeypatch):
    (cached,) = data.fetch("little", progress=False)
    assert cached.parts[-3:] == ("noiseproof", "sub", "little.bin")
    monkeypatch.setenv("NOISEPROOF_DATA", str(tmp_path / "named"))
    assert data.fetch("little", progress=False) == [tmp_path / "named/sub/little.bin"]


def test_a_wrong_checksum_leaves_nothing_behind(server, tmp_path):
    (server / "little.bin").write_bytes(b"something else")
    with pytest.raises(DataError, match=r"the checksum of what came is not md5 .*put the") as error:
        data.fetch("little", tmp_path / "here", progress=False, retries=0)
    assert "\n" not in str(error.value)
    assert [p for p in (tmp_path / "here").rglob("*") if p.is_file()] == []


def test_without_a_network_the_message_says_which_file_to_put_where(server, tmp_path, monkeypatch):
    file = File("sub/little.bin", "http://127.0.0.1:9/little.bin", "0" * 32)
    monkeypatch.setitem(KNOWN, "little", data.Known("little", "a", "none", files=(file,)))
    target = tmp_path / "here/sub/little.bin"
    with pytest.raises(DataError, match=f"cannot fetch http.*put it at {target}") as error:
        data.fetch("little", tmp_path / "here", progress=False, retries=0)
    assert "\n" not in str(error.value)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of requests
@pytest.mark.parametrize(
    ("header", "proxy"),
    [
        (("Content-Length", "many"), ""),
        (("Location", "http://[::1"), ""),
        (("Location", "http://*..x/"), ""),
        ((), "http://a..b:1"),
        ((), "http://u:\u20ac@127.0.0.1:9"),
    ],
)
def test_odd_answers_and_proxies_are_one_line(server, tmp_path, monkeypatch, header, proxy):
    class Odd(Quiet):
        def do_GET(self):
            self.send_response(302 if header[0] == "Location" else 200)
            self.send_header(*header)
            self.end_headers()

    if header:
        monkeypatch.setattr(Quiet, "do_GET", Odd.do_GET)
    monkeypatch.setenv("http_proxy", proxy)
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(DataError, match=r"^cannot fetch http.*put it at") as error:
        data.fetch("little", tmp_path, progress=False, retries=0)
    assert "\n" not in str(error.value)
    gc.collect()  # of a redirect that cannot be followed, requests leaves a socket


def test_a_file_the_server_has_not_is_an_error(server, tmp_path):
    (server / "little.bin").unlink()
    with pytest.raises(DataError, match=r"cannot fetch http.*HTTPError"):
        data.fetch("little", tmp_path, progress=False, retries=0)


def test_a_server_that_sends_without_end_is_left(server, tmp_path, monkeypatch):
    monkeypatch.setattr(download, "LARGEST", len(CONTENT) - 1)
    with pytest.raises(DataError, match=r"cannot fetch http.*\(more than 0 MiB came\)"):
        data.fetch("little", tmp_path / "here", progress=False)
    assert [p for p in (tmp_path / "here").rglob("*") if p.is_file()] == []
    assert len(Quiet.asked) == 1


def test_verify_tells_right_from_wrong_from_missing(server, tmp_path):
    assert [c.state for c in data.verify("little", tmp_path / "here")] == ["missing"]
    data.fetch("little", tmp_path / "here", progress=False)
    assert [c.state for c in data.verify("little", tmp_path / "here")] == ["ok"]
    (tmp_path / "here/sub/little.bin").write_bytes(b"x")
    (check,) = data.verify("little", tmp_path / "here")
    assert check.state == "wrong"
    assert f"{check.path} is not the published file of little: its md5 is 9dd4e461" in check.problem


def test_verify_takes_an_archive_or_what_it_holds(tmp_path):
    assert [c.path.name for c in data.verify("cifar100", tmp_path)] == ["cifar-100-python.tar.gz"]
    (tmp_path / "cifar-100-python").mkdir()
    (tmp_path / "cifar-100-python/meta").touch()
    states = {c.path.name: c.state for c in data.verify("cifar100", tmp_path)}
    assert states == {"train": "missing", "test": "missing", "meta": "wrong"}


def test_what_came_out_of_a_gz_is_checked_where_its_checksum_is_known(tmp_path):
    (tmp_path / "train-labels-idx1-ubyte").touch()
    assert [c.state for c in data.verify("mnist", tmp_path)][:2] == ["missing", "wrong"]
    assert [c.state for c in data.verify("fashion-mnist", tmp_path)][:2] == ["missing", "unchecked"]


def test_webvision_is_downloaded_by_hand(tmp_path):
    with pytest.raises(DataError, match=r"webvision-mini must be downloaded by hand, from https"):
        data.fetch("webvision-mini", tmp_path)


def test_digits_are_nothing_to_fetch_or_verify():
    assert data.fetch("digits") == data.verify("digits") == []


def test_available_lists_every_known_set_and_where_it_is(tmp_path):
    (tmp_path / "cifar-10-python.tar.gz").touch()
    listed = {entry.name: entry.where for entry in data.available(tmp_path)}
    assert listed.pop("cifar10") == tmp_path
    assert set(listed.values()) == {None}
    assert set(listed) | {"cifar10"} == set(KNOWN)


def test_every_downloadable_file_has_a_url_and_an_md5():
    for entry in KNOWN.values():
        for file in entry.files:
            assert entry.page or (file.url.startswith("http") and len(file.md5) == 32), file


def test_load_looks_where_noiseproof_data_says_then_into_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NOISEPROOF_DATA", str(tmp_path))
    with pytest.raises(DataError, match=f"no mnist in {tmp_path} or .*noiseproof: run `noisep"):
        data.load("mnist")


def test_an_unknown_name_is_answered_with_a_near_one():
    for function in (data.fetch, data.verify, data.stream):
        with pytest.raises(ParameterError, match=r"no data set 'cifar01'; did you mean 'cifar10'?"):
            function("cifar01")
    with pytest.raises(ParameterError, match=r"cifar10n is labels only: load 'cifar10'"):
        data.load("cifar10n")
