"""Many inputs: the cache, interrupted work, pictures that cannot be read, progress."""

import errno
import json
import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tiny_encoders import fresh, onnx_means, onnx_words, photos  # noqa: F401

from noiseproof import files, parallel
from noiseproof.cli import main
from noiseproof.encoders import cache, run
from noiseproof.encoders.choose import load
from noiseproof.encoders.encoder import PICTURES, TEXTS, Identity
from noiseproof.encoders.pictures import PictureArray, PictureFiles
from noiseproof.encoders.run import embed
from noiseproof.encoders.texts import Texts
from noiseproof.errors import DataError, FileError, ParameterError
from noiseproof.progress import Progress


class Counting:
    """Encodes a text as its length and how often it holds an e, and counts its work."""

    batch = 4

    def __init__(self, sha256="0" * 64, breaks_at=None):
        self.identity = Identity("counting", sha256, TEXTS, 64, 2)
        self.seen, self.breaks_at = [], breaks_at

    def encode(self, batch):
        if self.breaks_at is not None and len(self.seen) >= self.breaks_at:
            raise KeyboardInterrupt
        self.seen += batch
        return np.array([[len(text), text.count("e")] for text in batch], np.float32)


class Means:
    """Encodes a picture as the means of its channels."""

    batch = 4
    identity = Identity("means", "1" * 64, PICTURES, 8, 3)

    def encode(self, batch):
        return batch.mean((2, 3), dtype=np.float32)


TEXT = [f"text {'e' * (i % 7)} {i % 30}" for i in range(100)]
WANTED = np.array([[len(text), text.count("e")] for text in TEXT], np.float32)


def test_equal_inputs_are_encoded_once_and_a_second_time_not_at_all():
    encoder = Counting()
    assert (embed(encoder, Texts(TEXT)).values == WANTED).all()
    assert sorted(encoder.seen) == sorted(set(TEXT))
    again = embed(encoder, Texts(TEXT[::-1]))
    assert (again.values == WANTED[::-1]).all()
    assert again.made == 0
    assert len(encoder.seen) == len(set(TEXT))


def test_another_encoder_or_size_shares_nothing():
    embed(Counting(), Texts(TEXT))
    assert embed(Counting("2" * 64), Texts(TEXT)).made == len(set(TEXT))
    larger = Counting()
    larger.identity = Identity("counting", "0" * 64, TEXTS, 128, 2)
    assert embed(larger, Texts(TEXT)).made == len(set(TEXT))


def test_interrupted_work_goes_on_where_it_was(monkeypatch):
    monkeypatch.setattr(run, "CHUNK", 8)
    broken = Counting(breaks_at=40)
    with pytest.raises(KeyboardInterrupt):
        embed(broken, Texts(TEXT))
    encoder = Counting()
    assert (embed(encoder, Texts(TEXT)).values == WANTED).all()
    # At most a chunk of each worker was lost.
    assert len(encoder.seen) <= len(set(TEXT)) - 40 + 8 * (os.cpu_count() or 1)


def test_an_interruption_ends_running_work_and_keeps_what_was_made():
    class Interrupted(Counting):
        def encode(self, batch):
            if not begun.is_set():
                begun.set()
                raise KeyboardInterrupt
            time.sleep(0.01)
            return super().encode(batch)

    texts, begun = [f"text {i:04d}" for i in range(4000)], threading.Event()
    first, second = Interrupted(), Counting()
    with pytest.raises(KeyboardInterrupt):
        embed(first, Texts(texts))
    embed(second, Texts(texts))
    assert sorted(first.seen + second.seen) == texts  # nothing twice, nothing lost


def test_running_jobs_are_asked_to_stop():
    asked, running = threading.Event(), threading.Event()

    def fails():
        running.wait(2)
        raise KeyboardInterrupt

    def runs():
        running.set()
        heard.append(asked.wait(10))

    heard = []
    with pytest.raises(KeyboardInterrupt):
        parallel.run([fails, runs], stop=asked.set)
    assert heard in ([True], [])  # on one core it is cancelled before it begins


def test_texts_of_like_length_go_together():
    encoder = Counting()
    embed(encoder, Texts([f"{i:03d}" * (1 + i * 37 % 50) for i in range(100)]))
    lengths = np.array([len(text) for text in encoder.seen]).reshape(-1, 4)
    # Padding to the longest of a batch costs little; in the order given it would double the work.
    assert (lengths.max(axis=1) * 4).sum() <= 1.1 * lengths.sum()


