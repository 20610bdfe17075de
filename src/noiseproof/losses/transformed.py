"""A loss of changed logits, made of a loss and of the change."""

from torch import Tensor

from noiseproof.errors import ParameterError
from noiseproof.kernels import Scale
from noiseproof.losses.base import Loss
from noiseproof.losses.parameter import parameter


class Transformed(Loss, register=False):
    """A loss of logits that are changed first; a subclass says :meth:`transform`.

    It is the base's loss of ``transform(z)`` in every way: labels, soft targets, smoothing,
    weights, ``linear_loss``.

    Example:
        >>> import torch, noiseproof as nf
        >>> class Cooled(nf.Transformed, register=False):
        ...     def transform(self, z):
        ...         return z / 2
        >>> z, y = torch.randn(3, 5), torch.tensor([0, 1, 2])
        >>> torch.allclose(Cooled(nf.CE())(z, y), nf.CE()(z / 2, y))
        True
    """

    base: Loss = parameter()

    def prepare(self) -> None:
        """Say what cannot be a base."""
        super().prepare()
        name = self.text_name
        if not isinstance(self.base, Loss):
            raise ParameterError(f"{name} takes a loss, got {self.base!r}")
        if self.base.options_changed:
            raise ParameterError(f"give the options to {name}, not to the loss inside it")
        self.base.check_formula(name)

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        """Whether the base is bounded."""
        return self.base.bounded

    @property
    def infinite(self) -> bool:  # type: ignore[override]
        """Whether the base can be infinite."""
        return self.base.infinite

    @property
    def random(self) -> bool:  # type: ignore[override]
        """Whether the base draws."""
        return self.base.random

    def per_class(self, log_p: Tensor) -> Tensor:
        """Return the base's loss for every k."""
        return self.base.per_class(log_p)

    def per_sample(self, log_p: Tensor, target: Tensor) -> Tensor:
        """Return the base's loss of each row."""
        return self.base.per_sample(log_p, target)

    def _rows(self, z: Tensor, target: Tensor) -> Tensor:
        return self.base.rows(z, target)

    def _class_rows(self, z: Tensor) -> Tensor:
        return self.base.class_rows(z)

    def _block(self, z: Tensor, target: Tensor, scale: Scale, out: Tensor) -> Tensor:
        return self.base.block(z, target, scale, out)
