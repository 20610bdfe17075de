"""A user's own data: .npz, CSV, TSV, Parquet, a folder of images; and digits."""

import gzip
import warnings
import zipfile
from contextlib import suppress

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image

from noiseproof import data
from noiseproof.cli import main
from noiseproof.data.folder import read_folder
from noiseproof.data.images import decode, dimensions
from noiseproof.errors import DataError, DataWarning, ParameterError
from noiseproof.prepare.formats.array_files import read_array_file
from noiseproof.prepare.formats.reading import Reading
from noiseproof.prepare.formats.table_files import read_table_file

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (20, 6, 7, 3), np.uint8)
ANSWERS = np.arange(20) % 2


def npz(tmp_path, **arrays):
    path = tmp_path / "mine.npz"
    np.savez(path, **arrays)
    return path


def test_digits_need_nothing_and_are_divided_in_one_fixed_way():
    parts = data.load("digits")
    assert parts.train.inputs.dtype == torch.uint8
    assert parts.train.shape == (1, 8, 8)
    assert (len(parts.train), len(parts.test)) == (1442, 355)
    # A changed split or scaling would silently change every published digits result.
    assert parts.train.fingerprint.startswith("1bd25af08c661291")
    assert not parts.held_out
    assert 0.2 < parts.train.mean[0] < 0.4


def test_npz_with_a_test_set(tmp_path):
    path = npz(tmp_path, X=PIXELS[:15], y=ANSWERS[:15], X_test=PIXELS[15:], y_test=ANSWERS[15:])
    parts = data.load(path)
    assert np.array_equal(parts.train.inputs.numpy(), PIXELS[:15].transpose(0, 3, 1, 2))
    assert parts.test.labels.tolist() == ANSWERS[15:].tolist()
    assert parts.test.mean == parts.train.mean
    assert not parts.held_out


@pytest.mark.parametrize(
    ("inputs", "shape"),
    [
        (PIXELS, (3, 6, 7)),
        (PIXELS.transpose(0, 3, 1, 2), (3, 6, 7)),
        (PIXELS[..., 0], (1, 6, 7)),
        (PIXELS.reshape(20, -1), (126,)),
        (RNG.normal(size=(20, 4)), (4,)),
    ],
)
def test_npz_without_a_test_set_has_a_fifth_held_out(tmp_path, inputs, shape):
    parts = data.load(npz(tmp_path, X=inputs, y=ANSWERS))
    assert parts.train.shape == shape
    assert (len(parts.train), len(parts.test), parts.held_out) == (16, 4, True)


