"""What may be asked of :func:`~noiseproof.fitting.fit.fit`, checked before anything is read."""

import os
from typing import Any

import numpy as np

from noiseproof.errors import ParameterError
from noiseproof.losses import Loss
from noiseproof.noise.labels import is_listing


def names(option: str, value: Any) -> list[str] | None:
    """Return one or several names as a list, whatever holds them; None of none.

    >>> names("text", "review"), names("text", ("title", "review"))
    (['review'], ['title', 'review'])
    """
    if value is None:
        return None
    found = [value] if isinstance(value, str | Loss) else value
    if not is_listing(found) or not all(isinstance(name, str | Loss) for name in found):
        raise ParameterError(f"{option}: expected a name or a list of names, got {_shown(value)}")
    return [str(name) for name in found]


def check_texts(**options: Any) -> None:
    """Raise where an option is neither a name or a path nor None."""
    for option, value in options.items():
        if value is not None and not isinstance(value, str | os.PathLike):
            raise ParameterError(f"{option}: expected a name, got {_shown(value)}")


def _shown(value: Any) -> str:
    text = repr(value)
    return (
        text if len(text) <= 60 and "\n" not in text else f"a value of type {type(value).__name__}"
    )


def check_together(
    test: Any, embeddings: Any, test_embeddings: Any, trusted: Any, reviewed: Any, strict: Any
) -> None:
    """Raise at once if options do not go together."""
    if not isinstance(strict, bool | np.bool_):
        raise ParameterError(f"strict: expected True or False, got {_shown(strict)}")
    if strict and test is None:
        raise ParameterError("--strict: expected --test beside it, whose columns it checks")
    if trusted is not None and reviewed is not None:
        raise ParameterError("--trusted: give it or --reviewed, not both")
    if test_embeddings is not None and (test is None or embeddings is None):
        raise ParameterError("--test-embeddings: expected both --test and --embeddings beside it")
    if isinstance(test, tuple):
        if test_embeddings is not None:
            raise ParameterError("test_embeddings: expected only if the test set is a path")
    elif test is not None and embeddings is not None and test_embeddings is None:
        raise ParameterError("--test: beside --embeddings it needs --test-embeddings")
