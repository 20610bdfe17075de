"""Encoders small enough to be made by a test: folders of transformers, ONNX files, photos."""

import json

import numpy as np
import pytest
import torch
from PIL import Image

from noiseproof.encoders import choose

WORDS = ("good", "bad", "film", "plot", "fine", "dull", "a", "the", "very", "story")


@pytest.fixture(autouse=True)
def fresh(tmp_path_factory, monkeypatch):
    """A cache of its own for each test, and no encoder in memory."""
    monkeypatch.setenv("NOISEPROOF_CACHE", str(tmp_path_factory.mktemp("cache")))
    choose._loaded.clear()


def tokenizer(folder):
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    vocabulary = {word: i for i, word in enumerate(("[PAD]", "[UNK]", *WORDS))}
    made = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    made.save(str(folder / "tokenizer.json"))


def text_folder(folder, seed=0, safe=True):
    """A random BERT of 16 features for texts of up to 12 tokens."""
    from transformers import BertConfig, BertModel

    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=2 + len(WORDS), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=16, max_position_embeddings=12,
    )  # fmt: skip
    model = BertModel(config)
    model.config.save_pretrained(folder)
    if safe:
        model.save_pretrained(folder)
    else:
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
    tokenizer(folder)
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(about))
    return folder


def picture_folder(folder):
    """A random ViT of 16 features for pictures of 16 pixels."""
    from transformers import ViTConfig, ViTModel

    torch.manual_seed(0)
    config = ViTConfig(
        hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        image_size=16, patch_size=8,
    )  # fmt: skip
    ViTModel(config).save_pretrained(folder)
    about = {"size": {"height": 16, "width": 16}, "image_mean": [0.5] * 3, "image_std": [0.5] * 3}
    (folder / "preprocessor_config.json").write_text(json.dumps(about))
    return folder


def onnx_means(path, size=8):
    """A network of pictures that returns the mean of each channel."""
    pytest.importorskip("onnx")
    from onnx import TensorProto, helper

    node = helper.make_node("GlobalAveragePool", ["pixels"], ["means"])
    graph = helper.make_graph(
        [node], "means",
        [helper.make_tensor_value_info("pixels", TensorProto.FLOAT, ["n", 3, size, size])],
        [helper.make_tensor_value_info("means", TensorProto.FLOAT, ["n", 3, 1, 1])],
    )  # fmt: skip
    save_onnx(graph, path)
    described = {"encodes": "pictures", "size": size, "mean": [0, 0, 0], "std": [1, 1, 1]}
    path.with_suffix(".json").write_text(json.dumps(described))
    return path


def onnx_words(path):
    """A network of texts that returns the vector (1, the number) of each token."""
    pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    table = np.stack([np.ones(2 + len(WORDS)), np.arange(2 + len(WORDS))], axis=1)
    weights = numpy_helper.from_array(table.astype(np.float32), "table")
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["states"])], "words",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", "t"])],
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, ["n", "t", 2])],
        initializer=[weights],
    )  # fmt: skip
    save_onnx(graph, path)
    tokenizer(path.parent)
    described = {"encodes": "texts", "size": 4, "tokenizer": "tokenizer.json"}
    path.with_suffix(".json").write_text(json.dumps(described))
    return path


def save_onnx(graph, path, **how):
    onnx = pytest.importorskip("onnx")
    from onnx import helper

    opsets = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path, **how)


def photos(folder, count=12, side=40, seed=0):
    """Colour pictures by class: red ones and blue ones, none like another."""
    numbers = np.random.default_rng(seed)
    for name, channel in (("red", 0), ("blue", 2)):
        (folder / name).mkdir(parents=True)
        for i in range(count):
            pixels = numbers.integers(0, 90, (side, side, 3), np.uint8)
            pixels[..., channel] += 150
            Image.fromarray(pixels).save(folder / name / f"{i}.png")
    return folder
