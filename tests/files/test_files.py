"""Files and folders that are written whole or not at all, and never over anybody else's."""

import errno
import fcntl
import json
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import BinaryIO

import pytest

from noiseproof import files
from noiseproof.errors import FileError, LockedError, ParameterError
from noiseproof.files import folder as folder_module
from noiseproof.files import hold

DRIVER = Path(__file__).parent / "killed_at_every_line.py"


def killed_everywhere(kind: str, path: Path) -> list[list[object]]:
    run = subprocess.run(
        [sys.executable, DRIVER, kind, path], capture_output=True, text=True, check=True
    )
    found: list[list[object]] = json.loads(run.stdout)
    assert len(found) > 20
    return found


def write_folder(path: Path, text: str = "new", force: bool = True) -> None:
    with files.replacing(path, force) as made:
        (made / "one").write_text(text)
        (made / "sub").mkdir()
        (made / "sub" / "two").write_text(text)


def test_a_file_killed_at_any_line_is_the_old_or_the_new(tmp_path: Path) -> None:
    for after, _, then, names in killed_everywhere("write_file", tmp_path / "file.txt"):
        assert after in ("0", "new")
        assert then == "0"
        assert names == ["file.txt"]  # the next write took the leftovers away


def test_a_folder_killed_at_any_line_is_the_old_or_the_new(tmp_path: Path) -> None:
    whole = [["0", "0", []], ["new", "new", []]]
    found = killed_everywhere("write_folder", tmp_path / "out")
    assert [row for row in found if row[0] not in whole] == []
    assert all(then == whole[0] and names == ["out"] for _, _, then, names in found)
    assert whole[1] in [row[0] for row in found]  # the exchange was reached


def test_without_an_exchange_the_next_run_puts_the_old_folder_back(tmp_path: Path) -> None:
    whole = [["0", "0", []], ["new", "new", []]]
    found = killed_everywhere("write_folder_by_renames", tmp_path / "out")
    assert [row for row in found if row[1] not in whole] == []
    assert all(then == whole[0] and names == ["out"] for _, _, then, names in found)


@pytest.mark.parametrize("name", ["open", "fsync", "replace", "chmod"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES, errno.EIO])
def test_a_write_that_fails_is_one_line_and_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, number: int
) -> None:
    path = tmp_path / "file.txt"
    files.write(path, "old")

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, name, fail)
        if name == "chmod":
            files.write(path, "new")
        else:
            with pytest.raises(FileError) as caught:
                files.write(path, "new")
            assert "\n" not in str(caught.value)
            assert str(caught.value).startswith(f"cannot write {path}: ")
    assert path.read_text() == ("new" if name == "chmod" else "old")
    assert os.listdir(tmp_path) == ["file.txt"]


@pytest.mark.parametrize("folder", [False, True])
def test_a_file_about_the_old_one_stays_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: bool
) -> None:
    out, about = tmp_path / "out", tmp_path / "about.csv"

    def write(text: str) -> None:
        if folder:
            with files.replacing(out, force=True, outdated=about) as made:
                (made / "one").write_text(text)
        else:
            files.write(out, text, outdated=about)

    def fail(one: Path, other: Path) -> None:
        if other == out:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rename(one, other)

    write("old")
    about.write_text("about the old one")
    rename = os.replace
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fail)
        patch.setattr("noiseproof.files.folder.exchange", fail)
        with pytest.raises(FileError, match="cannot write"):
            write("new")
    assert about.read_text() == "about the old one"
    assert (out / "one" if folder else out).read_text() == "old"
    write("new")
    assert (out / "one" if folder else out).read_text() == "new"
    assert os.listdir(tmp_path) == ["out"]


