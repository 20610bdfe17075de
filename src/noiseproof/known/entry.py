"""An entry: everything that is known of one data set before any of it is read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class File:
    """One file of a data set.

    Args:
        path: where it belongs, relative to the data folder.
        url: where it is published; empty for a file that comes out of another.
        md5: its published checksum; empty where there is none.
        inner_md5: the checksum of what is inside a ``.gz``; empty where nobody knows.
    """

    path: str
    url: str = ""
    md5: str = ""
    inner_md5: str = ""

    def find(self, place: Path) -> Path | None:
        """Return where it is under ``place``: as laid out, directly, or without its .gz."""
        for path in (place / self.path, place / Path(self.path).name):
            for candidate in (path, path.with_suffix("")) if path.suffixes == [".gz"] else (path,):
                if candidate.is_file():
                    return candidate
        return None

    def checksum(self, path: Path) -> str:
        """Return what the MD5 of the file found at ``path`` should be; empty where none is known.

        >>> File("a.gz", md5="1", inner_md5="2").checksum(Path("somewhere/a"))
        '2'
        """
        return self.md5 if path.name == Path(self.path).name else self.inner_md5


@dataclass(frozen=True, eq=False)
class Known:
    """One known data set.

    Args:
        name: what every command and function calls it.
        title: one line for people.
        reader: the module whose ``read(entry, folder)`` reads it.
        classes: the names of its classes.
        files: what a download brings; none for a data set that is built in.
        unpacked: what an archive among them holds, also accepted.
        page: where to get it by hand.
        layout: what its reader has to know besides.
        mean: of each channel of pixels in 0..1; empty where it is computed.
        std: the standard deviation of each.
        samples: how many there are for training and for testing; 0 where nobody counted.
        fingerprint: of its content, as :func:`noiseproof.train.experiment.fingerprint` gives it;
            empty where nobody has computed it.
        streamed: it does not fit into memory: images are decoded as they are wanted.
        labels_of: for labels that people gave to another data set, the name of that one; the
            layout then has the names of the kinds of labels, and what the file calls them.
        confusions: which class is taken for which, by number, for asymmetric noise.
        released: the confusions in the authors' code where they differ, applied in turn.
        released_otherwise: one line on how they differ.
        groups: the super-class of each class, where it has some.
        recipes: by the name of the recipe, the fields of a :class:`noiseproof.train.Recipe` that
            are not the default; ``mean`` and ``std`` are those above.
        paper: the paper's table with its numbers; empty where the paper has none.
    """

    name: str
    title: str
    reader: str
    classes: tuple[str, ...] = ()
    files: tuple[File, ...] = ()
    unpacked: tuple[File, ...] = ()
    page: str = ""
    layout: Mapping[str, Any] = field(default_factory=dict)
    mean: tuple[float, ...] = ()
    std: tuple[float, ...] = ()
    samples: tuple[int, int] = (0, 0)
    fingerprint: str = ""
    streamed: bool = False
    labels_of: str = ""
    confusions: Mapping[int, int] = field(default_factory=dict)
    released: tuple[Mapping[int, int], ...] = ()
    released_otherwise: str = ""
    groups: tuple[str, ...] = ()
    recipes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    paper: str = ""

    def locate(self, place: Path) -> list[tuple[File, Path | None]]:
        """Return the files to read and where they are: those unpacked if all are there."""
        groups = [
            [(file, file.find(place)) for file in group]
            for group in (self.unpacked, self.files)
            if group
        ]
        for enough in (all, any):
            for group in groups:
                if enough(path for _, path in group):
                    return group
        return groups[-1] if groups else []

    def is_here(self, place: Path) -> bool:
        """Tell whether any of its files is under ``place``."""
        return any(file.find(place) for file in self.files + self.unpacked)
