"""Pictures as cameras, programs and strangers make them."""

import os
import stat
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from noiseproof.data import images
from noiseproof.data.folder import strays
from noiseproof.data.images import decode
from noiseproof.encoders.pictures import PictureFiles
from noiseproof.errors import DataError
from noiseproof.prepare.formats.file_names import shown
from noiseproof.prepare.formats.image_files import image_blocks, read_image_folder
from noiseproof.prepare.inputs import as_samples

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="file names of Unix")


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "L", "RGB"])
def test_what_is_transparent_is_white_whatever_colour_lies_under_it(tmp_path, mode):
    """A drawing whose shape is in its transparency was black all over."""
    seen = np.full((8, 8), 255, np.uint8)
    seen[2:5, 3:6] = 90
    drawing = np.full((8, 8, 4), (0, 0, 0, 0), np.uint8)
    drawing[2:5, 3:6] = (90, 90, 90, 255)
    path = tmp_path / "drawing.png"
    if mode in ("RGBA", "LA"):
        Image.fromarray(drawing).convert(mode).save(path)
    else:  # one colour is declared to be transparent
        flat = Image.fromarray(drawing[..., 0])
        flat = flat if mode == "L" else flat.convert(mode)
        flat.save(path, transparency=(0, 0, 0) if mode == "RGB" else 0)
    assert (decode(path) == seen).all()
    assert (decode(path, 8, grey=False) == seen).all()


def test_pictures_whose_exif_data_are_damaged_are_read(tmp_path):
    picture = Image.fromarray(np.arange(192, dtype=np.uint8).reshape(8, 8, 3))
    (tmp_path / "cat").mkdir()
    picture.save(tmp_path / "cat" / "0.jpg")
    for number, exif in enumerate((b"garbage", b"II*\0\xff\xff\xff\xff", b"", b"MM"), start=1):
        picture.save(tmp_path / "cat" / f"{number}.jpg", exif=b"Exif\0\0" + exif)
    found = read_image_folder(tmp_path, 8, labelled=True)
    assert found.unread == ()
    assert (found.inputs == found.inputs[0]).all()


def test_only_formats_that_run_nothing_are_opened(tmp_path, monkeypatch):
    """Pillow gives PostScript to Ghostscript, whatever the file is called."""
    from PIL import EpsImagePlugin

    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *_: pytest.fail("ran PostScript"))
    path = tmp_path / "photo.png"
    Image.new("RGB", (4, 4)).save(path, format="EPS")
    with Image.open(path) as file:
        assert file.format == "EPS"
    with pytest.raises(DataError, match="of no known format"):
        decode(path)


@pytest.mark.parametrize("kind", ["device", "folder", "circle", "nothing"])
def test_what_is_no_plain_file_is_not_read(tmp_path, kind):
    """The hash of a device would take for ever."""
    (tmp_path / "cat").mkdir()
    Image.new("RGB", (8, 8)).save(tmp_path / "cat" / "a.png")
    name = b"caf\xe9.png"
    odd = Path(os.fsdecode(os.fsencode(tmp_path / "cat") + b"/" + name))
    if kind == "folder":
        odd.mkdir()
    else:
        odd.symlink_to({"device": "/dev/zero", "circle": odd.name, "nothing": "nowhere"}[kind])
    if kind == "device":
        assert stat.S_ISCHR(odd.stat().st_mode)
    assert PictureFiles([odd]).keys() == [None]
    samples = read_image_folder(tmp_path, None, labelled=True)
    assert samples.rows == ["cat/a.png"]
    (line,) = samples.unread
    assert line.startswith("cat/caf\\xe9.png (")
    assert "udce9" not in line
    assert str(tmp_path) not in line


def test_deep_greys_take_little_more_memory_than_the_picture(tmp_path):
    """Two hundred kilobytes of 16-bit greys took two gigabytes, in each of many threads."""
    import tracemalloc

    path = tmp_path / "deep.png"
    Image.fromarray(np.zeros((2000, 2000), np.uint16)).save(path)
    tracemalloc.start()
    decode(path, 8)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 6 * 2000 * 2000


def test_large_pictures_are_decoded_one_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(images, "LARGE", 99)
    inside, most = [], []

    def flat(file, mode):
        inside.append(1)
        most.append(len(inside))
        picture = file.convert(mode)
        inside.pop()
        return picture

    monkeypatch.setattr(images, "flat", flat)
    (tmp_path / "cat").mkdir()
    for number in range(20):
        Image.new("RGB", (10, 10)).save(tmp_path / "cat" / f"{number}.png")
    read_image_folder(tmp_path, 8, labelled=True)
    assert max(most) == 1
    assert images._large.acquire(blocking=False)
    images._large.release()


def test_different_names_are_shown_differently():
    names = [b"caf\xe9", rb"caf\xe9", rb"caf\x5cxe9", rb"caf\\xe9", "café".encode(), rb"caf\e9"]
    assert len({shown(os.fsdecode(name)) for name in names}) == len(names)


def test_a_class_whose_folder_is_a_link_is_found_by_fit_and_predict(tmp_path):
    store, photos = tmp_path / "store", tmp_path / "photos"
    for folder in (store, photos / "dog"):
        folder.mkdir(parents=True)
        Image.new("RGB", (8, 8)).save(folder / "a.png")
    (photos / "cat").symlink_to(store)
    (photos / "dog" / "around").symlink_to(photos)
    rows = ["cat/a.png", "dog/a.png"]
    assert read_image_folder(photos, None, labelled=True).rows == rows
    (block,) = image_blocks(photos, None, 10)
    assert block.rows == rows


