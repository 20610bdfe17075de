import gzip
import struct

import numpy as np
import pytest
import torch

from noiseproof import data
from noiseproof.errors import DataError

IMAGES = np.arange(5 * 28 * 28, dtype=np.uint32).astype(np.uint8).reshape(5, 28, 28)
LABELS = np.array([5, 0, 4, 1, 9], np.uint8)


def idx(array):
    shape = struct.pack(f">{array.ndim}I", *array.shape)
    return struct.pack(">I", 0x0800 + array.ndim) + shape + array.tobytes()


def write(folder, packed=True, **changed):
    folder.mkdir(parents=True, exist_ok=True)
    for part, count in (("train", 5), ("t10k", 3)):
        for stem, array in (("images-idx3", IMAGES[:count]), ("labels-idx1", LABELS[:count])):
            content = changed.get(f"{part}_{stem[:6]}", idx(array))
            if packed:
                (folder / f"{part}-{stem}-ubyte.gz").write_bytes(gzip.compress(content))
            else:
                (folder / f"{part}-{stem}-ubyte").write_bytes(content)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("layout", ["MNIST/raw", "."])
def test_mnist_is_read_packed_or_raw_nested_or_direct(tmp_path, packed, layout):
    write(tmp_path / layout, packed)
    parts = data.load("mnist", tmp_path, verify=False)
    assert parts.train.inputs.dtype == torch.uint8
    assert np.array_equal(parts.train.inputs[:, 0].numpy(), IMAGES)
    assert parts.train.labels.tolist() == LABELS.tolist()
    assert len(parts.test) == 3
    assert parts.train.classes == tuple("0123456789")
    assert (parts.train.mean, parts.train.std) == ((0.1307,), (0.3081,))


def test_fashion_mnist_is_found_beside_mnist(tmp_path):
    write(tmp_path / "MNIST/raw")
    write(tmp_path / "FashionMNIST/raw", train_labels=idx(LABELS[::-1].copy()))
    train = data.load("fashion-mnist", tmp_path, verify=False).train
    assert train.labels.tolist() == LABELS[::-1].tolist()
    assert train.classes[9] == "Ankle boot"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"train_images": idx(IMAGES)[:-7]},
            "train-images-idx3-ubyte: truncated: 3929 bytes where 3936 are announced",
        ),
        ({"train_images": b"\0\0"}, "train-images-idx3-ubyte: not an idx file of images"),
        ({"train_images": idx(IMAGES)[:9]}, "train-images-idx3-ubyte: truncated"),
        (
            {"t10k_labels": idx(IMAGES)},
            "t10k-labels-idx1-ubyte: not an idx file of labels: magic number 2051, expected 2049",
        ),
        (
            {"train_labels": idx(LABELS[:4])},
            "train-labels-idx1-ubyte: 4 labels for 5 images in train-images-idx3-ubyte",
        ),
        (
            {"train_labels": idx(LABELS + 1)},
            "train-labels-idx1-ubyte: label 10 of sample 4 is out of range 0..9",
        ),
        ({"t10k_labels": idx(LABELS[:3]) + b"!"}, "t10k-labels-idx1-ubyte: too long"),
    ],
)
def test_a_damaged_file_is_one_line_that_names_it(tmp_path, changed, message):
    write(tmp_path, packed=False, **changed)
    with pytest.raises(DataError, match=message) as error:
        data.load("mnist", tmp_path, verify=False)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda content: content[:-20], "truncated: the compressed data end too early"),
        (lambda content: b"<html>" + content, "not a sound gzip file"),
        (lambda content: content[:40] + b"\0\0\0\0" + content[44:], "not a sound gzip file"),
    ],
)
def test_a_damaged_gzip_is_one_line_that_names_it(tmp_path, damage, message):
    write(tmp_path)
    path = tmp_path / "train-images-idx3-ubyte.gz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DataError, match=f"train-images-idx3-ubyte.gz: {message}") as error:
        data.load("mnist", tmp_path, verify=False)
    assert "\n" not in str(error.value)


def test_a_missing_file_is_named(tmp_path):
    write(tmp_path)
    (tmp_path / "t10k-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(DataError, match=r"t10k-labels-idx1-ubyte.gz: no such file; put it there"):
        data.load("mnist", tmp_path, verify=False)


@pytest.mark.realdata
def test_the_real_mnist():
    parts = data.load("mnist")
    assert (parts.train.inputs.shape, parts.test.inputs.shape) == (
        (60000, 1, 28, 28),
        (10000, 1, 28, 28),
    )
    # The numbers of each digit, as published with the data.
    assert torch.bincount(parts.train.labels).tolist() == [
        *(5923, 6742, 5958, 6131, 5842),
        *(5421, 5918, 6265, 5851, 5949),
    ]
    scaled = parts.train.inputs.double() / 255
    assert scaled.mean().item() == pytest.approx(parts.train.mean[0], abs=5e-5)
    assert scaled.std().item() == pytest.approx(parts.train.std[0], abs=5e-5)
    assert [check.state for check in data.verify("mnist")] == ["ok"] * 4