def test_npz_labels_may_be_words_or_named_numbers(tmp_path):
    words = np.array(["no", "yes"])[ANSWERS]
    assert data.load(npz(tmp_path, X=PIXELS, y=words)).train.classes == ("no", "yes")
    parts = data.load(npz(tmp_path, X=PIXELS, y=ANSWERS, classes=np.array(["a", "b", "c"])))
    assert parts.train.classes == ("a", "b", "c")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": PIXELS}, "has no array y, only X"),
        ({"X": PIXELS, "y": ANSWERS[:9]}, "20 samples in X but 9 labels"),
        ({"X": PIXELS / 255, "y": ANSWERS}, "expected X as uint8 images .* got float64"),
        ({"X": PIXELS, "y": ANSWERS * 0.5}, "label 0.5 is a quantity, not a class"),
        ({"X": PIXELS, "y": ANSWERS * 0}, "fewer than two classes among 20 labels"),
        ({"X": PIXELS, "y": np.array(1)}, "expected y of shape .N,., got .."),
        ({"X": np.array(1), "y": ANSWERS}, "expected X as uint8 images .* got int64 .."),
        ({"X": PIXELS, "y": ANSWERS, "classes": np.array("a")}, "expected .classes. of shape .K,."),
        ({"X": PIXELS, "y": ANSWERS[:, None]}, "expected y of shape .N,., got .20, 1."),
        ({"X": PIXELS, "y": ANSWERS, "X_test": PIXELS}, "X_test and y_test come together"),
        (
            {"X": PIXELS, "y": ANSWERS, "classes": np.array(["a"])},
            "label 1 of sample 1 is out of range 0..0",
        ),
        (
            {"X": PIXELS, "y": ANSWERS, "X_test": PIXELS[:, :5], "y_test": ANSWERS},
            "X is of samples .3, 6, 7., X_test of .3, 5, 7.",
        ),
        (
            {"X": PIXELS, "y": np.array([b"a", b"\xff"])[ANSWERS]},
            "labels of bytes that are not UTF-8",
        ),
        ({"X": PIXELS, "y": ANSWERS * 1e19}, "labels beyond 2.53 are not exact as floats"),
        ({"X": PIXELS, "y": np.array([{}] * 20)}, "cannot be read as .npz .Object arrays cannot"),
    ],
)
def test_npz_that_is_no_data_set_is_one_line(tmp_path, arrays, message):
    with pytest.raises(DataError, match=f"mine.npz: {message}") as error:
        data.load(npz(tmp_path, **arrays))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (np.full((20, 3), 1e300), "row 0, column 0 is not a finite number of float32"),
        (np.zeros((20, 0)), "an input has no values"),
        (np.zeros((20, 0, 8), np.uint8), "an input has no values"),
    ],
)
def test_inputs_that_hold_nothing_or_too_much_are_one_line(tmp_path, inputs, message):
    with pytest.raises(DataError, match=f"mine: .*{message}"):
        data.load(npz(tmp_path, X=inputs, y=ANSWERS))


@pytest.mark.parametrize(
    ("at", "value"), [(8, 1), (10, 99), (6, 200)], ids=["password", "method", "version"]
)
def test_an_npz_that_python_cannot_unpack_is_one_line(tmp_path, at, value):
    path = npz(tmp_path, X=PIXELS, y=ANSWERS)
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\1\2") + at] = value
    if at < 10:  # the version and the flags, not the method, stand before the array too
        content[at - 2] = value
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"mine.npz: cannot be read as .npz"):
        data.load(path)


def test_what_is_no_array_in_an_npz_is_left_out(tmp_path):
    path = npz(tmp_path, X=PIXELS)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr("y", b"0101")
    with pytest.raises(DataError, match="has no array y, only X"):
        data.load(path)


@pytest.mark.parametrize("suffix", [".npz", ".npy"])
@pytest.mark.parametrize(
    "head",
    [
        *("{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + "}" for shape in (
            "(999999999999,)", "(20, 99999999999999999999)", "(0, 99999999999999999999)", "(True,)",
            "(-1,)", "(20, '3')", "(0.5,)", "7",
        )),
        "{'descr': [('a', '<f8', (10**9,))], 'fortran_order': False, 'shape': (20,)}",
        "-" * 3000 + "1", "-" * 9000 + "1", "(" * 5000, "1" + "+1" * 4000, "{}", "",
    ],
    ids=lambda head: head[-60:],
)  # fmt: skip
def test_an_array_is_what_its_head_says_or_one_line(tmp_path, head, suffix):
    """Some of these were tracebacks, or a claim that the memory is too small."""
    line = head.encode() + b"\n"
    content = b"\x93NUMPY\1\0" + len(line).to_bytes(2, "little") + line + bytes(160)
    path = tmp_path / f"mine{suffix}"
    path.write_bytes(content)
    if suffix == ".npz":
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("X.npy", content)
    # numpy before 2.3 takes the length of (-1,) from the file, and that is no table.
    line = rf"mine{suffix}: (cannot be read as {suffix} |expected numbers)"
    with pytest.raises(DataError, match=line):
        read_array_file(path, labelled=False)