def test_the_cache_keeps_to_its_limit_and_drops_the_oldest(monkeypatch):
    encoder = Counting()
    for at in range(0, 100, 10):
        embed(encoder, Texts([f"{i} is new" for i in range(at, at + 10)]))
        time.sleep(0.01)
    (one,) = cache.held()
    assert (one.encoder, one.embeddings >= 100) == ("counting", True)
    monkeypatch.setenv("NOISEPROOF_CACHE_LIMIT", str(one.bytes / 2 / 1e9))
    cache.trim()
    assert 0.3 * one.bytes < sum(left.bytes for left in cache.held()) <= 0.5 * one.bytes
    encoder.seen.clear()
    embed(encoder, Texts([f"{i} is new" for i in range(100)]))
    assert 50 <= len(encoder.seen) < 100
    assert "99 is new" not in encoder.seen
    monkeypatch.setenv("NOISEPROOF_CACHE_LIMIT", "much")
    with pytest.raises(ParameterError, match="expected gigabytes, got 'much'"):
        cache.limit()


def test_damaged_files_of_the_cache_are_made_again():
    embed(Counting(), Texts(TEXT))
    chunks = list(cache.root().rglob("*.npy"))
    chunks[0].write_bytes(b"\x93NUMPY junk")
    np.save(chunks[1], np.array([object()], object), allow_pickle=True)
    claims = [b"(9999999999999, 16), }", b"(9999999999999999999999, 16), }", b"(True, 16), }"]
    for chunk, shape in zip(chunks[2:], claims, strict=False):
        old = chunk.read_bytes()
        start, end = old.index(b"("), old.index(b"\n")
        chunk.write_bytes(old[:start] + shape.ljust(end - start) + old[end:])
    encoder = Counting()
    assert (embed(encoder, Texts(TEXT)).values == WANTED).all()
    assert encoder.seen


