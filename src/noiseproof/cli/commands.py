"""Every command, and typer's own complaints as ours."""

import typer.main

from noiseproof.cli import (  # noqa: F401  (each module adds its commands to the app)
    bench,
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
from noiseproof.cli.app import app
from noiseproof.errors import ParameterError

#: Built once: whoever calls :func:`run` again, as the tests do, need not wait for it again.
_COMMAND = typer.main.get_command(app)


def run(arguments: list[str] | None = None) -> int:
    """Parse the arguments (of the process if None), run the command, and return its exit code."""
    try:
        code = _COMMAND(arguments, standalone_mode=False)
    except typer.Exit as stop:
        code = stop.exit_code
    except typer.TyperException as error:
        raise ParameterError(error.format_message()) from error
    except typer.Abort:
        raise KeyboardInterrupt from None
    return code if isinstance(code, int) else 0