def test_a_truncated_npz_and_a_renamed_npy_are_named(tmp_path):
    path = npz(tmp_path, X=PIXELS, y=ANSWERS)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(DataError, match=r"mine.npz: cannot be read as .npz"):
        data.load(path)
    with path.open("wb") as file:
        np.save(file, PIXELS)
    with pytest.raises(DataError, match=r"mine.npz: cannot be read as .npz .one array"):
        data.load(path)
    path.write_bytes(b"anything else")
    with pytest.raises(DataError, match=r"cannot be read as .npz .not an .npz file.$"):
        data.load(path)


FRAME = pd.DataFrame(
    {
        "age": np.arange(20),
        "weight": np.linspace(0, 1, 20),
        "member": ANSWERS == 0,
        "answer": np.array(["no", "yes"])[ANSWERS],
    }
)


#: One that is no numbers.
NAMES = [f"n{i}" for i in range(20)]


def write_table(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_the_numeric_columns_of_a_table_become_a_matrix(tmp_path, suffix):
    path = write_table(FRAME.assign(name=NAMES, town=NAMES), tmp_path / f"mine{suffix}")
    with pytest.warns(DataWarning, match="^.*: not numeric, and left out: 'name', 'town'$"):
        parts = data.load(path, label="answer")
    assert parts.train.features == ("age", "weight", "member")
    assert parts.train.classes == ("no", "yes")
    assert (len(parts.train), len(parts.test), parts.held_out) == (16, 4, True)
    rows = torch.cat([parts.train.inputs, parts.test.inputs])
    assert sorted(rows[:, 0].tolist()) == list(range(20))
    assert rows.dtype == torch.float32


@pytest.mark.parametrize("labels", [ANSWERS, ANSWERS.astype(float), ANSWERS == 1, ANSWERS * 9])
def test_a_label_column_may_be_of_numbers(tmp_path, labels):
    path = write_table(FRAME.assign(answer=labels), tmp_path / "mine.csv")
    assert len(data.load(path, label="answer").train.classes) == 2


def test_a_second_label_column_is_no_input(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("x,label,label\n" + "".join(f"{i},{i % 2},{i % 2}\n" for i in range(20)))
    assert data.load(path).train.features == ("x",)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
@pytest.mark.parametrize(
    "x", [1_700_000_000 + np.arange(20), 2**60 + np.arange(20), 1e-300 * np.arange(20)]
)
def test_differences_that_float32_cannot_hold_are_one_line(tmp_path, x, suffix):
    path = tmp_path / f"mine{suffix}"
    if suffix == ".npz":
        np.savez(path, X=np.stack([x, x], 1), y=ANSWERS)
    else:
        write_table(pd.DataFrame({"x": x, "label": ANSWERS}), path)
    with pytest.raises(DataError, match=r"column .* differs too little for float32"):
        data.load(path)


@pytest.mark.parametrize("x", [np.arange(20) * 1e9, RNG.normal(1e4, 1, 20), np.full(20, 0.1)])
def test_differences_that_float32_holds_are_taken(tmp_path, x):
    assert len(data.load(npz(tmp_path, X=x[:, None], y=ANSWERS)).train) == 16


@pytest.mark.parametrize("labels", [[[1], [2]] * 10, [b"a", b"\xff"] * 10])
def test_labels_that_are_no_text_are_one_line(tmp_path, labels):
    path = tmp_path / "mine.parquet"
    pd.DataFrame({"x": np.arange(20.0), "label": labels}).to_parquet(path)
    with pytest.raises(DataError, match=r"labels of type \w+ are not classes"):
        data.load(path)


def test_a_column_of_float32_and_columns_of_one_name(tmp_path):
    path = tmp_path / "mine.parquet"
    table = pa.table({"x": np.arange(20, dtype=np.float32), "label": ANSWERS})
    pq.write_table(table, path)
    assert len(data.load(path).train) == 16  # and no warning of arrays that cannot be written
    pq.write_table(table.append_column("label", table["label"]), path)
    with pytest.raises(DataError, match="two columns are called 'label'"):
        data.load(path)


def test_a_class_may_be_called_none_or_na(tmp_path):
    words = np.array(["None", "NA"])[ANSWERS]
    path = write_table(FRAME.assign(answer=words), tmp_path / "mine.csv")
    assert data.load(path, label="answer").train.classes == ("NA", "None")


@pytest.mark.parametrize("name", ["weight", "self", "kwargs"])
def test_decimal_commas(tmp_path, name):
    frame = FRAME.rename(columns={"weight": name})
    frame.to_csv(tmp_path / "mine.csv", index=False, sep=";", decimal=",")
    parts = data.load(tmp_path / "mine.csv", label="answer")
    assert parts.train.features == ("age", name, "member")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
@pytest.mark.parametrize("gap", ["", " ", "\u00a0", " NA", "?", "-", "Unknown", "#DIV/0!"])
@pytest.mark.parametrize("column", ["age", "weight", "member"])
def test_a_gap_is_an_error_however_it_is_written(tmp_path, column, gap, suffix):
    """With one " " or ?, pandas reads text, and the whole column was left out without a word."""
    texts = FRAME[column].astype(str)
    frame = FRAME.assign(**{column: texts.where(FRAME.index != 5, gap)})
    with pytest.raises(DataError, match=f"column '{column}' has 1 missing values; fill them"):
        data.load(write_table(frame, tmp_path / f"mine{suffix}"), label="answer")


def test_a_gap_is_one_where_blocks_of_a_column_have_types_of_their_own(tmp_path):
    frame = pd.DataFrame({"x": np.arange(200_000).astype(object), "label": 0})
    frame.loc[0, "label"], frame.loc[199_999, "x"] = 1, "?"
    with pytest.raises(DataError, match="column 'x' has 1 missing values; fill them"):
        data.load(write_table(frame, tmp_path / "mine.csv"))


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME.rename(columns={"answer": "anwser"}), "no column 'answer'; did you mean 'anwser'?"),
        (FRAME.assign(answer=FRAME.answer.where(ANSWERS == 0)), "10 of 20 rows have no 'answer'"),
        (FRAME.assign(answer=np.linspace(0, 1, 20)), "label 0.05.* is a quantity, not a class"),
        (FRAME.assign(age=FRAME.age.where(ANSWERS == 0)), "column 'age' has 10 missing values"),
        (FRAME.assign(age=NAMES)[["age", "answer"]], "no column of numbers beside 'answer'"),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_that_is_no_data_set_is_one_line(tmp_path, frame, message, suffix):
    path = write_table(frame, tmp_path / f"mine{suffix}")
    with pytest.raises(DataError, match=f"mine{suffix}: {message}") as error:
        data.load(path, label="answer")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b""),
        ("a.csv", b'"x,y\n1,2'),
        ("a.csv", b"\xff\xfe\0"),
        ("a.csv", b"a,b\n1,2\n1,2,3,4\n"),
        ("a.parquet", b"PAR1 and no more"),
    ],
)
def test_a_damaged_table_is_one_line(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=f"{name}: cannot be read as {name[2:]}") as error:
        data.load(tmp_path / name)
    assert "\n" not in str(error.value)


