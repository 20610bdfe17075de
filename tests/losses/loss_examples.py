"""Instances of every registered loss, made from what its class declares.

Nothing here names a loss, so that a new one is tested everywhere the day it is registered.
"""

import dataclasses
import itertools
import math
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

import noiseproof as nf
from noiseproof.errors import ParameterError
from noiseproof.losses import WeightedSum
from noiseproof.paper import DATASETS, METHODS, PARAMETERS

#: The losses of the package, whatever another test or doctest has registered by now.
NAMED = {n: cls for n, cls in nf.registry.items() if cls.__module__.startswith("noiseproof.")}


def takes_losses(cls: type) -> bool:
    """Whether a parameter of the class must be given and is not a number (a loss, then)."""
    numbers = cls.domains()
    return any(
        f.name not in numbers and f.default is dataclasses.MISSING
        for f in cls.parameters_declared()
    )


SIMPLE = {name: cls for name, cls in NAMED.items() if not takes_losses(cls)}
#: Those that change the logits have tests of their own: they have no ``per_class`` of log p.
COMBINATORS = {
    name: cls
    for name, cls in NAMED.items()
    if takes_losses(cls) and not issubclass(cls, nf.Transformed)
}


def bounds(domain: Any) -> tuple[float, float]:
    return max(domain.above, domain.at_least), min(domain.below, domain.at_most)


def inside(domain: Any, part: float) -> float:
    """A number of the domain: ``part`` of the way, or ``4 * part`` from its only end."""
    low, high = bounds(domain)
    if math.isinf(low) and math.isinf(high):
        return part
    if math.isinf(high):
        return low + 4 * part
    return high - 4 * part if math.isinf(low) else low + part * (high - low)


def ends(domain: Any) -> list[float]:
    """The numbers nearest to the ends of the domain, or large ones where it has no end."""
    low, high = bounds(domain)
    lower = [-100.0] if math.isinf(low) else [low] if low in domain else _near(low, 1)
    upper = [100.0] if math.isinf(high) else [high] if high in domain else _near(high, -1)
    return lower + upper


def _near(end: float, side: int) -> list[float]:
    # Next to 0 there are numbers that float32 has no more.
    return [end + side * 1e-6, end + side * (1e-12 if end else 1e-40)]


def central(cls: type, parts: tuple[float, ...] = (0.15, 0.4, 0.7)) -> nf.Loss:
    """An instance with every parameter well inside its domain, no two at the same place."""
    named = zip(cls.domains().items(), itertools.cycle(parts))
    return cls(**{name: inside(domain, part) for (name, domain), part in named})


def _built(cls: type, values: dict[str, float]) -> nf.Loss | None:
    """None where each parameter is in its domain and all together overflow."""
    try:
        return cls(**values)
    except ParameterError as error:
        assert "float32" in str(error)  # noqa: PT017
        return None


def at_the_ends(cls: type) -> list[nf.Loss]:
    """All instances with each parameter at an end of its domain, but for those that overflow."""
    domains = cls.domains()
    places = itertools.product(*(ends(domain) for domain in domains.values()))
    built = [_built(cls, dict(zip(domains, values, strict=True))) for values in places]
    return [loss for loss in built if loss is not None]


def flagged(cls: type) -> list[nf.Loss]:
    """Instances with each switch of the class thrown."""
    switches = [f.name for f in cls.parameters_declared() if f.type in (bool, "bool")]
    here = {name: inside(domain, 0.4) for name, domain in cls.domains().items()}
    return [cls(**here, **{name: True}) for name in switches]


def over_bases(bases: list[nf.Loss]) -> list[nf.Loss]:
    numbers = {
        cls: {name: inside(domain, 0.4) for name, domain in cls.domains().items()}
        for cls in COMBINATORS.values()
    }
    built = [_built(cls, {"base": b} | values) for cls, values in numbers.items() for b in bases]
    return [loss for loss in built if loss is not None]


POINTWISE = [central(cls) for cls in SIMPLE.values() if issubclass(cls, nf.Pointwise)]

#: Every registered loss, at one place well inside its domain.
CENTRAL = [central(cls) for cls in SIMPLE.values()] + over_bases(POINTWISE)

#: The same at another place (where there are parameters), and with the switches thrown.
OTHERS = [
    loss
    for cls in SIMPLE.values()
    for loss in [*([central(cls, (0.6, 0.2, 0.3))] if cls.domains() else []), *flagged(cls)]
]

