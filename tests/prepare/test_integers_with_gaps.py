"""Integers beside gaps stay exact in every form: pandas would make floats of them."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from noiseproof.errors import DataError
from noiseproof.fitting.review.reviewed import fingerprint
from noiseproof.fitting.review.trusted import trusted_rows
from noiseproof.prepare.answers.frames import of_frame
from noiseproof.prepare.answers.long import read_long
from noiseproof.prepare.answers.wide import read_wide
from noiseproof.prepare.classes import encode
from noiseproof.prepare.formats.reading import Reading
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.read import read_blocks

#: As float64 all three are the same number.
NEAR = [900000000000207008, 900000000000207009, 900000000000207010]
GAPPED = [NEAR[i % 3] for i in range(12)] + [None]


def of_polars(values):
    return pytest.importorskip("polars").Series(values)


LABELS = {
    "pyarrow": pa.array,
    "chunks": lambda values: pa.chunked_array([pa.array(values[:5]), pa.array(values[5:])]),
    "dictionary": lambda values: pa.array(values).dictionary_encode(),
    "categories": lambda values: pd.Categorical(pd.array(values, "Int64")),
    "one column": lambda values: pd.DataFrame({"y": pd.array(values, "Int64")}),
    "one column of pyarrow": lambda values: pa.table({"y": values}),
    "polars": of_polars,
}


@pytest.mark.parametrize("form", LABELS)
def test_labels_in_memory(form):
    codes, classes = encode(LABELS[form](GAPPED), "labels")
    assert classes.values.tolist() == NEAR
    assert codes.tolist() == [0, 1, 2] * 4 + [-1]


def in_file(table, folder):
    parquet.write_table(table, folder / "rows.parquet")
    return folder / "rows.parquet"


def in_two_files(table, folder):
    """Write the gap into a file of its own, where the columns are floats."""
    (folder / "rows").mkdir()
    parquet.write_table(table.slice(0, 12), folder / "rows" / "1.parquet")
    floats = [pa.float64() if pa.types.is_integer(t) else t for t in table.schema.types]
    last = table.slice(12).filter(pa.array([True])).cast(
        pa.schema(list(zip(table.column_names, floats, strict=True))), safe=False
    )  # fmt: skip
    parquet.write_table(last, folder / "rows" / "2.parquet")
    return folder / "rows"


TABLES = {
    "pyarrow": lambda table, folder: table,
    "polars": lambda table, folder: pytest.importorskip("polars").from_arrow(table),
    "lazy": lambda table, folder: pytest.importorskip("polars").from_arrow(table).lazy(),
    "file": in_file,
    "files": in_two_files,
}


@pytest.fixture(params=TABLES)
def handed_over(request, tmp_path):
    return lambda **columns: TABLES[request.param](
        pa.table({"x": [float(i % 5) for i in range(13)], **columns}), tmp_path
    )


def test_labels_of_a_table(handed_over):
    codes, classes = encode(as_samples(handed_over(y=GAPPED), "y").labels, "y")
    assert classes.values.tolist() == NEAR
    assert codes.tolist() == [0, 1, 2] * 4 + [-1]


def test_a_file_without_the_column_rounds_nothing(tmp_path):
    whole = pa.table({"x": [float(i % 5) for i in range(13)], "y": GAPPED})
    parquet.write_table(whole.slice(0, 12), tmp_path / "1.parquet")
    parquet.write_table(whole.slice(12).drop_columns("y"), tmp_path / "2.parquet")
    codes, classes = encode(as_samples(tmp_path, "y").labels, "y")
    assert classes.values.tolist() == NEAR
    assert codes.tolist() == [0, 1, 2] * 4 + [-1]


@pytest.mark.parametrize("names", [[2020, 2019, 2018], [2, 1, 0], [0.5, 1.5, 2.5],
                                   pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]),
                                   list(pd.to_datetime(["2020", "2021", "2022"]))])  # fmt: skip
def test_a_column_is_not_taken_for_another_whatever_its_name_is(names, tmp_path):
    """pandas gives columns of a Parquet file the names back that they had, texts or not."""
    frame = pd.DataFrame({0: [1.5, 2.5, 3.5], 1: [7, 8, 9], 2: pd.array([4, None, 6], "Int64")})
    frame.columns = names
    pa_table = pa.Table.from_pandas(frame)
    path = in_file(pa_table, tmp_path)
    want = as_samples(frame, labelled=False).inputs
    how = Reading(numbers=list(want.columns))
    blocks = [block.inputs for block in read_blocks(path, how=how, rows=2)]
    found = [as_samples(form, labelled=False).inputs for form in (pa_table, path)]
    for other in (*found, pd.concat(blocks, ignore_index=True)):
        assert list(other.columns) == list(want.columns)
        assert other.astype("Float64").equals(want.astype("Float64"))


def test_answers_annotators_and_items(handed_over):
    wide = read_wide(handed_over(w1=GAPPED, w2=GAPPED), None, "w*")
    assert wide.classes.values.tolist() == NEAR
    assert len(wide.item) == 24


def test_who_answered_what(handed_over):
    items = [900000000000207008 + i for i in range(13)]
    asked = read_long(handed_over(y=GAPPED, who=GAPPED, item=items), "y", "who", "item")
    assert asked.names == tuple(str(name) for name in NEAR)
    assert asked.rows == tuple(str(item) for item in items[:12])


def test_answers_and_checked_rows_beside_the_data():
    beside = pa.table({"item": range(13), "annotator": ["a", "b"] * 6 + ["a"], "label": GAPPED})
    asked = of_frame(np.arange(26.0).reshape(13, 2), None, beside)
    assert asked.classes.values.tolist() == NEAR
    table = pa.table({"row": [2, 0], "label": [NEAR[1], None]})
    checked = trusted_rows(table, range(13), asked.classes)
    assert (checked.rows.tolist(), checked.codes.tolist()) == ([2], [1])


def test_a_review_knows_the_rows_in_every_form(tmp_path):
    """Types with gaps of their own and floats are the same data."""
    frame = pd.DataFrame({"i": pd.array([1, None, 3], "Int64"), "b": pd.array([True, None, False])})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    table = pa.Table.from_pandas(frame).replace_schema_metadata(None)
    forms = [frame, tmp_path / "rows.csv", table, in_file(table, tmp_path)]
    prints = {fingerprint(as_samples(form, labelled=False), 3, None) for form in forms}
    assert len(prints) == 1


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, "1", 2, "1", 1, 2], "labels 1 and '1' are of different types"),
        ([True, "True"] * 3, "labels True and 'True' are of different types"),
        (np.array([b"\xff", b"a"] * 3, dtype=object), "is not UTF-8 text"),
        (pd.DataFrame({"a": [1, 2], "b": [1, 2]}), "one label a row, got labels of shape"),
    ],
)
def test_labels_that_would_be_merged_are_one_line(labels, message):
    with pytest.raises(DataError, match=message):
        encode(labels, "labels")


@pytest.mark.parametrize("labels", [np.array("a"), 5])
def test_one_label_for_all_rows_is_one_line(labels):
    with pytest.raises(DataError, match="expected one label a row"):
        as_samples(np.eye(3), labels)


def test_bytes_sparse_columns_and_dates_of_arrow_are_labels_like_others():
    assert encode(np.array([b"a", b"b"] * 2, dtype=object), "labels")[1].names == ("a", "b")
    sparse = pd.Series(pd.arrays.SparseArray([0, 1] * 2))
    assert encode(sparse, "labels")[1].values.tolist() == [0, 1]
    dates = pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01"] * 2))
    arrow = encode(dates.astype("timestamp[us][pyarrow]"), "labels")[1].values
    assert (arrow == dates[:2].to_numpy()).all()


def test_a_row_is_taken_by_its_exact_name_first():
    _, classes = encode(["p", "q"] * 2, "labels")
    checked = trusted_rows((["a ", " b"], ["p", "q"]), ("a", "a ", "b"), classes)
    assert checked.rows.tolist() == [1, 2]


def test_the_first_integers_that_floats_do_not_hold_are_two_groups(tmp_path):
    close = 2**53 + 1
    (tmp_path / "a.csv").write_text(f"x,g\n1,{close}\n2,{close - 1}\n3,\n")
    column = as_samples(tmp_path / "a.csv", labelled=False).inputs["g"]
    assert column.dropna().tolist() == [close, close - 1]


def test_true_beside_integers_of_another_file_stays_true(tmp_path):
    pd.DataFrame({"c": [0, 3]}).to_parquet(tmp_path / "a.parquet")
    pd.DataFrame({"c": [True, False]}).to_parquet(tmp_path / "b.parquet")
    whole = as_samples(tmp_path, labelled=False).inputs["c"]
    assert [str(value) for value in whole] == ["0", "3", "True", "False"]
