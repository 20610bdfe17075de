"""Features of pictures by a frozen encoder: what a grid with an encoder trains its heads on."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from noiseproof.data import Dataset, TrainTest
from noiseproof.errors import ParameterError
from noiseproof.progress import SILENT, Progress
from noiseproof.results.key import name_encoded
from noiseproof.train.experiment import fingerprint

if TYPE_CHECKING:
    from noiseproof.encoders.encoder import Encoder, Identity


def read_encoder(text: str) -> tuple[str, int | None]:
    """Return the encoder's name, and the side to scale pictures to where a grid says it.

    >>> read_encoder("efficientnet-lite0"), read_encoder("efficientnet-lite0@224")
    (('efficientnet-lite0', None), ('efficientnet-lite0', 224))
    """
    name, _, pixels = text.rpartition("@")
    if name and pixels.isdecimal() and int(pixels) > 0:
        return name, int(pixels)
    return text, None


@lru_cache(maxsize=8)
def identify(encoder: str) -> "Identity":
    """Return which encoder it is; one that we know the weights of need not be installed."""
    from noiseproof.encoders import lite0
    from noiseproof.encoders.encoder import PICTURES, Identity
    from noiseproof.models.efficientnet_lite0 import WIDTH

    name, pixels = read_encoder(encoder)
    if lite0.claims(name):
        return Identity(lite0.NAME, lite0.SHA256, PICTURES, pixels or lite0.SMALL, WIDTH)
    return _load(encoder).identity


def encoded(encoder: str, pictures: str) -> str:
    """Return the text that decides features, from an encoder and the pictures' fingerprint."""
    identity = identify(encoder)
    return name_encoded(short_name(encoder), identity.sha256, identity.size, pictures)


def short_name(encoder: str) -> str:
    """Return what a table calls an encoder: wherever its file is, it is the same.

    >>> short_name("efficientnet-lite0@224"), short_name("nets/mine.onnx")
    ('efficientnet-lite0', 'mine.onnx')
    """
    return Path(read_encoder(encoder)[0]).name


def files_of(encoder: str) -> tuple[str, ...]:
    """Return the user's own files, or the folder, that an encoder is read from; none of a name.

    >>> files_of("efficientnet-lite0@224")
    ()
    """
    path = Path(read_encoder(encoder)[0])
    if not encoder or not path.exists():
        return ()
    return (str(path), str(path.with_suffix(".json"))) if path.is_file() else (str(path),)


def encode(whole: TrainTest[Any], encoder: str, progress: Progress = SILENT) -> TrainTest[Dataset]:
    """Return a data set of features in place of pictures; those in the cache are read from there.

    Args:
        whole: pictures in memory.
        encoder: as the grid names it.
        progress: who is told how far it is.
    """
    from noiseproof.encoders.pictures import PictureArray
    from noiseproof.encoders.run import embed, need_all

    network = _load(encoder)
    progress.step(f"features of {whole.train.name}")

    def features(part: Any) -> Dataset:
        if not isinstance(part, Dataset) or part.inputs.ndim != 4:
            raise ParameterError(f"encoder = {encoder!r}: {part.name} is no set of pictures")
        found = embed(network, PictureArray(part.inputs.numpy()), progress)
        need_all(found.problems, f"encoder = {encoder!r}: {part.name}, picture")
        return Dataset(torch.from_numpy(found.values), part.labels, part.classes, part.name)

    train, test = features(whole.train), features(whole.test)
    return TrainTest(train, test, whole.held_out, encoded(encoder, fingerprint(whole)))


def _load(encoder: str) -> "Encoder":
    from noiseproof.encoders import choose, lite0
    from noiseproof.encoders.encoder import PICTURES

    name, pixels = read_encoder(encoder)
    if lite0.claims(name):  # it would choose by the pictures, and a grid knows none yet
        pixels = pixels or lite0.SMALL
    return choose.load(name, PICTURES, pixels, download=True)
