"""Ctrl-C, or an error, at any line of a write: data stay with the file that is about them."""

import fcntl
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from noiseproof import files
from noiseproof.files import folder as folder_module


def write_file(out: Path, about: Path, text: str) -> None:
    with files.writing(about, text):
        files.write(out, text, outdated=about)


def write_folder(out: Path, about: Path, text: str) -> None:
    with files.writing(about, text), files.replacing(out, True, about) as made:
        (made / "data").write_text(text)


def content(path: Path) -> str | None:
    path = path / "data" if path.is_dir() else path
    return path.read_text() if path.exists() else None


def is_interrupted(line: int, write: Callable[[], None]) -> bool:
    """Call a function with Ctrl-C at a line of ``noiseproof/files``; return whether it came."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        if "noiseproof/files/" not in frame.f_code.co_filename:
            return None
        count += event == "line"
        if event == "line" and count == line:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        write()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(before)
    return count >= line


# A folder that was being listed is closed later than Python likes.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("kind", ["file", "folder", "folder by renames"])
def test_no_old_description_beside_new_data_nor_old_data_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    place = tmp_path / "place"
    out, about = place / "out", place / "about.csv"
    write = write_file if kind == "file" else write_folder
    monkeypatch.setattr(os, "fsync", lambda _: None)  # it takes time only
    if "renames" in kind:
        monkeypatch.setattr(folder_module, "_exchange_at_once", lambda *_: False)
    found, line = set(), 0
    while True:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        write(out, about, "old")
        line += 1
        if not is_interrupted(line, lambda: write(out, about, "new")):
            break
        found.add((content(out), content(about)))
    assert line > 200
    assert found == {("old", "old"), ("new", None), ("new", "new")}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize(
    "call", ["open", "mkdir", "fsync", "chmod", "link", "rename", "replace", "flock"]
)
@pytest.mark.parametrize("kind", ["file", "new file", "folder", "described"])
def test_a_signal_that_comes_during_a_call_leaves_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, call: str
) -> None:
    # Python handles a signal once the call of the system is over: what it made is there.
    module: Any = fcntl if call == "flock" else os
    place, real = tmp_path / "place", getattr(module, call)

    def write(text: str) -> None:
        if kind == "folder":
            with files.replacing(place / "out", force=True) as made:
                (made / "data").write_text(text)
        elif kind == "described":
            write_file(place / "out", place / "about", text)
        else:
            files.write(place / "out", text, force=kind == "file")

    at = 1
    while True:
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        if kind != "new file":
            write("old")
        calls = 0

        def interrupted(*arguments: Any, at: int = at, **options: Any) -> Any:
            nonlocal calls
            calls += 1
            result = real(*arguments, **options)
            if calls == at:
                raise KeyboardInterrupt
            return result

        with monkeypatch.context() as patch:
            patch.setattr(module, call, interrupted)
            with suppress(KeyboardInterrupt):
                write("new")
        if calls < at:
            break
        assert set(os.listdir(place)) <= {"out", "about"}
        assert content(place / "out") in ({None, "new"} if kind == "new file" else {"old", "new"})
        at += 1
