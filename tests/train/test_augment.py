import math

import pytest
import torch

from noiseproof.train.augment import Colour, Crop, Flip, Pipeline, Rotation
from noiseproof.train.recipe import AUGMENTATIONS


def generator(seed=1):
    return torch.Generator().manual_seed(seed)


def images(count=6, channels=3, height=8, width=8):
    return torch.rand(count, channels, height, width, generator=generator(0))


@pytest.mark.parametrize("name", AUGMENTATIONS)
@pytest.mark.parametrize("channels", [1, 3])
def test_shape_range_and_parts(name, channels):
    pipeline = Pipeline([name], [0.0] * channels, [1.0] * channels, (channels, 8, 8))
    x = (images(channels=channels) * 255).to(torch.uint8)
    drawn = pipeline.draw(6, generator())
    whole = pipeline(x, drawn)
    assert whole.shape == x.shape
    assert 0 <= float(whole.min()) <= float(whole.max()) <= 1
    # Two processes with a part each see what one sees.
    parts = [pipeline(x[s], [d[s] for d in drawn]) for s in (slice(0, 2), slice(2, 6))]
    assert torch.equal(torch.cat(parts), whole)
    assert torch.equal(pipeline(x, pipeline.draw(6, generator())), whole)
    assert not torch.equal(pipeline(x, pipeline.draw(6, generator(2))), whole)


def test_normalisation():
    pipeline = Pipeline([], [0.5, 0.2], [0.1, 0.4], (2, 1, 1))
    x = torch.tensor([[[[255]], [[51]]]], dtype=torch.uint8)
    assert torch.allclose(pipeline(x).flatten(), torch.tensor([5.0, 0.0]), atol=1e-6)
    vectors = Pipeline([], [1.0, 2.0], [2.0, 2.0], (2,))
    assert vectors(torch.tensor([[3.0, 2.0]])).tolist() == [[1.0, 0.0]]


def test_flip_mirrors_about_half():
    flip, x = Flip(), images(4)
    assert torch.equal(flip.apply(x, torch.tensor([[0], [1], [0], [1]]))[1], x[1].flip(2))
    share = flip.draw(10_000, generator()).float().mean()
    assert abs(float(share) - 0.5) < 4 * 0.5 / 100


def test_crop_is_a_window_of_the_padded_image():
    crop, x = Crop(2), images(3)
    drawn = torch.tensor([[2, 2], [0, 4], [3, 1]])
    out = crop.apply(x, drawn)
    padded = torch.nn.functional.pad(x, (2, 2, 2, 2))
    for i, (top, left) in enumerate(drawn.tolist()):
        assert torch.equal(out[i], padded[i, :, top : top + 8, left : left + 8])
    counts = torch.bincount(crop.draw(10_000, generator())[:, 0], minlength=5)
    chi_square = float(((counts - 2000) ** 2 / 2000).sum())
    assert chi_square < 18.5  # 0.999 of chi-square with 4 degrees of freedom


def test_quarter_turn_is_rot90():
    x = images(2, 1, 8, 8)
    turned = Rotation().apply(x, torch.full((2, 1), math.pi / 2))
    assert torch.equal(turned, torch.rot90(x, 1, (2, 3))) or torch.equal(
        turned, torch.rot90(x, -1, (2, 3))
    )
    assert torch.equal(Rotation().apply(x, torch.zeros(2, 1)), x)
    wide = images(1, 1, 4, 8)  # a half turn keeps any shape
    assert torch.equal(Rotation().apply(wide, torch.full((1, 1), math.pi)), wide.flip(2, 3))


def test_angles_are_uniform_up_to_20_degrees():
    angles = Rotation().draw(10_000, generator()) * 180 / math.pi
    assert 19.9 < float(angles.abs().max()) <= 20
    assert abs(float(angles.mean())) < 4 * 20 / math.sqrt(3) / 100


def test_colour_factors_of_one_change_nothing():
    x = images(2)
    assert torch.allclose(Colour().apply(x, torch.ones(2, 3)), x, atol=1e-6)
    grey = Colour().apply(x, torch.tensor([[1.0, 1.0, 0.0]] * 2))
    assert torch.allclose(grey[:, 0], grey[:, 1], atol=1e-6)
    dark = Colour().apply(x, torch.tensor([[0.5, 1.0, 1.0]] * 2))
    assert torch.allclose(dark, x / 2, atol=1e-6)


def test_batches_stay_channels_last():
    x = images(4).contiguous(memory_format=torch.channels_last)
    for step in (Flip(), Crop(2)):
        out = step.apply(x, step.draw(4, generator()))
        assert out.is_contiguous(memory_format=torch.channels_last)
