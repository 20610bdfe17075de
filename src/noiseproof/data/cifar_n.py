"""CIFAR-N: what people answered when asked to label CIFAR's training images."""

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from noiseproof.data.dataset import Dataset
from noiseproof.data.labels import check_range
from noiseproof.errors import DataError
from noiseproof.known import Known


def read(entry: Known, place: Path, train: Dataset) -> dict[str, Tensor]:
    """Read the labels that people gave to a training set, each int64 (N,), in its order.

    Args:
        entry: the labels, whose layout has our names for them and those of the file.
        place: the folder the file is under.
        train: the training set they belong to, whose labels the file repeats.
    """
    (file, found), *_ = entry.locate(place)
    path = found or place / file.path
    content = _load(path)
    clean = _labels(content, "clean_label", len(train.classes), path)
    if not torch.equal(clean, train.labels):
        raise DataError(f"{path}: its clean_label is not the labels of this {train.name}")
    human = {
        name: _labels(content, key, len(train.classes), path) for name, key in entry.layout.items()
    }
    for name, labels in human.items():
        if len(labels) != len(train):
            raise DataError(f"{path}: {len(labels)} labels {name} for {len(train)} images")
    return human


def _load(path: Path) -> dict[str, Any]:
    # The arrays were pickled by a numpy that called its own module numpy.core.
    reconstruct: Any = np.empty(0).__reduce__()[0]
    admitted: list[Callable[..., Any] | tuple[Callable[..., Any], str]] = [
        (reconstruct, "numpy.core.multiarray._reconstruct"),
        (reconstruct, "numpy._core.multiarray._reconstruct"),
        np.ndarray,
        np.dtype,
        type(np.dtype(np.int64)),
    ]
    try:
        with torch.serialization.safe_globals(admitted):
            content = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise DataError(
            f"{path}: no such file; fetch it with `noiseproof data fetch`, or put it there"
        ) from None
    except pickle.UnpicklingError as error:
        asked = re.search(r"GLOBAL (\S+)", str(error))
        what = f"it asks for {asked[1]}" if asked else "it is not plain arrays"
        raise DataError(f"{path}: refused: {what}") from None
    except Exception as error:  # a damaged file can raise anything at all
        reason = str(error).partition("\n")[0]
        raise DataError(f"{path}: truncated or damaged ({reason})") from None
    if not isinstance(content, dict):
        raise DataError(f"{path}: expected a dictionary, got {type(content).__name__}")
    return content


def _labels(content: dict[str, Any], key: str, classes: int, path: Path) -> Tensor:
    labels = content.get(key)
    if labels is None:
        raise DataError(f"{path}: has no {key}")
    try:
        array = np.asarray(labels).astype(np.int64)
    except (ValueError, TypeError, OverflowError) as error:
        raise DataError(f"{path}: {key} is not integers ({error})") from None
    check_range(array, classes, f"{path}, {key}")
    return torch.from_numpy(array)
