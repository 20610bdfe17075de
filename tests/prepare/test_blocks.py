"""Files of any length: read in blocks as they would be read whole, and never too much of them."""

import gzip
import os
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import parquet
from scipy import sparse

from noiseproof import memory
from noiseproof.errors import DataError
from noiseproof.prepare.features import learn_features, reading
from noiseproof.prepare.formats.reading import Reading
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.read import read, read_blocks
from noiseproof.prepare.samples import Samples
from noiseproof.tables import delimited, first_line, watched

N = 90
RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "size": np.where(np.arange(N) % 7 == 0, np.nan, RNG.normal(size=N).round(3)),
        "whole": np.arange(N) // 3,
        "code": np.where(np.arange(N) < 60, "01", "x"),  # digits alone for many blocks
        "sold": np.where(np.arange(N) % 2, "true", "False"),
        "maybe": np.where(np.arange(N) % 3 == 0, "", np.where(np.arange(N) % 2, "True", "false")),
        "dirty": np.where(np.arange(N) == 50, "unknown", RNG.normal(size=N).round(3).astype(str)),
        "when": pd.date_range("2020-01-01", periods=N).strftime("%d/%m/%Y"),
        "note": [" ".join(RNG.choice(["good", "bad", "film", "plot"], 6)) for _ in range(N)],
        "y": np.arange(N) % 2,
    }
)  # fmt: skip


def write(folder, kind):
    path = folder / kind
    if kind == "parts":
        path.mkdir()
        typed = FRAME.assign(maybe=FRAME["maybe"].map({"True": True, "false": False}))
        for i in range(3):
            typed[i * 30 : i * 30 + 30].to_parquet(path / f"part-{i}.parquet")
    elif kind.endswith(".parquet"):
        FRAME.to_parquet(path)
    elif kind == "commas.csv":
        FRAME.to_csv(path, index=False, sep=";", decimal=",")
    else:
        FRAME.to_csv(path, index=False, sep="\t" if ".tsv" in kind else ",")
    return path


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


@pytest.mark.parametrize("rows", [1, 7, 1000])
@pytest.mark.parametrize(
    "kind", ["a.csv", "a.tsv.gz", "commas.csv", "a.parquet", "parts"]
)  # fmt: skip
def test_blocks_are_the_whole(tmp_path, monkeypatch, kind, rows):
    path = write(tmp_path, kind)
    monkeypatch.setattr(delimited, "ROWS", 8)  # the fit too reads in blocks
    samples = read(path, "y")
    features = learn_features(samples, (), 0, Notes())
    whole, parts = Notes(), Notes()
    X = dense(features.transform(samples, whole))
    blocks = list(read_blocks(path, "y", Reading(**reading(features)), rows=rows))
    assert (
        np.concatenate([dense(features.transform(block, parts)) for block in blocks]) == X
    ).all()
    assert parts.lines == whole.lines
    assert not parts.warnings
    assert max(len(block) for block in blocks) <= rows
    if "par" not in kind:
        kinds = {column.name: column.kind for column in features.columns if column.name != "note"}
        assert kinds.pop("code") == "category"
        assert kinds.pop("when") == "date"
        assert set(kinds.values()) == {"number"}


def test_decimal_commas_in_one_block_are_those_of_all(tmp_path):
    """1.500 is a thousand and more where any number of the column has a decimal comma."""
    rows = ["1.500"] * 20 + ["2,5"]
    (tmp_path / "a.csv").write_text("size;z\n" + "".join(f"{row};1\n" for row in rows))
    blocks = read_blocks(tmp_path / "a.csv", how=Reading(numbers={"size"}), rows=4)
    values = pd.concat([block.inputs["size"] for block in blocks]).tolist()
    assert values == [1500.0] * 20 + [2.5]


