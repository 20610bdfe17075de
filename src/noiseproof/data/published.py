"""The known data sets: their files, where they come from, and their published checksums."""

import os
from dataclasses import dataclass
from pathlib import Path

from noiseproof.errors import ParameterError, did_you_mean
from noiseproof.extras import need


@dataclass(frozen=True)
class File:
    """One file of a data set.

    Args:
        path: where it belongs, relative to the data folder.
        url: where it is published; empty for a file that comes out of another.
        md5: its published checksum; empty where there is none.
    """

    path: str
    url: str = ""
    md5: str = ""

    def find(self, place: Path) -> Path | None:
        """Return where it is under ``place``: as laid out, directly, or without its .gz."""
        for path in (place / self.path, place / Path(self.path).name):
            for candidate in (path, path.with_suffix("")) if path.suffixes == [".gz"] else (path,):
                if candidate.is_file():
                    return candidate
        return None


@dataclass(frozen=True)
class Known:
    """One known data set.

    Args:
        name: what :func:`~noiseproof.data.load` calls it.
        title: one line for people.
        files: what a download brings.
        unpacked: what an archive among them holds, also accepted.
        page: where to get it by hand.
    """

    name: str
    title: str
    files: tuple[File, ...] = ()
    unpacked: tuple[File, ...] = ()
    page: str = ""

    def is_here(self, place: Path) -> bool:
        """Tell whether any of its files is under ``place``."""
        return any(file.find(place) for file in self.files + self.unpacked)


def _idx(folder: str, url: str, *md5: str) -> tuple[File, ...]:
    stems = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
    return tuple(
        File(f"{folder}/raw/{stem}-ubyte.gz", f"{url}/{stem}-ubyte.gz", digest)
        for stem, digest in zip(stems, md5, strict=True)
    )


_TORONTO = "https://www.cs.toronto.edu/~kriz"
_HUMAN = "https://raw.githubusercontent.com/UCSC-REAL/cifar-10-100n/main/data"

_TABLE = (
    Known("digits", "scikit-learn digits: 1,797 grey images 8x8, 10 classes, needs no file"),
    Known(
        "mnist",
        "MNIST: 60,000 + 10,000 grey images 28x28, 10 classes",
        _idx(
            "MNIST",
            "https://ossci-datasets.s3.amazonaws.com/mnist",
            "f68b3c2dcbeaaa9fbdd348bbdeb94873",
            "d53e105ee54ea40749a09fcbcd1e9432",
            "9fb629c4189551a2d022fa330f9573f3",
            "ec29112dd5afa0611ce80d1b7f02629c",
        ),
    ),
    Known(
        "fashion-mnist",
        "Fashion-MNIST: 60,000 + 10,000 grey images 28x28, 10 classes",
        _idx(
            "FashionMNIST",
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com",
            "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
            "25c81989df183df01b3e8a0aad5dffbe",
            "bef4ecab320f06d8554ea6380940ec79",
            "bb300cfdad3c16e7a12a480ee83cd310",
        ),
    ),
    Known(
        "cifar10",
        "CIFAR-10: 50,000 + 10,000 colour images 32x32, 10 classes",
        (
            File(
                "cifar-10-python.tar.gz",
                f"{_TORONTO}/cifar-10-python.tar.gz",
                "c58f30108f718f92721af3b95e74349a",
            ),
        ),
        (
            File("cifar-10-batches-py/data_batch_1", md5="c99cafc152244af753f735de768cd75f"),
            File("cifar-10-batches-py/data_batch_2", md5="d4bba439e000b95fd0a9bffe97cbabec"),
            File("cifar-10-batches-py/data_batch_3", md5="54ebc095f3ab1f0389bbae665268c751"),
            File("cifar-10-batches-py/data_batch_4", md5="634d18415352ddfa80567beed471001a"),
            File("cifar-10-batches-py/data_batch_5", md5="482c414d41f54cd18b22e5b47cb7c3cb"),
            File("cifar-10-batches-py/test_batch", md5="40351d587109b95175f43aff81a1287e"),
            File("cifar-10-batches-py/batches.meta", md5="5ff9c542aee3614f3951f8cda6e48888"),
        ),
    ),
    Known(
        "cifar100",
        "CIFAR-100: 50,000 + 10,000 colour images 32x32, 100 classes",
        (
            File(
                "cifar-100-python.tar.gz",
                f"{_TORONTO}/cifar-100-python.tar.gz",
                "eb9058c3a382ffc7106e4002c42a8d85",
            ),
        ),
        (
            File("cifar-100-python/train", md5="16019d7e3df5f24257cddd939b257f8d"),
            File("cifar-100-python/test", md5="f0ef6b0ae62326f3e7ffdfab6717acfc"),
            File("cifar-100-python/meta", md5="7973b15100ade9c7d40fb424638fde48"),
        ),
    ),
    Known(
        "cifar10n",
        "CIFAR-10N: human labels of CIFAR-10's training set (CC BY-NC 4.0)",
        (
            File(
                "cifar-n/CIFAR-10_human.pt",
                f"{_HUMAN}/CIFAR-10_human.pt",
                "96644db5574813cae939af5f7f2a0aec",
            ),
        ),
    ),
    Known(
        "cifar100n",
        "CIFAR-100N: human labels of CIFAR-100's training set (CC BY-NC 4.0)",
        (
            File(
                "cifar-n/CIFAR-100_human.pt",
                f"{_HUMAN}/CIFAR-100_human.pt",
                "a67b45c1d7992051865b5c755bd68bb1",
            ),
        ),
    ),
    Known(
        "webvision-mini",
        "WebVision 1.0, Google part, first 50 concepts: 65,944 + 2,500 colour images",
        (File("info/train_filelist_google.txt"), File("info/val_filelist.txt")),
        page="https://data.vision.ee.ethz.ch/cvl/webvision/download.html",
    ),
)

KNOWN = {entry.name: entry for entry in _TABLE}


def known(name: str) -> Known:
    """Return the entry of a known data set.

    >>> known("mnist").title
    'MNIST: 60,000 + 10,000 grey images 28x28, 10 classes'
    """
    try:
        return KNOWN[name]
    except KeyError:
        raise ParameterError(f"no data set {name!r}{did_you_mean(name, KNOWN)}") from None


def places(directory: str | Path | None = None) -> list[Path]:
    """Return where to look: ``directory`` alone, or ``$NOISEPROOF_DATA`` and the cache folder."""
    if directory is not None:
        return [Path(directory)]
    need("bench", "pooch")
    import pooch

    named = os.environ.get("NOISEPROOF_DATA")
    cache = Path(pooch.os_cache("noiseproof"))
    return [Path(named), cache] if named else [cache]


@dataclass(frozen=True)
class Available:
    """A known data set and the folder it was found in, None where it is not there."""

    name: str
    title: str
    where: Path | None


def available(directory: str | Path | None = None) -> list[Available]:
    """List every known data set and where it is; ``digits`` is in scikit-learn, nowhere else."""
    folders = places(directory)
    return [
        Available(e.name, e.title, next((place for place in folders if e.is_here(place)), None))
        for e in KNOWN.values()
    ]