def folder(root, size=(7, 6), mode="RGB", count=5, classes=("cat", "dog")):
    for label, name in enumerate(classes):
        (root / name).mkdir(parents=True)
        for i in range(count):
            colour = 40 * label + i if mode == "L" else (40 * label + i, 1, 2)
            Image.new(mode, size, colour).save(root / name / f"{i}.png")
    return root


def test_a_folder_of_images_by_class(tmp_path):
    root = folder(tmp_path / "pets")
    (root / "cat/notes.txt").write_text("not an image")
    parts = data.load(root)
    assert parts.train.classes == ("cat", "dog")
    assert parts.train.shape == (3, 6, 7)
    assert parts.train.name == "pets"
    assert parts.train.inputs[:, 0, 0, 0].tolist() == [0, 1, 2, 3, 40, 41, 42, 43]
    assert parts.test.inputs[:, 0, 0, 0].tolist() == [4, 44]
    assert parts.test.labels.tolist() == [0, 1]


@pytest.mark.parametrize("test", ["test", "val", "valid", "validation"])
def test_a_folder_with_its_own_test_set(tmp_path, test):
    folder(tmp_path / "train", mode="L")
    folder(tmp_path / test, mode="L", count=2, classes=("dog",))
    parts = data.load(tmp_path)
    assert (len(parts.train), len(parts.test), parts.held_out) == (10, 2, False)
    assert parts.test.labels.tolist() == [1, 1]
    assert parts.train.shape == (1, 6, 7)


