"""bench verify, pack and unpack; and what every command says of a store that is none."""

import errno
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from made_records import fill, identified, made

from noiseproof.bench import load_grid
from noiseproof.cli import main
from noiseproof.results import Store

GRID = load_grid("digits-symmetric").select(rows=["CE"], noises=["none", "symmetric:0.4"])


def run(capsys, *arguments):
    code = main(["bench", *map(str, arguments)])
    return code, *capsys.readouterr()


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return fill(tmp_path / "runs", GRID, lambda cell: 0.9)


def test_a_store_in_order(store, capsys):
    assert run(capsys, "verify") == (0, "runs: 6 records verified\n", "")
    said = json.loads(run(capsys, "verify", "--json")[1])
    assert said == {"records": 6, "problems": []}


def test_everything_that_is_wrong_is_listed(store, capsys):
    cells = GRID.cells()
    Store("runs/other").put(made(cells[0], 0.1))  # disagrees
    torn = store.files(made(cells[1], 0.9)).record
    torn.write_text(torn.read_text().replace('"status": "done"', '"status": "fine"'))
    store.put(identified(replace(made(cells[2], 0.9), fingerprint="a" * 64)))  # of other data
    code, out, err = run(capsys, "verify")
    assert code == 2
    assert err == "noiseproof: runs: 3 problems\n"
    lines = out.splitlines()
    assert len(lines) == 4
    assert "status is 'fine'" in lines[0]
    assert "90.14%" in lines[1]
    assert "10.14%" in lines[1]
    assert "other data than the published" in lines[2]
    assert lines[3] == "runs: 5 records verified"
    code, out, err = run(capsys, "status", "digits-symmetric", "--rows", "CE",
                         "--noise", "none,symmetric:0.4")  # fmt: skip
    assert "4 of 6 cells done, 1 disputed, 1 missing" in out
    assert "none is believed" in err
    code, out, _ = run(capsys, "table", "digits-symmetric", "--rows", "CE", "--noise", "none",
                       "--format", "csv")  # fmt: skip
    assert code == 0
    assert "partial,90.14" in out
    code, out, err = run(capsys, "run", "digits-symmetric", "--rows", "CE", "--noise", "none",
                         "--seeds", 1, "--json")  # fmt: skip
    left = json.loads(out)
    assert left["ran"] == 0  # a disputed cell is the user's to decide
    assert code == 1
    assert "no result for 1 cell; " in err
    assert "none is believed" in err
    assert left["grids"][0]["disputed"] == 1
    assert main(["figure", "memorisation", "--out", "m.svg"]) == 0
    err = capsys.readouterr().err
    assert "none is believed" in err
    assert "status is 'fine'" not in err  # it was set aside, and said, before


def test_pack_and_unpack(store, capsys, tmp_path):
    code, out, _ = run(capsys, "pack", "digits-symmetric", "--out", "results")
    assert code == 0
    assert out.startswith("wrote results/digits-symmetric.records.xz: 6 records, ")
    for place in ("results", "results/digits-symmetric.records.xz"):
        assert run(capsys, "verify", "--store", place)[0] == 0
        options = ["--rows", "CE", "--noise", "none,symmetric:0.4", "--store"]
        expected = run(capsys, "table", "digits-symmetric", *options, "runs")
        assert run(capsys, "table", "digits-symmetric", *options, place) == expected
        out = run(capsys, "status", "digits-symmetric", *options, place)[1]
        assert out == "digits-symmetric: 6 of 6 cells done\n"
    code, out, err = run(capsys, "run", "digits-symmetric", "--store", place)
    assert (code, out) == (2, "")
    assert "packed and can only be read" in err
    assert run(capsys, "pack", "digits-symmetric", "--out", "results")[0] == 2
    code, out, _ = run(capsys, "unpack", "--store", "results", "--out", "again")
    assert (code, out) == (0, "wrote 6 records to again\n")
    assert Store("again").records() == store.records()


def test_unpacking_replaces_no_link(store, capsys, tmp_path):
    assert run(capsys, "unpack", "--out", "again")[0] == 0
    path = next((tmp_path / "again").glob("*.json"))
    path.unlink()
    path.symlink_to("somewhere")
    code, _, err = run(capsys, "unpack", "--out", "again")
    assert (code, err.count("\n")) == (2, 1)
    assert path.is_symlink()


def torn_record(store, _):
    path = next(store.path.glob("*.json"))
    path.write_text(path.read_text()[:-9])


