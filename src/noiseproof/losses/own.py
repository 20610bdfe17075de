"""A loss of the user's own Python file or module, named as ``mine.py:Loss``."""

import ast
import hashlib
import importlib
import inspect
import io
import pickle
import sys
import tokenize
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from noiseproof import kernels
from noiseproof.errors import NoiseproofError, ParameterError, did_you_mean
from noiseproof.files import check_plain
from noiseproof.losses.base import Loss, registry
from noiseproof.losses.expression import loss
from noiseproof.losses.negative import seed_draws

#: Letters of a file's SHA-256 in the name of a loss that is recorded.
MARK = 8

_loaded: dict[str, "LossFile"] = {}
#: The modules that a file imported when it was run, by its name as a module.
_brought: dict[str, set[str]] = {}


@dataclass(frozen=True)
class LossFile:
    """A Python file with losses, as text: it travels to other processes and machines.

    Args:
        path: where it was, for messages and for what it imports from its own folder.
        text: what was in it.
    """

    path: str
    text: str

    @property
    def digest(self) -> str:
        """The first letters of its SHA-256."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:MARK]

    def load(self) -> ModuleType:
        """Run it, once a process, and return it as a module."""
        name = f"{Path(self.path).stem}_{self.digest}"
        if name in sys.modules:
            return sys.modules[name]
        module, before = ModuleType(name), set(sys.modules)
        module.__file__ = self.path
        sys.modules[name] = module  # dataclasses look their module up
        try:
            with _importing(self.path, Path(self.path).resolve().parent):
                exec(compile(self.text, self.path, "exec"), module.__dict__)
        except BaseException:
            del sys.modules[name]
            raise
        _brought[name] = set(sys.modules) - before
        return module

    def record(self) -> ModuleType:
        """Run it, and spell its losses with the digest, as in ``Mine_3f2a90c1(a=2)``.

        So what is measured with a loss is measured again when the file changes.
        """
        module = self.load()
        defined = [*vars(module).values(), *registry.values()]  # at its top, or in a function
        for kind in defined:
            if isinstance(kind, type) and issubclass(kind, Loss) and _is_own(kind, module):
                kind.text_name = f"{kind.__name__}_{self.digest}"
                registry[kind.text_name] = kind
        _loaded[self.digest] = self
        return module


def loss_files() -> tuple[LossFile, ...]:
    """Return the files whose losses are recorded in this process."""
    return tuple(_loaded.values())


def named_loss(text: str) -> Loss:
    """Return a loss written as text, or as ``module:text`` or ``path/to/file.py:text``.

    A module or file is imported, which runs its code. What follows the colon is the name of a loss
    in it, of a class of losses, or an expression that may use those that it registers.
    """
    where, what = _parts(text)
    if not where:
        return loss(text)
    module = _file(where).load() if _is_file(where) else _imported(where)
    with errors_of_its_own(text):
        return _found(what, module, where)


def recorded_loss(text: str) -> Loss:
    """Return a loss as :func:`named_loss` does, for records: spelled with its file's digest."""
    where, what = _parts(text)
    if not where:
        return loss(text)
    if not _is_file(where):
        raise ParameterError(
            f"{where} is no file: name the loss as in mine.py:Loss, for its code to be recorded"
        )
    file = _file(where)
    module = file.record()
    if neighbour := _neighbour(file, module):
        raise ParameterError(
            f"{where} imports {neighbour} from its own folder: put that code into the file, for it "
            "to be recorded"
        )
    with errors_of_its_own(text):
        found = _found(what, module, where)
    for part in found.modules():
        if _is_loss(part) and not (_is_own(type(part), module) or _is_shipped(type(part))):
            raise ParameterError(
                f"{where}: {type(part).__name__} is of {type(part).__module__}: "
                "put its code into the file, for it to be recorded"
            )
    _check_text(found, text)
    return found


def is_shipped(loss: Loss) -> bool:
    """Return whether a loss is made of losses of this package alone."""
    return all(_is_shipped(type(part)) for part in loss.modules() if isinstance(part, Loss))


def _check_text(found: Loss, text: str) -> None:
    """Raise ParameterError where a record's text, which is run, would be another loss."""
    if found.learns:
        raise ParameterError(
            f"{text} has parameters to be learnt, and only the network's are trained: make them "
            "numbers, as in a: float = nf.parameter(default=1)"
        )
    for part in found.modules():
        if isinstance(part, Loss) and part.options_changed:
            option = next(iter(part.options_changed))
            raise ParameterError(
                f"{text} sets {option}, which is no part of a recorded loss: leave it out, or "
                "write it into the formula"
            )
    with errors_of_its_own(text):
        if not is_same(found, loss(str(found))):
            raise ParameterError(
                f"{text} is not the loss that its text {str(found)!r} builds: what changes it "
                "has to be a parameter, as in a: float = nf.parameter(default=1)"
            )
        if not _is_repeatable(found):
            raise ParameterError(
                f"{text} gives other values when it is called again, or counts its calls, so its "
                "record could not be repeated: a loss that draws has random = True and draws by "
                "self.generator"
            )


def is_same(one: Loss, other: Loss) -> bool:
    """Return whether two losses have the same values."""
    values = []
    for each in (one, other):
        with kernels.made_on_cpu(), torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(0)
            logits = torch.linspace(-4, 3, 12, dtype=torch.float64).reshape(3, 4)
            values.append(each.class_rows(logits))
    return torch.equal(*(value.nan_to_num() for value in values))


