"""Commands for a store as a whole: bench verify, pack, unpack."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from noiseproof.cli.app import print_json, show, warn
from noiseproof.cli.bench import StoreOption, check_there, group
from noiseproof.cli.options import JsonOption
from noiseproof.cli.selecting import AddLossOption
from noiseproof.errors import DataError, ParameterError


@group.command("verify", short_help="Check every record of a store.")
def verify(store: StoreOption = Path("runs"), as_json: JsonOption = False) -> None:
    """Check every record of a store: its fields, its hashes, its data, and that none disagree.

    Example: noiseproof bench verify --store results
    """
    from noiseproof.bench.words import count
    from noiseproof.results import Store
    from noiseproof.results.verify import verify_store

    check_there(store)
    found = verify_store(Store(store))
    if as_json:
        print_json(asdict(found))
    else:
        verified = f"{store}: {count(found.records, 'record')} verified"
        show(*found.problems, verified)
    if found.problems:
        raise DataError(f"{store}: {count(len(found.problems), 'problem')}")


@group.command("pack", short_help="Pack the records of each grid into one file.")
def pack(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME", help="Grids, or your own TOML files.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for the packed files, one for each grid.")],
    store: StoreOption = Path("runs"),
    force: Annotated[bool, typer.Option("--force", help="Replace packed files.")] = False,
    add_loss: AddLossOption = None,
) -> None:
    """Pack the records of each grid into one compressed file, to publish or to keep.

    Every bench command reads packed files as it reads single records. Rows that were added by
    --add-loss are packed if they are added here too.

    Example: noiseproof bench pack digits-symmetric --store runs --out results
    """
    from noiseproof.bench.packing import pack_grid
    from noiseproof.bench.selection import Selection
    from noiseproof.bench.words import count, doubled
    from noiseproof.results import Store

    check_there(store)
    grids = list(Selection.read(add_loss).grids(names).values())
    if name := doubled(grid.name for grid in grids):
        raise ParameterError(f"two grids are called {name!r}: give each file a name of its own")
    kept = Store(store)
    inside, others = set[str](), set[str]()
    for grid in grids:
        try:
            packed = pack_grid(grid, kept, out, force)
        finally:
            for line in kept.damaged:
                warn(line)
        inside |= packed.inside
        others |= packed.others
        size = f"{packed.path.stat().st_size / 1000:,.0f} kB"
        show(f"wrote {packed.path}: {count(len(packed.inside), 'record')}, {size}")
    if left := others - inside:
        show(f"{count(len(left), 'other record')} of {store} not packed: of other grids or rows")


@group.command("unpack", short_help="Write packed records into one file each.")
def unpack(
    out: Annotated[Path, typer.Option(help="Folder for the records, one file each.")],
    store: StoreOption = Path("runs"),
) -> None:
    """Write packed records into one file each, byte for byte as their runs wrote them.

    Example: noiseproof bench unpack --store results --out runs
    """
    from noiseproof.bench.packing import unpack_store
    from noiseproof.bench.words import count
    from noiseproof.results import Store

    check_there(store)
    kept = Store(store)
    written, there = unpack_store(kept, out)
    for line in kept.damaged:
        warn(line)
    if not written + there:
        raise DataError(f"{store}: no record to unpack")
    more = f", {there} were there already" if there else ""
    show(f"wrote {count(written, 'record')} to {out}{more}")
