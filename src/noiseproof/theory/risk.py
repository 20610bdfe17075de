"""The weighted risk of a loss over the simplex, and where it is least."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import one_hot

from noiseproof.errors import NoiseError, TheoryError
from noiseproof.losses import Loss
from noiseproof.noise.labels import as_numbers, to_array
from noiseproof.noise.named import in_order
from noiseproof.theory.descent import adam, newton
from noiseproof.theory.interval import as_loss, losses_at
from noiseproof.theory.options import effective_tensor
from noiseproof.theory.simplex import around, at_vertex, beside_vertex, log_softmax, zero_for
from noiseproof.theory.surroundings import undisturbed

Weights = Sequence[float] | NDArray[np.floating] | Tensor

_FINISHED = 128
_HAIR = 1e-12  # what makes one of two equal logits the larger
_ROUNDING = 1e-13  # of a sum of weighted losses, against its terms


@dataclass(frozen=True)
class RiskMinimum:
    """Where sum_i w_i L(u, i) is least over the simplex.

    Attributes:
        minimiser: (K,) the u found; e_m where the vertex attains the infimum.
        risk: the infimum found.
        vertex: m, the class of the largest weight.
        vertex_risk: the risk at e_m, from the best side where the sides differ; may be infinite.
        gap: ``vertex_risk - risk``, 0 where the vertex attains the infimum.
        attained: whether it does, so that the loss is asymmetric on these weights.
        unique: whether it does and no point with u_m < 0.99 comes as low.
    """

    minimiser: Tensor
    risk: float
    vertex: int
    vertex_risk: float
    gap: float
    attained: bool
    unique: bool


@undisturbed()
def minimise_risk(loss: Loss | str, weights: Weights) -> RiskMinimum:
    """Minimise sum_i w_i L(u, i) over the simplex, for any loss.

    Where the loss has class weights or label smoothing, L(u, i) is what it makes of a label i: the
    minimum may move to a class of large weight.

    A search over vertices, edges and rays, exact at every scale, finds a minimum next to the
    vertex; gradient descent from many starts, in logits and float64, one inside.

    Args:
        loss: any loss or its text.
        weights: (K,) not negative, with one largest; a Series has the classes in its index.

    Example:
        >>> found = minimise_risk("CE", [0.5, 0.3, 0.2])  # cross entropy copies the weights
        >>> found.minimiser.numpy().round(6), found.attained
        (array([0.5, 0.3, 0.2]), False)
        >>> minimise_risk("MAE", [0.5, 0.3, 0.2]).minimiser
        tensor([1., 0., 0.], dtype=torch.float64)

    Reference:
        Definition 2.
    """
    checked = as_weights(weights)
    search = RiskSearch(as_loss(loss, len(checked)), checked)
    search.look_around()
    search.descend()
    return search.found()


def as_weights(weights: Weights) -> Tensor:
    """Return the weights of Definition 2 in float64, or say what is wrong with them.

    A Series is read by the numbers of the classes in its index: ``value_counts`` sorts by weight.
    """
    weights = in_order(weights)
    try:
        array = as_numbers(to_array(weights))
    except (NoiseError, TypeError, RuntimeError) as error:
        raise TheoryError(f"expected a weight for each class: {error}") from None
    if array.dtype.kind not in "fiub":
        raise TheoryError(f"expected a weight for each class, got {weights!r}")
    w = torch.from_numpy(array.astype(np.float64))
    if w.ndim != 1 or len(w) < 2:
        raise TheoryError(f"expected weights of two classes or more, got shape {tuple(w.shape)}")
    if not w.isfinite().all() or (w < 0).any():
        raise TheoryError(f"expected weights that are finite and >= 0, got {w.tolist()}")
    if (w == w.max()).sum() > 1:
        raise TheoryError("expected one largest weight, got a tie: no class is the right one")
    return w


class RiskSearch:
    """The state of one minimisation: what has been seen at the vertex, near it and far from it."""

    def __init__(self, loss: Loss, weights: Tensor) -> None:
        self.m = int(weights.argmax())
        weights = effective_tensor(loss, weights)
        self.loss, self.weights = loss, weights
        self.zero = zero_for(loss, len(weights))
        sides = at_vertex(self.m, weights, self.zero)
        terms = weights * losses_at(loss, sides)
        side = int(terms.sum(-1).argmin())
        self.vertex_risk = float(terms[side].sum())
        inside = weights * losses_at(loss, log_softmax(torch.zeros_like(weights))[None])
        middle = float(inside.abs().sum() + weights.sum())
        # Beside the vertex L(u, m) is a straight line but for rounding, which w_m makes count.
        line = losses_at(loss, beside_vertex(self.m, len(weights)))[:, self.m]
        crooked = float(line.diff(n=2).abs().max() * weights[self.m])
        # A vertex may be reached as a limit of 0 (NCE): then 1e-60 is as good as 0.
        size = max(float(terms[side].abs().sum()), 1e-30 * middle)
        self.rounding = _ROUNDING * size + 4 * crooked
        # A loss that is still growing at log p = zero, where w > 0, has no finite risk there.
        if self.vertex_risk > abs(self.zero) ** 0.5 * middle:
            self.vertex_risk = torch.inf
        self.best_row, self.best, self.best_far = sides[side], self.vertex_risk, torch.inf

    def risk(self, log_p: Tensor) -> Tensor:
        """Return sum_i w_i L(u, i) for each row."""
        return (self.weights * losses_at(self.loss, log_p)).sum(-1)

    def see(self, log_p: Tensor) -> Tensor:
        """Evaluate rows, remember the best, and return their risks."""
        risks = self.risk(log_p).nan_to_num(nan=torch.inf, posinf=torch.inf)
        best, row = risks.min(0)
        if float(best) < self.best:
            self.best, self.best_row = float(best), log_p[row]
        far = torch.where(log_p[:, self.m].exp() < 0.99, risks, torch.inf)
        self.best_far = min(self.best_far, float(far.min()))
        return risks

    def look_around(self) -> None:
        """Evaluate the places where a minimum is to be expected."""
        for rows in around(self.m, self.weights, self.zero):
            self.see(rows)

    @property
    def attained(self) -> bool:
        """Whether nothing seen so far is below the vertex."""
        return self.best >= self.vertex_risk - self.rounding

    def descend(self) -> None:
        """Follow the gradient from many starts, then finish from the best point."""
        rows = log_softmax(adam(lambda z: self.risk(log_softmax(z)), self._starts()))
        self.see(rows)
        # On a face the logits would have to go to -inf: what is small may as well be nothing.
        self.see(log_softmax(torch.where(rows < -9.0, self.zero, rows)))
        if not self.attained:
            self._finish()

    def _starts(self) -> Tensor:
        K = len(self.weights)
        generator = torch.Generator().manual_seed(1)
        heavy = self.weights.argsort(descending=True)[:12]
        return torch.cat(
            [
                torch.zeros(1, K, dtype=torch.float64),
                self.weights.clamp_min(1e-9).log()[None],
                one_hot(heavy, K).double() * 6,
                torch.randn(16, K, generator=generator, dtype=torch.float64) * 3,
                self.best_row.clamp_min(-30.0)[None],
            ]
        )

    def _finish(self) -> None:
        """Go down to the last digit within the face of the best point."""
        face, start = self.best_row > -30.0, self.best_row
        if face.sum() > _FINISHED:
            return

        def row(z: Tensor) -> Tensor:
            return start.masked_scatter(face, log_softmax(z))[None]

        z = newton(lambda z: self.risk(row(z)).sum(), start[face])
        self.see(row(z))
        if self.loss.transforms:
            self._finish_at_ties(face)

    def _finish_at_ties(self, face: Tensor) -> None:
        """The same with ever more of the heaviest classes tied, as long as that helps.

        A loss that asks which probability is largest (:class:`EpsSoftmax`) jumps where two are, and
        its infimum may be there, where the heaviest class is larger by next to nothing.
        """
        start, order = self.best_row, self.weights.argsort(descending=True)
        order = order[face[order]]
        first, least = one_hot(order[0], len(start))[face] * _HAIR, torch.inf
        for tied in range(2, len(order) + 1):
            place = torch.zeros(len(start), dtype=torch.int64)
            place[order[tied:]] = torch.arange(1, len(order) - tied + 1)
            place = place[face]  # of each class's logit: the tied ones share the first

            def row(z: Tensor, place: Tensor = place) -> Tensor:
                return start.masked_scatter(face, log_softmax(z[place] + first))[None]

            top = start[order].max()
            logits = torch.cat([top[None], start[order[tied:]].clamp_max(top)])
            risk = float(self.see(row(newton(lambda z: self.risk(row(z)).sum(), logits))))
            if risk > least:
                return
            least = risk

    def found(self) -> RiskMinimum:
        """Return what the search has come to."""
        attained = self.attained
        if attained:
            row = torch.zeros_like(self.weights)
            row[self.m] = 1.0
        else:
            row = self.best_row.exp()
        risk = self.vertex_risk if attained else self.best
        return RiskMinimum(
            minimiser=row,
            risk=risk,
            vertex=self.m,
            vertex_risk=self.vertex_risk,
            gap=0.0 if attained else self.vertex_risk - risk,
            attained=attained,
            unique=attained and self.best_far > self.vertex_risk + 1000 * self.rounding,
        )