def test_a_full_disk_while_writing(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    script = (
        "import resource, sys; from noiseproof import files, errors\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: files.write(sys.argv[1], b'x' * 5000)\n"
        "except errors.FileError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True)
    assert run.stdout == f"cannot write {path}: file too large\n"
    assert os.listdir(tmp_path) == []


def test_a_write_that_stops_half_way_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    files.write(path, "old")

    def stop(file: object) -> None:
        file.write(b"half of the ne")  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        files.write(path, stop)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_what_a_living_process_is_writing_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    inside, go_on = threading.Event(), threading.Event()

    def slowly(file: object) -> None:
        inside.set()
        go_on.wait(10)
        file.write(b"slow")  # type: ignore[attr-defined]

    thread = threading.Thread(target=files.write, args=(path, slowly))
    thread.start()
    inside.wait(10)
    files.write(path, "quick")
    assert path.read_text() == "quick"
    go_on.set()
    thread.join()
    assert path.read_text() == "slow"
    assert os.listdir(tmp_path) == ["file.txt"]


def test_only_leftovers_are_cleaned(tmp_path: Path) -> None:
    kept = [".out.part", ".out.notours.part", ".other.01234567.part", "out.01234567.part"]
    for name in kept:
        (tmp_path / name).write_text("mine")
    (tmp_path / ".out.01234567.part").mkdir()
    (tmp_path / ".out.01234567.part" / "half").write_text("")
    write_folder(tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == sorted([*kept, "out"])


def test_missing_folders_are_made_and_modes_kept(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "file.txt"
    files.write(path, "text")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    path.chmod(0o600)
    files.write(path, b"bytes")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    write_folder(tmp_path / "out")
    (tmp_path / "out").chmod(0o700)
    write_folder(tmp_path / "out")
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700


def test_long_names_and_names_that_are_not_unicode(tmp_path: Path) -> None:
    for name in ("n" * 255, os.fsdecode(b"caf\xe9"), "[a-z]*", "ü" * 127):
        files.write(tmp_path / name, "text")
        files.write(tmp_path / name, "more")
        assert (tmp_path / name).read_text() == "more"
    assert len(os.listdir(tmp_path)) == 4


def test_a_block_that_raises_leaves_the_old_folder(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_folder(out, "old")

    def fail() -> None:
        with files.replacing(out, force=True) as made:
            (made / "one").write_text("new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (out / "one").read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("change", ["file", "folder", "link", "edit", "manifest"])
def test_a_folder_with_files_of_somebody_else_is_refused(tmp_path: Path, change: str) -> None:
    out = tmp_path / "out"
    write_folder(out, "old")
    if change == "file":
        (out / "sub" / "thesis.txt").write_text("years of work")
        named = "sub/thesis.txt"
    elif change == "folder":
        (out / "mine").mkdir()
        named = "mine/"
    elif change == "link":
        (out / "link").symlink_to(tmp_path)
        named = "link"
    elif change == "edit":
        (out / "one").write_text("OLD")  # as long as before
        named = "one"
    else:
        (out / files.MANIFEST).unlink()
        named = "one, sub/two"
    before = sorted(out.rglob("*"))
    with pytest.raises(ParameterError, match=f"did not write.*: {named}"):
        write_folder(out, force=True)
    assert sorted(out.rglob("*")) == before
    assert os.listdir(tmp_path) == ["out"]


def test_a_file_that_comes_while_the_folder_is_written_survives(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_folder(out, "old")

    def race() -> None:
        with files.replacing(out, force=True) as made:
            (made / "one").write_text("new")
            (out / "late").write_text("mine")

    with pytest.raises(ParameterError, match="late"):
        race()
    assert (out / "late").read_text() == "mine"
    assert (out / "one").read_text() == "old"


def test_what_comes_while_it_is_written_is_not_replaced_without_force(tmp_path: Path) -> None:
    """Two runs with one destination: the second one to finish loses nothing of the first."""
    out, file = tmp_path / "out", tmp_path / "file"

    def folder() -> None:
        with files.replacing(out) as made:
            (made / "one").write_text("late")
            write_folder(out, "first")

    def late(stream: BinaryIO) -> None:
        stream.write(b"late")
        file.write_text("first")

    with pytest.raises(ParameterError, match="nothing is overwritten without --force"):
        folder()
    with pytest.raises(ParameterError, match="nothing is overwritten without --force"):
        files.write(file, late, force=False)
    assert ((out / "one").read_text(), file.read_text()) == ("first", "first")
    assert sorted(os.listdir(tmp_path)) == ["file", "out"]
    files.write(file, late)
    files.write(tmp_path / "new", "new", force=False)
    assert (file.read_text(), (tmp_path / "new").read_text()) == ("late", "new")
    assert sorted(os.listdir(tmp_path)) == ["file", "new", "out"]


def test_without_hard_links_nothing_is_replaced_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", link)
    files.write(tmp_path / "file", "first", force=False)
    with pytest.raises(ParameterError, match="exists"):
        files.write(tmp_path / "file", "late", force=False)
    assert (tmp_path / "file").read_text() == "first"


def test_a_folder_of_many_files_is_known_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with files.replacing(out) as made:
        (made / "one").touch()
    facts = {f"{number:0>240}": {"bytes": 0, "sha256": "0" * 64} for number in range(4000)}
    content = json.loads((out / files.MANIFEST).read_text())
    content["files"] |= facts
    (out / files.MANIFEST).write_text(json.dumps(content))
    assert files.not_ours(out) == []


def test_a_manifest_may_be_as_long_as_there_are_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path / "out")
    monkeypatch.setattr("noiseproof.files.manifest._LARGEST", 10)
    assert files.not_ours(tmp_path / "out") == []
    (tmp_path / "out" / files.MANIFEST).write_text(" " * 100_000)
    assert files.MANIFEST in files.not_ours(tmp_path / "out")


def test_what_file_browsers_leave_is_no_reason_to_refuse(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_folder(out)
    (out / ".DS_Store").write_text("")
    write_folder(out, "newer")
    assert files.not_ours(out) == []


def test_an_empty_folder_may_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    write_folder(tmp_path / "out")
    assert (tmp_path / "out" / "one").exists()


def test_the_manifest_lists_every_file(tmp_path: Path) -> None:
    write_folder(tmp_path / "out", "abc")
    content = json.loads((tmp_path / "out" / files.MANIFEST).read_text())
    assert list(content["files"]) == ["one", "sub/two"]
    # The SHA-256 of "abc" is in FIPS 180-2.
    sha = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert content["files"]["one"] == {"bytes": 3, "sha256": sha}


@pytest.mark.parametrize(
    "damage", ["[]", "{}", "", "\0", '{"files": []}', '{"files": {"one": 3}}', "[" * 100_000]
)
def test_a_damaged_manifest_protects_everything(tmp_path: Path, damage: str) -> None:
    write_folder(tmp_path / "out")
    (tmp_path / "out" / files.MANIFEST).write_text(damage)
    assert "one" in files.not_ours(tmp_path / "out")


def test_destinations_that_are_refused(tmp_path: Path) -> None:
    plain, link, pipe = tmp_path / "plain", tmp_path / "link", tmp_path / "pipe"
    plain.write_text("")
    link.symlink_to(plain)
    os.mkfifo(pipe)
    with pytest.raises(ParameterError, match=r"exists; nothing is overwritten without --force"):
        files.check_file(plain)
    files.check_file(plain, force=True)
    files.check_file(tmp_path / "new")
    for path in (link, pipe, tmp_path):
        with pytest.raises(ParameterError, match="not a plain file"):
            files.check_file(path, force=True)
    for path in (link, pipe, plain):
        with pytest.raises(ParameterError, match="not a folder"):
            files.check_folder(path, force=True)
    for check in (files.check_file, files.check_folder):
        with pytest.raises(ParameterError, match=r"no directory .*missing to make x in"):
            check(tmp_path / "missing" / "x")
        with pytest.raises(ParameterError, match=r"no directory .*plain to make x in"):
            check(plain / "x")
        with pytest.raises(ParameterError, match="exists"):
            check(Path())


def test_names_that_can_never_be_written_are_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for check in (files.check_file, files.check_folder):
        with pytest.raises(FileError, match=r"file name too long$"):
            check(tmp_path / ("x" * 256), force=True)
    (tmp_path / "mounted").mkdir()
    monkeypatch.setattr(os.path, "ismount", lambda path: path == tmp_path / "mounted")
    with pytest.raises(ParameterError, match="is a mount point, which cannot be replaced; name a"):
        files.check_folder(tmp_path / "mounted", force=True)


def test_a_folder_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Whoever tests as root may write anywhere.
    monkeypatch.setattr(os, "access", lambda *_: False)
    for check in (files.check_file, files.check_folder):
        with pytest.raises(ParameterError, match="cannot write into"):
            check(tmp_path / "x")


def test_a_working_directory_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for check in (files.check_file, files.check_folder):
        with pytest.raises(ParameterError, match="working directory does not exist any more"):
            check(Path("x"))


def test_an_exchange_that_the_system_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path / "out", "old")

    def refuse(*_: object) -> bool:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))

    monkeypatch.setattr(folder_module, "_exchange_at_once", refuse)
    with pytest.raises(FileError, match=r"cannot write .*out: device or resource busy"):
        write_folder(tmp_path / "out", "new")
    assert (tmp_path / "out" / "one").read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


def test_a_lock_ends_with_its_process(tmp_path: Path) -> None:
    path = tmp_path / "runs" / ".key.lock"
    script = (
        "import sys, time; from pathlib import Path; from noiseproof import files\n"
        "with files.locked(Path(sys.argv[1]), 'it'): print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", script, path], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert files.is_locked(path)
        with pytest.raises(LockedError, match="it is running in another process"):
            files.locked(path, "it").__enter__()
        process.kill()
        process.wait()
    assert path.exists()
    assert not files.is_locked(path)
    with files.locked(path, "it"):
        assert files.is_locked(path)
    assert not path.exists()


NO_LOCKS = ["ENOLCK", "ENOSYS", "EOPNOTSUPP", "EINVAL"]


@pytest.mark.parametrize("system", [*NO_LOCKS, "none", "network"])
def test_a_lock_that_is_left_behind_stops_nobody_on_any_file_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    """A benchmark waited for ever for a process that was killed, as if it were still at work."""

    def refuse(*_: object) -> None:
        number = getattr(errno, system)
        raise OSError(number, os.strerror(number))

    def as_network_drives_do(handle: int, how: int) -> None:
        may_write = fcntl.fcntl(handle, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
        if how & fcntl.LOCK_EX and not may_write:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        flock(handle, how)

    flock = fcntl.flock
    if system == "none":
        monkeypatch.setattr(hold, "fcntl", None)
    else:
        replaced = as_network_drives_do if system == "network" else refuse
        monkeypatch.setattr(hold.fcntl, "flock", replaced)
    path = tmp_path / "lock"
    path.touch()
    assert not files.is_locked(path)
    with files.locked(path, "it"):
        assert files.is_locked(path) == (system == "network")
        if system == "network":
            with pytest.raises(LockedError, match="it is running"), files.locked(path, "it"):
                pass
    assert not path.exists()


@pytest.mark.parametrize("kind", ["link", "loop", "folder", "closed"])
def test_what_is_no_lock_is_an_error_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A benchmark waited for ever for a link to be let go."""
    lock, other = tmp_path / "x.lock", tmp_path / "other"
    other.write_text("precious")
    if kind == "folder":
        lock.mkdir()
    elif kind == "closed":
        lock.write_text("")
        monkeypatch.setattr(os, "access", lambda *_: False)
        monkeypatch.setattr("noiseproof.files.lock.is_held", lambda _: True)
    else:
        lock.symlink_to(other if kind == "link" else lock)
    assert not files.is_locked(lock)
    if kind != "closed":  # root may read everything
        with pytest.raises(FileError, match=r"cannot write .*x\.lock: "), files.locked(lock, "it"):
            pass
    assert other.read_text() == "precious"


def test_asking_does_not_take_the_lock_from_anybody(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            files.is_locked(path)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        for _ in range(50):
            with files.locked(path, "it"):
                pass
    finally:
        stop.set()
        thread.join()