def test_arrays_and_images_come_in_blocks(tmp_path):
    X = RNG.normal(size=(50, 3)).astype(np.float32)
    np.save(tmp_path / "a.npy", X)
    np.savez(tmp_path / "a.npz", X=X)
    for name in ("a.npy", "a.npz"):
        parts = [block.inputs for block in read_blocks(tmp_path / name, rows=8)]
        assert [len(part) for part in parts] == [8] * 6 + [2]
        assert (np.concatenate(parts) == X).all()
    (tmp_path / "t.csv").write_text("z\n" + "1\n" * 50)
    for name, rows in (("a.npy", 50), ("short.npy", 49)):
        np.save(tmp_path / name, X[:rows])
        blocks = read_blocks(tmp_path / "t.csv", how=Reading(embeddings=tmp_path / name), rows=8)
        if rows == 50:
            assert (np.concatenate([block.inputs for block in blocks]) == X).all()
        else:
            with pytest.raises(DataError, match=r"short.npy: 49 rows where t.csv has 50"):
                list(blocks)
    (tmp_path / "pictures").mkdir()
    for i in range(5):
        shape = (9, 9, 3) if i == 3 else (9, 9)  # one in colour
        Image.fromarray(np.full(shape, 40 * i, np.uint8)).save(tmp_path / "pictures" / f"{i}.png")
    blocks = list(read_blocks(tmp_path / "pictures", how=Reading(size=9), rows=2))
    assert [row for block in blocks for row in block.rows] == [f"{i}.png" for i in range(5)]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet", "a.npy"])
def test_no_rows_are_one_line(tmp_path, name):
    empty = pd.DataFrame({"x": np.zeros(0), "y": np.zeros(0)})
    if name == "a.npy":
        np.save(tmp_path / name, np.zeros((0, 2)))
    elif name == "a.parquet":
        empty.to_parquet(tmp_path / name)
    else:
        empty.to_csv(tmp_path / name, index=False)
    with pytest.raises(DataError, match="there are no rows"):
        list(read_blocks(tmp_path / name, how=Reading(numbers={"x"})))


def test_what_unpacks_to_too_much_is_stopped_while_it_does(tmp_path, monkeypatch):
    with gzip.open(tmp_path / "bomb.csv.gz", "wb") as file:
        file.write(b"x,y\n")
        for _ in range(200):
            file.write(b"1,a\n" * 250_000)  # 200 MB from 200 kB
    assert (tmp_path / "bomb.csv.gz").stat().st_size < 10**6
    monkeypatch.setattr(memory, "available", lambda: 40_000_000)
    with pytest.raises(DataError, match=r"bomb.csv.gz: 0.0 GB and more need about 0.0 GB of mem"):
        read(tmp_path / "bomb.csv.gz", "y")
    first = next(
        read_blocks(tmp_path / "bomb.csv.gz", "y", Reading(numbers={"x"}))
    )  # of these, no matter
    assert len(first) > 1000


def test_values_stored_once_count_as_often_as_they_are_there(tmp_path, monkeypatch):
    pd.DataFrame({"x": np.zeros(3_000_000), "y": "a"}).to_parquet(tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 10**6
    monkeypatch.setattr(memory, "available", lambda: 100_000_000)
    with pytest.raises(DataError, match="GB of memory"):
        read(tmp_path / "a.parquet", "y")


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"t": "z" * 10**6}, None), (["z" * 10**6], None), ([{"t": b"z" * 10**6}], None),
        ([("k", "z" * 10**6)], pa.map_(pa.string(), pa.string())),
        (b"z" * 10**6, pa.binary(10**6)), ([0] * 10**5, pa.list_(pa.int8())),
    ],
    ids=["struct", "list", "list of structs", "map", "fixed", "numbers"],
)  # fmt: skip
def test_values_inside_others_count_as_often_as_they_are_there(tmp_path, monkeypatch, value, kind):
    table = pa.table({"x": pa.array([value] * 300, kind), "y": ["a", "b"] * 150})
    parquet.write_table(table, tmp_path / "a.parquet", compression="zstd")
    assert (tmp_path / "a.parquet").stat().st_size < 10**6
    monkeypatch.setattr(memory, "available", lambda: 100_000_000)
    with pytest.raises(DataError, match="GB of memory"):
        read(tmp_path / "a.parquet", "y")


