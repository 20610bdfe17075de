"""The options that commands share."""

from pathlib import Path
from typing import Annotated

import typer

#: More classes would take hours, or more memory than there is.
MOST_CLASSES = 100_000

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
SeedOption = Annotated[int, typer.Option(help="Seed of everything random.", min=0)]

QuietOption = Annotated[
    bool,
    typer.Option("--quiet", help="Print only the result, and warnings about doubtful results."),
]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace what an earlier run wrote.")]
ReplaceOption = Annotated[
    bool,
    typer.Option(
        "--force", help="Replace --out: any file, but a folder only if noiseproof wrote it."
    ),
]
EncodingOption = Annotated[
    str | None, typer.Option(help="Encoding of a text file, such as cp1252 (default: UTF-8).")
]
EmbeddingsOption = Annotated[
    Path | None,
    typer.Option(
        help="Use these features instead: an .npy, or X in an .npz, one row per row of the file."
    ),
]
StrictOption = Annotated[
    bool,
    typer.Option("--strict", help="Fail, and write nothing, if columns differ from the fit's."),
]
