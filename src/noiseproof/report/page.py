"""A page: one HTML file that needs no network and no other file."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from noiseproof import files
from noiseproof.errors import ParameterError
from noiseproof.shown import printable

KINDS = (".html", ".htm")
#: Lone surrogates, control characters, and the signs that turn the direction of writing.
SHOWN = re.compile("[\ud800-\udfff\0-\b\v\f\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates", encoding="utf-8"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_OPTION = re.compile(r"--[a-z][a-z-]{1,30}")


def unbroken(text: str) -> Markup:
    """Return a text in which no line ends within an option, as browsers break after a hyphen.

    >>> unbroken("give <more> rows as --test")
    Markup('give &lt;more&gt; rows as <span class="option">--test</span>')
    """
    return Markup(_OPTION.sub(r'<span class="option">\g<0></span>', str(escape(text))))


_ENVIRONMENT.filters["unbroken"] = unbroken


def render(template_name: str, **values: Any) -> str:
    """Return the text of a page; values are escaped unless they are ``Markup``.

    Bytes of a file name that are not UTF-8 are shown as on a terminal, such as ``\\xe9``, and so
    are control characters, and signs that turn the direction of writing: after such a name, numbers
    would read backwards.

    A template extends ``base.html.j2``, which has the looks (light, dark, print, phone) and the
    script that shows the values of a chart.

    Args:
        template_name: a file of ``report/templates``.
        values: what the template asks for; a missing one is an error.
    """
    text = _ENVIRONMENT.get_template(template_name).render(**values)
    return SHOWN.sub(lambda found: printable(found[0]), text)


def check(path: Path, inputs: Iterable[str | Path] = ()) -> None:
    """Raise ParameterError where no page can be written; ask before the work, not after it.

    Args:
        path: the page.
        inputs: files and folders that are read for it; none of them is ever replaced.
    """
    if path.suffix.lower() not in KINDS:
        raise ParameterError(f"cannot write {path.name!r}: expected a name ending .html")
    files.check_file(path, force=True, inputs=inputs)


def write(path: Path, text: str) -> None:
    """Write a page whole or not at all."""
    check(path)
    files.write(path, text)
