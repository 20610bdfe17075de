"""Reading what users have, and saying in one line what is wrong with it."""

import gzip
import struct
from datetime import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import parquet

from noiseproof import data, memory
from noiseproof.data.images import decode
from noiseproof.errors import DataError, ParameterError
from noiseproof.prepare.checks import check
from noiseproof.prepare.classes import Classes, encode
from noiseproof.prepare.formats.reading import Reading
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.read import read, read_blocks
from noiseproof.prepare.samples import Samples

FRAME = pd.DataFrame(
    {"size": [1.0, 2.5, np.nan, 4.0], "colour": ["red", "blé", None, "red"], "y": list("abab")}
)


def write(path, encoding="utf-8", sep=","):
    if path.suffix == ".parquet":
        FRAME.to_parquet(path)
        return path
    text = FRAME.to_csv(index=False, sep=sep)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode(encoding)))
    else:
        path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    ("name", "encoding", "sep"),
    [
        ("a.csv", "utf-8", ","),
        ("a.csv", "utf-8-sig", ","),
        ("a.csv", "utf-16", ","),
        ("a.csv", "utf-8", ";"),
        ("a.tsv", "utf-8", "\t"),
        ("A.CSV.gz", "utf-8", ","),
        ("a.parquet", "", ""),
    ],
)
def test_every_kind_of_table_reads_the_same(tmp_path, name, encoding, sep):
    samples = read(write(tmp_path / name, encoding, sep), "y")
    assert samples.kind == "table"
    assert list(samples.inputs.columns) == ["size", "colour"]
    assert samples.inputs["colour"].fillna("-").tolist() == ["red", "blé", "-", "red"]
    assert samples.inputs["size"].isna().tolist() == [False, False, True, False]
    assert list(samples.labels) == list("abab")


def test_another_encoding_is_refused_with_the_way_out_and_can_be_named(tmp_path):
    path = write(tmp_path / "a.csv", "cp1252")
    with pytest.raises(DataError, match="save it as UTF-8, or name its encoding, such as cp1252"):
        read(path, "y")
    assert read(path, "y", Reading(encoding="cp1252")).inputs["colour"][1] == "blé"
    with pytest.raises(DataError, match="no encoding of the name 'klingon'"):
        read(path, "y", Reading(encoding="klingon"))


def test_arrays(tmp_path):
    X, y = np.arange(12.0).reshape(4, 3), np.array([1, 0, 1, 0])
    np.savez(tmp_path / "a.npz", X=X, y=y)
    samples = read(tmp_path / "a.npz")
    assert samples.inputs.dtype == np.float32
    assert samples.kind == "matrix"
    assert samples.labels.tolist() == [1, 0, 1, 0]
    np.savez(tmp_path / "named.npz", X=X, y=y, classes=np.array(["no", "yes"]))
    assert read(tmp_path / "named.npz").labels.tolist() == ["yes", "no", "yes", "no"]
    np.save(tmp_path / "a.npy", X)
    assert read(tmp_path / "a.npy", labelled=False).inputs.shape == (4, 3)
    np.savez(tmp_path / "images.npz", X=np.zeros((4, 6, 5, 3), np.uint8), y=y)
    assert read(tmp_path / "images.npz").inputs.shape == (4, 3, 6, 5)


def test_embeddings_take_the_place_of_the_columns(tmp_path):
    path = write(tmp_path / "a.csv")
    np.save(tmp_path / "e.npy", np.eye(4))
    samples = read(path, "y", Reading(embeddings=tmp_path / "e.npy"))
    assert samples.inputs.tolist() == np.eye(4).tolist()
    assert list(samples.labels) == list("abab")
    np.save(tmp_path / "short.npy", np.eye(3))
    with pytest.raises(DataError, match=r"short.npy: 3 rows where a.csv has 4"):
        read(path, "y", Reading(embeddings=tmp_path / "short.npy"))


