"""Give autograd a gradient that is computed together with the value."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Fused = Callable[[Tensor], tuple[Tensor, Tensor]]
Plain = Callable[[Tensor], Tensor]


def attach(logits: Tensor, fused: Fused, plain: Plain) -> Tensor:
    """Return a loss of ``logits`` (M, K): a scalar, or one number a row.

    ``fused(logits)`` gives the loss and its gradient in one pass, the gradient of each row for
    its own loss where there is one a row. ``plain(logits)`` is the same loss in ordinary
    differentiable operations: it is what a double backward differentiates.
    """
    return _Attached.apply(logits, fused, plain)  # type: ignore[no-untyped-call, no-any-return]


class _Attached(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, fused: Fused, plain: Plain) -> Tensor:
        value, ctx.gradient = fused(logits)
        ctx.fused, ctx.plain = fused, plain
        ctx.save_for_backward(logits)
        return value

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        (logits,) = ctx.saved_tensors
        if torch.is_grad_enabled():  # create_graph: the gradient will itself be differentiated
            value = ctx.plain(logits)
            (gradient,) = torch.autograd.grad(value, logits, grad_output, create_graph=True)
            return gradient, None, None
        # The buffer is handed over, so it can be scaled in place; a second backward pass over
        # the same graph computes it again.
        gradient, ctx.gradient = ctx.gradient, None
        if gradient is None:
            gradient = ctx.fused(logits)[1]
        if grad_output.dim() == 1:
            gradient.mul_(grad_output.unsqueeze(1))
        elif grad_output.device.type != "cpu" or grad_output.item() != 1.0:
            gradient.mul_(grad_output)
        return gradient if gradient.dtype == logits.dtype else gradient.to(logits.dtype), None, None