def test_what_arrow_cannot_read_is_one_line(tmp_path, monkeypatch):
    """As structs of more than 2 GB of text."""

    def refuse(*_):
        raise pa.ArrowNotImplementedError("Nested data conversions not implemented")

    pd.DataFrame({"x": [1, 2], "y": ["a", "b"]}).to_parquet(tmp_path / "a.parquet")
    monkeypatch.setattr("noiseproof.tables.read.as_frame", refuse)
    with pytest.raises(DataError, match=r"a.parquet: cannot be read as parquet"):
        read(tmp_path / "a.parquet", "y")


def test_a_quote_that_never_ends_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(watched, "LONGEST", 1 << 21)
    (tmp_path / "a.csv").write_text('x,y\n1,a\n2,"b\n' + "3,c\n" * 10**6)
    with pytest.raises(DataError, match=r"a.csv: .*a row of more than 2 MB; does a quote never"):
        list(read_blocks(tmp_path / "a.csv", "y", Reading(numbers={"x"}), rows=100))


@pytest.mark.parametrize("text", ["x" * 300_000, "".join(f"{i:099}," for i in range(3000))])
def test_a_header_that_never_ends_is_one_line(tmp_path, monkeypatch, text):
    monkeypatch.setattr(first_line, "HEADER", 1 << 18)
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(DataError, match=r"a.csv: the first line is longer than 0 MB"):
        read(tmp_path / "a.csv", "y")
    (tmp_path / "a.csv").write_text(text[:200_000] + "y\n")
    with pytest.raises(DataError, match=r"a.csv: no column 'z'"):
        read(tmp_path / "a.csv", "z")


@pytest.mark.parametrize("line", ["sep=;", "sep=,\r", '"sep=;"', "SEP=\t"])
def test_a_first_line_for_excel_alone_is_named(tmp_path, line):
    (tmp_path / "a.csv").write_text(f"{line}\nx;y\n1;a\n2;b\n")
    with pytest.raises(DataError, match=r"a.csv: the first line, .*, is for Excel alone; remove"):
        read(tmp_path / "a.csv", "y")


@pytest.mark.parametrize(
    ("names", "match"),
    [
        ("x," * 33_000_000, "33,000,001 columns, more"),
        ("," * 33_000_000, "33,000,001 columns"),
        ("x," * 90_000, "90,000 columns are called 'x'"),
    ],
)
def test_more_columns_than_anyone_has_are_one_line_at_once(tmp_path, names, match):
    """pandas numbers equal names in time that grows with the square of their number."""
    (tmp_path / "a.csv").write_text(names + "y\n1,2\n")
    start = time.process_time()
    with pytest.raises(DataError, match=match):
        read(tmp_path / "a.csv", "y")
    assert time.process_time() - start < 20


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("before", [10, 200_000])
def test_a_carriage_return_inside_a_line_tears_no_row(tmp_path, encoding, end, before):
    """pandas ends a row at any; a writer that ends lines otherwise leaves it without quotes."""
    rows = ["x,y,č", *["1,a,0"] * before, *["2,b,0"] * 9]
    for row, torn in (("3,good\rfilm,0", True), ('3,"good\rfilm",0', False), ("3,c,\r", False)):
        text = end.join([*rows, row, "4,a,0"]) + end
        (tmp_path / "a.csv").write_bytes(text.encode(encoding))
        if torn:
            with pytest.raises(DataError, match=f"middle of line {before + 11} would end the row"):
                read(tmp_path / "a.csv", "y")
        else:
            labels = list(read(tmp_path / "a.csv", "y").labels)
            assert len(labels) == before + 11
            assert labels[-2] == row.split(",")[1].strip('"')
    (tmp_path / "a.csv").write_bytes("\r".join(rows).encode(encoding))  # as once on Macs
    assert len(read(tmp_path / "a.csv", "y").labels) == before + 9