def torn_pack(store, capsys):
    run(capsys, "pack", "digits-symmetric", "--out", "runs")
    path = next(store.path.glob("*.xz"))
    path.write_bytes(path.read_bytes()[:-9])


def closed_folder(store, _):
    (store.path / "closed").mkdir()


def other_labels(store, _):
    other = replace(made(GRID.cells()[0], 0.9), loss="FL(gamma=0.5)", noise_hash="b" * 64)
    store.put(identified(other))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (torn_record, "not all of one"), (torn_pack, "torn"),
        (closed_folder, "closed: Permission denied"), (other_labels, "with different labels"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
@pytest.mark.parametrize(
    "command",
    [
        ["bench", "status"],
        ["bench", "status", "digits-symmetric"],
        ["bench", "table", "digits-symmetric"],
        ["bench", "verify"],
        ["bench", "report", "--out", "r.html"],
        ["bench", "pack", "digits-symmetric", "digits-symmetric", "--out", "packed"],
        ["bench", "unpack", "--out", "single"],
        ["figure", "memorisation", "--out", "m.svg"],
    ],
    ids=" ".join,
)
def test_what_does_not_count_is_said_by_every_command(
    store, capsys, monkeypatch, damage, said, command
):
    damage(store, capsys)
    listed = os.scandir

    def closed(path):
        if str(path).endswith("closed"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", closed)
    code = main(command)
    told = "".join(capsys.readouterr())
    assert code == (2 if "verify" in command else 0)
    packs = "pack" in command or "unpack" in command  # which show no rows side by side
    assert (said in told) == (damage is not other_labels or not packs)


def test_two_grids_of_one_name_are_not_packed_into_one_file(store, capsys, tmp_path):
    text = 'dataset = "digits"\nnoises = ["none"]\nrows = {CE = "CE"}\n'
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.toml").write_text(text)
    code, _, err = run(capsys, "pack", "a/mine.toml", "b/mine.toml", "--out", "packed", "--force")
    assert (code, (tmp_path / "packed").exists()) == (2, False)
    assert "two grids are called 'mine'" in err


def test_a_store_without_records_is_not_unpacked_to_nothing(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    code, out, err = run(capsys, "unpack", "--out", "single")
    assert (code, out, err) == (2, "", "noiseproof: runs: no record to unpack\n")


def test_a_damaged_pack_is_not_replaced_by_what_is_left_of_it(store, capsys):
    torn_pack(store, capsys)
    (path,) = store.path.glob("*.xz")
    before = path.read_bytes()
    again = ["pack", "digits-symmetric", "--store", "runs", "--out", "runs", "--force"]
    code, _, err = run(capsys, *again)
    assert (code, path.read_bytes()) == (2, before)
    assert "torn" in err
    assert "choose another --out" in err
    assert run(capsys, *again[:-2], "elsewhere")[0] == 0


def test_a_pack_is_not_replaced_by_the_records_that_can_be_read(store, capsys, monkeypatch):
    pack = ["pack", "digits-symmetric", "--store", "runs", "--force", "--out"]
    assert run(capsys, *pack, "packed")[0] == 0
    (path,) = (store.path.parent / "packed").iterdir()
    before, unreadable = path.read_bytes(), next(store.path.glob("*.json"))
    real = os.open

    def fails(file, *rest, **options):
        if file == Path("runs", unreadable.name):
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(file))
        return real(file, *rest, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", fails)
        code, out, err = run(capsys, *pack, "packed")
    assert (code, out, path.read_bytes()) == (2, "", before)
    assert f"{unreadable.name}: Input/output error" in err
    assert "may have what cannot be read of runs; choose another --out" in err
    assert run(capsys, *pack, "packed")[0] == 0


def test_a_pack_is_not_replaced_by_fewer_records(store, capsys, tmp_path):
    text = 'dataset = "digits"\nrecipe = "quick"\nnoises = {}\nrows = {{CE = "CE"}}\n'
    grid = tmp_path / "mine.toml"
    grid.write_text(text.format('["none", "symmetric:0.4"]'))
    assert run(capsys, "pack", "mine.toml", "--out", "packed")[0] == 0
    before = (tmp_path / "packed/mine.records.xz").read_bytes()
    grid.write_text(text.format('["none"]'))
    again = ["pack", "mine.toml", "--store", "packed", "--force", "--out"]
    code, out, err = run(capsys, *again, "packed")
    assert (code, out) == (2, "")
    assert "has 3 records of no row, noise or data of mine, which would be lost" in err
    assert (tmp_path / "packed/mine.records.xz").read_bytes() == before
    assert run(capsys, *again, "other")[0] == 0
    again[3] = "runs"  # which has them all
    assert run(capsys, *again, "packed")[0] == 0


def test_what_is_not_packed_is_said_and_added_rows_are_packed_too(store, capsys, tmp_path):
    added = ["--add-loss", "MINE=MAE"]
    fill(store.path, GRID.with_row("MINE=MAE").select(rows=["MINE"]), lambda cell: 0.8)
    out = run(capsys, "pack", "digits-symmetric", "--out", "without")[1].splitlines()
    assert "6 records, " in out[0]
    assert out[1] == "6 other records of runs not packed: of other grids or rows"
    out = run(capsys, "pack", "digits-symmetric", "--out", "with", *added)[1].splitlines()
    assert len(out) == 1
    assert "12 records, " in out[0]


@pytest.mark.parametrize(
    "command",
    [
        ["run", "digits-symmetric"],
        ["status"],
        ["table", "digits-symmetric"],
        ["report", "--out", "r.html"],
        ["verify"],
        ["unpack", "--out", "x"],
        ["pack", "digits-symmetric", "--out", "."],
    ],
)
@pytest.mark.parametrize("empty", ["", " "])
def test_an_empty_name_of_a_store(store, capsys, tmp_path, command, empty):
    before = sorted(tmp_path.rglob("*"))
    code, out, err = run(capsys, *command, "--store", empty)
    assert (code, out) == (2, "")
    assert err == "noiseproof: the argument after --store is empty\n"
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("command", [["table", "digits-symmetric"], ["verify"],
                                     ["unpack", "--out", "x"],
                                     ["pack", "digits-symmetric", "--out", "."]])  # fmt: skip
def test_a_store_that_is_not_there(capsys, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *command, "--store", "nowhere")
    assert (code, out) == (2, "")
    assert err.startswith("noiseproof: nowhere: no such folder of records")
    assert not list(tmp_path.iterdir())


def test_too_many_seeds_are_one_line(capsys):
    code, _, err = run(capsys, "run", "digits-symmetric", "--seeds", 10**9)
    assert code == 2
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "begins"),
    [("t.md", "## "), ("t.tex", r"\begin{table"), ("t.html", "<table"), ("t.csv", "grid,"),
     ("t.json", "{"), ("t.txt", "## ")],
)  # fmt: skip
def test_the_ending_of_a_table_says_its_format(store, capsys, tmp_path, name, begins):
    ask = ["table", "digits-symmetric", "--rows", "CE", "--out", tmp_path / name]
    assert run(capsys, *ask)[0] == 0
    assert (tmp_path / name).read_text().startswith(begins)
    assert run(capsys, *ask, "--format", "md")[0] == 0
    assert (tmp_path / name).read_text().startswith("## ")


WRITES = {
    "table.md": ["table", "digits-symmetric", "--rows", "CE", "--out", "table.md"],
    "report.html": ["report", "digits-symmetric", "--rows", "CE", "--noise", "none,symmetric:0.4",
                    "--out", "report.html"],
    "digits-symmetric.records.xz": ["pack", "digits-symmetric", "--out", ".", "--force"],
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize(("step", "number"), [("fsync", errno.ENOSPC), ("replace", errno.EACCES),
                                              ("open", errno.EACCES)])  # fmt: skip
def test_a_write_that_fails_leaves_the_old_file(store, capsys, tmp_path, name, step, number):
    (tmp_path / name).write_text("old")
    before = sorted(tmp_path.rglob("*"))
    real = getattr(os, step)

    def fails(*arguments, **options):
        if step != "open" or str(arguments[0]).endswith(".part"):
            raise OSError(number, os.strerror(number))
        return real(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, step, fails)
        code, _, err = run(capsys, *WRITES[name])
    assert code == 2
    lines = [line for line in err.splitlines() if "cannot write" in line]
    assert len(lines) == 1
    assert os.strerror(number).lower() in lines[0].lower()
    assert (tmp_path / name).read_text() == "old"
    assert sorted(tmp_path.rglob("*")) == before
    assert run(capsys, *WRITES[name])[0] == 0
    assert (tmp_path / name).stat().st_size > 100
