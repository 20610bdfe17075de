"""Positive combinations of losses."""

from collections.abc import Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from noiseproof.errors import ParameterError
from noiseproof.kernels import Classes, Scale, Summand, Sums
from noiseproof.losses.base import Loss
from noiseproof.losses.declared import Declared
from noiseproof.losses.parameter import Interval, checked, write_number
from noiseproof.losses.pointwise import Pointwise, RowLoss


class Terms(nn.ModuleList):
    """The terms of a sum. Each may be changed; none can be put in another's place."""

    def __init__(self, terms: Sequence[Loss]) -> None:
        """Take them in order."""
        super().__init__()
        for index, term in enumerate(terms):
            self.add_module(str(index), term)

    def _refuse(self, *args: Any) -> NoReturn:
        raise ParameterError("the terms of a sum stay as they are: build the sum again, with +")

    __setitem__ = __delitem__ = __iadd__ = append = extend = insert = pop = _refuse  # type: ignore[assignment]


class WeightedSum(Loss, register=False):
    """A positive combination of losses, as ``NCE() + 4 * AGCE(a=6, q=1.5)`` builds it."""

    factors: tuple[float, ...]
    terms: nn.ModuleList

    def prepare(self) -> None:
        """List the terms: a ModuleList is slow to walk."""
        terms: list[Any] = list(self.terms)
        if len(self.factors) != len(terms):
            raise ParameterError(
                f"expected a weight for each of {len(terms)} terms, got {len(self.factors)}"
            )
        for factor, term in zip(self.factors, terms, strict=True):
            if not self._may_add(term):
                raise ParameterError(f"{term} is another kind of term: build the sum again, with +")
            _positive(factor, term)
            term.check_formula("a sum")
        self._losses = terms
        self._modules["terms"] = Terms(terms)
        super().prepare()

    def checked(self, name: str, given: Any) -> Any:
        """Return what was given: weights as a tuple, terms as modules that torch can hold."""
        if name not in ("factors", "terms"):
            return super().checked(name, given)
        try:
            items = tuple(given)
        except (TypeError, RuntimeError):
            raise ParameterError(f"expected `{name}`, one for each term, got {given!r}") from None
        if name == "factors":
            return items
        if not items or not all(isinstance(term, Loss) for term in items):
            raise ParameterError(f"expected `terms` to be losses, got {given!r}")
        return nn.ModuleList(items)

    def _may_add(self, term: Any) -> bool:
        """Whether this kind of sum can compute such a term."""
        return isinstance(term, Loss)

    def per_class(self, log_p: Tensor) -> Tensor:
        """Return the weighted sum of the terms' ``per_class``."""
        self._check_one_softmax()
        return self._sum([term.per_class(log_p) for term in self.losses])

    def per_sample(self, log_p: Tensor, target: Tensor) -> Tensor:
        """Return the weighted sum of the terms' ``per_sample``."""
        self._check_one_softmax()
        return self._sum([term.per_sample(log_p, target) for term in self.losses])

    def rows(self, z: Tensor, target: Tensor) -> Tensor:
        """Return the weighted sum of the terms' rows, each of its own transformed logits."""
        return self._sum([term.rows(z, target).flatten() for term in self.losses])

    def class_rows(self, z: Tensor) -> Tensor:
        """Return the weighted sum of the terms' losses for every k."""
        return self._sum([term.class_rows(z) for term in self.losses])

    def block(self, z: Tensor, target: Tensor, scale: Scale, out: Tensor) -> Tensor:
        """Write the gradient of a block of rows: a pass for each term."""
        total, part, rows = torch.zeros_like(z), torch.empty_like(z), []
        for factor, term in zip(self.factors, self.losses, strict=True):
            rows.append(term.block(z, target, scale * factor, part))
            total.add_(part)
        out.copy_(total)
        return self._sum(rows)

    @property
    def transforms(self) -> bool:  # type: ignore[override]
        """Whether any term does."""
        return any(term.transforms for term in self.losses)

    def _check_one_softmax(self) -> None:
        changing = [str(term) for term in self.losses if term.transforms]
        if changing:
            raise ParameterError(
                f"{changing[0]} changes the logits, the terms beside it do not: this sum has no "
                "one log_p; ask rows(logits, target) or class_rows(logits)"
            )

    def _sum(self, values: Sequence[Tensor]) -> Tensor:
        """Return the weighted sum of the terms' values."""
        factors = self.factors
        total = values[0] if factors[0] == 1 else values[0] * factors[0]
        for i in range(1, len(values)):
            total = torch.add(total, values[i], alpha=factors[i])
        return total

    @property
    def losses(self) -> list[Any]:
        """The terms, as losses."""
        return self._losses

    @property
    def closed_form(self) -> bool:
        """Whether every term differentiates by formula."""
        return all(term.closed_form for term in self.losses)

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether every term is symmetric."""
        return all(term.symmetric for term in self.losses)

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Whether every term is bounded."""
        return all(term.bounded for term in self.losses)

    @property
    def infinite(self) -> bool:  # type: ignore[override]
        """Whether any term can be infinite: each has its own rows."""
        return any(term.infinite for term in self.losses)

    @property
    def random(self) -> bool:  # type: ignore[override]
        """Whether any term draws."""
        return any(term.random for term in self.losses)

    def __str__(self) -> str:
        return " + ".join(
            str(term) if factor == 1 else f"{write_number(factor)}*{term}"
            for factor, term in zip(self.factors, self.losses, strict=True)
        )