@pytest.mark.parametrize("length", [1, 3, 5])
@pytest.mark.parametrize("rows", [1, 3, 8])
def test_embeddings_of_another_length_are_one_line_whatever_the_blocks(tmp_path, length, rows):
    path = write(tmp_path / "a.csv")
    np.save(tmp_path / "e.npy", np.eye(length))
    how = Reading(embeddings=tmp_path / "e.npy")
    with pytest.raises(DataError, match=rf"e.npy: {length} rows? where a.csv has 4"):
        assert all(len(block) for block in read_blocks(path, "y", how, rows=rows))


def test_with_embeddings_labels_may_be_all_there_is(tmp_path):
    (tmp_path / "a.csv").write_text("y\na\nb\n")
    np.save(tmp_path / "e.npy", np.eye(2))
    how = Reading(embeddings=tmp_path / "e.npy")
    for labelled in (True, False):
        samples = read(tmp_path / "a.csv", "y", how, labelled=labelled)
        assert samples.inputs.tolist() == np.eye(2).tolist()
        assert list(samples.labels) == ["a", "b"]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": np.eye(4), "y": np.array(1)}, "expected y of shape"),
        ({"X": np.eye(4), "y": np.eye(4)}, "expected y of shape"),
        ({"X": np.array(1.0), "y": np.arange(4)}, "expected numbers"),
        ({"X": np.zeros((4, 0, 0), np.uint8), "y": np.arange(4)}, "images without pixels"),
        ({"X": np.arange(4.0), "y": np.arange(4)}, "expected numbers"),
        ({"X": np.eye(4), "y": np.arange(4), "classes": np.array("a")}, "expected .classes. of"),
        ({"X": np.eye(2), "y": np.arange(2), "classes": np.array(["a"])}, "is out of range"),
        (
            {"X": np.eye(2), "y": np.arange(2.0), "classes": np.array(["a", "b"])},
            "must be integers",
        ),
        ({"X": np.eye(2), "y": np.arange(2), "classes": np.array(["a", "a"])}, "two of the"),
        ({"X": np.eye(2), "y": np.arange(2), "classes": np.array([b"a", b"\xff"])}, "not UTF-8"),
        ({"X": np.eye(1), "y": np.array([{}])}, r"\(Object arrays cannot be loaded\)$"),
    ],
)
def test_arrays_of_another_shape_are_one_line(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(DataError, match=rf"a\.npz: .*{message}"):
        read(tmp_path / "a.npz")


@pytest.mark.parametrize("names", [["b", "café"], np.char.encode(["b", "café"]), [2, 1]])
@pytest.mark.parametrize("kind", ["int64", "uint8"])
def test_fit_and_train_read_the_same_names_of_classes(tmp_path, names, kind):
    codes = np.arange(20, dtype=kind) % 2
    np.savez(tmp_path / "a.npz", X=np.eye(20), y=codes, classes=np.array(names))
    train = data.load(tmp_path / "a.npz").train
    want = [n.decode() if isinstance(n, bytes) else str(n) for n in names]
    assert list(train.classes) == want
    assert list(read(tmp_path / "a.npz").labels) == [want[code] for code in codes]


@pytest.mark.parametrize(
    ("name", "encoding", "sep"),
    [
        ("a.csv", "utf-8", ","),
        ("a.csv", "utf-16", ";"),
        ("a.tsv", "utf-8-sig", "\t"),
        ("A.CSV.gz", "utf-8", ","),
    ],
)
def test_a_class_may_be_called_none_and_only_an_empty_label_is_missing(
    tmp_path, name, encoding, sep
):
    words = ["None", "NA", "null", "nan", "N/A", "", "yes"]
    content = f"é{sep}y\n" + "".join(f"NA{sep}{word}\n" for word in words)
    raw = content.encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith("gz") else raw)
    samples = read(tmp_path / name, "y")
    assert samples.labels.fillna("missing").tolist() == [*words[:5], "missing", "yes"]
    assert samples.inputs["é"].isna().all()


