"""Build networks by name."""

import math
from collections.abc import Callable, Sequence

import torch

from noiseproof.errors import ParameterError, did_you_mean
from noiseproof.models.cnn import cnn4, cnn8
from noiseproof.models.dense import Dense
from noiseproof.models.network import Network, initialise
from noiseproof.models.resnet import resnet34, resnet50

Shape = tuple[int, ...]


def _images(name: str, shape: Shape, smallest: int) -> Shape:
    if len(shape) != 3:
        raise ParameterError(
            f"{name} reads images (C, H, W), got inputs of shape {shape}; mlp and linear read any"
        )
    if min(shape[1:]) < smallest:
        raise ParameterError(
            f"{name} reads images of at least {smallest}x{smallest} pixels, "
            f"got {shape[1]}x{shape[2]}"
        )
    return shape


_NETWORKS: dict[str, Callable[[int, Shape, Sequence[int]], Network]] = {
    "cnn4": lambda classes, shape, _: cnn4(classes, *_images("cnn4", shape, 4)),
    "cnn8": lambda classes, shape, _: cnn8(classes, *_images("cnn8", shape, 8)),
    "resnet34": lambda classes, shape, _: resnet34(classes, _images("resnet34", shape, 1)[0]),
    "resnet50": lambda classes, shape, _: resnet50(classes, _images("resnet50", shape, 1)[0]),
    "mlp": lambda classes, shape, hidden: Dense(classes, math.prod(shape), hidden),
    "linear": lambda classes, shape, _: Dense(classes, math.prod(shape)),
}

#: The names that :func:`build` knows.
NAMES = tuple(_NETWORKS)


def build(
    name: str,
    classes: int,
    input_shape: Sequence[int],
    *,
    generator: torch.Generator,
    hidden: Sequence[int] = (256, 256),
) -> Network:
    """Make a network on the CPU in float32, with initial weights drawn only from ``generator``.

    Args:
        name: ``cnn4``, ``cnn8``, ``resnet34``, ``resnet50``, ``mlp`` or ``linear``.
        classes: K, the number of logits.
        input_shape: the shape of one input, (C, H, W) or (d,): the ``shape`` of a data set.
        generator: a CPU generator; the global one is neither used nor advanced.
        hidden: the widths of the hidden layers, for ``mlp``.

    >>> build("linear", 3, (4,), generator=torch.Generator().manual_seed(0))(torch.ones(1, 4)).shape
    torch.Size([1, 3])
    """
    if name not in _NETWORKS:
        raise ParameterError(f"no network {name!r}{did_you_mean(name, _NETWORKS)}")
    if classes < 2:
        raise ParameterError(f"expected classes >= 2, got {classes}")
    shape = tuple(int(n) for n in input_shape)
    if not shape or min(shape) < 1:
        raise ParameterError(f"expected input_shape (C, H, W) or (d,), all >= 1, got {shape}")
    # Layers on the meta device draw nothing; torch's own initialisation would cost time and
    # advance the global generator.
    with torch.device("meta"):
        network = _NETWORKS[name](classes, shape, hidden)
    network.to_empty(device="cpu")
    initialise(network, generator)
    return network
