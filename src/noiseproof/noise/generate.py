"""The noise models of the paper and its literature, as transition matrices."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import numpy as np

from noiseproof.errors import NoiseError, ParameterError, did_you_mean
from noiseproof.known import KNOWN
from noiseproof.known.groups import next_in_group
from noiseproof.losses.parameter import as_number, is_whole
from noiseproof.memory import GIGA, available
from noiseproof.noise.labels import check_classes, is_listing, to_array
from noiseproof.noise.named import in_order
from noiseproof.noise.transition import TransitionMatrix

Variant = Literal["corrected", "released"]
#: So many of their size are in memory at once while a matrix is made and used.
MATRICES = 3


def identity(K: int, classes: Sequence[str] | None = None) -> TransitionMatrix:
    """No noise: T is the identity.

    >>> identity(10)
    TransitionMatrix(10 classes, rate 0, clean level inf, dominant)
    """
    return TransitionMatrix(np.eye(_with_room(K)), classes)


def symmetric(K: int, rate: float, classes: Sequence[str] | None = None) -> TransitionMatrix:
    """Symmetric noise: T_ii = 1 - rate, and T_ij = rate / (K - 1) for every other class j.

    Flips go to *other* classes only, so the clean level is (1 - rate)(K - 1) / rate.

    Args:
        K: the number of classes.
        rate: the share of labels that are wrong, from 0 to 1.
        classes: names of the classes.

    >>> round(symmetric(10, 0.8).clean_level, 6)
    2.25
    """
    rate, K = check_rate(rate), _with_room(K)
    matrix = np.full((K, K), rate / (K - 1))
    np.fill_diagonal(matrix, 1 - rate)
    return TransitionMatrix(matrix, classes)


def pair_flip(K: int, rate: float, classes: Sequence[str] | None = None) -> TransitionMatrix:
    """Pair flip: each class is mistaken for the next, the last for the first, T_{i, i+1} = rate.

    >>> pair_flip(3, 0.25).matrix
    array([[0.75, 0.25, 0.  ],
           [0.  , 0.75, 0.25],
           [0.25, 0.  , 0.75]])
    """
    rate, K = check_rate(rate), check_classes(K)
    return _flip({i: (i + 1) % K for i in range(K)}, rate, K, classes)


def superclass(
    groups: str | Sequence[object], rate: float, classes: int | Sequence[str] | None = None
) -> TransitionMatrix:
    """Super-class noise: each class is mistaken for the next one of its super-class, in a circle.

    Args:
        groups: the super-class of each of the K classes, or "cifar100". A class that is alone in
            its super-class is never mistaken.
        rate: the share of wrong labels in each class, from 0 to 1.
        classes: the names of the classes, or their number as a check.

    >>> superclass(["pet", "car", "pet", "car"], 0.25).matrix
    array([[0.75, 0.  , 0.25, 0.  ],
           [0.  , 0.75, 0.  , 0.25],
           [0.25, 0.  , 0.75, 0.  ],
           [0.  , 0.25, 0.  , 0.75]])
    """
    K, names = split_classes(classes)
    if isinstance(groups, str):
        grouped = {name: entry for name, entry in KNOWN.items() if entry.groups}
        if groups not in grouped:
            raise NoiseError(f"no super-classes known for {groups!r}; known: {', '.join(grouped)}")
        entry = grouped[groups]
        groups, names = entry.groups, names or entry.classes
    if not is_listing(groups):
        raise NoiseError(f"expected the super-class of each class, got {groups!r}")
    groups = to_array(in_order(groups, names)).tolist()
    if K not in (None, len(groups)):
        raise NoiseError(f"super-classes of {len(groups)} classes, not {K}")
    ring = next_in_group(tuple(map(str, groups)))
    return _flip(ring, check_rate(rate), check_classes(len(groups)), names)


def asymmetric(
    which: str | Mapping[int, int] | Mapping[str, str],
    rate: float,
    classes: int | Sequence[str] | None = None,
    variant: Variant = "corrected",
) -> TransitionMatrix:
    """Asymmetric noise: each class of a map is mistaken for one other, T_{i, map(i)} = rate.

    Args:
        which: "mnist", "cifar10" or "cifar100", or your own map from true to given classes, by
            number or, if ``classes`` has names, by name.
        rate: the share of wrong labels in each class of the map, from 0 to 1.
        classes: the number of classes or their names; required if the map omits the last class.
        variant: "released" does what the authors' code does where it departs from the paper.
            CIFAR-10: a class is drawn after those before it were relabelled, so cats that became
            dogs may become cats again, and cat -> dog is rate (1 - rate). CIFAR-100: i -> i + 1
            in blocks of five *numbers*, although super-classes are not numbered like that. MNIST:
            no difference.

    >>> asymmetric("mnist", 0.4)
    TransitionMatrix(10 classes, rate 0.2, clean level 1.5, dominant)
    >>> asymmetric({"cat": "dog"}, 0.3, classes=["cat", "dog", "cow"]).matrix[0]
    array([0.7, 0.3, 0. ])
    >>> round(asymmetric("cifar10", 0.4, variant="released").rate, 6)
    0.184
    """
    rate = check_rate(rate)
    if not isinstance(variant, str) or variant not in get_args(Variant):
        raise NoiseError(f"unknown variant {variant!r}{did_you_mean(variant, get_args(Variant))}")
    K, names = split_classes(classes)
    if isinstance(which, str):
        return _of_dataset(which, rate, K, names, variant)
    if not isinstance(which, Mapping):
        raise NoiseError(f"expected a data set or a map from class to class, got {which!r}")
    if variant == "released":
        raise NoiseError("only the paper's data sets have a released variant, not a map")
    mapping = _numbered(which, names)
    return _flip(mapping, rate, K or 1 + max([1, *mapping, *mapping.values()]), names)


def check_rate(rate: float) -> float:
    """Return ``rate`` as a float, after checking that it lies between 0 and 1.

    >>> check_rate(1.4)
    Traceback (most recent call last):
    noiseproof.errors.NoiseError: expected a rate from 0 to 1, got 1.4
    """
    try:
        value = as_number("rate", rate)
    except ParameterError:
        value = math.nan
    if not 0 <= value <= 1:
        raise NoiseError(f"expected a rate from 0 to 1, got {rate!r}")
    return abs(value)  # turns -0 into 0, which is written without a sign


def split_classes(
    classes: int | Sequence[str] | None,
) -> tuple[int | None, tuple[str, ...] | None]:
    """Return the number of classes and their names, each None if unknown.

    >>> split_classes(["ham", "spam"])
    (2, ('ham', 'spam'))
    """
    if classes is None:
        return None, None
    if isinstance(classes, int | np.integer) and is_whole(classes):
        return int(classes), None
    if isinstance(classes, int | np.integer) or not is_listing(classes):
        raise NoiseError(f"expected the number of classes or their names, got {classes!r}")
    if np.ma.is_masked(classes):
        raise NoiseError("expected the names of the classes, got masked ones")
    names = tuple(classes)
    for name in names:
        if is_listing(name):
            raise NoiseError(f"expected the names of the classes, got {name!r} as one of them")
    return len(names), names


def _of_dataset(
    which: str, rate: float, classes: int | None, names: tuple[str, ...] | None, variant: Variant
) -> TransitionMatrix:
    confused = {name: entry for name, entry in KNOWN.items() if entry.confusions}
    if which not in confused:
        raise NoiseError(f"no asymmetric noise known for {which!r}{did_you_mean(which, confused)}")
    entry = confused[which]
    K = len(entry.classes)
    if classes not in (None, K):
        raise NoiseError(f"{which} has {K} classes, not {classes}")
    names = names or entry.classes
    steps = entry.released if variant == "released" and entry.released else (entry.confusions,)
    whole = _flip(steps[0], rate, K, names)
    for step in steps[1:]:
        whole = whole @ _flip(step, rate, K, names)
    return whole


def _with_room(K: int) -> int:
    """Return the number of classes, after checking that there is memory for their matrices."""
    K = check_classes(K)
    size = MATRICES * 8 * K**2
    if size > GIGA and (free := available()) is not None and size > free:
        needs = f"{K:,} classes need about {size / GIGA:.1f} GB of memory"
        raise NoiseError(f"{needs}, {free / GIGA:.1f} GB are free")
    return K


def _flip(
    mapping: Mapping[int, int], rate: float, K: int, classes: Sequence[str] | None
) -> TransitionMatrix:
    matrix = np.eye(_with_room(K))
    for i, j in mapping.items():
        if not (0 <= i < K and 0 <= j < K and i != j):
            raise NoiseError(f"cannot map class {i} to {j}: expected two of 0..{K - 1}")
        matrix[i, i], matrix[i, j] = 1 - rate, rate
    return TransitionMatrix(matrix, classes)


def _numbered(
    mapping: Mapping[int, int] | Mapping[str, str], names: tuple[str, ...] | None
) -> dict[int, int]:
    number = {name: i for i, name in enumerate(names or ())}

    def of(word: int | str) -> int:
        if isinstance(word, str):
            if word not in number:
                hint = did_you_mean(word, number) if number else "; give their names as classes"
                raise NoiseError(f"no class is called {word!r}{hint}")
            return number[word]
        if not is_whole(word):
            raise NoiseError(f"expected classes by number or by name, got {word!r}")
        return int(word)

    return {of(i): of(j) for i, j in mapping.items()}
