"""Losses of a module whose annotations are text, as many users' modules are.

They are registered by the tests that use them, not by whoever imports this file.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from torch import Tensor

import noiseproof as nf


class Annotated(nf.Pointwise, register=False):
    power: float = nf.parameter(default=2.0, above=0)
    half: bool = nf.parameter(default=False)

    bounded: ClassVar[bool] = True

    def value(self, log_u: Tensor) -> Tensor:
        return torch.expm1(log_u).neg() ** self.power * (0.5 if self.half else 1)


class Wrapped(nf.Loss, register=False):
    base: nf.Pointwise = nf.parameter()

    def per_class(self, log_p: Tensor) -> Tensor:
        return self.base.per_class(log_p)
