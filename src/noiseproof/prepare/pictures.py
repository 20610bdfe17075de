"""Pictures as embeddings, and those embeddings as features."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noiseproof.encoders.choose import choose, reopen
from noiseproof.encoders.encoder import Encoder, Identity
from noiseproof.encoders.pictures import PictureArray, PictureFiles
from noiseproof.encoders.run import embed, need_all
from noiseproof.errors import DataError
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.samples import Samples
from noiseproof.progress import SILENT, Progress

#: The word of a user, the encoder of a model, or None for pixels as they are.
Wanted = str | Identity | None


@dataclass(frozen=True, eq=False)
class Embeddings:
    """Embeddings of pictures.

    Args:
        identity: the encoder.
        values: (N, d).
        problems: why a picture could not be read, by its number.
    """

    identity: Identity
    values: NDArray[np.float32]
    problems: dict[int, str]


def embedded(
    pictures: PictureFiles | PictureArray, wanted: Wanted, progress: Progress = SILENT
) -> tuple[Embeddings | None, str]:
    """Return the embeddings of pictures, None if they stay pixels, and a line about it."""
    encoder: Encoder | None
    if wanted is None:
        return None, ""
    if isinstance(wanted, Identity):
        encoder, note = reopen(wanted), ""
    else:
        encoder, note = choose(wanted, pictures.facts())
    if encoder is None:
        return None, note
    found = embed(encoder, pictures, progress)
    if note and found.made:
        note += f"; {found.made:,} were encoded, {found.made / found.seconds:.0f} a second"
    elif note:
        note += "; all of them were in the cache"
    return Embeddings(encoder.identity, found.values, found.problems), note


def encode_array(samples: Samples, wanted: Wanted, progress: Progress = SILENT) -> Samples:
    """Return samples whose images are embeddings, or as they are where they are no images."""
    if samples.kind != "images":
        return samples
    found, note = embedded(PictureArray(samples.inputs), wanted, progress)
    notes = (*samples.notes, note) if note else samples.notes
    if found is None:
        return replace(samples, notes=notes)
    need_all(found.problems, f"encoder {found.identity.name}: picture")
    return replace(samples, inputs=found.values, encoder=found.identity, notes=notes)


@dataclass(frozen=True, eq=False)
class PictureFeatures:
    """The embeddings of pictures by one encoder.

    Args:
        encoder: which one.
    """

    encoder: Identity

    @property
    def width(self) -> int:
        """How many features there are."""
        return self.encoder.width

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features: what a network sees has none."""
        return tuple(f"embedding {i}" for i in range(self.width))

    @property
    def indicators(self) -> NDArray[np.bool_]:
        """(D,) which features are 0 or 1: none."""
        return np.zeros(self.width, dtype=np.bool_)

    def transform(self, samples: Samples, notes: Notes, progress: Progress = SILENT) -> Any:
        """Return the embeddings, which were made when the pictures were read."""
        samples.note_unread(notes)
        if samples.kind == "images":
            samples = encode_array(samples, self.encoder, progress)
        if samples.encoder != self.encoder:
            raise DataError(f"{samples.name}: the model reads pictures, these are none")
        return samples.inputs

    def describe(self) -> dict[str, Any]:
        """Return which encoder it is."""
        return {"kind": "pictures", "encoder": asdict(self.encoder)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return nothing: the weights stay where they are."""
        return {}

    @classmethod
    def load(
        cls, description: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> "PictureFeatures":
        """Undo :meth:`describe`."""
        return cls(Identity(**description["encoder"]))