def test_numbers_beside_empty_labels_stay_numbers(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,3\n2,\n3,4\n4,NA\n")
    assert read(tmp_path / "a.csv", "y").labels.dtype == "Int64"


@pytest.mark.parametrize(
    ("text", "columns", "labels"),
    [
        ('"a, b";c (x, y);y\n1;2;p\n3;4;q\n', ["a, b", "c (x, y)"], ["p", "q"]),
        ("a\ty\n1\tp\n3\tq\n", ["a"], ["p", "q"]),
        ("a,y\n1,p,\n3,q,\n", ["a"], ["p", "q"]),
        ("a,y\n1,,\n3,q,\n", ["a"], [None, "q"]),
        ('"a","y"\n"1",1,"p"\n"2",3,"NA"\n', ["a"], ["p", "NA"]),
        ('a,y\n"one\ntwo",p\n"three, four",q\n', ["a"], ["p", "q"]),
        ("a,y\n1,01\n3,02\n", ["a"], ["01", "02"]),
        ("a,y\n1,true\n3,false\n", ["a"], ["true", "false"]),
    ],
    ids=["semicolons", "tabs", "ends", "gap", "R", "quoted", "zeros", "truth"],
)
def test_text_tables_as_programs_write_them(tmp_path, text, columns, labels):
    (tmp_path / "a.csv").write_text(text)
    samples = read(tmp_path / "a.csv", "y")
    assert list(samples.inputs.columns) == columns
    assert samples.labels.astype(object).where(samples.labels.notna(), None).tolist() == labels


def test_rows_much_longer_than_the_header_are_one_line(tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,2,3,p\n3,4,5,q\n")
    with pytest.raises(DataError, match="rows have 2 fields more than there are names of columns"):
        read(tmp_path / "a.csv", "y")


def test_decimal_commas_need_semicolons_and_a_column_of_them(tmp_path):
    text = 'size;model;y\n1,5;"1,5";p\n2;S;p\n1.000,25;M;q\n;M;q\n'
    (tmp_path / "a.csv").write_text(text)
    samples = read(tmp_path / "a.csv", "y")
    assert samples.inputs["size"].fillna(-1).tolist() == [1.5, 2, 1000.25, -1]
    assert samples.inputs["model"].tolist() == ["1,5", "S", "M", "M"]
    assert samples.notes == (
        "numbers read with decimal commas (and points between thousands): size",
    )
    known = read(tmp_path / "a.csv", "y", Reading(numbers=["model"]))
    assert known.inputs["model"].tolist() == [1.5, "S", "M", "M"]  # to be counted as unread
    assert known.inputs["size"].tolist()[:2] == ["1,5", "2"]
    (tmp_path / "c.csv").write_text("size;y\n1.500;p\n2.25;p\n3;q\n")
    assert read(tmp_path / "c.csv", "y").inputs["size"].tolist() == [1.5, 2.25, 3]
    commas = read(tmp_path / "c.csv", "y", Reading(numbers=["size"], commas=["size"]))
    assert commas.inputs["size"].astype(float).tolist() == [1.5, 2.25, 3]  # points after all
    (tmp_path / "c.csv").write_text("size;y\n1.500;p\n2;p\n3;q\n")
    commas = read(tmp_path / "c.csv", "y", Reading(numbers=["size"], commas=["size"]))
    assert commas.inputs["size"].tolist() == [1500, 2, 3]
    (tmp_path / "b.csv").write_text('size,y\n"1,234",p\n"2,345",q\n')  # thousands
    assert read(tmp_path / "b.csv", "y").inputs["size"].tolist() == ["1,234", "2,345"]


def test_a_folder_of_images_by_class(tmp_path):
    for name, side in (("cat", 40), ("dog", 50)):
        (tmp_path / name).mkdir()
        for i in range(3):
            Image.fromarray(np.full((side, 45, 3), 80 * i, np.uint8)).save(
                tmp_path / name / f"{i}.png"
            )
    samples = read(tmp_path)
    assert samples.inputs.shape == (6, 3, 32, 32)
    assert samples.labels == ["cat"] * 3 + ["dog"] * 3
    assert samples.rows[3] == "dog/0.png"
    assert len(read(tmp_path / "cat", labelled=False)) == 3


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", b"", "cannot be read as csv"),
        ("a.csv", b"x,y\n", "there are no rows"),
        ("a.csv", b"y\na\nb\n", "no column beside 'y'"),
        ("a.csv", b"x,z\n1,2\n", "no column 'y'"),
        ("a.parquet", b"PAR1 and no more", "cannot be read as parquet"),
        ("a.parquet", b"", "cannot be read as parquet"),
        ("a.npz", b"PK no zip", "cannot be read as .npz .not an .npz file.$"),
        ("a.npy", b"no array", "cannot be read as .npy .not an .npy file.$"),
        ("a.csv.gz", b"not gzip", "cannot be read as csv.gz"),
        ("a.xlsx", b"PK", "expected .csv, .tsv, .parquet, .npz, a folder"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message) as error:
        read(tmp_path / name, "y")
    assert "\n" not in str(error.value)
    assert name in str(error.value)


def test_a_file_too_large_for_the_memory_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 16 * 10**9)
    for name in ("large.csv", "large.npy"):
        with open(tmp_path / name, "wb") as file:
            file.truncate(10 * 10**9)  # of nothing: it takes no room on the disk
        with pytest.raises(DataError, match=r"10.0 GB need about 40.0 GB of memory, 16.0 GB are"):
            read(tmp_path / name, "y")


def test_the_free_memory_is_known_here():
    assert memory.available() > 10**7


@pytest.mark.parametrize(
    ("labels", "names", "kind", "values"),
    [
        (["b", "a", "b", "a"], ("a", "b"), "text", ["a", "b"]),
        ([10, 9, 10, 9], ("9", "10"), "integer", [9, 10]),
        (np.array([[10], [9], [10], [9]]), ("9", "10"), "integer", [9, 10]),
        ([2**70, 1, 1, 2**70], ("1", str(2**70)), "text", ["1", str(2**70)]),
        (pd.Categorical([10, 9, 10, 9, None]), ("9", "10"), "integer", [9, 10]),
        (pd.array([10, 9, 10, 9, None], dtype="Int16"), ("9", "10"), "integer", [9, 10]),
        ([1.0, 0.0, None, 1.0, 0.0], ("0", "1"), "integer", [0, 1]),
        ([True, False, True, False], ("False", "True"), "boolean", [False, True]),
        (np.array(["x", "y", "x", "y"], dtype="S1"), ("x", "y"), "text", ["x", "y"]),
        (pd.Series(["u", "v", "u", "v"], dtype="category"), ("u", "v"), "text", ["u", "v"]),
        ([" a", "a", " a", "a", " ", ""], (" a", "a"), "text", [" a", "a"]),
        (
            np.array([1, 2, 1, 2], "m8[D]"),
            ("1 days 00:00:00", "2 days 00:00:00"),
            "text",
            ["1 days 00:00:00", "2 days 00:00:00"],
        ),
        (
            [np.timedelta64(1, "s"), None, "b", "b", np.timedelta64(1, "s")],
            ("1 seconds", "b"),
            "text",
            ["1 seconds", "b"],
        ),
        (
            np.array(["2021", "2020", "2021", "2020"], "M8[Y]"),
            ("2020-01-01 00:00:00", "2021-01-01 00:00:00"),
            "text",
            [datetime(2020, 1, 1), datetime(2021, 1, 1)],
        ),
        (
            pd.Series(pd.to_datetime(["2021", "2020"] * 2)).astype("timestamp[s][pyarrow]"),
            ("2020-01-01 00:00:00", "2021-01-01 00:00:00"),
            "text",
            [datetime(2020, 1, 1), datetime(2021, 1, 1)],
        ),
    ],
)
def test_classes_of_any_type(labels, names, kind, values):
    codes, classes = encode(labels, "here")
    assert (classes.names, classes.kind) == (names, kind)
    assert classes.values.tolist() == values
    assert (classes.codes(labels, "there") == codes).all()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([None, None], "every label is missing"),
        (["a", "a", None], "one class only, 'a'"),
        (["a", "b", None], "every class has one row"),
        ([0.5, 0.25, 0.5], "label 0.5 is a quantity, not a class"),
        (list(range(200)), "200 different values in 200 rows are a quantity"),
        ([f"n{i}" for i in range(200)], "200 different values in 200 rows are a name or free"),
        ([[1, 2], [3, 4]], "expected one label a row"),
        ([np.inf, 1.0, 1.0], "infinite"),
        ([True, False, 1, 0], "some labels are numbers, others true or false"),
        ([np.True_, 2, np.True_, 2], "some labels are numbers, others true or false"),
        ([b"a", b"\xff", b"a"], "is not UTF-8 text"),
    ],
)
def test_labels_that_are_no_classes(labels, message):
    with pytest.raises(DataError, match=f"here: .*{message}"):
        encode(labels, "here")


