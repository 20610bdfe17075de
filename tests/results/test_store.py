"""Stores: many writers, torn files, merging by copying, and locks that end with their process."""

import json
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from made_records import identified

from noiseproof import data, train
from noiseproof.bench.packing import unpack_store
from noiseproof.errors import DataError, DataWarning, LockedError
from noiseproof.files import locked
from noiseproof.results import Record, RunFiles, Store, Summary, complete
from noiseproof.results.key import experiment_key
from noiseproof.results.pack import pack, record_text
from noiseproof.results.run_files import WORDS, lock_file
from noiseproof.results.verify import verify_store

ONE = train.Machine(threads=1)


@pytest.fixture(scope="module")
def experiment():
    recipe = train.Recipe(network="linear", epochs=2, exact=True)
    return train.prepare(data.load("digits"), recipe, "CE", "symmetric:0.4", seed=1)


@pytest.fixture(scope="module")
def record(experiment):
    return Record.of(experiment, experiment.run(ONE)[0], ONE)


def seeds(record, numbers):
    """Records of other seeds of the same cell."""
    return [identified(replace(record, seed=i)) for i in numbers]


def test_what_is_put_is_found(record, experiment, tmp_path):
    store = Store(tmp_path / "new")
    assert store.records() == {}
    path = store.put(record)
    assert path == RunFiles.of(store.path, experiment).record
    assert store.records() == {record.key: record}
    assert store.find(record.key) == record
    assert store.find("no such key") is None
    assert record.key == experiment_key(experiment)


def test_concurrent_writers(record, tmp_path):
    store = Store(tmp_path)
    cells = seeds(record, range(40))
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(store.put, cells * 3))
        seen = list(threads.map(lambda _: len(Store(tmp_path).records()), range(8)))
    assert seen == [40] * 8
    assert not store.damaged
    assert len(list(tmp_path.iterdir())) == 40


def test_what_was_set_aside_before_is_kept(record, tmp_path):
    store = Store(tmp_path)
    for number in range(3):
        store.put(record).write_text(f"torn {number}")
        assert store.records() == {}
    assert {p.read_text() for p in tmp_path.glob("*.damaged")} == {"torn 0", "torn 1", "torn 2"}


def test_stores_merge_by_copying(record, tmp_path):
    ours, theirs = Store(tmp_path / "ours"), Store(tmp_path / "theirs")
    for store, numbers in ((ours, range(4)), (theirs, range(2, 7))):
        for cell in seeds(record, numbers):
            store.put(cell)
    shutil.copytree(theirs.path, ours.path, dirs_exist_ok=True)
    assert sorted(r.seed for r in ours.records().values()) == list(range(7))
    shutil.copytree(theirs.path, ours.path / "machine 2")  # or as a folder of its own
    assert len(ours.records()) == 7


def test_a_store_is_not_the_whole_disk(record, tmp_path):
    Store(tmp_path / "a" / "b" / "c").put(record)
    assert len(Store(tmp_path).records()) == 1
    Store(tmp_path / "a" / "b" / "c" / "d").put(replace(record, seed=7))
    assert len(Store(tmp_path).records()) == 1


@pytest.mark.parametrize("cut", [0, 1, 300, -3])
def test_torn_files_are_set_aside(record, tmp_path, cut):
    store = Store(tmp_path)
    good, bad = seeds(record, (1, 2))
    path = store.put(bad)
    store.put(good)
    path.write_bytes(path.read_bytes()[:cut])
    assert store.records() == {good.key: good}
    assert [line.partition(": ")[0] for line in store.damaged] == [f"{path}.damaged"]
    assert Path(f"{path}.damaged").exists()
    assert not path.exists()
    again = Store(tmp_path)
    assert again.records() == {good.key: good}
    assert again.damaged == []


def test_what_is_whole_json_and_no_whole_record(record, tmp_path):
    store = Store(tmp_path)
    values = record.to_dict()
    damages = [
        [],
        {},
        {**values, "history": values["history"][:1]},
        {**values, "history": [{}]},
        {**values, "identity": "0" * 64},  # another run's record under this name
        {**values, "recipe": {"network": 3}},
        {**values, "status": "failed"},  # but no reason
    ]
    for damage in damages:
        path = store.put(record)
        path.write_text(json.dumps(damage))
        assert store.records() == {}
        assert not path.exists()
        assert len(store.damaged) == 1


