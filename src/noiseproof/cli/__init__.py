"""The command line: parse, call, print. What it prints is made elsewhere."""

import sys

import typer

from noiseproof.cli import (  # noqa: F401  (each module adds its commands to the app)
    bench,
    bench_report,
    bench_table,
    experiment,
    figure,
    fit,
    recommend,
    theory,
)
from noiseproof.cli.app import app
from noiseproof.errors import NoiseproofError

__all__ = ["app", "main"]

INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 on success, 2 for a user's mistake with one line of why."""
    try:
        code = app(arguments, standalone_mode=False)
    except typer.Exit as stop:
        code = stop.exit_code
    except typer.TyperException as error:
        return _complain(error.format_message())
    except NoiseproofError as error:
        return _complain(str(error))
    except OSError as error:
        return _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except MemoryError as error:
        return _complain(f"not enough memory ({error or 'nothing is left'})")
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:
        print("noiseproof: interrupted", file=sys.stderr)
    return code if isinstance(code, int) else 0


def _complain(message: str) -> int:
    print(f"noiseproof: {' '.join(message.split())}", file=sys.stderr)
    return 2