def _is_repeatable(found: Loss) -> bool:
    """Return whether a loss is the same in every call, whatever was drawn or counted before."""
    values, kept = [], []
    with kernels.made_on_cpu(), torch.random.fork_rng(devices=[]), torch.no_grad():
        logits = torch.linspace(-4, 3, 12, dtype=torch.float64).reshape(3, 4)
        for _ in range(2):
            seed_draws(found, torch.Generator().manual_seed(0))
            values.append(found(logits, torch.arange(3)))
            kept.append(_kept(found))
        seed_draws(found, None)
    return torch.equal(*(value.nan_to_num() for value in values)) and kept[0] == kept[1]


def _kept(found: Loss) -> list[bytes]:
    """Return what a loss remembers, itself, in its class or in its file: a count, say.

    What it counts may matter much later. Equal calls leave equal results and caches behind.
    """
    own = [part for part in found.modules() if _is_loss(part)]
    places = [vars(part) for part in own]
    places += [vars(place) for part in own for place in (type(part), sys.modules[part.__module__])]
    written = []
    for value in (value for place in places for value in place.values()):
        with suppress(Exception):  # a module, a function inside a function: nothing that counts
            _Numbers(buffer := io.BytesIO()).dump(value)
            written.append(buffer.getvalue())
    return written


class _Numbers(pickle.Pickler):
    """Writes tensors as their numbers alone, and the source of our own draws as nothing."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return bytes, (value.detach().cpu().numpy().tobytes(),)
        return (bytes, ()) if isinstance(value, torch.Generator) else NotImplemented


def _neighbour(file: LossFile, module: ModuleType) -> str | None:
    """Return a module of the file's own folder that its code imports anywhere, or has imported."""
    folder = Path(file.path).parent
    for name in sorted(_brought.get(module.__name__, ())):
        if "." not in name and name != module.__name__ and _is_in(folder, name):
            return name
    for node in ast.walk(ast.parse(file.text)):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in (name.partition(".")[0] for name in names):
            if name not in ("", "noiseproof") and _is_in(folder, name):
                return name
    return None


def _is_in(folder: Path, name: str) -> bool:
    spec = PathFinder.find_spec(name, [str(folder), *sys.path])
    places = [folder / f"{name}.py", folder / name / "__init__.py", folder / name]
    found = [spec.origin, *(spec.submodule_search_locations or ())] if spec else []
    return any(place and Path(place) in places for place in found)


@contextmanager
def errors_of_its_own(text: str) -> Iterator[None]:
    """Raise what the code of a user's own loss raises as one line."""
    try:
        yield
    except (NoiseproofError, OSError):
        raise
    except (Exception, SystemExit) as error:
        if ":" not in text:
            raise  # not a loss of the user's
        raise ParameterError(f"{text}: {type(error).__name__}: {error}") from error


def _parts(text: str) -> tuple[str, str]:
    """Split ``file.py:Loss``; the first part of plain text is empty."""
    where, colon, what = text.rpartition(":")
    if not colon and text.strip().endswith(".py"):
        raise ParameterError(f"{text}: which of its losses? Write {text.strip()}:Loss")
    if not colon:
        return "", text
    if not where or not what.strip():
        raise ParameterError(f"{text!r}: expected module:Loss or path/to/file.py:Loss")
    return where, what.strip()


def _is_file(where: str) -> bool:
    return Path(where).suffix == ".py" or Path(where).exists()


def _file(where: str) -> LossFile:
    path = Path(where)
    check_plain(path)
    try:
        with tokenize.open(path) as file:  # in the encoding that it declares, as Python reads it
            return LossFile(str(path.resolve()), file.read())
    except (UnicodeDecodeError, SyntaxError):
        raise ParameterError(f"{where} is not a Python file") from None
    except OSError as error:
        raise ParameterError(f"{where}: {(error.strerror or str(error)).lower()}") from None


def _imported(where: str) -> ModuleType:
    with _importing(where, Path.cwd()):  # as `python -m` does for a module
        return importlib.import_module(where)


@contextmanager
def _importing(where: str, folder: Path) -> Iterator[None]:
    """Let code import from its folder, as a script may, and raise what it raises as one line."""
    sys.path.insert(0, str(folder))
    try:
        yield
    except NoiseproofError:
        raise
    except (Exception, SystemExit) as error:
        said = " ".join(str(error).split())
        raise ParameterError(
            f"{where} cannot be imported: {type(error).__name__}: {said}"
        ) from None
    finally:
        sys.path.remove(str(folder))


def _found(what: str, module: ModuleType, where: str) -> Loss:
    """Return the loss that a module calls ``what``, or the expression."""
    if not what.isidentifier():
        return loss(what)
    found = getattr(module, what, None)
    if isinstance(found, Loss):
        return found
    if isinstance(found, type) and issubclass(found, Loss):
        return _built(found, where)
    if found is not None:
        kind = "a torch module" if hasattr(found, "forward") else f"{type(found).__name__}"
        raise ParameterError(
            f"{where}:{what} is {kind}, not a noiseproof loss: derive it from nf.Pointwise, "
            "nf.RowLoss or nf.Loss"
        )
    losses = [name for name, value in vars(module).items() if _is_loss(value)]
    hint = did_you_mean(what, losses) if losses else "; it has no losses"
    raise ParameterError(f"{where} has no {what!r}{hint}")


def _built(kind: type[Loss], where: str) -> Loss:
    try:
        inspect.signature(kind.__init__).bind(None)
    except TypeError:
        name, needed = kind.__name__, ", ".join(f"{p}=..." for p in kind.domains())
        raise ParameterError(f"{name} needs parameters: {where}:'{name}({needed})'") from None
    return kind()


def _is_loss(value: Any) -> bool:
    if isinstance(value, type):
        return issubclass(value, Loss) and not _is_shipped(value)
    return isinstance(value, Loss)


def _is_shipped(kind: type) -> bool:
    return kind.__module__.startswith("noiseproof.")


def _is_own(kind: type, module: ModuleType) -> bool:
    return kind.__module__ == module.__name__