def test_folders_and_pictures_beside_a_test_set_are_not_passed_over_in_silence(tmp_path, capsys):
    for part in ("train", "test", "validation"):
        folder(tmp_path / part, mode="L")
    with pytest.warns(DataWarning, match=r": train and test are read, and not validation$"):
        read_folder(tmp_path)
    assert main(["train", str(tmp_path), "--loss", "CE", "--show", "--quiet"]) == 0
    told = capsys.readouterr().err
    assert told == f"warning: {tmp_path}: train and test are read, and not validation\n"
    Image.new("L", (7, 6)).save(tmp_path / "test" / "stray.png")
    with pytest.raises(DataError, match=r"test/stray.png: not in the folder of a class"):
        read_folder(tmp_path)


def test_images_of_different_sizes_need_a_size(tmp_path):
    root = folder(tmp_path / "pets")
    Image.new("L", (30, 20), 200).save(root / "dog/0.png")
    with pytest.raises(
        DataError, match=r"dog/0.png: 20x30 pixels where .*0.png has 6x7; scale them"
    ):
        data.load(root)
    parts = data.load(root, size=4)
    assert parts.train.shape == (3, 4, 4)
    assert parts.train.inputs[4].unique().tolist() == [200]


@pytest.mark.parametrize("part", [".", "train"])
def test_no_class_or_picture_of_a_folder_is_passed_over_in_silence(tmp_path, part):
    root = folder(tmp_path / "pets" / part)
    folder(tmp_path / "pets" / "test") if part == "train" else None
    (root / ".cache" / "cat").mkdir(parents=True)
    (root / ".cache" / "cat" / "0.png").write_bytes(b"")
    data.load(tmp_path / "pets")
    (root / "cow").mkdir()
    (root / "cow" / "0.heic").write_bytes(b"")
    with pytest.raises(DataError, match="cow: no pictures for this class"):
        data.load(tmp_path / "pets")
    folder(root / "cat" / "more")
    with pytest.raises(DataError, match=r"more/cat/0.png: not in the folder of a class"):
        data.load(tmp_path / "pets")


@pytest.mark.parametrize(("train", "test"), [("RGB", "L"), ("L", "RGB")])
def test_greys_beside_colours_are_repeated_over_the_channels(tmp_path, train, test):
    folder(tmp_path / "train", mode=train)
    folder(tmp_path / "test", mode=test)
    parts = data.load(tmp_path)
    assert parts.train.shape == parts.test.shape == (3, 6, 7)
    (tmp_path / "stray.png").write_bytes((tmp_path / "train/cat/0.png").read_bytes())
    with pytest.raises(DataError, match=r"stray.png: not in the folder of a class"):
        data.load(tmp_path)


def test_a_folder_that_is_no_data_set_is_one_line(tmp_path):
    with pytest.raises(DataError, match=r"expected a sub-folder of images for each of two or more"):
        data.load(tmp_path)
    root = folder(tmp_path / "pets")
    (root / "cat/3.png").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"cat/3.png: cannot be read as an image"):
        data.load(root)
    folder(tmp_path / "two/train")
    folder(tmp_path / "two/test", classes=("cow",))
    with pytest.raises(DataError, match=r"cow: no class of that name in .*train"):
        data.load(tmp_path / "two")


