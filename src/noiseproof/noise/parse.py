"""Noise as text, such as "symmetric:0.4", with one spelling for the whole package."""

import csv
from collections.abc import Sequence
from pathlib import Path

from noiseproof.errors import DataError, NoiseError, did_you_mean
from noiseproof.files import check_plain
from noiseproof.known import KNOWN, with_human_labels
from noiseproof.noise.generate import check_rate, split_classes
from noiseproof.noise.matrix import check_matrix
from noiseproof.noise.spec import HumanNoise, InstanceNoise, MatrixNoise, Noise, RateNoise
from noiseproof.noise.transition import TransitionMatrix

_BY_RATE = ("symmetric", "asymmetric", "pair-flip", "superclass", "instance")
_BY_NAME = {"human": "human:worst", "matrix": "matrix:T.csv"}
_ALONE = ("none", "clean")
MOST_NAMED = 10


def parse(
    text: str, classes: int | Sequence[str] | None = None, dataset: str | None = None
) -> Noise:
    """Return the noise that ``text`` names; ``str`` of it gives the text back.

    The texts are none (or clean), symmetric:RATE, asymmetric:RATE, asymmetric:RATE:released,
    pair-flip:RATE, superclass:RATE, instance:RATE, human:WHICH and matrix:FILE. FILE is a CSV with
    one line per row of the matrix; the first line may hold the names of the classes, in their
    order. The text is checked at once, also against ``classes`` and ``dataset`` if given.

    Args:
        text: the noise.
        classes: the number of classes or their names; known for the paper's data sets.
        dataset: the name of the data set, required for "asymmetric" and "superclass".

    >>> noise = parse("asymmetric:0.3", dataset="mnist")
    >>> str(noise), noise.transition
    ('asymmetric:0.3', TransitionMatrix(10 classes, rate 0.15, clean level 2.333, dominant))
    >>> parse("symetric:0.4")
    Traceback (most recent call last):
    noiseproof.errors.NoiseError: unknown noise 'symetric'; did you mean 'symmetric'?
    """
    if not isinstance(text, str):
        raise NoiseError(f"expected a noise as text, such as 'symmetric:0.4', got {text!r}")
    if dataset is not None and not isinstance(dataset, str):
        raise NoiseError(f"expected the name of a data set, got {dataset!r}")
    text = text.strip()
    kind, colon, rest = text.partition(":")
    entry = KNOWN.get(dataset or "")
    K, names = split_classes(entry.classes if entry and classes is None else classes)
    kept = names or K
    if kind in _ALONE:
        if colon:
            raise NoiseError(f"noise {text!r}: {kind!r} stands alone")
        return RateNoise("none", classes=kept, dataset=dataset)
    if kind in _BY_NAME:
        if not rest:
            raise NoiseError(f"noise {text!r} does not say which, as in {_BY_NAME[kind]!r}")
        if kind == "human":
            return HumanNoise(_human(rest, dataset), K)
        return MatrixNoise(rest, _read(rest, K, names))
    if kind not in _BY_RATE:
        raise NoiseError(f"unknown noise {kind!r}{did_you_mean(kind, _known())}")
    rate, variants = _rate(text, kind, rest)
    if kind == "instance":
        return InstanceNoise(rate, K)
    noise = RateNoise(kind, rate, "released" if variants else "corrected", kept, dataset)
    needs_map = kind in ("asymmetric", "superclass")
    if kept is not None or (needs_map and dataset is not None):
        noise.transition  # noqa: B018 -- raises here, not at first use, if it cannot be built
    return noise


def _known() -> list[str]:
    return [*_BY_RATE, *_BY_NAME, *_ALONE]


def _rate(text: str, kind: str, rest: str) -> tuple[float, list[str]]:
    number, *parts = rest.split(":")
    if not number:
        raise NoiseError(f"noise {text!r} has no rate, as in '{kind}:0.4'")
    try:
        rate = check_rate(float(number))
    except NoiseError as error:
        raise NoiseError(f"noise {text!r}: {error}") from None
    except ValueError:
        raise NoiseError(f"noise {text!r}: {number!r} is not a number") from None
    if kind == "asymmetric" and len(parts) == 1:
        if parts != ["released"]:
            raise NoiseError(f"noise {text!r}: the only variant is 'released', not {parts[0]!r}")
    elif parts:
        raise NoiseError(f"noise {text!r} has a part too many: {parts[-1]!r}")
    return rate, parts


def _human(which: str, dataset: str | None) -> str:
    human = {name: tuple(entry.layout) for name, entry in with_human_labels().items()}
    if dataset is not None and dataset not in human:
        raise NoiseError(f"no human labels known for {dataset!r}{did_you_mean(dataset, human)}")
    known = human[dataset] if dataset else [name for names in human.values() for name in names]
    if which not in known:
        raise NoiseError(f"unknown human labels {which!r}{did_you_mean(which, known)}")
    return which


def _read(path: str, classes: int | None, names: tuple[str, ...] | None) -> TransitionMatrix:
    check_plain(path)
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, skipinitialspace=True)
            lines = [(reader.line_num, row) for row in reader if row]
    except OSError as error:
        raise DataError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    except (UnicodeDecodeError, csv.Error):
        raise DataError(f"cannot read {path}: not a CSV text file") from None
    header = None
    if lines and not any(_is_number(cell) for cell in lines[0][1]):
        header = tuple(cell.strip() for cell in lines.pop(0)[1])
    K = classes or len(lines)
    if header and len(header) != K:
        raise NoiseError(f"{path}, line 1: {len(header)} names for {K} classes")
    if header and names and _is_another_order(header, names):
        raise NoiseError(
            f"{path}, line 1: the classes are {_few(names)}, in this order, not {_few(header)}"
        )
    rows = []
    for number, cells in lines:
        if len(cells) != K:
            raise NoiseError(f"{path}, line {number}: {len(cells)} values for {K} classes")
        for cell in cells:
            if not _is_number(cell):
                raise NoiseError(f"{path}, line {number}: {cell!r} is not a number")
        rows.append([float(cell) for cell in cells])
    if len(rows) != K or K < 2:
        raise NoiseError(f"{path}: {len(rows)} rows for {max(K, 2)} classes")
    return TransitionMatrix(
        check_matrix(rows, lambda i: f"{path}, line {lines[i][0]}"), names or header
    )


def _is_another_order(header: tuple[str, ...], names: tuple[str, ...]) -> bool:
    """Whether some are the same names, perhaps as ``Cat`` for ``cat``, and not all in place."""
    if header == names or set(header) & set(names):
        return header != names
    found, known = ([name.casefold() for name in some] for some in (header, names))
    return found != known and bool(set(found) & set(known))


def _few(names: tuple[str, ...]) -> str:
    return ", ".join(names[:MOST_NAMED]) + (", ..." if len(names) > MOST_NAMED else "")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