@pytest.mark.parametrize("kind", ["png", "parquet"])
def test_a_folder_that_may_not_be_listed_is_one_line(tmp_path, monkeypatch, kind):
    for folder in ("one", "two", ".hidden") if kind == "png" else ("one", "two"):
        (tmp_path / folder).mkdir()
        if kind == "png":
            Image.new("L", (8, 8)).save(tmp_path / folder / "a.png")
        else:
            pd.DataFrame({"x": [1.0, 2.0]}).to_parquet(tmp_path / folder / "a.parquet")
    how = Reading(size=8) if kind == "png" else Reading(numbers={"x"})
    assert sum(map(len, read_blocks(tmp_path, None, how, rows=9))) in (2, 4)
    shut, scandir = {"two", ".hidden"}, os.scandir

    def refuse(path):
        if os.path.basename(path) in shut:
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(DataError, match=r"two: cannot be listed \(permission denied\)"):
        list(read_blocks(tmp_path, None, how, rows=9))
    shut.remove("two")
    assert sum(map(len, read_blocks(tmp_path, None, how, rows=9))) in (2, 4)


@pytest.mark.skipif(os.name != "posix", reason="file names are bytes here alone")
def test_names_that_are_not_utf8_are_read_and_shown(tmp_path):
    odd = os.fsdecode(b"caf\xe9")
    FRAME.to_csv(tmp_path / f"{odd}.csv", index=False)
    (tmp_path / f"{odd}.parquet").write_bytes(FRAME.to_parquet())
    with open(tmp_path / f"{odd}.npz", "wb") as file:
        np.savez(file, X=np.eye(4), y=np.arange(4))
    for suffix in ("csv", "parquet", "npz"):
        samples = read(tmp_path / f"{odd}.{suffix}", "y")
        assert samples.name == f"caf\\xe9.{suffix}"
        assert next(read_blocks(tmp_path / f"{odd}.{suffix}", "y", Reading(numbers={"size"}))).name
    for name in (odd, "plain"):
        (tmp_path / "pictures" / name).mkdir(parents=True)
        Image.fromarray(np.zeros((9, 9), np.uint8)).save(
            tmp_path / "pictures" / name / f"{odd}.png"
        )
    samples = read(tmp_path / "pictures")
    assert samples.labels == ["caf\\xe9", "plain"]
    assert samples.rows == ["caf\\xe9/caf\\xe9.png", "plain/caf\\xe9.png"]
    "".join([*samples.rows, *samples.labels]).encode()


@pytest.mark.parametrize(
    ("before", "after", "warning"),
    [
        ("2020-03-{:02d}", "{:02d}/03/2020", "when: 20 of 20 values are not dates like 2020-12-31"),
        ("{:02d}/03/2020", "03/{:02d}/2020", "when: 8 of 20 values are not dates like 31/12/2020"),
        ("03/{:02d}/2020", "{:02d}/03/2020", "when: 8 of 20 values are not dates like 12/31/2020"),
        ("2020-03-{:02d}", "439{:02d}", "when: 20 of 20 values are not dates like 2020-12-31"),
        ("2020-03-{:02d}", "", "columns that were filled at the fit are empty: when"),
        ("{:02d}/03/2020", "2020-03-{:02d}", None),
        ("{:02d}.03.2020", "{:02d}/03/2020", None),
    ],
)
def test_dates_written_otherwise_are_told(before, after, warning):
    def days(form):
        return [form.format(day) or None for day in range(1, 21)]

    x = np.arange(20.0)
    frame = pd.DataFrame({"when": days(before), "x": x})
    features = learn_features(Samples("t", frame), (), 0, Notes())
    known, notes = features.transform(Samples("t", frame), Notes()), Notes()
    X = features.transform(Samples("new", pd.DataFrame({"when": days(after), "x": x})), notes)
    if warning is None:
        assert notes.warnings == []
        assert (known == X).all()
    else:
        assert len(notes.warnings) == 1
        assert notes.warnings[0].startswith(warning)


