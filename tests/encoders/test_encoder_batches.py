"""An input gets the same vector alone and beside any others, whatever the network."""

import json

import numpy as np
import pytest
import torch
from tiny_encoders import WORDS, fresh, onnx_words, save_onnx, tokenizer  # noqa: F401

from noiseproof.encoders.choose import load
from noiseproof.encoders.encoder import PICTURES, TEXTS
from noiseproof.encoders.run import embed
from noiseproof.encoders.texts import Texts
from noiseproof.errors import DataError

transformers = pytest.importorskip("transformers")
pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")

SMALL = {"vocab_size": 2 + len(WORDS), "hidden_size": 16, "num_hidden_layers": 1}
HEADS = {"num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 64}
#: Networks that count positions from the left, and such as see padding though they are told of it.
NETWORKS = {
    "Bert": SMALL | HEADS,
    "GPT2": {"vocab_size": 2 + len(WORDS), "n_embd": 16, "n_layer": 1, "n_head": 2,
             "bos_token_id": 0, "eos_token_id": 0},
    "ConvBert": SMALL | HEADS | {"embedding_size": 16},
    "FNet": SMALL | {"intermediate_size": 16, "max_position_embeddings": 64},
    "XLNet": {"vocab_size": 2 + len(WORDS), "d_model": 16, "n_layer": 1, "n_head": 2,
              "d_inner": 16},
}  # fmt: skip
TEXTS_OF_ALL_LENGTHS = [
    "good film", "", "dull", "the very dull story a bad plot " * 5, "a fine plot", " ", "very " * 9,
]  # fmt: skip


def _folder(folder, kind, side):
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**NETWORKS[kind])
    getattr(transformers, f"{kind}Model")(config).save_pretrained(folder)
    tokenizer(folder)
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(about | {"padding_side": side}))
    return folder


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("kind", NETWORKS)
def test_a_text_has_one_vector_whatever_is_beside_it(tmp_path, monkeypatch, kind, side):
    encoder = load(str(_folder(tmp_path, kind, side)), TEXTS)
    _check(encoder, monkeypatch, tmp_path)
    whole = kind in ("Bert", "GPT2", "XLNet")
    assert encoder.batch == (32 if whole else 1)


def test_so_has_a_text_of_an_onnx_file(tmp_path, monkeypatch):
    encoder = load(str(onnx_words(tmp_path / "words.onnx")), TEXTS)
    _check(encoder, monkeypatch, tmp_path)


def _check(encoder, monkeypatch, folder):
    together = embed(encoder, Texts(TEXTS_OF_ALL_LENGTHS))
    assert not together.problems
    monkeypatch.setenv("NOISEPROOF_CACHE", str(folder / "other"))
    for text, vector in zip(TEXTS_OF_ALL_LENGTHS, together.values, strict=True):
        np.testing.assert_allclose(encoder.encode([text])[0], vector, atol=1e-5)
        assert np.any(vector) == bool(text.strip())  # no tokens, no direction


def test_pictures_that_share_a_scale_are_encoded_one_by_one(tmp_path):
    # What dynamic quantisation does: one scale for the whole batch.
    from onnx import TensorProto, helper

    nodes = [
        helper.make_node("GlobalAveragePool", ["pixels"], ["means"]),
        helper.make_node("DynamicQuantizeLinear", ["means"], ["whole", "scale", "zero"]),
        helper.make_node("DequantizeLinear", ["whole", "scale", "zero"], ["back"]),
    ]
    graph = helper.make_graph(
        nodes, "quantised",
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 3, 4, 4])],
        [helper.make_tensor_value_info("back", TensorProto.FLOAT, ["n", 3, 1, 1])],
    )  # fmt: skip
    save_onnx(graph, tmp_path / "net.onnx")
    described = {"encodes": "pictures", "size": 4, "mean": [0.3] * 3, "std": [1] * 3}
    (tmp_path / "net.json").write_text(json.dumps(described))
    assert load(str(tmp_path / "net.onnx"), PICTURES).batch == 1


@pytest.mark.parametrize("language", ["the very good film", "很 好 电影 坏"])
def test_texts_that_share_a_scale_are_encoded_one_by_one(tmp_path, language):
    from onnx import TensorProto, helper, numpy_helper
    from tokenizers import Tokenizer, models, pre_tokenizers

    known = ["[PAD]", "[UNK]", *language.split()]
    made = Tokenizer(models.WordLevel({w: i for i, w in enumerate(known)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.save(str(tmp_path / "tokenizer.json"))
    table = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    table[4] *= 100  # all others are small beside it
    steps = (
        ("Gather", ["table", "input_ids"], ["found"]),
        ("DynamicQuantizeLinear", ["found"], ["whole", "scale", "zero"]),
        ("DequantizeLinear", ["whole", "scale", "zero"], ["states"]),
    )
    graph = helper.make_graph(
        [helper.make_node(*step) for step in steps], "quantised",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"])
         for name in ("input_ids", "attention_mask")],
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, ["n", "t", 4])],
        initializer=[numpy_helper.from_array(table, "table")],
    )  # fmt: skip
    save_onnx(graph, tmp_path / "net.onnx")
    described = {"encodes": "texts", "size": 16, "tokenizer": "tokenizer.json"}
    (tmp_path / "net.json").write_text(json.dumps(described))
    assert load(str(tmp_path / "net.onnx"), TEXTS).batch == 1


