"""A column that pandas stored as an index in a Parquet file is a column like any other."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from noiseproof.fitting.review.clean import clean
from noiseproof.fitting.review.reviewed import fingerprint
from noiseproof.prepare.features import learn_features
from noiseproof.prepare.formats.reading import Reading
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.read import read, read_blocks

N = 60
FRAME = pd.DataFrame(
    {
        "age": np.arange(N) * 0.5,
        "day": pd.date_range("2020-01-01", periods=N),
        "who": [f"w{i % 7}" for i in range(N)],
        "kind": pd.Categorical(["p", "q", "r"] * (N // 3)),
        "count": pd.array([None, *range(1, N)], dtype="Int64"),
        "y": ["a", "b"] * (N // 2),
    }
)
INDEXES = [["age"], ["day"], ["who"], ["kind"], ["count"], ["y"], ["who", "age"], ["y", "count"]]


def inputs_of(samples):
    return samples.inputs[sorted(samples.inputs)]


@pytest.mark.parametrize("index", INDEXES)
def test_an_index_of_a_parquet_file_is_a_column(tmp_path, index):
    path, plain = tmp_path / "a.parquet", tmp_path / "plain.parquet"
    FRAME.set_index(index).to_parquet(path)
    FRAME.to_parquet(plain, index=False)
    expected = read(plain, "y")
    for samples in (read(path, "y"), as_samples(pq.read_table(path), "y")):
        assert list(samples.labels) == list(expected.labels)
        pd.testing.assert_frame_equal(inputs_of(samples), inputs_of(expected))
    for how in (Reading(numbers={"age", "count"}, texts={"who"}), Reading()):
        blocks, whole = (list(read_blocks(one, "y", how, rows=25)) for one in (path, plain))
        for one, other in zip(blocks, whole, strict=True):
            pd.testing.assert_frame_equal(inputs_of(one), inputs_of(other), check_dtype=False)


@pytest.mark.parametrize("first", [range(N), range(5, N + 5), [*range(1, N), 0], FRAME["who"]])
@pytest.mark.parametrize("names", [(None, None), (None, "at"), ("who", "at"), ("at", "age")])
@pytest.mark.parametrize("last", [list("pq") * (N // 2), np.arange(N) * 0.25, [*range(1, N), 0]])
def test_levels_of_an_index_are_the_same_columns_as_a_whole_and_in_blocks(
    tmp_path, first, names, last
):
    """What a fit has read as a column is one for predict, which reads in blocks."""
    index = pd.MultiIndex.from_arrays([first, last], names=names)
    FRAME[["age", "y"]].set_axis(index).to_parquet(tmp_path / "a.parquet")
    whole = read(tmp_path / "a.parquet", labelled=False).inputs
    inner = names[1] if names[1] not in (None, "age") else "__index_level_1__"
    assert (inner in whole) == (inner == "at" or np.asarray(last).dtype.kind != "i")
    for wanted in ({"age"}, {inner}, {"who"}, set(whole)):
        how = Reading(texts=wanted)
        blocks = [one.inputs for one in read_blocks(tmp_path / "a.parquet", None, how, rows=25)]
        assert len(blocks) > 1
        found = pd.concat(blocks, ignore_index=True)
        pd.testing.assert_frame_equal(found, whole[list(found)], check_dtype=False)
        assert set(found) >= wanted & set(whole)


@pytest.mark.parametrize("index", INDEXES)
def test_clean_writes_the_index_as_it_was(tmp_path, index):
    path, out, decisions = (tmp_path / name for name in ("a.parquet", "b.parquet", "d.csv"))
    FRAME.set_index(index).to_parquet(path)
    own = fingerprint(read(path, "y"), N, None)
    header = "row,given_label,decision,label,list,fingerprint"
    decisions.write_text(f"{header}\n3,b,other,a,doubtful,{own}\n")
    clean(path, out, label="y", reviewed=decisions)
    expected = FRAME.assign(y=FRAME["y"].where(FRAME.index != 3, "a")).set_index(index)
    expected.to_parquet(tmp_path / "expected.parquet")
    pd.testing.assert_frame_equal(
        pd.read_parquet(out), pd.read_parquet(tmp_path / "expected.parquet")
    )


@pytest.mark.parametrize(
    ("index", "kept"),
    [
        (pd.RangeIndex(N), []),
        (pd.RangeIndex(N, name="at"), []),
        (pd.Index([*range(1, N), 90]), []),  # rows were dropped
        (pd.Index([0, 1] * (N // 2)), []),  # tables were joined
        (pd.Index([0, 1] * (N // 2), name="__null_dask_index__"), []),  # as Dask does
        (pd.Index([f"row {i % 9}" for i in range(N)]), ["__index_level_0__"]),
        (pd.Index([*range(1, N), 0], name="at"), ["at"]),
        (pd.Index([2020, 2021] * (N // 2), name=2019), ["2019"]),
        (pd.Index([0.5, 1] * (N // 2), name="age"), ["__index_level_0__"]),  # a column is age
    ],
)
@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.filterwarnings("ignore:The DataFrame has non-str index name")
def test_an_index_that_only_numbers_rows_is_no_column(tmp_path, index, kept, levels):
    frame = FRAME[["age", "y"]].set_axis(index)
    if levels == 2:
        frame = frame.set_axis(pd.MultiIndex.from_tuples([("age", ""), ("y", "")]), axis=1)
        if index.name == "age":
            return  # two columns of one name
    frame.to_parquet(tmp_path / "a.parquet")
    assert list(read(tmp_path / "a.parquet", "y").inputs) == ["age", *kept]
    table = pa.Table.from_pandas(frame)
    assert list(as_samples(table, "y").inputs) == ["age", *kept]


@pytest.mark.parametrize("dropped", [[], [3], [0, 7, 8, 40]])
@pytest.mark.parametrize("shuffled", [False, True])
def test_the_numbers_of_rows_that_pandas_writes_to_a_csv_are_no_feature(
    tmp_path, dropped, shuffled
):
    """Where classes came one after the other, they would tell the label."""
    frame = FRAME[["age", "y"]].drop(index=dropped)
    frame = frame.sample(frac=1, random_state=0) if shuffled else frame
    frame.to_csv(tmp_path / "a.csv")
    notes = Notes()
    features = learn_features(read(tmp_path / "a.csv", "y"), [], 0, notes)
    assert [column.name for column in features.columns] == ["age"]
    assert notes.lines == ["left out, a number for each row: Unnamed: 0"]
