"""Give autograd a gradient that is computed together with the value."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from noiseproof.kernels.state import graph_is_kept, is_batched

Fused = Callable[[Tensor], tuple[Tensor, Tensor]]
Plain = Callable[[Tensor], Tensor]


def attach(logits: Tensor, fused: Fused, plain: Plain) -> Tensor:
    """Return a loss of ``logits``, classes in dimension 1: a scalar, or one number a row.

    ``fused(logits)`` gives the loss and its gradient in one pass, the gradient of each row for
    its own loss where there is one a row. ``plain(logits)`` is the same loss in ordinary
    differentiable operations: it is what a double backward differentiates.
    """
    return _Attached.apply(logits, fused, plain)  # type: ignore[no-untyped-call, no-any-return]


class _Attached(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, fused: Fused, plain: Plain) -> Tensor:
        value, gradient = fused(logits)
        # The gradient is saved and the logits are not: as for torch's own cross entropy, they may
        # be overwritten before a backward pass. Only a double backward still needs them.
        ctx.save_for_backward(gradient)
        ctx.logits, ctx.version, ctx.plain = logits, logits._version, plain
        return value

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        logits = ctx.logits
        if torch.is_grad_enabled():  # create_graph: the gradient will itself be differentiated
            if logits._version != ctx.version:
                raise RuntimeError(
                    "the logits have been modified by an inplace operation since the loss was "
                    "computed: a double backward needs them as they were"
                )
            value = ctx.plain(logits)
            (gradient,) = torch.autograd.grad(value, logits, grad_output, create_graph=True)
            return gradient, None, None
        (gradient,) = ctx.saved_tensors
        if grad_output.dim() > 0:
            grad_output = grad_output.unsqueeze(1)
        if is_batched(grad_output) or graph_is_kept():
            return (gradient * grad_output).to(logits.dtype), None, None
        # Nobody will ask again: the buffer is handed over, scaled in place.
        ctx.logits = None
        on_cpu = grad_output.device.type == "cpu"
        if not (on_cpu and grad_output.dim() == 0 and grad_output.item() == 1.0):
            gradient.mul_(grad_output)
        return gradient if gradient.dtype == logits.dtype else gradient.to(logits.dtype), None, None