def test_columns_that_changed_are_warnings_and_those_as_before_are_not():
    def frame(**columns):
        return Samples("t", pd.DataFrame({"x": RNG.normal(size=40), **columns}))

    size, colour = 10 + RNG.normal(size=40), ["red", "blue"] * 20
    some = [None, "s", None, None] * 9 + ["s", "m", "l", None]
    features = learn_features(frame(size=size, colour=colour, some=some), (), 0, Notes())
    for changed, warning in (
        ({"size": [True] * 40}, r"size: 40 of 40 values cannot be read as numbers (True)"),
        ({"size": ["1 m"] * 40}, r"size: 40 of 40 values cannot be read as numbers (1 m)"),
        ({"size": [None] * 40}, "columns that were filled at the fit are empty: size"),
        (
            {"colour": ["Red", "Blue"] * 20},
            "colour: 40 of 40 values were unseen or rare at the fit",
        ),
        ({"colour": [None] * 40}, "columns that were filled at the fit are empty: colour"),
        (
            {"colour": ["red"] * 30 + ["Blue"] * 10},
            "colour: 10 of 40 values were unseen or rare at the fit (Blue)",
        ),
        (
            {"size": [10.0] * 15 + [None] * 25},
            "size: 25 of 40 values are missing, at the fit 0% were",
        ),
    ):
        notes = Notes()
        features.transform(frame(**{"size": size, "colour": colour, "some": some} | changed), notes)
        assert len(notes.warnings) == 1
        assert notes.warnings[0].startswith(warning)
    notes = Notes()
    few = {"size": [9.0, 12.0], "colour": ["red", "blue"], "some": [None, "xl"]}
    features.transform(Samples("t", pd.DataFrame({"x": [0.0, 0.0], **few})), notes)
    assert notes.warnings == []
    assert notes.lines == ["some: 1 of 2 values were unseen or rare at the fit (xl)"]


#: Columns that pandas reads otherwise in a block than in the whole, or with gaps than without.
ODD = {
    "a stray comma among points": ["1.054", "2.5", "-3.026", "2,75", "6.0", "0.5"],
    "commas": ["1.054", "2,5", "-3,026", "2,75", "6", "0,5"],
    "a comma among points and whole numbers": [*"12345678" * 12, "1,5", "0.25", "0.75"],
    "a word among commas": ["0,5", "1,0", "keine", "2", "keine", "1.500"],
    "a word among whole numbers": ["0,5", "1", "keine", "2", "keine", "1"],
    "beyond int64, with gaps": ["18446744073709551615", "5", "", "NA", "7", "5"],
    "truth among numbers": ["true", "True", "0", "7", "90", "12"],
    "truth after numbers": ["0", "7", "90", "12", "False", "True"],
    "truth and 0 and 1": ["true", "FALSE", "0", "1", "", "1"],
    "huge": ["1e400", "-inf", "3", "4", "5", "6"],
}


@pytest.mark.parametrize("gaps", [0, 3])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("values", ODD.values(), ids=ODD)
def test_a_block_reads_a_column_as_the_whole_file_does(tmp_path, values, separator, gaps):
    path = tmp_path / ("a.tsv" if separator == "\t" else "a.csv")
    rows = [*values * 4, *[""] * gaps]
    lines = ["x", *(f'"{value}"' for value in rows)]
    path.write_text("".join(f"{line}{separator}{i % 2}\n" for i, line in enumerate(lines)))
    path.write_text(path.read_text().replace(f"x{separator}0", f"x{separator}y", 1))
    fitted = read(path, "y")
    features = learn_features(fitted, (), 0, Notes())
    how = Reading(**reading(features))
    want, notes = features.transform(fitted, Notes()), Notes()
    assert np.array_equal(features.transform(read(path, "y", how), Notes()), want)
    blocks = read_blocks(path, "y", how, rows=2)
    found = np.concatenate([features.transform(block, notes) for block in blocks])
    assert np.array_equal(found, want)
    assert np.isfinite(want).all()


