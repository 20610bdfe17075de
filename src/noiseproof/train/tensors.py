"""Tensors and plain values in a file, as ``torch.save`` writes them, read without trust."""

import io
import pickletools
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import torch

from noiseproof import files
from noiseproof.memory import check_fits

State = dict[str, Any]

#: All that our files ask for by name. torch admits more, such as ``bytearray``, which makes any
#: number of bytes of one number.
_ADMITTED = re.compile(
    "collections OrderedDict|torch._utils _rebuild_tensor_v2|torch [A-Z][A-Za-z0-9]*Storage"
)


def write_tensors(path: Path, content: State) -> None:
    """Write a dict as ``torch.save`` does, whole or not at all."""
    # In memory first: torch turns the error of a full disk into one about its own zip format.
    buffer = io.BytesIO()
    torch.save(content, buffer)
    files.write(path, buffer.getbuffer())


def read_tensors(path: Path, device: torch.device | str = "cpu") -> State | None:
    """Return the dict that ``torch.save`` wrote, nothing in it executed; None where it is none.

    A file with a damaged part is none: torch reads one changed bit as another weight.
    """
    files.check_plain(path)
    check_fits(path, path.stat().st_size, "use a machine with more memory")
    content = path.read_bytes()
    try:
        checked = _checked(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of strange files before it refuses them
            found = torch.load(checked, map_location=device, weights_only=True)
    except MemoryError:
        raise
    except Exception:  # a damaged file can raise anything at all
        return None
    return found if isinstance(found, dict) else None


def _checked(content: bytes) -> io.BytesIO:
    """Return the parts of an archive in a new one; raise an error where torch should not read them.

    In a new one, because torch has another way to find the parts of an archive than Python.
    """
    checked = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as file, zipfile.ZipFile(checked, "w") as out:
        parts = file.infolist()
        packed = any(part.compress_type != zipfile.ZIP_STORED for part in parts)
        overlap = sum(part.file_size for part in parts) > len(content)
        twice = len({part.filename for part in parts}) < len(parts)
        if packed or overlap or twice:  # torch does none of it: it may be a bomb
            raise ValueError("not an archive of torch's")
        for part in parts:
            data = file.read(part)  # raises an error unless its checksum is right
            if part.filename.endswith(".pkl"):
                _check_names(data)
            out.writestr(part.filename, data)
    checked.seek(0)
    return checked


def _check_names(pickled: bytes) -> None:
    """Raise ValueError where a pickle asks for more than tensors and plain values."""
    for opcode, name, _ in pickletools.genops(pickled):
        if opcode.name == "GLOBAL" and not _ADMITTED.fullmatch(str(name)):
            raise ValueError(f"asks for {name}")