def test_what_a_folder_holds_and_is_not_read_is_said(tmp_path):
    for name in ("cat/0.png", "cat/1.png", "dog/0.png", "dog/old/1.png", "stray.png"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (4, 4)).save(tmp_path / name)
    (tmp_path / "fox").mkdir()
    for name in ("fox/0.heic", "fox/1.HEIC", "cat/.DS_Store"):
        (tmp_path / name).write_bytes(b"...")
    found = read_image_folder(tmp_path, 4, labelled=True)
    assert found.labels == ["cat", "cat", "dog"]
    assert found.doubts == (
        "pictures that are not directly in the folder of a class are left out: 2, such as "
        "dog/old/1.png",
    )
    assert found.notes == (
        "files whose names are none of pictures are left out: 2, such as fox/0.heic",
    )
    (tmp_path / "dog" / "0.png").write_bytes(b"...")
    with pytest.raises(DataError, match=r"pictures of 'dog' can be read: dog/0.png \(of no known"):
        read_image_folder(tmp_path, 4, labelled=True)


@pytest.mark.parametrize("hidden", [".a.png", "cat/.a.png", ".thumbnails/a.png", "dog/.old/a.png"])
def test_what_is_hidden_is_nothing_to_fit_train_and_predict(tmp_path, hidden):
    for name in ("cat/0.png", "dog/0.png", hidden):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (4, 4)).save(tmp_path / name)
    fitted = read_image_folder(tmp_path, 4, labelled=True)
    (predicted,) = image_blocks(tmp_path, 4, 10)
    assert fitted.rows == predicted.rows == ["cat/0.png", "dog/0.png"]
    assert fitted.notes == fitted.doubts == ()
    assert strays(tmp_path) == []


MODES = ["1", "L", "P", "RGB", "RGBA", "CMYK", "I;16"]


def of_mode(mode):
    """Return a picture of noise, 7 pixels wide and 9 high."""
    noise = np.random.default_rng(0).integers(0, 256, (9, 7, 3), np.uint8)
    if mode == "I;16":
        return Image.fromarray(noise[..., 0].astype(np.uint16) * 257)
    picture = Image.fromarray(noise)
    return picture.quantize(16) if mode == "P" else picture.convert(mode)


@pytest.mark.parametrize("mode", MODES)
def test_a_tiff_of_every_mode_is_upright(tmp_path, mode):
    """Pillow scrambles greys in files that it maps into memory."""
    plain, turned, exif = tmp_path / "plain.tif", tmp_path / "turned.tif", Image.Exif()
    exif[0x112] = 6
    of_mode(mode).save(plain)
    of_mode(mode).save(turned, exif=exif)
    assert (decode(turned) == np.rot90(decode(plain), -1, (1, 2))).all()


@pytest.mark.parametrize("mode", MODES)
def test_pictures_in_memory_are_what_their_files_are(tmp_path, mode):
    """Those of a palette were taken for greys, by the numbers of their colours."""
    path = tmp_path / "a.tif"
    of_mode(mode).save(path)
    found = as_samples([of_mode(mode)] * 2, labelled=False).inputs
    assert (found == decode(path)).all()
    mixed = as_samples((of_mode(mode), Image.new("RGB", (7, 9))), labelled=False).inputs
    assert mixed.shape == (2, 3, 9, 7)


def test_pictures_in_memory_are_upright(tmp_path):
    exif = Image.Exif()
    exif[0x112] = 6
    of_mode("RGB").save(tmp_path / "a.png", exif=exif)
    with Image.open(tmp_path / "a.png") as picture:
        found = as_samples([picture], labelled=False).inputs
    assert (found == decode(tmp_path / "a.png")).all()


def test_pictures_in_memory_that_do_not_go_together_are_one_line(tmp_path):
    whole = Image.fromarray(np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8))
    with pytest.raises(DataError, match="images of 4x3 and of 64x64 pixels"):
        as_samples([whole, Image.new("L", (3, 4))], labelled=False)
    whole.save(tmp_path / "torn.png")
    (tmp_path / "torn.png").write_bytes((tmp_path / "torn.png").read_bytes()[:2000])
    with (
        Image.open(tmp_path / "torn.png") as torn,
        pytest.raises(DataError, match="X: a picture cannot be read"),
    ):
        as_samples([torn], labelled=False)


@pytest.mark.parametrize("form", [np.asarray, torch.from_numpy, Image.fromarray])
def test_one_picture_is_not_taken_for_many_of_its_lines(form):
    picture = np.zeros((32, 24, 3), np.uint8)
    with pytest.raises(DataError, match=r"expected several images, got one \(32, 24, 3\)"):
        as_samples(form(picture), labelled=False)
    assert len(as_samples([form(picture)], labelled=False)) == 1


@pytest.mark.parametrize(("clear", "expected"), [(50_000, 255), (78, 195)])
def test_a_transparent_grey_of_16_bits_is_white(tmp_path, clear, expected):
    greys = np.full((8, 8), 20_000, np.uint16)
    greys[:4] = 50_000
    Image.fromarray(greys).save(tmp_path / "t.png", transparency=clear)
    assert decode(tmp_path / "t.png")[0, :, 0].tolist() == [expected] * 4 + [78] * 4
