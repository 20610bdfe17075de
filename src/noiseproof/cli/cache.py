"""The command that shows and clears the cache of embeddings."""

from dataclasses import asdict
from typing import Annotated

import typer

from noiseproof.cli.app import app, print_json, show
from noiseproof.cli.options import JsonOption

MEGA = 10**6


@app.command(short_help="Show or clear cached embeddings.")
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove all embeddings.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show how many embeddings of pictures and texts are kept, by encoder, or remove them.

    NOISEPROOF_CACHE moves the cache, NOISEPROOF_CACHE_LIMIT sets its limit in gigabytes.

    Example: noiseproof cache --clear
    """
    from noiseproof.encoders import cache as embeddings

    removed = embeddings.clear() if clear else 0
    held = embeddings.held()
    total, most = sum(one.bytes for one in held), embeddings.limit()
    folder = str(embeddings.root())
    if as_json:
        content = {
            "folder": folder, "bytes": total, "limit": most, "removed": removed,
            "encoders": [asdict(one) for one in held],
        }  # fmt: skip
        print_json(content)
        return
    if clear:
        show(f"removed {removed / MEGA:,.1f} MB")
    for one in held:
        line = f"{one.embeddings:>9,} {one.bytes / MEGA:>9,.1f} MB  {one.encoder} at {one.size}"
        show(line)
    show(f"{folder}: {total / MEGA:,.1f} MB of at most {most / MEGA:,.0f} MB")
