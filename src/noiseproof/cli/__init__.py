"""The command line: parse, call, print. What it prints is made elsewhere."""

import sys

from noiseproof.errors import NoiseproofError
from noiseproof.extras import need

INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 0 on success, 2 for a user's mistake with one line of why."""
    try:  # from here on: importing torch takes seconds in which a user may press Ctrl-C
        need("fit", "typer")
        from noiseproof.cli.commands import run

        code = run(arguments)
    except NoiseproofError as error:
        return _complain(str(error))
    except OSError as error:
        return _complain(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except MemoryError as error:
        return _complain(f"not enough memory ({error or 'nothing is left'})")
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:
        print("noiseproof: interrupted", file=sys.stderr)
    return code


def _complain(message: str) -> int:
    print(f"noiseproof: {' '.join(message.split())}", file=sys.stderr)
    return 2
