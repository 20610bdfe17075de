"""Trials: the same loss with other numbers, the same way of drawing them for every loss."""

import re
from functools import lru_cache

import numpy as np

from noiseproof.errors import NoiseproofError, ParameterError
from noiseproof.losses import loss as read_loss
from noiseproof.noise import stream

#: Every number is multiplied by one between 1 / RANGE and RANGE, at most.
RANGE = 8.0
#: Draws before we give up on finding numbers that a loss accepts.
_PATIENCE = 1000
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e-?\d+)?")


@lru_cache(maxsize=256)
def draw_trials(expression: str, count: int) -> tuple[str, ...]:
    """Return a loss as given, and ``count - 1`` times with other numbers.

    Each number of the expression, the weight of each term included, is multiplied by one drawn
    log-uniformly from 1/8 to 8. Numbers that the loss does not take are drawn again. The draw
    depends on the expression alone, so every data set and noise sees the same trials.

    >>> draw_trials("NCE + 4*AGCE(a=6, q=1.5)", 3)
    ('NCE + 4*AGCE(a=6, q=1.5)', '1.56*NCE + 6.76*AGCE(a=23.7, q=3.48)', ...)
    """
    given = str(read_loss(expression))
    weighted = " + ".join(term if _has_weight(term) else f"1*{term}" for term in _terms(given))
    numbers, found = stream(1, f"trials of {given}"), [given]
    for _ in range(_PATIENCE):
        if len(found) == count:
            return tuple(found)
        try:
            one = str(read_loss(_NUMBER.sub(lambda number: _other(number[0], numbers), weighted)))
        except NoiseproofError:
            continue
        if one not in found:
            found.append(one)
    raise ParameterError(f"found no {count} settings of {given} to try")


def _other(number: str, numbers: np.random.Generator) -> str:
    return f"{float(number) * RANGE ** numbers.uniform(-1, 1):.3g}"


def _has_weight(term: str) -> bool:
    return re.match(r"[\d.e-]+\*", term) is not None


def _terms(expression: str) -> list[str]:
    """Split a sum at each plus outside parentheses."""
    terms, depth = [""], 0
    for letter in expression:
        depth += (letter == "(") - (letter == ")")
        if letter == "+" and not depth:
            terms.append("")
        else:
            terms[-1] += letter
    return [term.strip() for term in terms]
