"""Tables and columns of pandas whose rows have names: a place in them is no class by itself."""

from collections.abc import Sequence
from typing import Any

from noiseproof.errors import NoiseError
from noiseproof.noise.labels import is_listing

_SHOWN = 9


def check_same_names(matrix: Any, classes: Sequence[str] | None) -> None:
    """Raise where the rows of a DataFrame are not the same classes, in order, as its columns.

    A cross table is like that if some class is never given as a label, or only by mistake.
    """
    index, columns = getattr(matrix, "index", None), getattr(matrix, "columns", None)
    if not (is_listing(index) and is_listing(columns)):
        return
    rows, names = _texts(index), _texts(columns)
    named = not (_is_count(index) or _is_count(columns))
    if rows != names and (named or sorted(rows) == sorted(names)):
        raise NoiseError(
            f"the rows of the matrix are {rows[:_SHOWN]}, but its columns {names[:_SHOWN]}: "
            "expected the same classes in the same order"
        )
    known, where = [str(k) for k in range(len(names))], "they are numbered"
    if classes is not None and sorted(names) == sorted(classes):
        known, where = list(classes), "`classes` has them"
    if names != known and sorted(names) == sorted(known):
        raise NoiseError(
            f"the columns of the matrix are {names[:_SHOWN]}, but {where} in another order"
        )


def in_order(values: Any, classes: Sequence[str] | None = None, K: int | None = None) -> Any:
    """Return values, those of a Series whose index has names in the order of the classes.

    ``value_counts`` has the most frequent class first. By default there are as many classes as
    values.
    """
    index = getattr(values, "index", None)
    if not is_listing(index) or _is_count(index):
        return values
    keys = _texts(index)
    K = len(keys) if K is None else K
    for known in (list(classes or ()), [str(k) for k in range(K)]):
        if sorted(keys) == sorted(known):
            return values.iloc[[keys.index(name) for name in known]]
    known = list(classes) if classes else [f"0 to {K - 1}"]
    raise NoiseError(
        f"these are of {keys[:_SHOWN]}, but the classes are {', '.join(known[:_SHOWN])}: "
        "call them the same, or give a list in their order"
    )


def _is_count(index: Any) -> bool:
    """Return whether rows have only been counted: pandas is not imported here.

    Those of ``series[::-1]`` have their numbers still, in steps of -1.
    """
    return type(index).__name__ == "RangeIndex" and index.step == 1


def _texts(index: Any) -> list[str]:
    whole = [int(x) if isinstance(x, float) and x.is_integer() else x for x in index]
    return [str(x) for x in whole]
