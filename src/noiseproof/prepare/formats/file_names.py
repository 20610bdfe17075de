"""File names as text: what is not UTF-8 in them is shown, and never breaks what is written."""

import os
import re
from pathlib import Path


def shown(name: str | Path) -> str:
    r"""Return a file name as text that can be written anywhere.

    File names are bytes. Python keeps those that are not UTF-8 as lone surrogates, which neither
    JSON, HTML, Parquet nor a terminal takes.

    >>> shown(os.fsdecode(b"caf\xe9.png"))
    'caf\\xe9.png'

    Two names are never shown as one:

    >>> shown(r"caf\xe9.png")
    'caf\\x5cxe9.png'
    """
    escaped = re.sub(rb"\\(?=x[0-9a-f]{2})", rb"\\x5c", os.fsencode(name))
    return escaped.decode("utf-8", "backslashreplace")
