"""Packages that come with an extra, and the one line that says which."""

from importlib.util import find_spec

from noiseproof.errors import MissingExtraError


def missing(*modules: str) -> list[str]:
    """Return those of ``modules`` that are not installed; imports none of them.

    >>> missing("torch", "no_such_package")
    ['no_such_package']
    """
    return [module for module in modules if find_spec(module) is None]


def need(extra: str, *modules: str) -> None:
    """Raise one line with the pip command unless ``modules`` are installed.

    A file that imports a package of an extra calls this first, or its room's ``__init__`` does;
    a test compares these calls with the imports and with ``pyproject.toml``.

    Args:
        extra: the extra of noiseproof that installs them.
        modules: top-level modules, by the names they are imported under.

    >>> need("fit", "no_such_package")
    Traceback (most recent call last):
    noiseproof.errors.MissingExtraError: no_such_package is missing: pip install 'noiseproof[fit]'
    """
    if absent := missing(*modules):
        verb = "is" if len(absent) == 1 else "are"
        raise MissingExtraError(
            f"{', '.join(absent)} {verb} missing: pip install 'noiseproof[{extra}]'"
        )
