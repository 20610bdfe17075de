"""Every loss in its textbook form: softmax, one-hot, sum, and the formula as the papers print it.

Slow, plain and independent of the package: the tests compare values and gradients with it, the
benchmark compares speed with it. A formula is written for numbers of any kind: ``u`` may be a
tensor (with ``m=torch``) or an mpmath number (with ``m=mpmath``).
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor


def _focal(loss: Any, u: Any, m: Any) -> Any:
    weight = (1 - u) ** loss.gamma
    return -m.log(u) * (weight.detach() if loss.detach else weight)


def _clipped(loss: Any, u: Any, m: Any) -> Any:
    def tangent(u: Any) -> Any:
        return (
            -m.log(torch.tensor(loss.t, dtype=torch.float64) if m is torch else loss.t)
            + (loss.t - u) / loss.t
        )

    if m is torch:
        return torch.where(u >= loss.t, -torch.log(u), tangent(u))
    return -m.log(u) if u >= loss.t else tangent(u)


#: l(u) of each pointwise loss, by the name of its class.
FORMULAS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "CE": lambda loss, u, m: -m.log(u),
    "FL": _focal,
    "GCE": lambda loss, u, m: (1 - u**loss.q) / loss.q,
    "MAE": lambda loss, u, m: 2 - 2 * u,
    "RCE": lambda loss, u, m: -loss.A * (1 - u),
    "SCE": lambda loss, u, m: -loss.alpha * m.log(u) - loss.beta * loss.A * (1 - u),
    "AGCE": lambda loss, u, m: ((loss.a + 1) ** loss.q - (loss.a + u) ** loss.q) / loss.q,
    "AUL": lambda loss, u, m: ((loss.a - u) ** loss.p - (loss.a - 1) ** loss.p) / loss.p,
    "AEL": lambda loss, u, m: m.exp(-u / loss.a),
    "ClippedCE": _clipped,
}

#: The normalised losses: the name of the base formula, which takes the same parameters.
NORMALIZED = {"NCE": "CE", "NFL": "FL", "NGCE": "GCE"}

Rows = Callable[[Tensor, Tensor], Tensor]


def formula(loss: Any, m: Any = torch) -> Callable[[Any], Any] | None:
    """Return l as a function of u, or ``None`` for a loss that is not pointwise or not here."""
    if hasattr(loss, "factors"):
        terms = [(f, formula(term, m)) for f, term in zip(loss.factors, loss.losses, strict=True)]
        if any(l_term is None for _, l_term in terms):
            return None
        return lambda u: sum(f * l_term(u) for f, l_term in terms)
    name = type(loss).__name__
    if name == "Biased":
        l_base, raise_by = formula(loss.base, m), loss.eps
        if l_base is None:
            return None
        grown = (m.exp(m.tensor(raise_by, dtype=m.float64)) if m is torch else m.exp(raise_by)) - 1
        return lambda u: l_base((1 + grown) * u / (1 + grown * u))
    if m is not torch:  # a + 1 in float64 has lost its digits before an exact power sees it
        numbers = {n: m.mpf(getattr(loss, n)) for n in type(loss).domains()}
        loss = SimpleNamespace(detach=False, **numbers)
    return (lambda u: FORMULAS[name](loss, u, m)) if name in FORMULAS else None


def textbook_rows(loss: Any) -> Rows:
    """Return the unreduced loss of logits (N, K) and class indices (N,), in its textbook form."""
    name = type(loss).__name__
    if hasattr(loss, "factors"):
        terms = [textbook_rows(term) for term in loss.losses]
        return lambda z, y: sum(f * term(z, y) for f, term in zip(loss.factors, terms, strict=True))
    if name in FORMULAS:
        return lambda z, y: FORMULAS[name](loss, _of_label(torch.softmax(z, 1), y), torch)
    if name in NORMALIZED or name == "Normalized":
        base = getattr(loss, "base", loss)
        l_base = formula(base)
        if l_base is not None:
            return lambda z, y: _normalized(torch.softmax(z, 1), y, l_base)
    if name == "NLNL":
        return _negative_learning
    if name in ("NNCE", "NNFL"):
        return lambda z, y: _normalized_negative(loss, torch.softmax(z, 1), y)
    if name == "AMSE":
        return lambda z, y: (
            (loss.a * torch.nn.functional.one_hot(y, z.shape[1]).to(z.dtype) - torch.softmax(z, 1))
            ** 2
        ).mean(1)
    if name == "Spread":
        return lambda z, y: (torch.softmax(z, 1) ** loss.s).sum(1)
    # A loss with no formula here: at least all its paths must agree with its ``per_class``.
    return lambda z, y: _of_label(loss.per_class(torch.log_softmax(z, 1)), y)


def textbook(loss: Any) -> Rows:
    """Return the mean loss of logits (N, K) and class indices (N,), in its textbook form."""
    rows = textbook_rows(loss)
    return lambda z, y: rows(z, y).mean()


def _of_label(per_class: Tensor, y: Tensor) -> Tensor:
    one_hot = torch.nn.functional.one_hot(y, per_class.shape[1]).to(per_class.dtype)
    return (per_class * one_hot).sum(1)


def _normalized(p: Tensor, y: Tensor, l_base: Callable[[Tensor], Tensor]) -> Tensor:
    losses = l_base(p)
    return _of_label(losses, y) / losses.sum(1)


def _normalized_negative(loss: Any, p: Tensor, y: Tensor) -> Tensor:
    p = p.clamp_min(loss.p_min)
    base = FORMULAS[{"NNCE": "CE", "NNFL": "FL"}[type(loss).__name__]]
    parameters = SimpleNamespace(gamma=getattr(loss, "gamma", 0), detach=False)
    largest = base(parameters, p.new_tensor(loss.p_min), torch)
    room = largest - base(parameters, p, torch)
    return 1 - _of_label(room, y) / room.sum(1)


def _negative_learning(z: Tensor, y: Tensor) -> Tensor:
    classes = z.shape[1]
    wrong = (y + torch.randint(1, classes, y.shape)) % classes
    return -torch.log(1 - _of_label(torch.softmax(z, 1), wrong))