def test_a_test_label_that_is_no_class_is_named():
    with pytest.raises(DataError, match="label 'cta' is no class; did you mean 'cat'"):
        Classes(("cat", "dog"), "text").codes(["dog", "cta"], "test.csv")


def test_repeated_rows_and_those_under_two_labels_are_counted():
    X = np.array([[1, 2], [1, 2], [3, 0], [3, 0], [5, 6]], np.float32)
    y = np.array([0, 1, 0, 0, 1])
    signed = np.where(X == 0, np.array([[0.0], [0.0], [0.0], [-0.0], [0.0]]), X)
    pictures = X.astype(np.uint8).reshape(5, 1, 1, 2)
    for inputs in (X, pd.DataFrame(X), signed, pd.DataFrame(signed), pictures):
        found = check(Samples("x", inputs), y, Classes(("a", "b"), "text"), 7)
        assert (found.repeated, found.conflicting, found.unlabelled) == (4, 2, 7)
        assert found.counts == (3, 2)
    assert any("set aside, without a label: 7 rows" in line for line in found.warnings)
    assert any("4 rows are repeated, 2 of them" in line for line in found.warnings)


def test_uneven_classes_are_said_to_be():
    y = np.array([0] * 100 + [1] * 5)
    found = check(Samples("x", np.arange(105.0)[:, None]), y, Classes(("a", "b"), "text"), 0)
    assert found.warnings[0].startswith("uneven classes: a has 100 rows, b 5")


