"""Runs a write again and again, killed at its first line, its second, ... until one survives.

Run in a process of its own, with one thread and without torch, so that it can fork quickly.
"""

import importlib.util
import json
import os
import signal
import sys
import types
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

if __name__ == "__main__":  # and not where pytest looks for doctests
    package = types.ModuleType("noiseproof")  # in place of the real one, which imports torch
    package.__path__ = importlib.util.find_spec("noiseproof").submodule_search_locations
    sys.modules["noiseproof"] = package
    os.fsync = lambda _: None  # a killed process loses nothing that it wrote; it takes time only

from noiseproof import files
from noiseproof.files import folder as folder_module


def write_file(path: Path, text: str) -> None:
    files.write(path, text)


def write_folder(path: Path, text: str) -> None:
    with files.replacing(path, force=True) as made:
        (made / "sub").mkdir()
        for name in ("one", "sub/two"):
            (made / name).write_text(text)


def write_folder_by_renames(path: Path, text: str) -> None:
    folder_module._exchange_at_once = lambda *_: False
    write_folder(path, text)


def content(path: Path) -> Any:
    if path.is_dir():
        return [content(path / "one"), content(path / "sub" / "two"), files.not_ours(path)]
    return path.read_text() if path.exists() else None


def killed_at(line: int, write: Callable[[Path, str], None], path: Path, text: str) -> bool:
    """Write in a child that is killed at the given line of ``noiseproof/files``."""
    child = os.fork()
    if child == 0:
        count = 0

        def trace(frame: FrameType, event: str, _: object) -> Any:
            nonlocal count
            if "noiseproof/files/" not in frame.f_code.co_filename:
                return None
            count += event == "line"
            if count == line:
                os.kill(os.getpid(), signal.SIGKILL)
            return trace

        sys.settrace(trace)
        write(path, text)
        sys.settrace(None)
        os._exit(0)
    return os.waitpid(child, 0)[1] != 0


def main(name: str, path: Path) -> None:
    """Print what was there after each kill, after the next check, and after the next write."""
    write = globals()[name]
    found = []
    write(path, "0")
    line = 1
    while killed_at(line, write, path, "new"):
        after = content(path)
        if name != "write_file":
            files.check_folder(path, force=True)
        checked = content(path)
        write(path, "0")
        found.append([after, checked, content(path), sorted(os.listdir(path.parent))])
        line += 1
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
