"""Packed records: read as single files are, merged by copying, unpacked byte for byte."""

import lzma
import shutil
from dataclasses import replace

import pytest
from made_records import fill, made

from noiseproof.bench import load_grid
from noiseproof.bench.packing import pack_grid, unpack_store
from noiseproof.errors import DataError, ParameterError
from noiseproof.results import Store
from noiseproof.results.pack import SUFFIX, pack, parse_record, unpack

GRID = load_grid("digits-symmetric").select(rows=["CE", "AGCE"], seeds=[1, 2])


@pytest.fixture
def runs(tmp_path):
    return fill(tmp_path / "runs", GRID, lambda cell: 0.9 - 0.1 * len(cell.noise) / 20)


@pytest.fixture
def packed(runs, tmp_path):
    (tmp_path / "results").mkdir()
    path, inside, others = pack_grid(GRID, runs, tmp_path / "results")
    assert (path.name, len(inside), len(others)) == (f"digits-symmetric{SUFFIX}", 20, 0)
    return path


def test_a_packed_file_is_the_same_store(runs, packed):
    expected = runs.records()
    for place in (packed, packed.parent):
        store = Store(place)
        assert store.records() == expected
        assert (store.damaged, store.disputes) == ([], {})
    single = sum(path.stat().st_size for path in runs.path.glob("*.json"))
    assert packed.stat().st_size < single / 8


def test_unpacking_gives_every_byte_back(runs, packed, tmp_path):
    path = next(runs.path.glob("*.json"))
    path.write_text(path.read_text().replace(' "matrix": "",\n', ""))  # as the first days' were
    pack_grid(GRID, runs, packed.parent, force=True)
    assert unpack_store(Store(packed), tmp_path / "again") == (20, 0)
    before = {p.name: p.read_bytes() for p in runs.path.glob("*.json")}
    assert {p.name: p.read_bytes() for p in (tmp_path / "again").iterdir()} == before
    assert unpack_store(Store(packed), tmp_path / "again") == (0, 20)


def test_packed_and_single_records_merge_by_copying(runs, packed, tmp_path):
    extra = made(GRID.cells()[0].with_seed(7), 0.9)
    merged = Store(tmp_path / "merged")
    merged.put(extra)
    shutil.copy(packed, merged.path)
    shutil.copytree(runs.path, merged.path / "again")
    assert merged.records() == runs.records() | {extra.key: extra}
    (merged.path / f"twice{SUFFIX}").write_bytes(packed.read_bytes() * 2)  # appended to itself
    assert len(merged.records()) == 21
    wrong = made(GRID.cells()[0], 0.1)
    Store(merged.path / "other").put(wrong)
    assert len(merged.records()) == 20
    (dispute,) = merged.disputes.values()
    assert len(dispute.paths) == 4
    with pytest.raises(DataError, match="1 disputed cell of digits-symmetric"):
        pack_grid(GRID, merged, tmp_path, force=True)


def test_a_packed_file_is_only_read(packed):
    with pytest.raises(DataError, match="packed and can only be read: choose a folder"):
        Store(packed).check_writable()
    assert not Store(packed).running("0" * 64)


def test_nothing_is_overwritten_unasked(runs, packed, tmp_path):
    with pytest.raises(ParameterError, match="--force"):
        pack_grid(GRID, runs, packed.parent)
    with pytest.raises(DataError, match="no record of mnist-symmetric to pack"):
        pack_grid(load_grid("mnist-symmetric"), runs, tmp_path)


@pytest.mark.parametrize("cut", [0, 1, 40, 0.3, 0.9, -1])
def test_a_torn_packed_file_is_said_and_never_a_traceback(packed, cut):
    content = packed.read_bytes()
    packed.write_bytes(content[: int(cut * len(content)) if 0 < cut < 1 else cut])
    store = Store(packed)
    assert len(store.records()) < 20 or cut == -1
    assert len(store.damaged) == 1
    assert packed.exists()


@pytest.mark.parametrize(
    "content",
    [b"", lzma.compress(b""), b"no xz at all", lzma.compress(b"{}\nnot json\n[1"), b"\xff" * 99],
)
def test_what_is_no_packed_file(tmp_path, content):
    path = tmp_path / f"mine{SUFFIX}"
    path.write_bytes(content)
    store = Store(path)
    assert store.records() == {}
    assert store.damaged


def test_a_line_without_end_takes_bounded_memory(tmp_path, monkeypatch):
    from noiseproof.results import pack as module

    monkeypatch.setattr(module, "_LONGEST", 1 << 16)
    bomb = lzma.compress(b" " * (1 << 24))  # 16 MB in some 2 kB
    with pytest.raises(DataError, match="torn, or too long"):
        list(unpack(bomb))


def test_numbers_survive_to_the_last_digit():
    values = {"a": [0.1, 1 / 3, 2**-1074, 1e22, -0.0, 12345678901234567890]}
    (line,) = unpack(pack([values]))
    assert parse_record(line) == values
    with pytest.raises(ValueError, match="NaN"):
        parse_record("[NaN]")


def test_unpacking_never_settles_a_dispute(runs, packed, tmp_path):
    """The first of two results was written, the second counted as there already."""
    ours = next(iter(runs.records().values()))
    theirs = replace(ours.history[-1], test_accuracy=0.0)
    other = replace(ours, history=(*ours.history[:-1], theirs))
    (packed.parent / f"other{SUFFIX}").write_bytes(pack([other.to_dict()]))
    with pytest.raises(DataError, match="1 disputed cell: "):
        unpack_store(Store(packed.parent), tmp_path / "single")
    assert not (tmp_path / "single").exists()
    Store(tmp_path / "there").put(other)
    with pytest.raises(DataError, match="another result than in"):
        unpack_store(Store(packed), tmp_path / "there")


@pytest.mark.parametrize("line", [b"\n", b"{}\n", b'{"schema": 99}\n'])
def test_a_bomb_of_short_lines_is_bounded(tmp_path, monkeypatch, line):
    """A megabyte of them unpacks to seven gigabytes, a damaged record every other byte."""
    from noiseproof.results import pack as module

    monkeypatch.setattr(module, "_FREE", 1 << 16)
    path = tmp_path / f"bomb{SUFFIX}"
    path.write_bytes(lzma.compress(line * (1 << 20), preset=1))
    store = Store(path)
    assert store.records() == {}
    assert len(store.damaged) <= 1001
    assert "the rest is not read" in store.damaged[-1]
