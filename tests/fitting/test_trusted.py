"""`fit(..., trusted=...)` and `--trusted FILE`."""

import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch

import noiseproof as nf
from noiseproof.cli import main
from noiseproof.errors import DataError, DataWarning
from noiseproof.fitting.review.trusted import trusted_rows
from noiseproof.prepare.classes import Classes, encode


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(240, 3)), columns=list("abc")).round(3)
    true = np.where(table["a"] > 0, "=up", "down")
    other = np.where(true == "down", "=up", "down")
    return table.assign(y=np.where(rng.random(240) < 0.25, other, true)), true


def test_every_form_of_trusted_rows_is_the_same(noisy, tmp_path):
    table, true = noisy
    rows = np.arange(0, 240, 5)
    frame = pd.DataFrame({"row": rows, "label": true[rows]})
    path = tmp_path / "trusted.csv"
    frame.assign(label=["'" + v if v == "=up" else v for v in true[rows]]).to_csv(path, index=False)
    fits = [
        nf.fit(table, "y", trusted=one, learners="linear")
        for one in (frame, path, str(path), (rows, true[rows]))
    ]
    assert len({one.estimate.rate for one in fits}) == 1
    assert all(one.checked_rows == fits[0].checked_rows for one in fits)
    assert fits[0].checked_rows.value > 0.85
    assert not set(fits[0].suspects["row"]) & set(rows)
    plain = nf.fit(table, "y", learners="linear")
    assert plain.checked_rows is None


def test_rows_are_named_as_in_suspect_rows_where_some_have_no_label(noisy):
    table, true = noisy
    gaps = table.copy()
    gaps.loc[:9, "y"] = None
    fitted = nf.fit(gaps, "y", trusted=([10, 239], true[[10, 239]]), learners="linear")
    assert [fitted.rows[at] for at in fitted.learned.review.rows] == [10, 239]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("row,label\n999,down\n", "no labelled row is called '999'"),
        ("row,label\n1,dwn\n", "label 'dwn' is no class; did you mean 'down'?"),
        ("row,label\n1,down\n1,down\n", "row '1' occurs twice"),
        ("row,truth\n1,down\n", "no column is called 'label'"),
        ("row,label\n1,\n", "no row has a label"),
        ("", "expected a CSV file with the columns row and label"),
        ("row,label\n5,1,0\n6,2,1\n", "more fields than there are names of columns"),
    ],
)
def test_one_line_for_a_file_that_does_not_fit(noisy, text, told, tmp_path, capsys):
    table, _ = noisy
    table.to_csv(tmp_path / "data.csv", index=False)
    (tmp_path / "trusted.csv").write_text(text)
    command = ["fit", str(tmp_path / "data.csv"), "--label", "y", "--out", str(tmp_path / "out")]
    assert main([*command, "--trusted", str(tmp_path / "trusted.csv"), "--quiet"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
    assert not (tmp_path / "out").exists()


def test_trusted_must_be_rows_and_labels(noisy):
    with pytest.raises(DataError, match=r"expected a file, a DataFrame, or \(rows, labels\)"):
        nf.fit(*noisy[:1], "y", trusted=3)
    with pytest.raises(DataError, match=r"2 rows but 1 label$"):
        nf.fit(*noisy[:1], "y", trusted=([1, 2], ["down"]))


def test_a_file_with_semicolons_is_read_too(noisy, tmp_path):
    table, true = noisy
    (tmp_path / "trusted.csv").write_text(f"row;label\n3;{true[3]}\n5;{true[5]}\n")
    fitted = nf.fit(table, "y", trusted=tmp_path / "trusted.csv", learners="linear")
    assert fitted.learned.review.rows.tolist() == [3, 5]


def test_a_message_about_a_foreign_row_stays_short(noisy):
    with pytest.raises(DataError) as raised:
        nf.fit(noisy[0], "y", trusted=(["another"], ["down"]))
    assert len(str(raised.value)) < 400


def test_rows_and_labels_may_come_in_any_type():
    rows, labels = [3, 0], ["b", "a"]
    classes = Classes(("a", "b"), "text")
    table = pa.table({"row": rows, "label": labels})
    for one in (
        (rows, labels), (np.array(rows), np.array(labels)), (torch.tensor(rows), labels),
        (np.array(rows, float), pd.Series(labels)), (iter(rows), iter(labels)),
        (["3", " 0"], labels), table, table.to_pandas(),
        table.to_pandas().set_index(pd.Index([7, 7])),
    ):  # fmt: skip
        found = trusted_rows(one, range(5), classes)
        assert (found.rows.tolist(), found.codes.tolist()) == ([3, 0], [1, 0])


def test_a_row_without_a_number_is_refused_in_every_type():
    classes = Classes(("a", "b"), "text")
    numbers = [3, 1, 2]
    for rows in (
        np.ma.array(numbers, mask=[0, 0, 1]), np.ma.array(["3", "1", "2"], mask=[0, 0, 1]),
        list(np.ma.array(numbers, mask=[0, 1, 0])), [3, None, 2], [3.0, np.nan, 2.0],
        torch.tensor([3, torch.nan, 2]), pd.array([3, None, 2], dtype="Int64"), ["3", "", "2"],
        pa.array([3, None, 2]), pd.Series([3, pd.NaT, 2], dtype=object),
    ):  # fmt: skip
        for one in ((rows, ["b", "a", "b"]), pd.DataFrame({"row": list(rows), "label": [*"bab"]})):
            with pytest.raises(DataError, match="trusted: a row has no number or name"):
                trusted_rows(one, range(5), classes)
    whole = np.ma.array(numbers, mask=False)
    assert trusted_rows((whole, ["b", "a", "b"]), range(5), classes).rows.tolist() == numbers


def test_rows_by_number_of_a_table_that_was_shuffled_or_filtered_are_a_warning(noisy):
    table, true = noisy
    for other in (table.iloc[::-1], table.drop(index=3)):
        with pytest.warns(DataWarning, match="trusted: rows are counted from 0"):
            nf.fit(other, "y", trusted=([10, 40], true[[10, 40]]), learners="linear")


def test_a_row_named_twice_is_found_at_once_among_many():
    codes, classes = encode(np.array(["a", "b"] * 50_000), "x")
    rows = [*range(60_000), 59_999]
    start = time.process_time()
    with pytest.raises(DataError, match="row '59999' occurs twice"):
        trusted_rows((rows, ["a"] * len(rows)), range(len(codes)), classes)
    assert time.process_time() - start < 5