#: Every registered loss, at the ends of its domain.
AT_THE_ENDS = [loss for cls in SIMPLE.values() if cls.domains() for loss in at_the_ends(cls)] + (
    [
        nf.Normalized(l_end)
        for cls in SIMPLE.values()
        if issubclass(cls, nf.Pointwise)
        for l_end in at_the_ends(cls)
    ]
)


def _rows_of_the_paper() -> list[nf.Loss]:
    built = {}
    for dataset, method in itertools.product(DATASETS, METHODS):
        if PARAMETERS[dataset][method] is not None:
            built[PARAMETERS[dataset][method]] = nf.paper_loss(method, dataset)
    return list(built.values())


#: The rows of the paper's tables for all its data sets, each setting once.
PAPER = _rows_of_the_paper()


def _names(loss: nf.Loss) -> tuple[str, ...]:
    return tuple(type(term).__name__ for term in loss.losses)


#: One sum for each pair of losses that the paper adds; and sums it does not have.
SUMS = [
    *{_names(loss): loss for loss in PAPER if isinstance(loss, WeightedSum)}.values(),
    0.3 * nf.CE() + 2 * nf.MAE(),
    nf.NFL(gamma=2) + nf.NCE() + 0.5 * nf.NGCE(q=0.2) + nf.AEL(a=2),
    nf.NLNL() + 3 * nf.GCE(q=0.5),
    nf.Normalized(nf.CE() + 2 * nf.AEL(a=2)),
]

EXAMPLES = [*CENTRAL, *OTHERS, *SUMS]


def with_options(loss: nf.Loss, **options: Any) -> nf.Loss:
    """The same loss with other options, by way of its text."""
    return nf.loss(str(loss), **options)


def classes_for(loss: nf.Loss, otherwise: int = 5) -> int:
    """Two where the loss draws a wrong class: then there is only one to draw."""
    return 2 if loss.random else otherwise


def problem(
    loss: nf.Loss,
    rows: int = 7,
    classes: int = 5,
    dtype: torch.dtype = torch.float64,
    seed: int = 0,
) -> tuple[Tensor, Tensor]:
    """Random moderate logits with a gradient, and targets."""
    generator = torch.Generator().manual_seed(seed)
    classes = classes_for(loss, classes)
    z = 2 * torch.randn(rows, classes, generator=generator, dtype=torch.float64)
    y = torch.randint(classes, (rows,), generator=generator)
    return z.to(dtype).requires_grad_(), y


def numbers(domain: Any) -> st.SearchStrategy[float]:
    """Numbers of a domain, at most ten from its end and a thousandth off an open one."""
    low, high = bounds(domain)
    if math.isinf(low):
        low = -10.0 if math.isinf(high) else high - 10
    if math.isinf(high):
        high = low + 10
    return st.floats(low + 1e-3 * (low == domain.above), high - 1e-3 * (high == domain.below))


def built_from(cls: type) -> st.SearchStrategy[nf.Loss]:
    names = {name: numbers(domain) for name, domain in cls.domains().items()}
    return st.fixed_dictionaries(names).map(lambda values: _built(cls, values)).filter(bool)


def pointwise_losses() -> st.SearchStrategy[nf.Loss]:
    kinds = [cls for cls in SIMPLE.values() if issubclass(cls, nf.Pointwise)]
    return st.one_of([built_from(cls) for cls in kinds])


def single_losses() -> st.SearchStrategy[nf.Loss]:
    wrapped = [st.builds(cls, pointwise_sums()) for cls in COMBINATORS.values()]
    return st.one_of([built_from(cls) for cls in SIMPLE.values()] + wrapped)


FACTORS = st.floats(1e-3, 1e3)


def _added(terms: list[tuple[float, nf.Loss]]) -> nf.Loss:
    total = terms[0][0] * terms[0][1]
    for factor, term in terms[1:]:
        total = total + factor * term
    return total


def pointwise_sums() -> st.SearchStrategy[nf.Loss]:
    terms = st.tuples(FACTORS, pointwise_losses())
    return st.lists(terms, min_size=1, max_size=3).map(_added)


def any_losses() -> st.SearchStrategy[nf.Loss]:
    terms = st.tuples(FACTORS, single_losses())
    return st.lists(terms, min_size=1, max_size=4).map(_added)
