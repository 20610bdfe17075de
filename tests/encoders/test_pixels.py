"""Pixels are prepared as the image processors of transformers prepare them."""

import json

import numpy as np
import pytest
import torch
from tiny_encoders import fresh, picture_folder  # noqa: F401  (a fixture)

from noiseproof.encoders.choose import load
from noiseproof.encoders.encoder import PICTURES
from noiseproof.encoders.pixels import MEAN, STD, Pixels
from noiseproof.errors import DataError

PICTURE = np.random.default_rng(0).integers(0, 256, (3, 16, 16), np.uint8)
UNCROPPED = {"do_resize": False, "do_center_crop": False}
NORMAL = {"image_mean": [0.1, 0.2, 0.3], "image_std": [0.4, 0.5, 0.6]}


@pytest.mark.parametrize("said", [
    NORMAL,
    NORMAL | {"do_rescale": False},
    NORMAL | {"rescale_factor": 1 / 127.5},
    NORMAL | {"do_normalize": False},
    NORMAL | {"do_rescale": False, "do_normalize": False, "rescale_factor": None},
    {"do_normalize": False},
])  # fmt: skip
def test_pixels_are_those_of_vit(said):
    _compare("ViTImageProcessor", {"do_rescale": True, "do_normalize": True} | said)


@pytest.mark.parametrize("said", [{}, {"do_flip_channel_order": False}, {"do_rescale": False}])
def test_pixels_are_those_of_mobilevit(said):
    """Its description has no mean, and none is removed."""
    _compare("MobileViTImageProcessor", {"do_rescale": True, "do_flip_channel_order": True} | said)


@pytest.mark.parametrize("said", [{}, {"rescale_offset": True}, {"include_top": False}])
def test_pixels_are_those_of_efficientnet(said):
    said = {"do_normalize": True, "include_top": True, "rescale_factor": 1 / 127.5} | NORMAL | said
    _compare("EfficientNetImageProcessor", said)


def _compare(name, said):
    transformers = pytest.importorskip("transformers")
    # Without torchvision, the class of the plain name cannot be made.
    kind = getattr(transformers, f"{name}Pil", None) or getattr(transformers, name)
    there = kind(**UNCROPPED, **said)(
        PICTURE, return_tensors="np", input_data_format="channels_first"
    )
    ours = Pixels.of(said)(torch.from_numpy(PICTURE[None]))
    np.testing.assert_allclose(ours.numpy(), there["pixel_values"], rtol=1e-4, atol=1e-5)


def test_without_a_description_it_is_imagenet():
    found = Pixels.of({})(torch.from_numpy(PICTURE[None])).numpy()[0]
    mean, std = (np.array(three)[:, None, None] for three in (MEAN, STD))
    np.testing.assert_allclose(found, (PICTURE / 255 - mean) / std, rtol=1e-4, atol=1e-5)


def test_an_encoder_reads_what_its_description_says(tmp_path):
    pytest.importorskip("transformers")
    path = picture_folder(tmp_path / "vit") / "preprocessor_config.json"
    plain = load(str(path.parent), PICTURES).encode(PICTURE[None, ::-1].copy())
    path.write_text(json.dumps(json.loads(path.read_text()) | {"do_flip_channel_order": True}))
    np.testing.assert_allclose(load(str(path.parent), PICTURES).encode(PICTURE[None]), plain)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"do_normalize": True, "image_mean": None}, "image_mean None"),
        ({"image_std": [0, 1, 1]}, "image_std of 0"),
        ({"image_mean": [0.5, 0.5]}, "image_mean"),
        ({"image_mean": "grey"}, "image_mean 'grey'"),
        ({"rescale_factor": "1/255"}, "rescale_factor '1/255'"),
        ({"do_color_quantize": True}, "do_color_quantize"),
    ],
)
def test_what_cannot_be_followed_is_refused_in_one_line(tmp_path, said, why):
    pytest.importorskip("transformers")
    path = picture_folder(tmp_path / "vit") / "preprocessor_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | said))
    with pytest.raises(DataError, match=rf"vit: cannot be used as an encoder \(.*{why}.*\)\Z"):
        load(str(path.parent), PICTURES)