def test_what_is_neither_a_name_nor_a_file(tmp_path):
    with pytest.raises(ParameterError, match=r"no data set 'minst'; did you mean 'mnist'?"):
        data.load("minst")
    with pytest.raises(DataError, match=r"mine.csv: no such file or folder"):
        data.load(tmp_path / "mine.csv")
    (tmp_path / "mine.txt").touch()
    with pytest.raises(DataError, match=r"mine.txt: expected an .npz, .csv"):
        data.load(tmp_path / "mine.txt")


@pytest.mark.parametrize("kind", ["string", "large_string", "binary", "dictionary"])
def test_texts_that_parquet_stores_once_are_counted_in_every_row(tmp_path, monkeypatch, kind):
    """A file of 50 KB took hundreds of gigabytes."""
    texts = pa.array(["x" * 5000, "y"]).take(pa.array(np.zeros(2000, int)))
    texts = texts.dictionary_encode() if kind == "dictionary" else texts.cast(kind)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": texts, "y": np.arange(2000) % 2}), path)
    assert path.stat().st_size < 50_000
    monkeypatch.setattr("noiseproof.memory.available", lambda: 10**7)
    for reads in (
        lambda: data.load(path, label="y"),
        lambda: read_table_file(path, "y", Reading()),
    ):
        with pytest.raises(DataError, match=r"a.parquet: 0.0 GB need about 0.0 GB of memory"):
            reads()


def test_what_unpacks_to_more_than_the_memory_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("noiseproof.memory.available", lambda: 10**6)
    with gzip.open(tmp_path / "a.csv.gz", "wt") as file:
        file.write("x,y\n" + "1,a\n2,b\n" * 300_000)
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((1000, 1000)), y=np.arange(1000) % 2)
    pd.DataFrame({"x": np.zeros(10**5), "y": "a"}).to_parquet(tmp_path / "a.parquet")
    for name in ("a.csv.gz", "a.npz", "a.parquet"):
        assert (tmp_path / name).stat().st_size < 10**5
        with pytest.raises(DataError, match=r"GB of memory, 0\.0 GB are free; use a sample"):
            data.load(tmp_path / name, label="y")


def test_a_damaged_picture_of_any_format_is_one_line(tmp_path):
    rng = np.random.default_rng(0)
    picture = Image.fromarray(rng.integers(0, 256, (24, 24, 3), dtype=np.uint8))
    for kind in ("PNG", "JPEG", "GIF", "WEBP", "AVIF", "TIFF", "BMP"):
        if kind not in Image.registered_extensions().values():
            continue
        picture.save(tmp_path / "whole", kind)
        whole = (tmp_path / "whole").read_bytes()
        for _ in range(60):
            spoilt = bytearray(whole)
            for at in rng.integers(0, min(len(whole), 300), 4):
                spoilt[at] = rng.integers(256)
            (tmp_path / "odd.png").write_bytes(spoilt)
            with suppress(DataError), warnings.catch_warnings(action="ignore"):
                dimensions(tmp_path / "odd.png")
                decode(tmp_path / "odd.png")


@pytest.mark.parametrize("depth", [np.uint8, np.uint16, np.float32])
def test_a_tiff_in_which_0_is_white_is_no_negative(tmp_path, depth):
    white = 1 if depth is np.float32 else np.iinfo(depth).max
    greys = (np.linspace(0, 1, 64).reshape(8, 8) * white).astype(depth)
    for means, values in ((1, greys), (0, (white - greys).astype(depth))):
        picture = Image.fromarray(values)
        picture.save(tmp_path / f"{means}.tif", tiffinfo={262: means})
        if means == 0 and depth is np.uint8:  # Pillow turns 8 bits round itself when it writes them
            Image.fromarray(greys).save(tmp_path / "0.tif", tiffinfo={262: 0})
        with Image.open(tmp_path / f"{means}.tif") as written:
            assert written.tag_v2[262] == means
    black, white = (decode(tmp_path / f"{means}.tif").astype(int) for means in (1, 0))
    assert abs(black - white).max() <= 1
