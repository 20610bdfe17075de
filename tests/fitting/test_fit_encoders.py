"""fit and predict with encoders: photos, texts beside numbers, and encoders that have changed."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from tiny_encoders import fresh, onnx_means, photos, save_onnx, text_folder  # noqa: F401

import noiseproof as nf
from noiseproof.cli import main
from noiseproof.encoders import choose
from noiseproof.errors import DataError, DataWarning, ParameterError

for module in ("transformers", "onnxruntime", "onnx"):
    pytest.importorskip(module)


QUICK = {"learners": "linear", "minutes": 0.0}


def run(capsys, *words):
    """The exit code of a command, and what it printed on standard output and standard error."""
    code = main([str(word) for word in words])
    return code, *capsys.readouterr()


def table(rows=120, seed=0):
    """Texts of which one word tells the class, and a number that tells a little."""
    numbers = np.random.default_rng(seed)
    labels = numbers.integers(0, 2, rows)
    words = np.array([["the plot is dull", "a bad story"], ["a fine story", "the good film"]])
    texts = [
        f"{words[y, numbers.integers(2)]} very {'very ' * (i % 5)}{i}" for i, y in enumerate(labels)
    ]
    length = labels + numbers.normal(size=rows)
    return pd.DataFrame({"text": texts, "length": length, "y": np.array(["no", "yes"])[labels]})


def test_photos_by_an_onnx_file_from_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder, encoder = photos(tmp_path / "photos", 20), onnx_means(tmp_path / "means.onnx")
    name = "<img src=x onerror=alert(1)>.png"
    (folder / "red" / name).write_bytes(b"no picture")
    (folder / "red" / "gone.png").symlink_to("nowhere.png")
    words = ("--encoder", encoder, "--learner", "linear", "--minutes", 0, "--out", "fit")
    code, out, _ = run(capsys, "fit", folder, *words)
    assert code == 0
    assert f"red/{name} (of no known format)" in out
    assert "pictures encoded by" in out
    assert "<img src=x" not in Path("fit/report.html").read_text("utf-8")
    summary = json.loads(Path("fit/summary.json").read_text("utf-8"))
    unread = summary["data"]["unread"]
    assert unread == [
        f"red/{name} (of no known format)",
        "red/gone.png (the file cannot be opened)",
    ]
    assert summary["data"]["rows"] == 40
    assert summary["accuracy"]["noisy"]["value"] == 1.0
    described = json.loads(Path("fit/model/features.json").read_text("utf-8"))["encoder"]
    assert (described["name"], described["width"]) == (str(encoder), 3)
    assert not list(Path("fit").rglob("*.onnx"))  # referred to, not copied

    code, out, err = run(capsys, "predict", "fit", folder)
    assert (code, "set aside: red/<img" in err) == (0, True)
    found = pd.read_csv("predictions.csv")
    assert len(found) == 40
    assert (found["row"].str.split("/").str[0] == found["prediction"]).all()


def test_an_encoder_that_changed_moved_or_is_gone(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder, encoder = photos(tmp_path / "photos", 20), onnx_means(tmp_path / "means.onnx")
    words = ("--encoder", encoder, "--learner", "linear", "--minutes", 0, "--out", "fit", "--quiet")
    assert run(capsys, "fit", folder, *words)[0] == 0
    Path("moved").mkdir()
    encoder.rename("moved/means.onnx")

    def predict(*more):
        choose._loaded.clear()  # as another process
        return run(capsys, "predict", "fit", folder, "--force", *more)

    code, out, err = predict()
    assert (code, out) == (2, "")
    assert "means.onnx: there is no such encoder; say where it is by --encoder" in err
    assert err.count("\n") == 1
    code, _, err = predict("--encoder", "moved/means.onnx")
    assert (code, "means.json: missing" in err) == (2, True)
    Path("means.json").rename("moved/means.json")
    assert predict("--encoder", "moved/means.onnx")[0] == 0
    described = json.loads(Path("moved/means.json").read_text())
    Path("moved/means.json").write_text(json.dumps(described | {"std": [2, 1, 1]}))
    Path("predictions.csv").unlink()
    code, out, err = predict("--encoder", "moved/means.onnx")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "its files are not those of the fit (SHA-256" in err
    assert not Path("predictions.csv").exists()


def test_a_folder_of_texts_that_was_tampered_with(tmp_path):
    rows, folder = table(), text_folder(tmp_path / "encoder")
    fitted = nf.fit(rows, "y", encoder=str(folder), **QUICK)
    fitted.save(tmp_path / "fit")
    from noiseproof.fitting.model import load
    from noiseproof.prepare.inputs import as_samples

    model = load(tmp_path / "fit")
    same = model.probabilities(as_samples(rows.drop(columns="y"), labelled=False))
    np.testing.assert_allclose(same, fitted.predict_proba(rows.drop(columns="y")), atol=1e-6)
    text_folder(folder, seed=1)
    choose._loaded.clear()
    with pytest.raises(DataError, match="its files are not those of the fit"):
        load(tmp_path / "fit")


def test_texts_are_read_beside_numbers(tmp_path):
    rows = table()
    rows.loc[3, "text"] = None
    fitted = nf.fit(rows, "y", encoder=str(text_folder(tmp_path / "encoder")), **QUICK)
    assert any(note.startswith("texts as ") for note in fitted.notes)
    assert fitted.noisy.value > 0.9
    names = fitted.model.features.names
    assert names[0] == "length"
    assert "text: embedding 15" in names
    assert (fitted.predict(rows.drop(columns="y")) == rows["y"]).mean() > 0.9


@pytest.mark.parametrize("grouped", [False, True])
def test_texts_are_compared_without_copies_and_groups_on_both_sides(tmp_path, grouped):
    # Five of each text, with a label that is chance: by the copies it could be predicted.
    numbers = np.random.default_rng(0)
    case = np.repeat(np.arange(60), 5)
    words = numbers.integers(0, 400, (60, 8))
    texts = [" ".join(f"w{n}" for n in words[k]) + f" v{i}" * grouped for i, k in enumerate(case)]
    rows = pd.DataFrame({"text": texts, "case": case, "y": numbers.integers(0, 2, 60)[case]})
    group = {"group": "case"} if grouped else {}
    rows = rows if grouped else rows.drop(columns="case")
    encoder = str(text_folder(tmp_path / "encoder"))
    fitted = nf.fit(rows, "y", text="text", encoder=encoder, **group, **QUICK)
    note = next(note for note in fitted.notes if note.startswith("texts as "))
    shares = [float(share) for share in re.findall(r"([0-9.]+)%", note)]
    assert len(shares) >= 2
    assert max(shares) < 75


def test_words_stay_where_embeddings_tell_less(tmp_path):
    # The class is told by words that the encoder does not know: to it all of them are one.
    rows = table()
    rows["text"] = [
        f"{'alpha beta' if y == 'yes' else 'gamma delta'} {i} {i}" for i, y in enumerate(rows["y"])
    ]
    fitted = nf.fit(
        rows[["text", "y"]], "y", encoder=str(text_folder(tmp_path / "encoder")), **QUICK
    )
    assert any(note.startswith("texts as words and embeddings") for note in fitted.notes)
    assert fitted.noisy.value == 1.0


def test_the_words_of_today(tmp_path):
    rows = table(60)
    by_words = nf.fit(rows, "y", encoder="tfidf", **QUICK)
    assert not any("encoder" in note for note in by_words.notes)
    pictures = np.random.default_rng(0).integers(0, 256, (40, 3, 36, 36), np.uint8)
    pictures[:20] //= 2
    labels = np.repeat(["dark", "light"], 20)
    by_patches = nf.fit(pictures, labels, encoder="patches", **QUICK)
    assert by_patches.model.features.patches is not None
    for X, y, word, why in (
        (rows, "y", "patches", "expected one for texts"),
        (pictures, labels, "tfidf", "expected one for pictures"),
        (rows[["length", "y"]], "y", "a/b", "no column is text"),
        (np.zeros((40, 2)), labels, "a/b", "there is nothing to encode"),
    ):
        with pytest.raises(ParameterError, match=why):
            nf.fit(X, y, encoder=word, **QUICK)


def test_pictures_in_memory_and_a_test_set_of_them(tmp_path):
    encoder = str(onnx_means(tmp_path / "means.onnx"))
    numbers = np.random.default_rng(0)
    pictures = numbers.integers(0, 100, (60, 3, 20, 20), np.uint8)
    pictures[:30, 0] += 100
    labels = np.repeat(["red", "grey"], 30)
    fitted = nf.fit(pictures, labels, test=(pictures[::2], labels[::2]), encoder=encoder, **QUICK)
    assert fitted.test.accuracy.value == 1.0
    assert fitted.test.seen == 30
    assert (fitted.predict(pictures) == labels).all()
    with pytest.raises(DataError, match="the model reads pictures, these are none"):
        fitted.predict(np.zeros((4, 3)))


@pytest.mark.parametrize("encoder", ["patches", "onnx"])
def test_a_picture_bomb_is_set_aside(tmp_path, monkeypatch, encoder):
    folder = photos(tmp_path / "photos", 20)
    Image.fromarray(np.zeros((300, 300), np.uint8)).save(folder / "red" / "bomb.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 80_000)  # that many, as if it were 90 million
    word = encoder if encoder == "patches" else str(onnx_means(tmp_path / "means.onnx"))
    fitted = nf.fit(folder, encoder=word, **QUICK)
    (unread,) = fitted.checked.unread
    assert unread.startswith("red/bomb.png (Image size (90000 pixels) exceeds limit of 80000")
    with pytest.warns(DataWarning, match="set aside: red/bomb.png"):
        assert len(fitted.predict(folder)) == 40


def test_a_folder_without_a_picture_that_can_be_read(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "0.png").write_bytes(b"no picture")
    with pytest.raises(DataError, match=r"none of 2 pictures can be read: a/0.png \(of no known"):
        nf.fit(tmp_path, **QUICK)


def test_the_report_shows_the_pictures_and_not_their_embeddings(tmp_path):
    encoder, folder = str(onnx_means(tmp_path / "means.onnx")), photos(tmp_path / "photos", 20)
    (folder / "red" / "0.png").rename(folder / "blue" / "wrong.png")
    pictures = np.random.default_rng(0).integers(0, 100, (60, 3, 20, 20), np.uint8)
    pictures[:30, 0] += 100
    labels = np.array(["red"] * 29 + ["grey"] * 31)
    for fitted in (
        nf.fit(folder, encoder=encoder, **QUICK), nf.fit(pictures, labels, encoder=encoder, **QUICK)
    ):  # fmt: skip
        assert fitted.looks.pictures is not None
        assert "data:image/" in fitted.report


def test_a_picture_that_one_encoder_cannot_use_does_not_make_it_other_data(tmp_path):
    from onnx import TensorProto, helper

    steps = ("GlobalAveragePool", ["pixels"], ["means"]), ("Log", ["means"], ["out"])
    graph = helper.make_graph(
        [helper.make_node(*step) for step in steps], "log",
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 3, 8, 8])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["n", 3, 1, 1])],
    )  # fmt: skip
    save_onnx(graph, tmp_path / "log.onnx")
    described = {"encodes": "pictures", "size": 8, "mean": [0] * 3, "std": [1] * 3}
    (tmp_path / "log.json").write_text(json.dumps(described))
    folder = tmp_path / "photos"
    photos(folder)
    kinds = sorted(kind.name for kind in folder.iterdir())
    Image.new("RGB", (8, 8)).save(folder / kinds[0] / "black.png")  # log 0 is no number
    fitted = nf.fit(folder, encoder=str(tmp_path / "log.onnx"), **QUICK)
    assert not [name for name in fitted.rows if "black" in str(name)]
    fitted.save(tmp_path / "fit")
    row = next(str(name) for name in fitted.rows if str(name).startswith(kinds[0]))
    (tmp_path / "reviewed.csv").write_text(
        "row,given_label,decision,label,list,fingerprint\n"
        f"{row},{kinds[0]},other,{kinds[1]},random,{fitted.fingerprint}\n"
    )
    cleaned = ["clean", str(folder), "--out", str(tmp_path / "clean")]
    assert main([*cleaned, "--reviewed", str(tmp_path / "reviewed.csv")]) == 0
    assert (tmp_path / "clean" / kinds[0] / "black.png").exists()
    (folder / kinds[0] / "black.png").unlink()
    with pytest.raises(DataError, match="other data"):
        nf.fit(folder, encoder="patches", reviewed=tmp_path / "reviewed.csv", **QUICK)
