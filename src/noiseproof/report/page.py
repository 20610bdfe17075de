"""A page: one HTML file that needs no network and no other file."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from noiseproof import files
from noiseproof.errors import ParameterError

KINDS = (".html", ".htm")

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates", encoding="utf-8"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(template_name: str, **values: Any) -> str:
    """Return the text of a page; values are escaped unless they are ``Markup``.

    A template extends ``base.html.j2``, which has the looks (light, dark, print, phone) and the
    script that shows the values of a chart.

    Args:
        template_name: a file of ``report/templates``.
        values: what the template asks for; a missing one is an error.
    """
    return _ENVIRONMENT.get_template(template_name).render(**values)


def check(path: Path) -> None:
    """Raise ParameterError where no page can be written; ask before the work, not after it."""
    if path.suffix.lower() not in KINDS:
        raise ParameterError(f"cannot write {path.name!r}: expected a name ending .html")
    files.check_file(path, force=True)


def write(path: Path, text: str) -> None:
    """Write a page whole or not at all."""
    check(path)
    files.write(path, text)
