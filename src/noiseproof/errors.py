"""Every error that noiseproof raises on purpose.

    NoiseproofError
    ├── ParameterError    (ValueError)   a parameter or option outside its domain
    ├── ExpressionError   (ValueError)   a loss written as text that cannot be read
    ├── ShapeError        (ValueError, RuntimeError)   logits, targets or weights that do not fit
    ├── InputTypeError    (TypeError)    something that is not a tensor where one is needed
    ├── TargetError       (IndexError)   a class index outside 0..K-1
    ├── NoiseError        (ValueError)   a noise model that is not one
    ├── DataError         (ValueError)   a data set that is missing, damaged or not what it says
    │   └── ChangedError                 it changed while it was read
    ├── FileError         (OSError)      a file or folder that cannot be written
    │   └── LockedError                  another process is at work on it
    ├── TheoryError       (ValueError)   a question that has no answer for this loss
    └── MissingExtraError (ModuleNotFoundError)   a package that one of our extras installs

Each message is one line, in the words of whoever made the mistake, and says the way out; control
characters that came in from data are escaped. The built-in base classes are there so that code
written against torch keeps working.

And one warning, DataWarning (UserWarning): columns that have changed since a model was fitted,
labels that may belong to other rows, scores that may be probabilities, or data that are not read.
"""

import re
from collections.abc import Iterable
from typing import Any

from noiseproof.shown import printable

#: Letters of a message at most: what was given may be longer than a screen.
LONGEST = 2000


class NoiseproofError(Exception):
    """Base of everything below; the command line turns it into one line and exit code 2.

    >>> print(ParameterError("expected a number, got array([[1., 0.],\\n       [0., 1.]])"))
    expected a number, got array([[1., 0.], [0., 1.]])
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*(_shown(x) for x in args))


class ParameterError(NoiseproofError, ValueError):
    """A parameter or option outside its domain."""


class ExpressionError(NoiseproofError, ValueError):
    """A loss written as text that cannot be read."""


class ShapeError(NoiseproofError, ValueError, RuntimeError):
    """Logits, targets or weights that do not fit each other."""


class InputTypeError(NoiseproofError, TypeError):
    """Something that is not a tensor where one is needed."""


class TargetError(NoiseproofError, IndexError):
    """A class index outside 0..K-1."""


class NoiseError(NoiseproofError, ValueError):
    """A noise model that is not valid."""


class DataError(NoiseproofError, ValueError):
    """A data set that is missing, damaged, or not what it claims to be."""


class ChangedError(DataError):
    """Data that changed while they were read: they are of no one version."""


class DataWarning(UserWarning):
    """Columns that have changed since the fit, labels that may be of other rows, unread data."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*(_shown(x) for x in args))


class FileError(NoiseproofError, OSError):
    """A file or folder that cannot be written."""


class LockedError(FileError):
    """Another process is at work on it."""


class TheoryError(NoiseproofError, ValueError):
    """A question that has no answer for this loss."""


class MissingExtraError(NoiseproofError, ModuleNotFoundError):
    """A package that one of our extras installs and that is not there."""


def _shown(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    if len(text) > LONGEST:  # first, as the pattern is slow on long blanks; the end has the reason
        text = f"{text[: LONGEST // 2 - 5]} ... {text[-LONGEST // 2 :]}"
    return printable(re.sub(r"\s*\n\s*", " ", text))


#: Known words that a message lists at most.
LISTED = 40


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return ``"; did you mean 'AGCE'?"``, or a list of the known words where none is near.

    >>> did_you_mean("AGEC", ["AGCE", "AUL"])
    "; did you mean 'AGCE'?"
    >>> did_you_mean("nonsense", ["AGCE", "AUL"])
    '; known: AGCE, AUL'
    """
    from difflib import get_close_matches  # few mistakes are made, and every command waits for it

    known = sorted(known)
    folded = {name.casefold(): name for name in known}
    near = get_close_matches(str(word).casefold(), folded, n=1)
    if near:
        return f"; did you mean {folded[near[0]]!r}?"
    more = f" and {len(known) - LISTED:,} more" if len(known) > LISTED else ""
    return f"; known: {', '.join(known[:LISTED])}{more}"
