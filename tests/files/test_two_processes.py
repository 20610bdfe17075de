"""Two processes that write to one place: one waits for the other, and nothing of either is lost."""

import errno
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from noiseproof import files
from noiseproof.errors import LockedError, ParameterError
from noiseproof.files import destination, folder, hold
from noiseproof.files.part import aside, clean, part, remove

OTHER = Path(__file__).parent / "one_of_two.py"


def write_folder(path: Path, text: str) -> None:
    with files.replacing(path, force=True) as made:
        for number in range(5):
            (made / f"{number}").write_text(text)


def content(path: Path) -> set[str]:
    assert len(list(path.iterdir())) == 6
    return {(path / f"{number}").read_text() for number in range(5)}


def test_two_that_replace_one_folder_all_the_time(tmp_path: Path) -> None:
    command = [sys.executable, OTHER, "replace", tmp_path / "out"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for process in processes:
        count, wrong = json.loads(process.communicate(timeout=60)[0])
        assert wrong == []
        assert count > 10
    assert files.not_ours(tmp_path / "out") == []
    assert sorted(os.listdir(tmp_path / "out")) == ["a", "b", "c", "d", files.MANIFEST]
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("late", [False, True])
def test_the_old_folder_stays_until_the_new_one_is_sure_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    """Another process took it for a leftover while its files were compared with the manifest."""
    out, looked = tmp_path / "out", []

    def check(place: Path, name: Path) -> None:
        if late and place != out:
            (place / "late").write_text("mine")
        before = sorted(os.listdir(place))
        subprocess.run([sys.executable, OTHER, "ask", out], check=True, timeout=60)
        assert sorted(os.listdir(place)) == before
        looked.append(place)
        destination.check_ours(place, name)

    write_folder(out, "old")
    monkeypatch.setattr(folder, "check_ours", check)
    if late:
        with pytest.raises(ParameterError, match=r"did not write.*: late"):
            write_folder(out, "new")
        assert (out / "late").read_text() == "mine"
        (out / "late").unlink()
    else:
        write_folder(out, "new")
    assert len(looked) == 2
    assert content(out) == {"old" if late else "new"}
    assert os.listdir(tmp_path) == ["out"]


def test_a_check_that_is_refused_deletes_nothing(tmp_path: Path) -> None:
    write_folder(tmp_path / "out", "old")
    (tmp_path / ".out.01234567.part").mkdir()
    with pytest.raises(ParameterError, match="--force"):
        files.check_folder(tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == [".out.01234567.part", "out"]


def test_a_file_that_is_set_aside_is_no_leftover(tmp_path: Path) -> None:
    about = tmp_path / "about.csv"
    about.write_text("old")

    def fail() -> None:
        with part(tmp_path / "out") as (made, handle), aside(about, made, handle):
            assert not about.exists()
            clean(about)  # as another process does
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert about.read_text() == "old"
    assert os.listdir(tmp_path) == ["about.csv"]


def test_data_and_the_file_about_them_are_of_one_process(tmp_path: Path) -> None:
    """Another one's data took their place between the two."""
    out, about = tmp_path / "out", tmp_path / "about.csv"

    def write(text: str) -> None:
        with files.writing(about, text):
            files.write(out, text, outdated=about)

    other = threading.Thread(target=write, args=["other"])
    with files.writing(about, "mine"):
        files.write(out, "mine", outdated=about)
        other.start()
        other.join(0.2)
        assert out.read_text() == "mine"
    other.join()
    assert out.read_text() == about.read_text() == "other"
    assert sorted(os.listdir(tmp_path)) == ["about.csv", "out"]


@pytest.mark.parametrize(("call", "is_folder"), [("mkdir", True), ("open", True), ("open", False)])
def test_a_part_that_is_removed_before_it_is_held_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, is_folder: bool
) -> None:
    function, path = getattr(os, call), tmp_path / "out"

    def then_clean(*arguments: object) -> object:
        monkeypatch.undo()
        done = function(*arguments)
        clean(path)
        assert os.listdir(tmp_path) == []
        return done

    monkeypatch.setattr(os, call, then_clean)
    with part(path, folder=is_folder) as (made, handle):
        assert os.path.samestat(made.stat(), os.fstat(handle))
        clean(path)
        assert made.exists()
    assert os.listdir(tmp_path) == []


def test_who_asks_whether_a_part_is_held_does_not_take_it(tmp_path: Path) -> None:
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            clean(tmp_path / "out")

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        for number in range(300):
            with part(tmp_path / "out", folder=number % 2 > 0) as (made, _):
                for _ in range(20):
                    assert made.exists()
    finally:
        stop.set()
        thread.join()


def test_a_folder_that_is_never_let_go_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path / "out", "old")
    monkeypatch.setattr(hold, "_PATIENCE", 0.1)
    with (
        hold.held(tmp_path / "out"),
        pytest.raises(LockedError, match=r"^cannot write .*out: another process is at work on it$"),
    ):
        write_folder(tmp_path / "out", "new")
    assert content(tmp_path / "out") == {"old"}
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("system", ["none", "refuses"])
def test_where_nobody_can_tell_what_is_held_the_old_folder_still_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    """So it is on network drives, which have no exchange either."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    if system == "none":
        monkeypatch.setattr(hold, "fcntl", None)
    else:
        monkeypatch.setattr(hold.fcntl, "flock", refuse)
    write_folder(tmp_path / "out", "old")
    (tmp_path / "out").rename(tmp_path / ".out.01234567.old")  # and then it was killed
    with pytest.raises(ParameterError, match="--force"):
        files.check_folder(tmp_path / "out")
    assert content(tmp_path / "out") == {"old"}
    write_folder(tmp_path / "out", "new")
    assert content(tmp_path / "out") == {"new"}


def test_names_that_begin_alike_do_not_share_leftovers(tmp_path: Path) -> None:
    one, other = (tmp_path / f"{'é' * 110}{letter}" for letter in "ab")
    with part(one, folder=True) as (made, _):
        leftover = made.with_suffix(".old").name
    write_folder(tmp_path / leftover, "of one")
    files.check_folder(other)
    write_folder(other, "other")
    assert content(other) == {"other"}
    with pytest.raises(ParameterError, match="--force"):
        files.check_folder(one)
    assert content(one) == {"of one"}


def test_an_old_folder_that_may_not_be_written_to_leaves_nothing(tmp_path: Path) -> None:
    user = os.geteuid()
    if user == 0:  # who may write anywhere
        os.seteuid(65534)
    try:
        place = Path(tempfile.mkdtemp(dir="/tmp"))
        for text in ("old", "new", "newest"):
            with files.replacing(place / "out", force=True) as made:
                (made / "sub").mkdir()
                (made / "sub" / "data").write_text(text)
            for folder in (place / "out" / "sub", place / "out"):
                folder.chmod(0o555)
            assert os.listdir(place) == ["out"]
        remove(place)
    finally:
        os.seteuid(user)
    assert not place.exists()


@contextmanager
def nobody() -> Iterator[None]:
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="two users are needed")
@pytest.mark.parametrize("theirs", ["out", "out/sub"])
def test_a_folder_of_another_user_is_replaced_only_if_all_of_it_can_go(theirs: str) -> None:
    place = Path(tempfile.mkdtemp(dir="/tmp"))

    def write(text: str) -> None:
        with files.replacing(place / "out", force=True) as made:
            (made / "sub").mkdir()
            (made / "sub" / "data").write_text(text)

    def state() -> tuple[str, list[str]]:
        return (place / "out" / "sub" / "data").read_text(), os.listdir(place)

    write("old")
    for each in (place, place / "out", place / "out" / "sub"):
        os.chown(each, 0 if each == place / theirs else 65534, -1)
    for mode in (0o755, 0o1777):  # in a sticky folder, each removes only what is their own
        (place / theirs).chmod(mode)
        with nobody():
            with pytest.raises(ParameterError, match=f"{theirs} belongs to another user"):
                files.check_folder(place / "out", force=True)
            with pytest.raises(ParameterError, match=f"{theirs} belongs to another user"):
                write("new")
            assert state() == ("old", ["out"])
    (place / theirs).chmod(0o777)
    with nobody():
        write("new")
        assert state() == ("new", ["out"])
        remove(place)
    assert not place.exists()