class RowSum(WeightedSum, RowLoss, register=False):
    """A combination of row losses: one kernel, each of their sums computed once."""

    transforms = False  # nor does any term
    infinite = False  # the terms share one log u
    per_class = RowLoss.per_class
    per_sample = RowLoss.per_sample
    rows = RowLoss.rows
    class_rows = RowLoss.class_rows
    block = RowLoss.block

    def prepare(self) -> None:
        """Find out which sums the terms share."""
        super().prepare()
        self._share()

    def _may_add(self, term: Any) -> bool:
        return isinstance(term, RowLoss) and not term.transforms

    def _share(self) -> None:
        self._as_of = Declared.changes
        wanted = [term.statistics for term in self.losses]
        self._statistics = tuple(dict.fromkeys([f for some in wanted for f in some]))
        self._places = [[self._statistics.index(f) for f in some] for some in wanted]

    @property
    def statistics(self) -> Sequence[Summand]:  # type: ignore[override]
        """The sums of all terms, each once; as they are now, for a term may have been changed."""
        if torch.compiler.is_compiling():  # it shares what is alike itself, and keeps nothing
            return [f for term in self.losses for f in term.statistics]
        if self._as_of is not Declared.changes:
            self._share()
        return self._statistics

    def _of_each(self, sums: Sums) -> list[Sums]:
        """Return the sums that each term asked for."""
        if torch.compiler.is_compiling():
            left = iter(sums)
            return [tuple([next(left) for _ in term.statistics]) for term in self.losses]
        return [tuple([sums[i] for i in own]) for own in self._places]

    def from_row(self, log_u: Tensor, sums: Sums, classes: Classes) -> Tensor:
        """Return the weighted sum of the terms."""
        pairs = zip(self.losses, self._of_each(sums), strict=True)
        return self._sum([term.from_row(log_u, own, classes) for term, own in pairs])

    def with_slopes(
        self, log_u: Tensor, sums: Sums, classes: Classes
    ) -> tuple[Tensor, Tensor, Sums]:
        """Slopes: the weighted sums of the terms'."""
        values, c = [], []
        d: list[Tensor | None] = [None] * len(sums)
        for factor, term, places in zip(self.factors, self.losses, self._places, strict=True):
            value, slope, slopes = term.with_slopes(log_u, tuple(sums[i] for i in places), classes)
            values.append(value)
            c.append(slope)
            for i, x in zip(places, slopes, strict=True):
                old = d[i]
                if old is None:
                    d[i] = x if factor == 1 else x * factor
                else:
                    d[i] = torch.add(old, x, alpha=factor)
        return self._sum(values), self._sum(c), tuple(x for x in d if x is not None)


class PointwiseSum(WeightedSum, Pointwise, register=False):
    """A combination of pointwise losses: pointwise again."""

    transforms = False  # nor does any term
    per_class = Pointwise.per_class
    per_sample = Pointwise.per_sample
    rows = Pointwise.rows
    class_rows = Pointwise.class_rows
    block = Pointwise.block

    def _may_add(self, term: Any) -> bool:
        return isinstance(term, Pointwise) and not term.transforms

    @property
    def takes_zero(self) -> bool:
        """Whether every term does."""
        return all(term.takes_zero for term in self.losses)

    @property
    def infinite(self) -> bool:  # type: ignore[override]
        """Whether every term is."""
        return all(term.infinite for term in self.losses)

    def value(self, log_u: Tensor) -> Tensor:
        """Return the weighted sum of the terms."""
        return self._sum([term.value(log_u) for term in self.losses])

    def with_slope(self, log_u: Tensor) -> tuple[Tensor, Tensor]:
        """Slope: the weighted sum of the terms'."""
        values, slopes = zip(*(term.with_slope(log_u) for term in self.losses), strict=True)
        return self._sum(values), self._sum(slopes)


def weighted_sum(terms: Sequence[tuple[float, Loss]]) -> Loss:
    """Return the positive combination of ``terms``, with the options they share (Theorem 5)."""
    flat: list[tuple[float, Loss]] = []
    for factor, term in terms:
        inner = [(1.0, term)]
        if isinstance(term, WeightedSum):
            inner = list(zip(term.factors, term.losses, strict=True))
        factor = _positive(factor, term)
        flat += [(_positive(factor * f, t), t) for f, t in inner]
    options = _shared_options([term for _, term in terms])
    losses = [term for _, term in flat]
    if len(flat) == 1 and flat[0][0] == 1:
        return losses[0]
    kind = WeightedSum
    if any(loss.transforms for loss in losses):
        kind = WeightedSum  # each term has probabilities of its own
    elif all(isinstance(loss, Pointwise) for loss in losses):
        kind = PointwiseSum
    elif all(isinstance(loss, RowLoss) for loss in losses):
        kind = RowSum
    return kind(tuple(f for f, _ in flat), nn.ModuleList(losses), **options)


def _shared_options(losses: Sequence[Loss]) -> dict[str, Any]:
    first, *others = [loss.options for loss in losses]
    for other in others:
        for name, mine in first.items():
            theirs = other[name]
            if not (mine is theirs or _equal(mine, theirs)):
                raise ParameterError(
                    f"cannot add losses with different `{name}`; set it on both or on neither"
                )
    return first


def _equal(one: Any, other: Any) -> bool:
    if not (isinstance(one, Tensor) and isinstance(other, Tensor)):
        return bool(one == other) if type(one) is type(other) else False
    return one.device == other.device and not one.is_meta and torch.equal(one, other)


def _positive(factor: float, term: Loss) -> float:
    name = f"weight of {term}"
    return checked(name, checked(name, factor, Interval(above=0)), Interval(at_most=1e30))
