"""Reading grids from TOML files: the paper's, in ``grids/``, and the user's own."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from noiseproof.bench.advised import RECOMMEND
from noiseproof.bench.grid import Grid, Row
from noiseproof.bench.source import LABEL
from noiseproof.errors import DataError, NoiseproofError, ParameterError, did_you_mean
from noiseproof.files import check_plain
from noiseproof.known import KNOWN
from noiseproof.losses import loss as read_loss
from noiseproof.noise import parse
from noiseproof.paper.parameters import DATASETS as TABLES
from noiseproof.tables.read import table_suffix
from noiseproof.train import Recipe
from noiseproof.train.method import make_method
from noiseproof.train.recipe import METHODS
from noiseproof.train.recipes import FROZEN

FIELDS = (
    "title", "dataset", "label", "encoder", "head", "recipe", "paper", "noises", "seeds", "rows",
    "trials", "overrides",
)  # fmt: skip
#: A name for all the grids that begin with it.
LEADERBOARD = "leaderboard"
#: Letters of a line of a file: a key is in one line, and tomllib takes the square of the number of
#: its parts in time, as in a.b.c = 1.
LONGEST = 12_000
_NEEDED = ("dataset", "noises", "rows")
_WORDS: dict[type, str] = {str: "a text", list: "a list"}
_ITEMS: dict[str, tuple[type, ...]] = {
    "hidden": (int,), "mean": (int, float), "std": (int, float), "augment": (str,)
}  # fmt: skip


def grid_names() -> tuple[str, ...]:
    """Return the names of the grids that come with the package.

    >>> "mnist-symmetric" in grid_names()
    True
    """
    folder = files("noiseproof.bench") / "grids"
    return tuple(sorted(f.name[:-5] for f in folder.iterdir() if f.name.endswith(".toml")))


def expand(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of grids, each once, with the leaderboard's in place of its own name.

    >>> expand(["leaderboard", "digits-symmetric"])[-2:]
    ('leaderboard-mnist', 'digits-symmetric')
    """
    every = tuple(name for name in grid_names() if name.startswith(f"{LEADERBOARD}-"))
    found = (every if name == LEADERBOARD else (name,) for name in names)
    return tuple(dict.fromkeys(name for several in found for name in several))


def load_grid(name: str | Path) -> Grid:
    """Return a grid by its name, or from the user's own TOML file.

    >>> grid = load_grid("mnist-symmetric")
    >>> len(grid.rows), grid.noises, grid.seeds
    (14, ('none', 'symmetric:0.2', 'symmetric:0.4', 'symmetric:0.6', 'symmetric:0.8'), (1, 2, 3))
    """
    if isinstance(name, str) and name in grid_names():
        text = (files("noiseproof.bench") / "grids" / f"{name}.toml").read_text("utf-8")
        return _read(text, name, Path())
    path = Path(name)
    if path.suffix != ".toml":
        hint = did_you_mean(str(name), grid_names())
        raise ParameterError(f"unknown grid {str(name)!r}{hint}; a file of your own ends in .toml")
    check_plain(path)
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise DataError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except UnicodeDecodeError:
        raise DataError(f"{path}: not a text file") from None
    if any(len(line) > LONGEST for line in text.split("\n")):
        raise ParameterError(f"{path}: a line of more than {LONGEST:,} letters; divide it")
    try:
        return _read(text, path.stem, path.parent)
    except RecursionError:
        raise ParameterError(f"{path}: brackets in brackets, too many to read") from None
    except (NoiseproofError, ValueError) as error:  # tomllib's own, or a number of 5,000 digits
        raise ParameterError(f"{path}: {error}") from None


def _read(text: str, name: str, folder: Path) -> Grid:
    values = tomllib.loads(text)
    for field in values:
        if field not in FIELDS:
            raise ParameterError(f"a grid has no {field!r}{did_you_mean(field, FIELDS)}")
    for field in _NEEDED:
        if not values.get(field):
            raise ParameterError(f"a grid needs {field!r}")
    for field in ("title", "dataset", "encoder", "head", "recipe", "paper"):
        _check(isinstance(values.get(field, ""), str), field, "a text", values)
    dataset = _dataset(values["dataset"], folder)
    grid = Grid(
        name=name,
        title=values.get("title", name),
        dataset=dataset,
        recipe=values.get("recipe", ""),
        rows=_rows(values["rows"]),
        noises=_noises(values, folder),
        seeds=_seeds(values),
        paper=_paper(values, dataset),
        overrides=_overrides(values),
        label=_label(values, dataset),
        encoder=_encoder(values.get("encoder", ""), folder),
        head=_head(values),
        trials=_trials(values),
    )
    _read_data(grid)
    with _about("recipe with overrides" if grid.overrides else "recipe"):
        for row in grid.rows:
            grid.recipe_of(row)
    with _about("noises"):
        for noise in grid.noises:
            parse(noise, grid.source.classes, grid.source.name)
    return grid


@contextmanager
def _about(field: str) -> Iterator[None]:
    """Let an error begin with the field or the row that it is about."""
    try:
        yield
    except NoiseproofError as error:
        raise ParameterError(f"{field}: {error}") from None


def _check(holds: bool, field: str, expected: str, values: Mapping[str, Any]) -> None:
    if not holds:
        raise ParameterError(f"expected {field} to be {expected}, got {values[field]!r}")


def _dataset(text: str, folder: Path) -> str:
    """Return a known name, or the path relative to the file that names it."""
    path = folder / text
    if text in KNOWN or (not path.exists() and text == path.stem):
        return text
    return str(path if str(path) not in KNOWN else path.absolute())  # a folder ./mnist


