"""Reading the pickles of the CIFAR archives without running anything they say."""

import io
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt

from noiseproof.errors import DataError


class PickledArray:
    """What stands in for a numpy array while a pickle is read: its parts, not yet an array."""

    def __init__(self, *_: object) -> None:
        """Take the arguments of numpy's reconstruct, which say nothing yet."""
        self.shape: tuple[int, ...] = ()
        self.code = ""
        self.data = b""

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _, shape, kind, fortran, data = state
        if fortran or not isinstance(kind, _PickledType) or not isinstance(data, bytes):
            raise ValueError("an array of an unexpected kind")
        self.shape, self.code, self.data = shape, kind.code, data

    def uint8(self) -> npt.NDArray[np.uint8]:
        """Return the array, which must be one of bytes."""
        if self.code != "u1":
            raise ValueError(f"an array of {self.code or 'nothing'}, expected bytes (u1)")
        return np.frombuffer(self.data, np.uint8).reshape(self.shape)


class _PickledType:
    def __init__(self, code: str | bytes, *_: object) -> None:
        self.code = code.decode() if isinstance(code, bytes) else code

    def __setstate__(self, state: object) -> None:
        """Take no notice of byte order and alignment, which bytes do not have."""


class _NdarrayName:
    """The second argument of numpy's reconstruct, never called."""


def _latin1(text: str, encoding: str = "latin1") -> bytes:
    # How Python 3 writes bytes in protocol 2; no other codec is needed.
    if encoding != "latin1":
        raise ValueError(f"codec {encoding!r}")
    return text.encode("latin1")


# Not even numpy's own functions are called: the stand-ins only keep what they are given.
_ADMITTED: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): PickledArray,
    ("numpy._core.multiarray", "_reconstruct"): PickledArray,
    ("numpy", "ndarray"): _NdarrayName,
    ("numpy", "dtype"): _PickledType,
    ("_codecs", "encode"): _latin1,
}


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, where: str) -> None:
        super().__init__(io.BytesIO(data), encoding="bytes")
        self.where = where

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ADMITTED[module, name]
        except KeyError:
            raise DataError(
                f"{self.where}: refused: it asks for {module}.{name}, which no CIFAR file does; "
                "download it again from its publisher"
            ) from None


def read_pickle(data: bytes, where: str) -> dict[str, Any]:
    """Read a pickled dictionary of strings, numbers, lists and byte arrays; refuse all else.

    Args:
        data: the bytes of the pickle.
        where: the file, for the message of an error.

    >>> read_pickle(pickle.dumps({b"labels": [3, 1]}), "data_batch_1")
    {'labels': [3, 1]}
    """
    try:
        content = _Unpickler(data, where).load()
    except DataError:
        raise
    except (EOFError, pickle.UnpicklingError) as error:
        raise DataError(f"{where}: truncated or not a pickle ({error})") from None
    except Exception as error:  # a damaged pickle can raise anything at all
        raise DataError(f"{where}: damaged ({type(error).__name__}: {error})") from None
    if not isinstance(content, dict):
        raise DataError(f"{where}: expected a dictionary, got {type(content).__name__}")
    return {key.decode() if isinstance(key, bytes) else str(key): content[key] for key in content}
