import hashlib

import pytest
import torch

from noiseproof.data import Dataset, Normalisation, hold_out
from noiseproof.errors import DataError

IMAGES = torch.arange(2 * 3 * 4 * 4).reshape(2, 3, 4, 4).to(torch.uint8)


def test_images_have_a_shape_and_the_statistics_of_their_channels():
    data = Dataset(IMAGES, torch.tensor([0, 1]), ("a", "b"), "set")
    scaled = IMAGES.double() / 255
    assert data.shape == (3, 4, 4)
    assert data.mean == pytest.approx(scaled.mean((0, 2, 3)).tolist())
    assert data.std == pytest.approx(scaled.std((0, 2, 3), correction=0).tolist())


def test_known_constants_win_over_computed_ones():
    known = Normalisation((0.5,) * 3, (0.25,) * 3)
    data = Dataset(IMAGES, torch.tensor([0, 1]), ("a", "b"), "set", known)
    assert data.mean == known.mean
    assert data.subset(torch.tensor([1])).std == known.std


def test_a_column_that_never_varies_is_divided_by_one():
    data = Dataset(torch.ones(4, 2), torch.tensor([0, 1, 0, 1]), ("a", "b"), "set")
    assert data.std == (1, 1)


def test_the_fingerprint_is_the_sha256_of_shapes_dtypes_and_bytes():
    labels = torch.tensor([0, 1])
    expected = hashlib.sha256(
        b"torch.uint8 (2, 3, 4, 4)\n"
        + IMAGES.numpy().tobytes()
        + b"torch.int64 (2,)\n"
        + labels.numpy().tobytes()
    ).hexdigest()
    assert Dataset(IMAGES, labels, ("a", "b"), "set").fingerprint == expected


def test_the_fingerprint_ignores_memory_layout_and_notices_every_change():
    def fingerprint(images=IMAGES, labels=(0, 1)):
        return Dataset(images, torch.tensor(labels), ("a", "b"), "set").fingerprint

    last = IMAGES.to(memory_format=torch.channels_last)
    changed = IMAGES.clone()
    changed[1, 2, 3, 3] += 1
    assert fingerprint(last) == fingerprint()
    different = [fingerprint(), fingerprint(changed), fingerprint(labels=(1, 0))]
    different.append(fingerprint(IMAGES.reshape(2, 4, 3, 4)))
    assert len(set(different)) == 4


@pytest.mark.parametrize(
    ("inputs", "labels", "message"),
    [
        (IMAGES.float(), [0, 1], "set: expected images as uint8 .* got float32 .2, 3, 4, 4."),
        (IMAGES, [0.0, 1.0], "set: expected labels as int64 .* got float32"),
        (IMAGES, [0, 1, 0], "set: 2 inputs but 3 labels"),
        (IMAGES[:0], torch.zeros(0, dtype=torch.int64), "set: there are no samples"),
        (IMAGES, [0, 2], "set: label 2 is out of range 0..1"),
        (IMAGES, [-1, 1], "set: label -1 is out of range 0..1"),
        (torch.tensor([[0.0], [torch.nan]]), [0, 1], "set: the input of row 1, column 0 is not"),
    ],
)
def test_what_is_no_data_set_is_refused(inputs, labels, message):
    with pytest.raises(DataError, match=message):
        Dataset(inputs, torch.as_tensor(labels), ("a", "b"), "set")


def test_every_fifth_sample_of_each_class_is_held_out():
    labels = torch.tensor([0, 1, 1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 1, 1])
    inputs = torch.arange(15.0)[:, None]
    parts = hold_out(Dataset(inputs, labels, ("a", "b"), "set"))
    # Class 0 is samples 0 3 6 7 9; class 1 is samples 1 2 4 5 8 10 11 12 13 14.
    assert parts.test.inputs.flatten().tolist() == [8, 9, 14]
    assert parts.train.inputs.flatten().tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13]
    assert parts.held_out
    assert parts.test.mean == parts.train.mean


def test_nothing_can_be_held_out_of_too_little():
    with pytest.raises(DataError, match=r"set: no class has 5 samples"):
        hold_out(Dataset(IMAGES, torch.tensor([0, 1]), ("a", "b"), "set"))