def test_what_python_code_may_hand_over():
    for X in (np.eye(4), np.eye(4).tolist()):
        assert as_samples(X, list("abab")).inputs.dtype == np.float32
    frame = as_samples(FRAME, "y")
    assert list(frame.inputs.columns) == ["size", "colour"]
    assert as_samples(FRAME.drop(columns="y"), FRAME["y"]).kind == "table"
    twice = as_samples(pd.concat([FRAME, FRAME]), "y")
    assert twice.inputs.index.tolist() == list(range(8))
    with pytest.raises(DataError, match="two columns are called 'y'"):
        as_samples(pd.concat([FRAME, FRAME], axis=1)[["y"]], "y")
    pairs = FRAME.set_axis(pd.MultiIndex.from_tuples([("a", "b"), ("a", 2), ("y", "")]), axis=1)
    assert list(as_samples(pairs, "y").inputs.columns) == ["a b", "a 2"]
    with pytest.raises(DataError, match="4 rows but 3 labels"):
        as_samples(np.eye(4), [1, 2, 3])
    with pytest.raises(ParameterError, match="expected labels"):
        as_samples(np.eye(4))
    with pytest.raises(DataError, match="expected numbers"):
        as_samples(np.array([["a"]]), ["x"])


@pytest.mark.parametrize(
    "said",
    [
        b"[]", b"{}", b"\xff", b"[" * 100_000, b'{"columns": 5}',
        b'{"index_columns": ["other"], "columns": [], "column_indexes": []}',
        b'{"index_columns": [], "column_indexes": [], "columns": [{"name": "x", "field_name": "x", '
        b'"pandas_type": "object", "numpy_type": "no.such", "metadata": null}]}',
    ],
)  # fmt: skip
def test_what_a_parquet_file_says_about_pandas_may_be_anything(tmp_path, said):
    table = pa.table({"x": [1.0, 2.0], "y": ["a", "b"]}).replace_schema_metadata({b"pandas": said})
    parquet.write_table(table, tmp_path / "rows.parquet")
    assert read(tmp_path / "rows.parquet", "y").inputs["x"].tolist() == [1.0, 2.0]
    (block,) = read_blocks(tmp_path / "rows.parquet", "y", Reading(numbers=["x"]))
    assert block.inputs["x"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("name", "scale", "kind"),
    [
        ("16.png", 257, np.uint16), ("16.tiff", 257, np.uint16), ("32.tiff", 257, np.int32),
        ("16.pgm", 257, np.uint16), ("32.pgm", 257, np.int32), ("float.tiff", 1 / 255, np.float32),
        ("float.pfm", 1 / 255, np.float32),
    ],
)  # fmt: skip
def test_greys_of_more_than_8_bits_are_the_same_picture(tmp_path, name, scale, kind):
    pixels = np.arange(0, 256, 4, dtype=np.uint8).reshape(8, 8)
    Image.fromarray(pixels).save(tmp_path / "8.png")
    Image.fromarray((pixels.astype(float) * scale).astype(kind)).save(tmp_path / name)
    for size, grey in ((8, True), (4, False), (None, True)):
        deep, plain = (decode(tmp_path / n, size, grey) for n in (name, "8.png"))
        assert np.array_equal(deep, plain)
    # The same scale for a picture in which nothing is bright.
    Image.fromarray((pixels.astype(float) * scale / 300).astype(kind)).save(tmp_path / name)
    assert np.abs(decode(tmp_path / name)[0] - pixels / 300).max() <= 1