@pytest.mark.parametrize("form", [{"sep": ","}, {"sep": ";"}, {"sep": ";", "decimal": ","}])
def test_a_category_of_decimal_commas_and_words_is_the_same_in_every_file(tmp_path, form):
    kinds = ["0.50", "1.0", "keine", "2", "keine", "10.25"]
    frame = pd.DataFrame({"x": kinds * 10, "z": RNG.normal(size=60).round(3), "y": [1, 2] * 30})
    german = frame.assign(x=frame["x"].str.replace(".", ","))
    german.to_csv(tmp_path / "fit.csv", index=False, sep=";", decimal=",")
    fitted = read(tmp_path / "fit.csv", "y")
    features = learn_features(fitted, (), 0, Notes())
    assert features.columns[0].values == ("0.5", "1", "10.25", "2", "keine")
    expected, notes = features.transform(fitted, Notes()), Notes()
    given = german if "decimal" in form else frame
    given.to_csv(tmp_path / "new.csv", index=False, **form)
    how = Reading(**reading(features))
    found = features.transform(read(tmp_path / "new.csv", "y", how), notes)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    for rows in (1, 7):  # in some blocks there are numbers alone
        blocks = read_blocks(tmp_path / "new.csv", "y", how, rows=rows)
        found = np.concatenate([features.transform(block, notes) for block in blocks])
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert notes.warnings == []


def test_one_comma_does_not_make_thousands_of_points(tmp_path):
    (tmp_path / "a.csv").write_text("x;y\n1.054;a\n2.5;b\n2,75;a\n")
    how = Reading(numbers=["x"])
    (block,) = read_blocks(tmp_path / "a.csv", "y", how)
    assert block.inputs["x"].tolist() == ["1.054", "2.5", "2,75"]
    assert read(tmp_path / "a.csv", "y", how).inputs["x"].tolist() == ["1.054", "2.5", "2,75"]


@pytest.mark.parametrize("scale", [1e-300, 1e-6, 1e-4, 1, 1e17])
@pytest.mark.parametrize("infinite", [False, True])
def test_decimal_commas_with_exponents_are_the_same_numbers(tmp_path, scale, infinite):
    frame = pd.DataFrame({"x": scale * RNG.normal(size=N), "z": RNG.normal(size=N)})
    frame.loc[:: 10 if infinite else N, "x"] = np.inf
    frame.to_csv(tmp_path / "a.csv", index=False, sep=";", decimal=",")
    given, file = Samples("here", frame), read(tmp_path / "a.csv", labelled=False)
    for one, other in ((given, file), (file, given)):
        features, notes = learn_features(one, (), 0, Notes()), Notes()
        expected = features.transform(one, Notes())
        assert np.allclose(features.transform(other, notes), expected)
        how = Reading(**reading(features))
        blocks = read_blocks(tmp_path / "a.csv", None, how, rows=7)
        assert np.allclose(np.concatenate([features.transform(b, notes) for b in blocks]), expected)
        assert notes.warnings == []


