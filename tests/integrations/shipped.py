"""The examples that the project ships, as modules, and rows to train them on."""

import importlib.util
from pathlib import Path

import torch

EXAMPLES = Path(__file__).parents[2] / "examples"
LOSS = "NCE + 4*AGCE(a=6, q=1.5)"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(count=64, features=4, classes=3):
    torch.manual_seed(0)
    x = torch.randn(count, features)
    return x, x[:, :classes].argmax(1)
