"""An input gets the same vector every time, whatever the other inputs in its batch are.

A network that draws random numbers (dropout, masks, hashing) is refused.

Some networks mix the inputs of a batch: they see the padding of the shorter texts (convolutions,
Fourier transforms, positions counted from the left), or share one scale among all inputs (dynamic
quantisation). Such a network gets one input at a time.
"""

from collections.abc import Callable, Iterable
from itertools import cycle, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
#: Rounding changes a vector by less, as a share of its largest number.
ROUNDING = 1e-4
#: Words of the vocabulary to try.
WORDS = 20
#: Words of the text that is encoded several times; some networks draw only for long ones.
LONG, TIMES = 512, 2


def text_batch(
    encode: Callable[[list[str]], Vectors], size: int, most: int, vocabulary: Iterable[str]
) -> int:
    """Return how many texts to encode at a time: ``most``, or 1.

    Args:
        encode: makes vectors of texts.
        size: the tokens after which it cuts off a text.
        most: so many, unless it mixes them.
        vocabulary: pieces of words that it knows; all words that it does not know are the same.
    """
    known = sorted(vocabulary)
    long = min(size, LONG)
    check_repeats(encode, [" ".join(islice(cycle(known[:: 1 + len(known) // long]), long))])
    if most == 1:
        return 1
    some = known[:: max(1, len(known) // WORDS)]
    pairs = [["a text", "a longer text " * 9]]
    if len(some) > 1:
        pairs.append([" ".join(some[::2]), " ".join(some[1::2] * 2)])
    return most if all(_is_independent(encode, pair) for pair in pairs) else 1


def picture_batch(encode: Callable[[Any], Vectors], size: int, most: int) -> int:
    """Return how many pictures of this size to encode at a time: ``most``, or 1."""
    two = np.random.default_rng(0).integers(0, 256, (2, 3, size, size), np.uint8)
    two[0] //= 4
    check_repeats(encode, two[1:])
    if most == 1:
        return 1
    return most if _is_independent(encode, two) else 1


def check_repeats(encode: Callable[[Any], Vectors], one: Any) -> None:
    """Raise ValueError for an encoder that does not repeat the vector of ``one`` input."""
    first = np.nan_to_num(encode(one))
    if not all(_are_equal(np.nan_to_num(encode(one)), first) for _ in range(TIMES - 1)):
        raise ValueError(
            "it gives different vectors for the same input, so nothing could be predicted with it"
        )


def _is_independent(encode: Callable[[Any], Vectors], pair: Any) -> bool:
    """Return whether each of two inputs gets the vector that it gets alone."""
    try:
        alone = np.concatenate([encode(pair[:1]), encode(pair[1:])])
        together = encode(pair)
    except Exception:  # of many kinds: the network takes no two inputs
        return False
    return _are_equal(together, alone)


def _are_equal(some: Vectors, expected: Vectors) -> bool:
    """Return whether vectors differ by rounding at most."""
    if some.shape != expected.shape:
        return False
    apart = np.abs(some - expected).max(axis=1, initial=0)
    return bool((apart <= ROUNDING * np.abs(expected).max(axis=1, initial=0)).all())


def of_tokens(
    mask: NDArray[Any], width: int, run: Callable[[NDArray[np.bool_]], Vectors]
) -> Vectors:
    """Return vectors for texts; one without any token, such as an empty one, gets zeros.

    Args:
        mask: (n, tokens), 1 for a token and 0 for padding.
        width: how many features there are.
        run: makes vectors of the texts that it is given, as a mask (n,).
    """
    some: NDArray[np.bool_] = np.any(mask, axis=1)
    if some.all():
        return run(some)
    found = np.zeros((len(mask), width), np.float32)
    if some.any():
        found[some] = run(some)
    return found