def test_words_among_decimal_commas_are_counted_and_not_taken_for_gaps(tmp_path):
    texts = [f"{at},5" for at in range(N)]
    pd.DataFrame({"x": texts, "z": texts}).to_csv(tmp_path / "a.csv", index=False, sep=";")
    features = learn_features(read(tmp_path / "a.csv", labelled=False), (), 0, Notes())
    texts[20:80] = ["n.b."] * 60
    pd.DataFrame({"x": texts, "z": texts}).to_csv(tmp_path / "b.csv", index=False, sep=";")
    how, whole, parts = Reading(**reading(features)), Notes(), Notes()
    features.transform(read(tmp_path / "b.csv", None, how, labelled=False), whole)
    for block in read_blocks(tmp_path / "b.csv", None, how, rows=7):
        features.transform(block, parts)
    assert whole.warnings == parts.warnings
    assert whole.warnings[0] == "x: 60 of 90 values cannot be read as numbers (n.b.)"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("x\n1.5\n\n2\n\n\n3\n", [1.5, None, 2, None, None, 3]),
        ("x\n1.5\n\n2\n\n\n", [1.5, None, 2]),
        ('\n\nx\n1.5\n\n2\n""\n\n', [1.5, None, 2, None]),
        ("x\ngood film\n\nbad", ["good film", None, "bad"]),
        ("x\na\n" + 20 * "\n" + "b\n\n  ", ["a", *20 * [None], "b"]),
    ],
)
@pytest.mark.parametrize(("end", "encoding"), [("\n", "utf-8"), ("\r\n", "utf-16")])
def test_a_blank_line_is_a_row_where_a_column_is_alone(tmp_path, text, rows, end, encoding):
    """Predictions would be of other rows than those of the file."""
    (tmp_path / "a.csv").write_bytes(text.replace("\n", end).encode(encoding))
    expected = pd.DataFrame({"x": rows})
    whole = read(tmp_path / "a.csv", labelled=False).inputs
    blocks = [part.inputs for part in read_blocks(tmp_path / "a.csv", rows=3)]
    assert max(map(len, blocks)) <= 3
    for found in (whole, pd.concat(blocks, ignore_index=True)):
        pd.testing.assert_frame_equal(
            found.astype(object).where(found.notna(), None),
            expected.astype(object).where(expected.notna(), None),
        )


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize(
    ("first", "read_as_names"),
    [
        ('"{}"', "all"),
        ('"BRCA{}"', "all"),
        ("{}", "all"),  # R's own numbers, without quotes
        ("BRCA{}", "tabs"),  # a comma may be part of a text without quotes
        ("BRCA", "none"),
        ('"BRCA"', "none"),
        ("7{}", "none"),  # as well a number, and a field too many at the end
        ("0.{}", "none"),
    ],
)
def test_a_field_without_a_name_is_the_name_of_its_row_or_one_line(
    tmp_path, separator, first, read_as_names
):
    """As R writes them, rows begin with a name; every row, and each with its own."""
    header = separator.join(["x", "z", "y"])
    names = [first.format(i + 1) for i in range(9)]
    rows = [separator.join([name, f"{i}", "2.5", "ab"[i % 2]]) for i, name in enumerate(names)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join([header, *rows]))
    if read_as_names == "all" or (read_as_names == "tabs" and separator == "\t"):
        samples = read(path, "y")
        assert samples.inputs["x"].tolist() == list(range(9))
        assert list(samples.labels) == list("ababababa")
        for at in range(2, 9):
            ragged = [*rows[:at], rows[at].partition(separator)[2], *rows[at + 1 :]]
            path.write_text("\n\n".join([header, *ragged]))
            with pytest.raises(
                DataError, match=f"4 fields in the first row, and 3 in line {2 * at + 3};"
            ):
                read(path, "y")
    else:
        with pytest.raises(DataError, match="one field more than there are names"):
            read(path, "y")
    ends = [row[: row.rindex(separator) + 1] for row in rows]
    path.write_text("\n".join([header, *ends]))  # the last field is empty, or none
    if first == '"{}"':
        with pytest.raises(DataError, match="either the first or the last has no name"):
            read(path, "z")
    else:
        assert list(read(path, "z").labels) == list(range(9))


def test_a_field_too_many_in_the_first_row_shifts_no_other(tmp_path):
    rows = ["red,cat,big,a remark", *["blue,dog,small", "red,cat,big"] * 10]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["colour,y,size", *rows]))
    with pytest.raises(DataError, match="one field more"):
        read(path, "y")
    path.write_text("\n".join(["colour,y,size", '"red",cat,big,a remark', *rows[1:]]))
    with pytest.raises(DataError, match="4 fields in the first row, and 3 in line 3;"):
        read(path, "y")