@pytest.mark.parametrize("part", [0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
@pytest.mark.parametrize("known", [True, False], ids=["keys read before", "keys to read"])
def test_a_byte_changed_in_the_cache_changes_no_embedding(part, known, monkeypatch):
    embed(Counting(), Texts(TEXT))
    if known:
        embed(Counting(), Texts(TEXT))
    else:
        monkeypatch.setattr(cache, "_keys", {})
    for chunk in cache.root().rglob("*.npy"):
        content = bytearray(chunk.read_bytes())
        content[int(part * len(content))] ^= 0x40
        chunk.write_bytes(content)
    encoder = Counting()
    assert (embed(encoder, Texts(TEXT)).values == WANTED).all()
    assert set(encoder.seen) == set(TEXT)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_in_the_cache_is_not_waited_for():
    embed(Counting(), Texts(TEXT))
    for name in ("*.npy", "about.json"):
        file = next(cache.root().rglob(name))
        file.unlink()
        os.mkfifo(file)
    encoder = Counting()
    assert (embed(encoder, Texts(TEXT)).values == WANTED).all()
    assert encoder.seen
    assert cache.held()


@pytest.mark.parametrize("why", ["full", "locked", "a file", "too long a name"])
def test_a_cache_that_cannot_be_used_is_no_obstacle(monkeypatch, tmp_path, why):
    place = tmp_path / ("x" * 300 if why == "too long a name" else "cache")
    monkeypatch.setenv("NOISEPROOF_CACHE", str(place))
    if why == "a file":
        place.touch()
    if why == "full":

        def full(*_):
            raise FileError("cannot write: no space left on device")

        monkeypatch.setattr(files, "write", full)
    if why == "locked":  # whoever tests as root may look anywhere
        real = Path.stat

        def stat(path, **options):
            if path.is_relative_to(place):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
            return real(path, **options)

        monkeypatch.setattr(Path, "stat", stat)
    encoder = Counting()
    assert (embed(encoder, Texts(TEXT)).values == WANTED).all()
    embed(encoder, Texts(TEXT))
    assert len(encoder.seen) == len(set(TEXT))


def test_the_command_shows_and_clears_the_cache(capsys):
    embed(Counting(), Texts(TEXT))
    (held,) = cache.root().iterdir()
    mine = "mine.txt", "run/about.json", "run/epoch-0000000012.npy", f"{held.name}/0123456789.npy"
    foreign = [cache.root() / name for name in (*mine, f"{held.name}/a-matrix-of-mine.npy")]
    for file in foreign:
        file.parent.mkdir(exist_ok=True)
        file.write_text("not the cache's")
    (cache.root() / "empty").mkdir()
    assert main(["cache", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(e["encoder"], e["size"]) for e in told["encoders"]] == [("counting", 64)]
    assert told["bytes"] <= told["limit"] == 4_000_000_000
    assert main(["cache", "--clear"]) == 0
    assert capsys.readouterr().out.startswith("removed 0.0 MB")
    assert sum(left.bytes for left in cache.held()) == 0
    assert all(file.exists() for file in (*foreign, cache.root() / "empty"))
    encoder = Counting()
    embed(encoder, Texts(TEXT))
    assert encoder.seen


def test_pictures_are_the_same_as_files_and_as_arrays(tmp_path):
    folder = photos(tmp_path / "photos", 5)
    paths = sorted(folder.rglob("*.png"))
    pixels = np.stack([np.array(Image.open(path)).transpose(2, 0, 1) for path in paths])
    from_files = embed(Means(), PictureFiles(paths)).values
    np.testing.assert_array_equal(from_files, embed(Means(), PictureArray(pixels)).values)
    np.testing.assert_allclose(from_files, pixels.mean((2, 3)), atol=8)


def test_pictures_that_cannot_be_read_are_listed_with_the_reason(tmp_path):
    folder = photos(tmp_path / "photos", 3)
    (folder / "red" / "0.png").write_bytes(b"no picture")
    whole = (folder / "red" / "1.png").read_bytes()
    (folder / "red" / "1.png").write_bytes(whole[: len(whole) // 2])
    (folder / "red" / "3.png").write_bytes(b"no picture")  # a twin of the first
    (folder / "red" / "4.png").mkdir()
    paths = sorted(folder.rglob("*.png"))
    found = embed(Means(), PictureFiles(paths))
    names = {f"{paths[at].parent.name}/{paths[at].name}": why for at, why in found.problems.items()}
    assert set(names) == {"red/0.png", "red/1.png", "red/3.png", "red/4.png"}
    assert names["red/0.png"] == names["red/3.png"] == "of no known format"
    assert found.made == 4


def test_progress_tells_the_speed_and_the_time_left():
    heard = []

    class Hears(Progress):
        def update(self, done, total, note=""):
            heard.append((done, total, note))

    embed(Counting(), Texts(TEXT), Hears())
    assert [done for done, *_ in heard] == sorted(done for done, *_ in heard)
    assert heard[-1][:2] == (len(set(TEXT)),) * 2
    assert all(note.endswith("left") and " texts/s, 0:" in note for *_, note in heard)


def rewritten(path, change):
    """Change an ONNX file in place."""
    onnx = pytest.importorskip("onnx")
    network = onnx.load(path)
    change(network.graph)
    onnx.save(network, path)
    return load(str(path), PICTURES if path.stem == "means" else TEXTS)


def test_a_network_of_one_input_at_a_time_gets_them_so(tmp_path):
    def one(graph):
        graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1

    files = PictureFiles(sorted(photos(tmp_path / "photos", count=2).rglob("*.png")))
    expected = embed(load(str(onnx_means(tmp_path / "means.onnx")), PICTURES), files).values
    (tmp_path / "alone").mkdir()
    alone = rewritten(onnx_means(tmp_path / "alone" / "means.onnx"), one)
    assert np.array_equal(embed(alone, files).values, expected)


def test_a_network_that_is_not_told_of_padding_sees_none(tmp_path):
    helper = pytest.importorskip("onnx.helper")

    def pooled(graph):  # over all tokens that it gets
        graph.node[0].output[0] = "each"
        graph.node.append(
            helper.make_node("ReduceMean", ["each"], ["states"], axes=[1], keepdims=0)
        )

    encoder = rewritten(onnx_words(tmp_path / "words.onnx"), pooled)
    alone = encoder.encode(["good"])
    assert np.array_equal(embed(encoder, Texts(["good", "the plot very dull"])).values[:1], alone)


def test_what_a_network_does_wrong_with_the_inputs_is_one_line(tmp_path):
    helper = pytest.importorskip("onnx.helper")

    def as_wide_as_the_text(graph):
        graph.node[0].output[0] = "each"
        graph.node.append(
            helper.make_node("ReduceMean", ["each"], ["states"], axes=[2], keepdims=0)
        )

    def small_table(graph):
        graph.initializer[0].dims[0] = 10
        graph.initializer[0].raw_data = graph.initializer[0].raw_data[: 10 * 2 * 4]

    def no_numbers(graph):
        graph.node[0].output[0] = "each"
        graph.node.append(helper.make_node("Log", ["each"], ["means"]))

    for change, why in (
        (as_wide_as_the_text, r"expected \d features for each of 1 text, got an array"),
        (small_table, "fails on texts"),
    ):
        encoder = rewritten(onnx_words(tmp_path / "words.onnx"), change)
        with pytest.raises(DataError, match=f"words.onnx: {why}"):
            embed(encoder, Texts(["film plot dull the", "story"]))
    dark = np.stack([np.zeros((3, 8, 8), np.uint8), np.full((3, 8, 8), 9, np.uint8)])
    found = embed(rewritten(onnx_means(tmp_path / "means.onnx"), no_numbers), PictureArray(dark))
    assert found.problems == {0: "the encoder gives no finite numbers for it"}
    assert np.isfinite(found.values).all()