def test_files_of_others_are_left_alone(record, tmp_path):
    store = Store(tmp_path)
    path = store.put(record)
    other = tmp_path / "package.json"
    other.write_text("no json")
    (tmp_path / f".{path.name}.abc.part").write_text("half")
    before = set(tmp_path.iterdir())
    assert store.records() == {record.key: record}
    assert (set(tmp_path.iterdir()), store.damaged) == (before, [])


def test_records_of_another_version_are_said_and_left_alone(record, tmp_path):
    store = Store(tmp_path)
    path = store.put(record)
    newer = record.to_dict() | {"schema": 99}
    path.write_text(json.dumps(newer))
    (tmp_path / "some.records.xz").write_bytes(pack([newer]))
    before = set(tmp_path.iterdir())
    assert (store.records(), set(tmp_path.iterdir())) == ({}, before)
    assert [line.count("a record of schema 99, expected 1") for line in store.damaged] == [1, 1]


@pytest.mark.parametrize("name", ["record.json", "export-1699999999.json", "a/b-0123456789.json"])
@pytest.mark.parametrize("text", ["", "no json", "[1]", '{"mine": 1}', "\0"])
def test_a_file_that_no_run_wrote_is_not_renamed(record, tmp_path, name, text):
    """Ten digits may be a time."""
    store = Store(tmp_path)
    store.put(record)
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    assert store.records() == {record.key: record}
    assert path.read_text() == text
    assert [line.partition(":")[0] for line in store.damaged] == [str(path)]
    path.write_text(json.dumps(record.to_dict())[:-9])  # this one a run did write
    store.records()
    assert not path.exists()


def together(row, record):
    """Return an epoch with the accuracy on all training samples that its parts make."""
    rate = record.noise_rate
    return replace(row, train_accuracy=(1 - rate) * row.clean_part + rate * row.corrupted_part)


def test_records_of_one_cell_that_disagree_are_not_believed(record, tmp_path):
    other = seeds(record, (2,))[0]
    row = record.history[-1]
    different = {  # and still possible
        "test_accuracy": row.test_accuracy - 1 / record.test_samples,
        "clean_part": (row.clean_part + 1) / 2,
        "corrupted_part": row.corrupted_part / 2,
        "recovered": row.recovered / 2,
    }
    worse = [together(replace(row, **{share: value}), record) for share, value in different.items()]
    others = [replace(record, history=(*record.history[:-1], other)) for other in worse]
    rate = replace(record, noise_rate=record.noise_rate + 1 / record.train_samples)
    failed = replace(record, failure="the loss is nan", status="failed")
    for number, wrong in enumerate([*others, rate, failed]):
        folder = tmp_path / str(number)
        Store(folder / "a").put(record)
        slower = replace(record.history[0], seconds=record.history[0].seconds + 1)
        history = (slower, *record.history[1:])
        Store(folder / "b").put(replace(record, history=history, seconds=record.seconds + 1))
        Store(folder / "b").put(other)
        store = Store(folder)
        assert set(store.records()) == {record.key, other.key}
        bad = Store(folder / "c").put(wrong)
        assert store.records() == {other.key: other}
        dispute = store.disputes[record.key]
        assert (dispute.place, dispute.seed) == (record.place, record.seed)
        assert bad in dispute.paths
        assert len(dispute.paths) == 3
        assert str(bad) in str(dispute)
        bad.unlink()
        assert record.key in store.records()
        assert store.disputes == {}


def test_other_data_under_a_published_name_are_other_cells(record, tmp_path):
    store, fake = Store(tmp_path), identified(replace(record, fingerprint="a" * 64))
    store.put(record)
    store.put(fake)
    assert store.records() == {record.key: record, fake.key: fake}
    assert store.disputes == {}
    assert verify_store(store).problems == (
        "1 of digits were run on other data than the published (fingerprint aaaaaaaaaaaa); "
        "no table shows them",
    )


def test_one_name_with_two_contents_is_believed_in_neither(record, tmp_path):
    # Nobody has recorded what is in CIFAR-100; two stores that differ in it are not both right.
    one = identified(replace(record, dataset="cifar100", fingerprint="a" * 64))
    two = identified(replace(one, fingerprint="b" * 64, seed=2))
    store = Store(tmp_path)
    store.put(one)
    assert list(store.records()) == [one.key]
    store.put(two)
    assert store.records() == {}
    assert set(store.disputes) == {one.key, two.key}
    assert len(verify_store(store).problems) == 2