def _label(values: Mapping[str, Any], dataset: str) -> str:
    label = values.get("label", LABEL)
    _check(isinstance(label, str) and bool(label), "label", "the name of a column", values)
    if "label" in values and table_suffix(Path(dataset)) is None:
        raise ParameterError(
            f"label = {label!r} is for a table, such as a .csv, and dataset = {dataset!r} is none"
        )
    return str(label)


def _paper(values: Mapping[str, Any], dataset: str) -> str:
    """Return the paper's table, which must be of the same data to be compared."""
    paper: str = values.get("paper", "")
    if paper and paper not in TABLES:
        raise ParameterError(f"the paper has no table {paper!r}{did_you_mean(paper, TABLES)}")
    if paper and paper != (KNOWN[dataset].paper if dataset in KNOWN else ""):
        raise ParameterError(f"paper = {paper!r}: its numbers are not of {dataset}")
    return paper


def _read_data(grid: Grid) -> None:
    """Read the user's own data; an error names the fields of the file that point to it."""
    try:
        grid.source  # noqa: B018 -- read and kept
    except DataError as error:
        table = table_suffix(Path(grid.dataset)) is not None
        field = f"dataset with label = {grid.label!r}" if table else "dataset"
        if grid.encoder:
            field += f" and encoder = {grid.encoder!r}"
        raise ParameterError(f"{field}: {error}") from None


def _noises(values: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    noises = values["noises"]
    is_list = isinstance(noises, list) and all(isinstance(noise, str) for noise in noises)
    _check(is_list, "noises", "a list of texts", values)
    texts = []
    for noise in noises:
        kind, _, rest = noise.partition(":")
        texts.append(f"matrix:{folder / rest}" if kind == "matrix" and rest else noise)
    with _about("noises"):
        return tuple(dict.fromkeys(str(parse(text)) for text in texts))


def _seeds(values: Mapping[str, Any]) -> tuple[int, ...]:
    seeds = values.get("seeds", [1, 2, 3])
    whole = isinstance(seeds, list) and all(type(seed) is int and seed >= 0 for seed in seeds)
    _check(whole and bool(seeds), "seeds", "a list of whole numbers", values)
    return tuple(dict.fromkeys(seeds))


def _overrides(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields of a recipe, each checked for its type."""
    overrides = values.get("overrides", {})
    _check(isinstance(overrides, dict), "overrides", "a table", values)
    found = {k: tuple(v) if isinstance(v, list) else v for k, v in overrides.items()}
    like = Recipe(network="linear", epochs=1, held_out=1).to_dict()
    for name, value in overrides.items():
        kind = type(like.get(name, value))
        right = type(value) in ((int, float) if kind is float else (kind,))
        _check(right, name, _WORDS.get(kind, f"of type {kind.__name__}"), overrides)
        if name in _ITEMS:
            items = all(type(item) in _ITEMS[name] for item in value)
            _check(items, name, "a list of numbers" if name != "augment" else "texts", overrides)
    return found


def _encoder(text: str, folder: Path) -> str:
    """Return a name, or the path relative to the file that names it."""
    return str(folder / text) if text and (folder / text).exists() else text


def _head(values: Mapping[str, Any]) -> str:
    """Return what is trained on an encoder's features."""
    head: str = values.get("head", "linear")
    if "head" in values and not values.get("encoder"):
        raise ParameterError(f"head = {head!r} needs an encoder to be the head of")
    if head not in FROZEN:
        raise ParameterError(f"unknown head {head!r}{did_you_mean(head, FROZEN)}")
    return head


def _trials(values: Mapping[str, Any]) -> int:
    """Return how often each row is tried."""
    trials = values.get("trials", 0)
    whole = type(trials) is int and trials >= 1
    _check("trials" not in values or whole, "trials", "a whole number from 1", values)
    if trials and not values.get("overrides", {}).get("held_out"):
        raise ParameterError(f"trials = {trials} needs held_out in overrides, to choose by")
    return int(trials)


def _rows(rows: Any) -> tuple[Row, ...]:
    if not isinstance(rows, dict):
        raise ParameterError(f"expected rows to be a table of names and losses, got {rows!r}")
    return tuple(_row(name, value) for name, value in rows.items())


def _row(name: str, value: Any) -> Row:
    fields = {"loss": value} if isinstance(value, str) else value
    if not isinstance(fields, dict) or not isinstance(fields.get("loss"), str):
        raise ParameterError(f"row {name!r}: expected a loss, got {value!r}")
    if unknown := set(fields) - {"loss", "method"}:
        raise ParameterError(f"row {name!r} has no {min(unknown)!r}; known: loss, method")
    if not name.strip():
        raise ParameterError(f"a row of loss {fields['loss']!r} has no name")
    method = fields.get("method", "loss")
    if method not in METHODS:
        raise ParameterError(
            f"row {name!r}: expected method {' or '.join(METHODS)}, got {method!r}"
        )
    if ":" in fields["loss"]:
        raise ParameterError(
            f"row {name!r}: a grid file runs no code; add the row by --add-loss "
            f'"{name}={fields["loss"]}"'
        )
    with _about(f"row {name!r}"):
        if fields["loss"] != RECOMMEND:
            make_method(method, read_loss(fields["loss"]), epochs=1)
        elif method != "loss":
            raise ParameterError(f"the method {method} has a loss of its own, not {RECOMMEND!r}")
    return Row(name, **fields)
