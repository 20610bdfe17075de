"""File names as text: what is not UTF-8 in them is shown, and never breaks what is written."""

import os
from pathlib import Path


def shown(name: str | Path) -> str:
    r"""Return a file name as text that can be written anywhere.

    File names are bytes. Python keeps those that are not UTF-8 as lone surrogates, which neither
    JSON, HTML, Parquet nor a terminal takes.

    >>> shown(os.fsdecode(b"caf\xe9.png"))
    'caf\\xe9.png'
    """
    return os.fsencode(name).decode("utf-8", "backslashreplace")
