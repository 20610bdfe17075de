"""Files and folders that change while they are read: one version or one line, never a mixture."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest
from noisy_tables import blobs

from noiseproof.errors import ChangedError
from noiseproof.fitting import model, predict
from noiseproof.fitting.fit import fit
from noiseproof.fitting.model import Model, load
from noiseproof.fitting.review import clean as clean_module
from noiseproof.fitting.review import corrections
from noiseproof.fitting.review.clean import clean
from noiseproof.prepare.formats import table_files
from noiseproof.prepare.formats.array_files import array_blocks
from noiseproof.prepare.read import read
from noiseproof.tables.delimited import Delimited

ROWS = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)


def labels(one, other):
    return np.where(ROWS[:, 0] > 0, one, other)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """The folders of two fits, to the same rows with other classes, and what they predict."""
    home = tmp_path_factory.mktemp("two")
    fit(ROWS, labels("a", "b"), learners="linear").save(home / "old")
    fit(ROWS, labels("d", "c"), learners="linear").save(home / "new")
    return home, [load(home / name).predict(ROWS).tolist() for name in ("old", "new")]


def replaced(place, by):
    shutil.rmtree(place)
    shutil.copytree(by, place)


def relinked(place, by):
    place.with_name("link").symlink_to(by)
    os.replace(place.with_name("link"), place)


@pytest.mark.parametrize("step", ["not_ours", "load_features", "read_arrays", "_try"])
@pytest.mark.parametrize("change", [replaced, relinked])
def test_a_model_is_never_made_of_two(two, tmp_path, monkeypatch, step, change):
    home, (_, new) = two
    place, function = tmp_path / "model", getattr(model, step)
    if change is replaced:
        shutil.copytree(home / "old", place)
    else:
        place.symlink_to(home / "old")

    def then_changed(*arguments, **options):
        monkeypatch.undo()
        found = function(*arguments, **options)
        change(place, home / "new")
        return found

    monkeypatch.setattr(model, step, then_changed)
    assert load(place).predict(ROWS).tolist() == new


def test_a_model_that_is_replaced_all_the_time_is_one_line(two, tmp_path, monkeypatch):
    home, _ = two
    place, function = tmp_path / "model", model.not_ours
    shutil.copytree(home / "old", place)

    def then_changed(*arguments, **options):
        found = function(*arguments, **options)
        replaced(place, home / "new")
        return found

    monkeypatch.setattr(model, "not_ours", then_changed)
    with pytest.raises(ChangedError, match="changed while it was read; try again"):
        load(place)


TABLES = {
    # Integers that floats do not hold, texts among numbers, and decimal commas are read twice.
    "rounded": ",", "mixed": ",", "commas": ";",
}  # fmt: skip


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("change", ["other order", "more rows"])
def test_columns_of_a_table_are_of_one_version(tmp_path, monkeypatch, kind, change):
    count, path, frames = 2000, tmp_path / "t.csv", Delimited.frames
    odd = {
        "rounded": [2**60 + i if i % 5 else None for i in range(count)],
        "mixed": [i if i < count // 2 else f"x{i}" for i in range(count)],
        "commas": [f"{i % 900},5" if i % 3 else f"{i % 9}.125" for i in range(count)],
    }[kind]
    fractions = [f"{i % 9}.125" for i in range(count)]
    frame = pd.DataFrame({"x": range(count), "odd": odd, "f": fractions, "y": ["a", "b"] * 1000})
    frame = frame.astype({"odd": object})
    frame.to_csv(path, index=False, sep=TABLES[kind])
    other = frame[::-1] if change == "other order" else pd.concat([frame, frame[:7]])
    monkeypatch.setattr("noiseproof.tables.delimited.ROWS", 500)
    passes = []

    def then_changed(self, **options):
        yield from frames(self, **options)
        passes.append(1)
        if len(passes) == 1:
            other.to_csv(path, index=False, sep=TABLES[kind])

    monkeypatch.setattr(Delimited, "frames", then_changed)
    with pytest.raises(ChangedError, match=r"t\.csv: changed while it was read; try again"):
        read(path, "y")
    assert len(passes) > 1
    passes.append(1)
    assert len(read(path, "y")) == len(other)  # as it is now


@pytest.mark.filterwarnings("ignore:.*cannot tell noise from difficulty")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_clean_changes_the_rows_that_it_read(tmp_path, monkeypatch, suffix):
    """Rows that came in front of them meanwhile had their labels changed instead."""
    frame, _, _ = blobs(90)
    path, out = tmp_path / f"t.{suffix}", tmp_path / f"out.{suffix}"

    def write(frame):
        getattr(frame, f"to_{suffix}")(path, index=False)

    def then_changed(*arguments):
        found = corrections.corrections(*arguments)
        write(pd.concat([frame[:3], frame]))
        return found

    write(frame)
    fit(path, "kind").save(tmp_path / "fit")
    monkeypatch.setattr(clean_module, "corrections", then_changed)
    with pytest.raises(ChangedError, match="changed while it was read; try again"):
        clean(path, out, label="kind", fit=tmp_path / "fit", proposals=0.5)
    assert sorted(os.listdir(tmp_path)) == ["fit", path.name]


def written(rows, place, form):
    """Write rows into a file, or a folder of two files, that may be there already."""
    frame = pd.DataFrame(rows, columns=["u", "v"])
    if form == "folder":
        place.mkdir(exist_ok=True)
        for number, half in enumerate((frame[:300], frame[300:])):
            half.to_parquet(place / f"part.{number}.parquet")
    elif form == "npy":
        np.save(place, rows)
    elif form == "csv":
        frame.to_csv(place, index=False)
    else:
        frame.to_parquet(place, row_group_size=100)


@pytest.mark.parametrize("form", ["csv", "parquet", "folder", "npy"])
def test_predictions_are_of_one_version(tmp_path, monkeypatch, form):
    """A file that was written again meanwhile had some rows predicted of each version."""
    columns = list("uv") if form != "npy" else None
    known = ROWS if columns is None else pd.DataFrame(ROWS, columns=columns)
    model_of = fit(known, labels("a", "b"), learners="linear").model
    place, out = tmp_path / f"new.{form}", tmp_path / "out.csv"
    rows = np.repeat([[2.0, 0.5]], 600, axis=0)
    written(rows, place, form)
    monkeypatch.setattr(predict, "BLOCK", 50)
    probabilities, asked = Model.probabilities, []

    def then_changed(self, block, notes):
        asked.append(1)
        if len(asked) == 2:
            written(-rows, place, form)
        return probabilities(self, block, notes)

    monkeypatch.setattr(Model, "probabilities", then_changed)
    with pytest.raises(ChangedError, match=f"{place.name}.*: changed while it was read; try again"):
        predict.predict_file(model_of, place, out)
    assert os.listdir(tmp_path) == [place.name]
    assert predict.predict_file(model_of, place, out).counts == {"b": 600}  # as it is now


def test_a_file_of_rows_that_is_cut_short_is_one_line(tmp_path):
    """It ended the process: the rows were a map of the file."""
    place = tmp_path / "rows.npy"
    np.save(place, np.ones((60_000, 20)))
    blocks = array_blocks(place, 100)
    next(blocks)
    place.write_bytes(place.read_bytes()[:200])
    with pytest.raises(ChangedError, match="changed while it was read; try again"):
        sum(float(block.inputs.sum()) for block in blocks)


def test_a_folder_of_files_is_of_one_version(tmp_path, monkeypatch):
    frame, _, _ = blobs(90)
    place, read_frame = tmp_path / "parts", table_files.read_frame
    place.mkdir()
    for number in range(2):
        frame.to_parquet(place / f"part.{number}.parquet")

    def then_changed(file, *arguments, **options):
        found = read_frame(file, *arguments, **options)
        frame[::-1].to_parquet(place / "part.1.parquet")
        return found

    monkeypatch.setattr(table_files, "read_frame", then_changed)
    with pytest.raises(ChangedError, match="parts: changed while it was read; try again"):
        read(place, "kind")
