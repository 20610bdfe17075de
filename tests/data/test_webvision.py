import numpy as np
import pytest
import torch
from PIL import Image

from noiseproof import data
from noiseproof.errors import DataError, ParameterError
from noiseproof.train.batches import FileBatches
from noiseproof.train.parallel import World


@pytest.fixture
def webvision(tmp_path):
    """Three images of the first 50 concepts and one beyond, as their publisher lays them out."""
    colours = {"google/q0001/a b.jpg": 0, "google/q0002/b.jpg": 49, "google/q0003/c.jpg": 50}
    for at, path in enumerate([*colours, "val_images_256/val1.jpg"]):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (60 + at, 40), (50 * at, 10, 20)).save(tmp_path / path, quality=95)
    (tmp_path / "info").mkdir()
    lines = "".join(f"{path} {label}\n" for path, label in colours.items())
    (tmp_path / "info/train_filelist_google.txt").write_text(lines)
    (tmp_path / "info/val_filelist.txt").write_text("val1.jpg 7\nval2.jpg 700\n")
    names = "".join(f"n{i:08} thing {i}, other name\n" for i in range(1000))
    (tmp_path / "info/synsets.txt").write_text(names)
    return tmp_path


def test_only_the_first_fifty_concepts_are_listed(webvision):
    parts = data.stream("webvision-mini", webvision, size=16, verify=False)
    assert parts.train.paths == ("google/q0001/a b.jpg", "google/q0002/b.jpg")
    assert parts.train.labels.tolist() == [0, 49]
    assert parts.test.labels.tolist() == [7]
    assert parts.train.classes[3] == "thing 3"
    assert (len(parts.train.classes), parts.train.shape) == (50, (3, 16, 16))


def test_images_are_decoded_when_asked_for(webvision):
    parts = data.stream("webvision-mini", webvision, size=16, verify=False)
    image, label = parts.test[0]
    assert (image.shape, image.dtype, label) == ((3, 16, 16), torch.uint8, 7)
    assert np.abs(image.float().mean((1, 2)).numpy() - [150, 10, 20]).max() < 4


def test_worker_processes_can_decode(webvision):
    train = data.stream("webvision-mini", webvision, size=16, verify=False).train
    loader = torch.utils.data.DataLoader(
        train, batch_size=2, num_workers=1, multiprocessing_context="spawn"
    )
    images, labels = next(iter(loader))
    assert images.shape == (2, 3, 16, 16)
    assert labels.tolist() == [0, 49]


def test_the_fingerprint_depends_on_the_list_and_the_size(webvision):
    def fingerprint(size):
        return data.stream("webvision-mini", webvision, size, verify=False).train.fingerprint

    assert fingerprint(16) == fingerprint(16)
    assert fingerprint(16) != fingerprint(32)


def test_the_fingerprint_depends_on_the_pictures(webvision):
    before = data.stream("webvision-mini", webvision, verify=False).test.fingerprint
    (webvision / "val_images_256/val1.jpg").write_bytes(b"another picture")
    assert data.stream("webvision-mini", webvision, verify=False).test.fingerprint != before


def test_pictures_that_are_missing_are_told_before_training(webvision):
    (webvision / "google/q0002/b.jpg").unlink()
    train = data.stream("webvision-mini", webvision, verify=False).train
    with pytest.raises(DataError, match=r"q0002/b.jpg: no such picture, .*; 1 of 2 are missing"):
        _ = train.fingerprint


def test_a_damaged_picture_is_one_line_from_the_worker_that_meets_it(webvision):
    (webvision / "val_images_256/val1.jpg").write_bytes(b"nothing")
    test = data.stream("webvision-mini", webvision, size=16, verify=False).test
    batches = FileBatches(test, lambda rows: rows, 1, torch.device("cpu"), World())
    with pytest.raises(DataError, match=r"^\S*val1.jpg: cannot be read as an image \([\w ]+\)$"):
        list(batches.in_order())


@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["a b", "caf\u00e9", "\x85\u2028x", "1 2", "\u0663"])
def test_lists_are_read_as_programs_write_them(webvision, start, end, name):
    content = f"{start}google/q0001/{name}.jpg 0{end}google/q0001/b.jpg 49{end}"
    path = webvision / "info/train_filelist_google.txt"
    path.write_bytes(content.encode())
    train = data.stream("webvision-mini", webvision, verify=False).train
    assert train.paths == (f"google/q0001/{name}.jpg", "google/q0001/b.jpg")
    assert train.labels.tolist() == [0, 49]


@pytest.mark.parametrize("line", ["b.jpg", "b.jpg ", "b.jpg -1", "b.jpg \u0663", "b.jpg 1.0", " 1",
                                  "", "b.jpg\t1", f"b.jpg {'9' * 5000}"])  # fmt: skip
def test_a_line_that_is_none_is_named(webvision, line):
    path = webvision / "info/train_filelist_google.txt"
    path.write_text(f"google/q0001/a.jpg 0\n{line}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"train_filelist_google.txt: line 2 is not an image and"):
        data.stream("webvision-mini", webvision, verify=False)


def test_a_missing_or_damaged_image_is_named(webvision):
    parts = data.stream("webvision-mini", webvision, verify=False)
    (webvision / "val_images_256/val1.jpg").write_bytes(b"nothing")
    with pytest.raises(DataError, match=r"val1.jpg: cannot be read as an image"):
        parts.test[0]
    (webvision / "val_images_256/val1.jpg").unlink()
    with pytest.raises(DataError, match=r"val1.jpg: cannot be read as an image .no such file"):
        parts.test[0]


def test_a_missing_folder_is_named(webvision):
    (webvision / "val_images_256/val1.jpg").unlink()
    (webvision / "val_images_256").rmdir()
    with pytest.raises(DataError, match=r"val_images_256: no such folder; unpack"):
        data.stream("webvision-mini", webvision, verify=False)


def test_where_there_is_nothing_the_message_says_where_to_get_it(tmp_path):
    with pytest.raises(DataError, match=r"no webvision-mini in .*: download it from https"):
        data.stream("webvision-mini", tmp_path)


def test_load_and_stream_point_at_each_other(webvision):
    with pytest.raises(ParameterError, match=r"open it with data.stream"):
        data.load("webvision-mini", webvision)
    with pytest.raises(ParameterError, match=r"mnist fits into memory: open it with data.load"):
        data.stream("mnist", webvision)
