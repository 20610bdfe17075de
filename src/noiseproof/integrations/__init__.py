"""One file for each tool around: scikit-learn, LightGBM and XGBoost, transformers, skorch.

``boosting``, ``transformers`` and ``skorch`` import none of these libraries.
"""

from importlib import import_module
from typing import Any

_FILES = ("boosting", "skorch", "sklearn", "transformers")


def __getattr__(name: str) -> Any:
    if name in _FILES:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_FILES})
