"""Write a folder of pictures again, each picture in the folder of its corrected class."""

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from noiseproof import files
from noiseproof.errors import ParameterError
from noiseproof.fitting.review.corrections import Change, Given, corrections, listed
from noiseproof.fitting.review.reviewed import fingerprint
from noiseproof.prepare.classes import encode
from noiseproof.prepare.formats.file_names import shown
from noiseproof.prepare.formats.image_files import read_image_folder

#: Pictures are decoded to see which can be read; this small, it is quick.
SIDE = 8


def clean_folder(
    path: Path,
    made: tuple[Path, Path],
    reviewed: str | Path | None,
    fit: Path,
    proposals: float | None,
    force: bool,
) -> tuple[int, list[Change]]:
    """Copy a folder, with corrected pictures in the folders of their classes.

    Every file is copied byte for byte, those that are no pictures too; a link is copied as what it
    leads to if that is a picture of the data, and left out otherwise. Beside it goes the list of
    changes. Return how many pictures there are, and what was changed.
    """
    out, changes_file = made
    one, other = path.resolve(), out.resolve()
    if one == other or one in other.parents or other in one.parents:
        raise ParameterError(f"{out}: neither inside {path} nor around it; choose another place")
    if files.MANIFEST in files.not_ours(path):
        raise ParameterError(
            f"{path / files.MANIFEST}: the copy has a list of its files under this name; rename it"
        )
    if linked := next((p for p in path.iterdir() if p.is_symlink() and p.is_dir()), None):
        raise ParameterError(f"{linked} is a link to a folder: put the folder itself in its place")
    files.check_folder(out, force, (reviewed, fit))
    samples = read_image_folder(path, SIDE, labelled=True)
    codes, classes = encode(samples.labels, samples.name)
    names = list(samples.rows or ())
    own = fingerprint(samples, len(samples), path)
    given = Given(names, codes, classes, samples.name, own)
    changes = corrections(given, reviewed, fit, proposals)
    every = sorted(_files(path, frozenset(names)))
    to = _places(every, {str(change.row): change.new for change in changes.values()})
    told, old = listed(list(changes.values())), changes_file if force else None
    with files.writing(changes_file, told, force), files.replacing(out, force, old) as copy:
        for file, place in to.items():
            (copy / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path / file, copy / place)
    return len(names), list(changes.values())


def _files(path: Path, pictures: frozenset[str]) -> Iterator[Path]:
    """Yield the files to copy: never what a link that is no picture leads to."""
    for file in files.below(path):
        name = file.relative_to(path)
        if file.is_file() and (shown(name) in pictures or not file.is_symlink()):
            yield name


def _places(every: list[Path], new: Mapping[str, str]) -> dict[Path, Path]:
    """Return where each file goes: to no name that another file or a folder has."""
    folders = {shown(file.parts[0]): file.parts[0] for file in every if len(file.parts) > 1}
    found = {file: file for file in every if shown(file) not in new}
    taken = {name for file in found for name in (file, *file.parents)}
    for file in every:
        if shown(file) not in new:
            continue
        folder, number = folders[new[shown(file)]], 1
        place = Path(folder, file.name)
        while place in taken:
            again = "" if number == 1 else f"-{number}"
            place = Path(folder, f"{file.stem}-from-{file.parts[0]}{again}{file.suffix}")
            number += 1
        taken.add(place)
        found[file] = place
    return found
