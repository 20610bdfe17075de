"""Trained models that consist of arrays: saved as one .npz file, loaded without running code."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from noiseproof.data.npy import UNREADABLE, check_archive
from noiseproof.learn.learner import Trained

FILE = "arrays.npz"
#: What models are written in, in the byte order of the machine.
TYPES = [np.dtype(name) for name in ("f2", "f4", "f8", "i4", "i8", "u1", "?")]
#: What weights are written in: inputs are computed in the type of the weights.
REALS = TYPES[1:3]


class ArrayModel(Trained):
    """A model that defines :meth:`arrays` and :meth:`of_arrays`; saving and loading follow."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything to save."""
        raise NotImplementedError(f"{type(self).__name__} has to define arrays")

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild the model; raise ValueError if the arrays do not fit each other."""
        raise NotImplementedError(f"{cls.__name__} has to define of_arrays")

    def save(self, folder: Path) -> None:
        """Write the arrays."""
        write_arrays(folder / FILE, self.arrays())

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read the arrays."""
        return cls.of_arrays(read_arrays(folder / FILE))


def write_arrays(path: Path, arrays: dict[str, Any]) -> None:
    """Write an .npz file, for :func:`read_arrays`, which refuses pickled objects."""
    # As np.savez does, but numpy 1 leaves the archive open where the disk is full.
    with zipfile.ZipFile(path, "w") as archive:
        for name, values in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(values), allow_pickle=False)


def read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of an .npz file; raise ValueError if it is damaged, or has no numbers.

    Numbers that are not finite, or complex, are none.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            for part in archive.infolist():
                # We never compress, and a compressed file could unpack to any size.
                if part.compress_type != zipfile.ZIP_STORED:
                    raise ValueError(f"{path.name} is compressed")
            check_archive(archive, path.stat().st_size)
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except UNREADABLE as error:
        raise ValueError(f"{path.name}: {error}") from None
    for name, array in arrays.items():
        expect(
            array.dtype in TYPES and bool(np.isfinite(array).all()),
            f"finite numbers in {name}",
        )
    return arrays


def expect(fits: bool, what: str) -> None:
    """Raise ValueError unless arrays fit each other."""
    if not fits:
        raise ValueError(f"expected {what}")
