"""The manifest of a folder: the files that noiseproof wrote into it, with size and SHA-256."""

import hashlib
import json
import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"
_WRITER = "noiseproof"

#: No manifest of ours has more bytes, in all or for each file there is; a larger one is not read.
_LARGEST, _LARGEST_ENTRY = 1 << 24, 1 << 13

#: What file browsers leave in every folder they show.
_LITTER = {".DS_Store", "Thumbs.db", "desktop.ini"}


def write_manifest(folder: Path) -> None:
    """List every file under ``folder`` in its manifest."""
    listed = {name: _facts(path) for name, path in _entries(folder) if name != MANIFEST}
    content = {"written_by": _WRITER, "files": dict(sorted(listed.items()))}
    text = json.dumps(content, indent=1, ensure_ascii=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8", errors="surrogateescape")


def not_ours(folder: Path, among: Collection[str] = ()) -> list[str]:
    """Return the names under ``folder`` that noiseproof did not write, or that changed since.

    Without a manifest that is every name; an empty folder has none.

    Args:
        folder: the folder.
        among: look only at these files and folders in it; by default at all.
    """
    entries = [
        (name, path) for name, path in _entries(folder) if not among or name.split("/")[0] in among
    ]
    listed = _listed(folder, max(_LARGEST, _LARGEST_ENTRY * len(entries)))
    return sorted(
        name
        for name, path in entries
        if not _is_ours(name, path, listed) and path.name not in _LITTER
    )


def _is_ours(name: str, path: Path, listed: dict[str, Any]) -> bool:
    if name == MANIFEST:
        return bool(listed) and path.is_file() and not path.is_symlink()
    facts = listed.get(name)
    return (
        isinstance(facts, dict)
        and not path.is_symlink()
        and path.is_file()
        and path.stat().st_size == facts.get("bytes")
        and _facts(path) == facts
    )


def _listed(folder: Path, largest: int) -> dict[str, Any]:
    path = folder / MANIFEST
    if path.is_symlink() or not path.is_file() or path.stat().st_size > largest:
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))
    except (ValueError, RecursionError):
        return {}
    ours = isinstance(content, dict) and content.get("written_by") == _WRITER
    files = content.get("files") if ours else None
    return files if isinstance(files, dict) else {}


def _facts(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"bytes": file.tell(), "sha256": digest}


def _entries(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield everything under a folder that is no folder, and empty folders, with relative names."""
    for root, folders, names in os.walk(folder, onerror=_raise):
        here = Path(root)
        links = [name for name in folders if (here / name).is_symlink()]
        if not folders and not names and here != folder:
            yield f"{here.relative_to(folder).as_posix()}/", here
        for name in (*links, *names):
            yield (here / name).relative_to(folder).as_posix(), here / name


def _raise(error: OSError) -> None:
    raise error
