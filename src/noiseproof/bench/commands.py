"""The commands that the program tells its user to type: each is built here and nowhere else."""

import shlex
from pathlib import Path

from noiseproof.bench.selection import WHOLE, Selection


def bench_command(
    verb: str,
    *names: str,
    store: Path | str,
    selection: Selection = WHOLE,
    options: tuple[str, ...] = (),
) -> str:
    """Return a bench command as one types it into a shell.

    Args:
        verb: ``"run"``, ``"table"``, ``"report"`` ...
        names: grids, by name or file.
        store: where the records are.
        selection: the part of the grids.
        options: more of them, at the end.

    >>> bench_command("run", "digits-symmetric", store="my runs", selection=Selection(seeds=1))
    "noiseproof bench run digits-symmetric --seeds 1 --store 'my runs'"
    """
    words = ["noiseproof", "bench", verb, *names, *selection.options]
    return shlex.join([*words, "--store", str(store), *options])