@pytest.mark.parametrize("beside", [True, False])
def test_weights_in_a_second_file_are_refused_wherever_one_stands(tmp_path, monkeypatch, beside):
    # They are in no hash: other weights would pass for the encoder of a model, or of the cache.
    from onnx import TensorProto, helper, numpy_helper

    weights = numpy_helper.from_array(np.ones((12, 400), np.float32), "weights")
    nodes = [
        helper.make_node("Flatten", ["pixels"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["out"]),
    ]
    graph = helper.make_graph(
        nodes, "split",
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 3, 2, 2])],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["n", 400])],
        initializer=[weights],
    )  # fmt: skip
    split = {"save_as_external_data": True, "location": "weights.bin", "size_threshold": 0}
    save_onnx(graph, tmp_path / "net.onnx", **split)
    described = {"encodes": "pictures", "size": 2, "mean": [0] * 3, "std": [1] * 3}
    (tmp_path / "net.json").write_text(json.dumps(described))
    if beside:
        monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="save the network as one file"):
        load("net.onnx" if beside else str(tmp_path / "net.onnx"), PICTURES)


def _masked(folder):
    """Pictures, of which a random part is masked."""
    config = transformers.ViTMAEConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        image_size=16, patch_size=8, decoder_hidden_size=16, decoder_num_hidden_layers=1,
        decoder_num_attention_heads=2, decoder_intermediate_size=16,
    )  # fmt: skip
    transformers.ViTMAEModel(config).save_pretrained(folder)
    return folder, PICTURES


def _hashed(folder):
    """Texts, whose tokens attend to those of the same random hash where there are over eight."""
    config = transformers.ReformerConfig(
        vocab_size=2 + len(WORDS), hidden_size=16, attn_layers=["lsh"], num_attention_heads=2,
        attention_head_size=8, feed_forward_size=16, lsh_attn_chunk_length=8, num_buckets=4,
        max_position_embeddings=64, axial_pos_embds=False, is_decoder=False,
    )  # fmt: skip
    transformers.ReformerModel(config).save_pretrained(folder)
    tokenizer(folder)
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(about))
    return folder, TEXTS


def _dropping(folder):
    """Pictures, by a network that was saved while it was trained."""
    from onnx import TensorProto, helper, numpy_helper

    graph = helper.make_graph(
        [
            helper.make_node("Dropout", ["pixels", "ratio", "training"], ["some"]),
            helper.make_node("GlobalAveragePool", ["some"], ["means"]),
        ],
        "dropping",
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 3, 8, 8])],
        [helper.make_tensor_value_info("means", TensorProto.FLOAT, ["n", 3, 1, 1])],
        initializer=[
            numpy_helper.from_array(np.array(0.5, np.float32), "ratio"),
            numpy_helper.from_array(np.array(True), "training"),
        ],
    )
    path = folder / "dropping.onnx"
    save_onnx(graph, path)
    about = {"encodes": "pictures", "size": 8, "mean": [0, 0, 0], "std": [1, 1, 1]}
    path.with_suffix(".json").write_text(json.dumps(about))
    return path, PICTURES


def _noisy(folder):
    """Texts, one at a time: the network is not told of padding."""
    from onnx import helper

    path = onnx_words(folder / "words.onnx")
    graph = onnx.load(path).graph
    graph.node[0].output[0] = "whole"
    graph.node.append(helper.make_node("RandomNormalLike", ["whole"], ["drawn"], dtype=1))
    graph.node.append(helper.make_node("Add", ["whole", "drawn"], ["states"]))
    save_onnx(graph, path)
    return path, TEXTS


@pytest.mark.parametrize("make", [_masked, _hashed, _dropping, _noisy])
def test_an_encoder_that_draws_is_refused(tmp_path, make):
    path, kind = make(tmp_path)
    with pytest.raises(DataError, match=f"{path.name}.*different vectors for the same input"):
        load(str(path), kind)


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("Bert", {}),
        ("Roberta", {}),
        ("Roberta", {"pad_token_id": 0}),
        ("XLMRoberta", {"pad_token_id": 3}),
        ("MPNet", {}),
        ("DistilBert", {}),
        ("Electra", {"embedding_size": 16}),
    ],
)
def test_texts_are_cut_where_a_network_has_no_more_places(tmp_path, kind, more):
    torch.manual_seed(0)
    some = SMALL | HEADS | {"max_position_embeddings": 20}
    if kind == "DistilBert":
        some = {"vocab_size": 40, "dim": 16, "n_layers": 1, "n_heads": 2, "hidden_dim": 16,
                "max_position_embeddings": 20}  # fmt: skip
    config = getattr(transformers, f"{kind}Config")(**some | more)
    getattr(transformers, f"{kind}Model")(config).save_pretrained(tmp_path)
    tokenizer(tmp_path)
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(about))
    encoder = load(str(tmp_path), TEXTS)
    assert 16 <= encoder.size <= 20
    assert np.isfinite(encoder.encode(["very good film " * 100, "dull"])).all()
