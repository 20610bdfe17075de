"""Every command, and typer's own complaints as ours."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import typer.main

from noiseproof.cli import (  # noqa: F401  (each module adds its commands to the app)
    bench,
    bench_leaderboard,
    bench_report,
    bench_store,
    bench_table,
    cache,
    clean,
    experiment,
    figure,
    fit,
    predict,
    recommend,
    theory,
)
from noiseproof.cli.app import app, warn
from noiseproof.errors import DataWarning, ParameterError

#: Built once: whoever calls :func:`run` again, as the tests do, need not wait for it again.
_COMMAND = typer.main.get_command(app)


def run(arguments: list[str] | None = None) -> int:
    """Parse the arguments (of the process if None), run the command, and return its exit code."""
    _refuse_empty(sys.argv[1:] if arguments is None else arguments)
    try:
        with _warnings_in_a_line():
            code = _COMMAND(arguments, standalone_mode=False)
    except typer.Exit as stop:
        code = stop.exit_code
    except typer.TyperException as error:
        raise ParameterError(error.format_message()) from error
    except typer.Abort:
        raise KeyboardInterrupt from None
    return code if isinstance(code, int) else 0


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Print warnings about data as other lines are, whether or not the user wants quiet."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def shown(message: Any, category: type[Warning], *where: Any) -> None:
            if issubclass(category, DataWarning):
                warn(message, "warning")
            else:
                show(message, category, *where)

        warnings.simplefilter("always", DataWarning)
        warnings.showwarning = shown  # type: ignore[assignment]
        yield


def _refuse_empty(arguments: list[str]) -> None:
    """Refuse an empty argument: a path would silently stand for the working directory."""
    for before, one in pairwise(("", *arguments)):
        option, equals, value = one.partition("=")
        if not one.strip():
            raise ParameterError(f"the argument after {before or 'noiseproof'} is empty")
        if one.startswith("--") and equals and not value.strip():
            raise ParameterError(f"the argument after {option} is empty")
