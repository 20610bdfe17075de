"""What is true: data sets as tensors, readers of their formats, downloads with checksums.

:func:`load` is the one entry point: a known name (``"digits"`` needs no file) or a path.

>>> from noiseproof import data
>>> digits = data.load("digits")
>>> digits.train
Dataset('digits', 1442 images of 1x8x8, 10 classes)
"""

from noiseproof.data.catalogue import human_labels, load, load_any, stream
from noiseproof.data.checksums import Available, FileCheck, available, verify
from noiseproof.data.dataset import Dataset, Normalisation, TrainTest, hold_out
from noiseproof.data.download import fetch
from noiseproof.data.webvision import LazyImages
from noiseproof.known import Known, known

__all__ = [
    "Available",
    "Dataset",
    "FileCheck",
    "Known",
    "LazyImages",
    "Normalisation",
    "TrainTest",
    "available",
    "fetch",
    "hold_out",
    "human_labels",
    "known",
    "load",
    "load_any",
    "stream",
    "verify",
]
