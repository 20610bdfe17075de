"""Names that come from data, as a terminal, JSON and a figure can show them."""

import json
from typing import Any


def printable(text: str) -> str:
    r"""Return a text with the control characters that came in from data escaped.

    Names of classes, columns and files may hold what clears a terminal or rewrites its lines. Bytes
    of a file name that are not UTF-8, which Python keeps as lone surrogates, are shown as bytes.

    >>> printable("caf\xe9 \x1b[2J\n"), printable("caf\udce9")
    ('caf\xe9 \\x1b[2J\\n', 'caf\\xe9')
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def drawable(text: str) -> str:
    r"""Return a name as matplotlib draws it: printable, no formula, and never hidden in a legend.

    >>> drawable("US$ $x$"), drawable("_background")
    ('US\\$ \\$x\\$', ' _background')
    """
    escaped = printable(text).replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def printable_json(content: Any) -> str:
    r"""Return JSON that is safe on a terminal: control characters of data are JSON's own escapes.

    >>> print(printable_json("caf\xe9 \x9b2J"))
    "café \u009b2J"
    """
    text = json.dumps(content, indent=1, ensure_ascii=False, default=str)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)


def _escape(letter: str) -> str:
    byte = ord(letter) - 0xDC00
    return f"\\x{byte:02x}" if 0x80 <= byte <= 0xFF else repr(letter)[1:-1]
