"""A loss of the user's own file or module, named on the command line."""

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from noiseproof.errors import NoiseproofError, ParameterError, did_you_mean
from noiseproof.losses import Loss, loss


def named_loss(text: str) -> Loss:
    """Return a loss written as text, or as ``module:text`` or ``path/to/file.py:text``.

    A module or file is imported, which runs its code. What follows the colon is the name of a loss
    in it, of a class of losses, or an expression that may use those that it registers.
    """
    where, colon, what = text.rpartition(":")
    if not colon:
        return loss(text)
    if not where or not what.strip():
        raise ParameterError(f"{text!r}: expected module:Loss or path/to/file.py:Loss")
    module, what = _imported(where), what.strip()
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


@contextmanager
def errors_of_its_own(text: str) -> Iterator[None]:
    """Raise what the code of a user's own loss raises as one line."""
    try:
        yield
    except NoiseproofError:
        raise
    except Exception as error:
        if ":" not in text:
            raise  # not a loss of the user's
        raise ParameterError(f"{text}: {type(error).__name__}: {error}") from error


def _built(kind: type[Loss], where: str) -> Loss:
    try:
        return kind()
    except TypeError:
        name, needed = kind.__name__, ", ".join(f"{p}=..." for p in kind.domains())
        raise ParameterError(f"{name} needs parameters: {where}:'{name}({needed})'") from None


def _is_loss(value: Any) -> bool:
    if isinstance(value, type):
        return issubclass(value, Loss) and not value.__module__.startswith("noiseproof.")
    return isinstance(value, Loss)


def _imported(where: str) -> ModuleType:
    path = Path(where)
    is_file = path.suffix == ".py" or path.exists()
    if is_file and not path.is_file():
        raise ParameterError(f"{where}: no such file")
    # As Python does for a script, and `python -m` for a module.
    folder = str(path.resolve().parent if is_file else Path.cwd())
    sys.path.insert(0, folder)
    try:
        if not is_file:
            return importlib.import_module(where)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        if spec is None or spec.loader is None:
            raise ParameterError(f"{where} is not a Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(path.stem, module)  # dataclasses look their module up
        spec.loader.exec_module(module)
        return module
    except NoiseproofError:
        raise
    except (Exception, SystemExit) as error:
        said = " ".join(str(error).split())
        raise ParameterError(
            f"{where} cannot be imported: {type(error).__name__}: {said}"
        ) from None
    finally:
        sys.path.remove(folder)