def test_a_store_that_cannot_be_written_to(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(OSError, match="Not a directory"):
        Store(path / "runs").check_writable()
    Store(tmp_path / "a/b").check_writable()
    assert list((tmp_path / "a/b").iterdir()) == []


def test_tidy(record, experiment, tmp_path):
    store = Store(tmp_path)
    store.put(record)
    files = RunFiles.of(tmp_path, experiment)
    other = tmp_path / "other.checkpoint.pt"
    for path in (files.checkpoint, other):
        path.write_text("")
    written = files.record.stat().st_mtime
    os.utime(files.checkpoint, (written + 5, written + 5))  # of a run under way, for its model
    store.tidy()
    assert files.checkpoint.exists()
    os.utime(files.checkpoint, (written - 5, written - 5))
    store.tidy()
    assert set(tmp_path.iterdir()) == {files.record, other}


@pytest.mark.parametrize("text", [None, "", "{}", '{"schema": 2}', "of another run"])
def test_nobody_elses_checkpoint_is_tidied_away(record, tmp_path, text):
    """Not a user's own beside a file of the same name, nor that of a run without a valid record."""
    if text == "of another run":
        text = json.dumps(record.to_dict())
    mine = RunFiles(tmp_path, "bert")
    mine.checkpoint.write_text("weeks of work")
    if text is not None:
        mine.record.write_text(text)
    Store(tmp_path).tidy()
    assert mine.checkpoint.read_text() == "weeks of work"
    assert text is None or mine.record.read_text() == text


@pytest.mark.parametrize(
    "change", [{"noise": "instance:0.4"}, {"dataset": "mnist"}, {"loss": "MAE"}, {"seed": 9}]
)
def test_a_record_of_another_run_is_not_this_runs(record, experiment, tmp_path, change):
    """Whatever stands under the name of a run: its record is believed, no other."""
    files = RunFiles.of(tmp_path, experiment)
    files.record.write_text(json.dumps(identified(replace(record, **change)).to_dict()))
    store = Store(tmp_path / "copy")
    store.path.mkdir()
    shutil.copy(files.record, store.path)
    assert store.records() == {}
    assert "another run" in store.damaged[0]
    with pytest.warns(DataWarning, match="another run"):
        assert complete(experiment, tmp_path, ONE).loss == "CE"
    assert Record.read(files.record).key == record.key


def test_a_disk_may_spell_the_loss_otherwise(record, tmp_path):
    """FAT and NTFS know no asterisk."""
    store = Store(tmp_path)
    for loss in ("NCE + 4*AGCE(a=6, q=1.5)", f"{'NCE + ' * 30}4*MAE"):
        path = store.put(identified(replace(record, loss=loss)))
        path.rename(path.with_name(path.name.replace("*", "_")))
    assert len(store.records()) == 2
    assert store.damaged == []


def test_names_that_are_too_long_differ_where_the_runs_do(record, tmp_path):
    """Two noises that flip no label have one identity, and shared a file."""
    noises = [f"matrix:{'very-' * 30}\udce9\ud800/{name}.csv" for name in "ab"]
    two = [
        replace(record, noise=noise, matrix=h * 64) for noise, h in zip(noises, "cd", strict=True)
    ]
    store = Store(tmp_path / "runs")
    paths = {store.put(one) for one in two}
    assert {len(path.name) for path in paths} == {WORDS + len("-0123456789.json")}
    assert store.records() == {one.key: one for one in two}
    unpack_store(store, tmp_path / "again")
    assert Store(tmp_path / "again").records() == store.records()
    one, other = sorted(paths)
    shutil.copy(one, other)
    assert len(store.records()) == 1
    assert "another run" in store.damaged[0]


MATRICES = [{"noise": "matrix:T.csv", "matrix": digit * 64} for digit in "ab"]
ENCODED = [{"encoded": f"{name}:128:{'c' * 64}"} for name in ("e:aa", "e:bb")]


@pytest.mark.parametrize("pair", [MATRICES, ENCODED])
def test_what_tells_cells_apart_tells_files_apart(record, tmp_path, pair):
    """Two matrices may draw the same labels, and two encoders make the same features."""
    one, other = (identified(replace(record, **change)) for change in pair)
    assert one.identity == other.identity
    first, second, packed = Store(tmp_path / "1"), Store(tmp_path / "2"), tmp_path / "p.records.xz"
    first.put(one)
    second.put(other)
    assert second.files(one).finished() is None
    shutil.copytree(second.path, first.path, dirs_exist_ok=True)
    assert first.records() == {one.key: one, other.key: other}
    packed.write_bytes(pack(r.to_dict() for r in (one, other)))
    assert unpack_store(Store(packed), tmp_path / "3") == (2, 0)
    shutil.copy(first.files(one).record, first.files(other).record)
    with pytest.raises(DataError, match="another result"):
        unpack_store(Store(packed), first.path)


def test_a_network_is_found_beside_the_record_of_its_own_cell(record, tmp_path):
    one, other = (identified(replace(record, **change)) for change in MATRICES)
    for folder, each in (("1", one), ("2", other)):
        Store(tmp_path / folder).put(each)
    store = Store(tmp_path)
    store.records()
    assert [store.files(each).out.name for each in (one, other)] == ["1", "2"]


def test_an_encoder_of_another_name_makes_the_same_cell(record, tmp_path):
    one, other = (
        identified(replace(record, encoded=f"{name}:aa:128:{'c' * 64}"))
        for name in ("mine.onnx", "a:b.onnx")
    )
    assert one.key == other.key
    assert RunFiles.of(tmp_path, one) == RunFiles.of(tmp_path, other)


@pytest.mark.parametrize("change", [MATRICES[0], ENCODED[0]])
def test_names_from_before_they_told_cells_apart(record, tmp_path, change):
    old = identified(replace(record, **change))
    name = f"digits-CE-{old.noise.replace(':', '-')}-seed1-{old.identity[:10]}.json"
    (tmp_path / name).write_text(record_text(old.to_dict()))
    assert Store(tmp_path).records() == {old.key: old}


def test_long_names_as_they_were_cut_before(record, tmp_path):
    long = identified(replace(record, dataset="x" * 120))
    (tmp_path / f"{'x' * 100}-{long.identity[:10]}.json").write_text(record_text(long.to_dict()))
    store = Store(tmp_path)
    assert (store.records(), store.damaged) == ({long.key: long}, [])


def test_rows_of_a_column_are_trained_with_the_same_labels(record, tmp_path):
    store = Store(tmp_path)
    store.put(record)
    store.put(identified(replace(record, loss="MAE")))
    store.put(identified(replace(record, loss="MAE", seed=2, noise_hash="a" * 64)))
    assert verify_store(store).problems == ()
    store.put(identified(replace(record, loss="FL", noise_hash="b" * 64)))
    assert ["different labels" in line for line in verify_store(store).problems] == [True]


def test_two_processes_never_work_on_one_run(experiment, record, tmp_path):
    store, key = Store(tmp_path), experiment_key(experiment)
    lock = lock_file(tmp_path, key)
    with locked(lock, "it"):
        assert store.running(key)
        with pytest.raises(LockedError, match=r"CE on digits .* is running in another"):
            complete(experiment, tmp_path, ONE)
    assert not store.running(key)
    assert complete(experiment, tmp_path, ONE).accuracy == record.accuracy
    assert [path.suffix for path in tmp_path.iterdir()] == [".json"]  # no lock stays


def test_summary():
    three = Summary((0.97, 0.96, 0.98))
    assert (three.count, three.mean) == (3, pytest.approx(0.97))
    assert three.std == pytest.approx((2 / 3 * 0.01**2) ** 0.5)
    assert Summary((0.5,)).std is None


def test_records_of_the_first_days_have_no_matrix(record, tmp_path):
    values = record.to_dict()
    del values["matrix"]
    assert Record.from_dict(values) == record
    with pytest.raises(DataError):
        Record.read(tmp_path / "none.json")


def test_a_file_nobody_can_read_is_not_fatal(record, tmp_path):
    store = Store(tmp_path)
    path = store.put(record)
    (tmp_path / path.name.replace("seed1", "seed2")).mkdir()
    deep = tmp_path / path.name.replace("seed1", "seed3")
    deep.write_text("[" * 100_000)
    assert list(store.records()) == [record.key]
    assert len(store.damaged) == 2


def test_the_network_is_beside_its_record_in_a_merged_store(record, tmp_path):
    part = Store(tmp_path / "part")
    part.put(record)
    part.files(record).model.write_bytes(b"weights")
    merged = Store(tmp_path)
    (found,) = merged.records().values()
    assert merged.files(found).model.read_bytes() == b"weights"


@pytest.mark.parametrize("other", ["a", "z"])
def test_the_network_is_found_beside_any_copy_of_its_record(record, tmp_path, other):
    Store(tmp_path / other).put(record)
    store = Store(tmp_path)
    path = RunFiles.of(tmp_path, record)
    record.write(path.record)
    path.model.write_bytes(b"weights")
    (found,) = store.records().values()
    assert store.is_done(found, save=True)
    assert store.files(found).model == path.model


def test_a_file_is_no_store(tmp_path):
    (tmp_path / "it").write_text("mine")
    with pytest.raises(DataError, match="it is a file: a store is a folder"):
        Store(tmp_path / "it")
