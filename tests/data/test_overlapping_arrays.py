"""A zip file whose arrays contain each other is small, and would take any amount of memory."""

import io
import struct
import zipfile
import zlib

import numpy as np
import pytest
import torch

from noiseproof.data.npz import read_npz
from noiseproof.errors import DataError
from noiseproof.learn.arrays import read_arrays, write_arrays
from noiseproof.train.tensors import read_tensors


def overlapping(path, arrays, size):
    """Write arrays of which each one's bytes are the next one, header and all."""
    body, entries = bytes(size), []
    for i in reversed(range(arrays)):
        head = io.BytesIO()
        described = {"descr": "|u1", "fortran_order": False, "shape": (len(body),)}
        np.lib.format.write_array_header_1_0(head, described)
        data = head.getvalue() + body
        name = f"{'Xy'[i] if i < 2 else i}.npy".encode()
        common = struct.pack(
            "<4H3L2H", 0, 0, 0, 33, zlib.crc32(data), *2 * [len(data)], len(name), 0
        )
        body = b"PK\3\4" + struct.pack("<H", 20) + common + name + data
        entries.append((common, name, len(body)))
    start = len(body)
    for common, name, length in reversed(entries):
        where = struct.pack("<3H2L", 0, 0, 0, 0, start - length)
        body += b"PK\1\2" + struct.pack("<2H", 20, 20) + common + where + name
    end = struct.pack("<4H2LH", 0, 0, arrays, arrays, len(body) - start, start, 0)
    path.write_bytes(body + b"PK\5\6" + end)


def test_arrays_that_overlap_are_refused(tmp_path):
    path = tmp_path / "a.npz"
    overlapping(path, 20, 1000)
    with zipfile.ZipFile(path) as archive:  # a reader that does not look takes it for sound
        assert archive.testzip() is None
        assert sum(part.file_size for part in archive.infolist()) > 5 * path.stat().st_size
    with pytest.raises(ValueError, match=r"a.npz: its arrays overlap"):
        read_arrays(path)
    with pytest.raises(DataError, match=r"cannot be read as .npz \(its arrays overlap\)"):
        read_npz(path)


@pytest.mark.parametrize("second", ["X.npy", "X"])
def test_two_arrays_of_one_name_are_refused(tmp_path, second):
    """Readers differ in which of them they take."""
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for number, name in enumerate(("X.npy", "y.npy", "2.npy")):
            content = io.BytesIO()
            np.save(content, np.full(10, number))
            archive.writestr(second.replace("X", "_") if number == 2 else name, content.getvalue())
    path.write_bytes(path.read_bytes().replace(second.replace("X", "_").encode(), second.encode()))
    with pytest.raises(ValueError, match="two arrays are called 'X'"):
        read_arrays(path)
    with pytest.raises(DataError, match="two arrays are called 'X'"):
        read_npz(path)


def test_weights_that_overlap_are_refused(tmp_path):
    path = tmp_path / "w.pt"
    torch.save({"w": torch.zeros(1000)}, path)
    assert read_tensors(path)["w"].shape == (1000,)
    with zipfile.ZipFile(path, "a") as archive:  # which writes each name where it is said to be
        archive.filelist += 9 * [max(archive.infolist(), key=lambda part: part.file_size)]
        archive._didModify = True
    assert torch.load(path)["w"].shape == (1000,)
    assert read_tensors(path) is None


def test_many_small_arrays_are_fine(tmp_path):
    arrays = {f"a{i}": np.arange(i % 3) for i in range(300)}
    write_arrays(tmp_path / "a.npz", arrays)
    assert list(read_arrays(tmp_path / "a.npz")) == list(arrays)
