"""The files of the demonstration: digits with four labels in ten wrong, as a user has them."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from noiseproof import files
from noiseproof.data import Dataset, load
from noiseproof.errors import ParameterError
from noiseproof.extras import need
from noiseproof.noise import pair_flip

#: How often a digit is labelled as the next one: a 3 as a 4, a 9 as a 0.
RATE = 0.4
LABEL = "digit"
TRAIN, TEST, OUT = "digits.csv", "digits-true.csv", "fit"
COLUMNS = [*(f"pixel{i}" for i in range(64)), LABEL]


@dataclass(frozen=True)
class Demo:
    """Two tables in a folder, and the folder for the fit.

    Args:
        train: 1,442 digits with four labels in ten wrong.
        test: 355 digits with right labels.
        out: the folder that the fit creates.
        wrong: the share of labels that were actually changed.
    """

    train: Path
    test: Path
    out: Path
    wrong: float

    @property
    def command(self) -> str:
        """The command that a user would type."""
        places = ("--test", str(self.test), "--out", str(self.out))
        return shlex.join(["noiseproof", "fit", str(self.train), "--label", LABEL, *places])


def prepare(folder: Path, seed: int = 1) -> Demo:
    """Write the tables into ``folder``, which is new or from an earlier demonstration."""
    need("fit", "pandas", "sklearn")
    if folder.exists() and not _is_ours(folder):
        raise ParameterError(f"{folder} exists and is of no demonstration; it is left as it is")
    if not folder.resolve().parent.is_dir():
        raise ParameterError(f"no directory {folder.resolve().parent} to make {folder.name} in")
    digits = load("digits")
    noisy = pair_flip(10, RATE).corrupt(digits.train.labels, seed=seed)
    tables = {
        folder / TRAIN: _table(digits.train, noisy.labels.tolist()),
        folder / TEST: _table(digits.test, digits.test.labels.tolist()),
    }
    for path, content in tables.items():
        if path.exists() and path.read_bytes() != content:
            raise ParameterError(
                f"{path} was edited, or is of another seed; it is left as it is: choose another "
                "folder with --out"
            )
    folder.mkdir(exist_ok=True)
    for path, content in tables.items():
        files.write(path, content)
    return Demo(folder / TRAIN, folder / TEST, folder / OUT, noisy.rate)


def _is_ours(folder: Path) -> bool:
    """Tell whether a demonstration wrote the tables of a folder, perhaps not yet all of them."""
    header = ",".join(COLUMNS).encode() + b"\n"
    there = [folder / name for name in (TRAIN, TEST) if os.path.lexists(folder / name)]
    for path in there:
        if path.is_symlink() or not path.is_file():
            return False
        with path.open("rb") as file:
            if file.read(len(header)) != header:
                return False
    return bool(there) or (folder.is_dir() and not os.listdir(folder))


def _table(digits: Dataset, labels: list[int]) -> bytes:
    import pandas as pd

    pixels = digits.inputs.flatten(1).numpy()
    frame = pd.DataFrame(pixels).assign(**{LABEL: labels}).set_axis(COLUMNS, axis=1)
    return bytes(frame.to_csv(index=False, lineterminator="\n").encode())