def test_a_pgm_of_12_bits_and_its_tiff_are_the_same_picture(tmp_path):
    greys = [0, 100, 2048, 4095]
    (tmp_path / "a.pgm").write_bytes(b"P5 4 1 4095\n" + np.array(greys, ">u2").tobytes())
    bits = "".join(f"{grey:012b}" for grey in greys)
    packed = bytes(int(bits[i : i + 8], 2) for i in range(0, 48, 8))
    tags = {256: 4, 257: 1, 258: 12, 259: 1, 262: 1, 273: 200, 277: 1, 278: 1, 279: 6}
    entries = b"".join(struct.pack("<HHII", tag, 3, 1, value) for tag, value in tags.items())
    header = b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + bytes(4)
    (tmp_path / "a.tiff").write_bytes(header.ljust(200, b"\0") + packed)
    for name in ("a.pgm", "a.tiff"):
        assert decode(tmp_path / name).ravel().tolist() == [0, 6, 128, 255]


@pytest.mark.parametrize(("grey", "kind", "white"), [(-5, np.int32, 65535), (200, np.float32, 1)])
def test_greys_that_are_no_greys_are_one_line(tmp_path, grey, kind, white):
    Image.fromarray(np.full((4, 4), grey, kind)).save(tmp_path / "depth.tiff")
    with pytest.raises(DataError, match=f"not between 0 and {white}"):
        decode(tmp_path / "depth.tiff")


def test_a_stray_picture_of_one_pixel_does_not_make_all_as_small(tmp_path):
    for kind in ("cat", "dog"):
        (tmp_path / kind).mkdir()
        for number in range(6):
            Image.new("RGB", (20, 24)).save(tmp_path / kind / f"{number}.png")
    Image.new("RGB", (1, 1)).save(tmp_path / "cat" / "pixel.gif")
    assert read(tmp_path).inputs.shape == (13, 3, 20, 20)


@pytest.mark.parametrize("turned", range(1, 9))
def test_a_picture_is_upright_at_every_size_and_at_none(tmp_path, turned):
    pixels = np.arange(64, dtype=np.uint8).reshape(8, 8) * 4
    exif = Image.Exif()
    exif[0x0112] = turned
    Image.fromarray(pixels).save(tmp_path / "a.png", exif=exif)
    assert np.array_equal(decode(tmp_path / "a.png"), decode(tmp_path / "a.png", 8))


def test_columns_in_the_names_of_folders_are_not_lost_in_silence(tmp_path):
    for year in (2020, 2021):
        (tmp_path / f"year={year}").mkdir()
        FRAME.to_parquet(tmp_path / f"year={year}" / "part.parquet")
    samples = read(tmp_path, "y")
    assert len(samples) == 2 * len(FRAME)
    assert samples.doubts == ("columns in the names of folders are not read: year",)
    with pytest.raises(DataError, match="year is in the names of folders alone; write it as a col"):
        read(tmp_path, "year")
