"""Logit bias."""

import math

import torch
from torch import Tensor
from torch.nn.functional import softplus

from noiseproof.errors import ParameterError
from noiseproof.losses.parameter import Interval, checked, parameter
from noiseproof.losses.pointwise import Pointwise

_HALF = -0.7


class Biased(Pointwise):
    """A pointwise loss with the label's logit raised by eps: l(u'), where u' = e^eps u / C.

    C = 1 + (e^eps - 1) u, so that it is pointwise again and everything follows from ``value``.
    With many classes the probabilities of a fresh network are where a bounded loss is flat, and it
    does not learn; raised by a number that depends on K alone, they are where it is steep.

    Args:
        base: a pointwise loss.
        eps: what the label's logit is raised by; :meth:`eps_for` has one for K classes.

    Reference:
        Staats et al., Enhancing noise-robust losses for large-scale noisy data learning, AAAI 2025.

    Example:
        >>> from noiseproof.losses import MAE
        >>> z, y = torch.zeros(1, 1000), torch.tensor([3])
        >>> MAE()(z, y), Biased(MAE(), eps=Biased.eps_for(1000))(z, y)  # as with 10 classes
        (tensor(1.9980), tensor(1.8000))
    """

    base: Pointwise = parameter()
    eps: float = parameter(default=0.0)

    def prepare(self) -> None:
        """Say what cannot be a base."""
        if not isinstance(self.base, Pointwise) or self.base.transforms:
            raise ParameterError(f"Biased takes a pointwise loss, got {self.base!r}")
        if self.base.options_changed:
            raise ParameterError("give the options to Biased, not to the loss inside it")
        self.base.check_formula("Biased")
        super().prepare()

    @staticmethod
    def eps_for(classes: int) -> float:
        """Return log((K - 1) / 9): equal logits give the label 1/10, as ten classes would.

        The paper derives its numbers from the gradient at initialisation; this is the same idea
        for logits that are still equal.

        >>> round(Biased.eps_for(100), 3)
        2.398
        """
        found = checked("classes", classes, Interval(at_least=2))
        return math.log((found - 1) / 9)

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Whether the base is."""
        return self.base.bounded

    def value(self, log_u: Tensor) -> Tensor:
        """Return l(u')."""
        return self.base.value(self._raised(log_u))

    def with_slope(self, log_u: Tensor) -> tuple[Tensor, Tensor]:
        """Slope: l'(u') (1 - u') / (1 - u), where 1 - u' over 1 - u is 1 / (1 + (e^eps - 1) u)."""
        value, slope = self.base.with_slope(self._raised(log_u))
        if self.eps > 0:
            return value, slope * torch.sigmoid(-(log_u + self.eps + self._log_part))
        return value, slope / (1 + math.expm1(self.eps) * torch.exp(log_u))

    @property
    def closed_form(self) -> bool:
        """Whether the base says its own slope."""
        return self.base.closed_form

    @property
    def _log_part(self) -> float:
        return math.log(-math.expm1(-self.eps))

    def _raised(self, log_u: Tensor) -> Tensor:
        # log u' = log u - log(1 - (1 - u)(1 - e^-eps)): exact where u is near 1, so never above 0.
        part = -math.expm1(-self.eps)
        if self.eps <= 0:
            return log_u - torch.log1p(torch.expm1(log_u) * part)
        near = log_u - torch.log1p(torch.expm1(log_u.clamp_min(_HALF)) * part)
        # = log u + eps - log(1 + (e^eps - 1) u), where u is small and 1 - e^-eps may round to 1.
        far = log_u + self.eps - softplus(log_u + self.eps + self._log_part, threshold=50)
        return torch.where(log_u > _HALF, near, far.clamp_max(0))
