"""Small files in CIFAR's formats, as the tests want them."""

import io
import pickle
import tarfile

import numpy as np
import torch

FOLDERS = {"cifar10": "cifar-10-batches-py", "cifar100": "cifar-100-python"}
ARCHIVES = {"cifar10": "cifar-10-python.tar.gz", "cifar100": "cifar-100-python.tar.gz"}


def images(count, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (count, 3072), np.uint8)


def old_pickle(content):
    """Pickle as Python 2 did: byte strings, protocol 2, numpy.core."""
    text = pickle.dumps(content, protocol=2)
    return text.replace(b"numpy._core.multiarray", b"numpy.core.multiarray")


def contents(name):
    if name == "cifar10":
        files = {
            f"data_batch_{i}": {
                b"data": images(4, i),
                b"labels": [i % 10, 9, 0, 3],
                b"filenames": [b"a.png"] * 4,
            }
            for i in range(1, 6)
        }
        files["test_batch"] = {b"data": images(2, 6), b"labels": [1, 2]}
        files["batches.meta"] = {b"label_names": [f"class{i}".encode() for i in range(10)]}
    else:
        files = {
            "train": {b"data": images(4), b"fine_labels": [99, 0, 5, 7], b"coarse_labels": [0] * 4},
            "test": {b"data": images(2, 1), b"fine_labels": [1, 2], b"coarse_labels": [0] * 2},
            "meta": {b"fine_label_names": [f"class{i}".encode() for i in range(100)]},
        }
    return {member: old_pickle(content) for member, content in files.items()}


def write(directory, name, files=None, packed=False):
    files = contents(name) if files is None else files
    if packed:
        with tarfile.open(directory / ARCHIVES[name], "w:gz") as tar:
            for member, content in reversed(files.items()):
                info = tarfile.TarInfo(f"{FOLDERS[name]}/{member}")
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
        return
    (directory / FOLDERS[name]).mkdir(parents=True, exist_ok=True)
    for member, content in files.items():
        (directory / FOLDERS[name] / member).write_bytes(content)


def write_human(directory, **labels):
    (directory / "cifar-n").mkdir(exist_ok=True)
    torch.save(
        {name: np.array(values, np.int64) for name, values in labels.items()},
        directory / "cifar-n" / "CIFAR-10_human.pt",
    )
