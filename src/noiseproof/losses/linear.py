"""The loss of a linear layer's output, computed without that output."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear

from noiseproof import kernels
from noiseproof.errors import ParameterError, ShapeError
from noiseproof.losses.base import Loss
from noiseproof.losses.targets import row_weights, without_ignored


def linear_loss(
    hidden: Tensor, weight: Tensor, target: Tensor, loss: Loss, bias: Tensor | None = None
) -> Tensor:
    """Return ``loss(hidden @ weight.T + bias, target)`` without ever holding all the logits.

    With 128,000 classes the logits and their gradient are most of the memory of a step. Here a
    block of rows is multiplied, turned into its own gradient in place and used up.

    Args:
        hidden: (..., d) features; the leading dimensions are those of ``target``.
        weight: (K, d) weight of the layer, as ``nn.Linear`` has it.
        target: (...) class indices.
        loss: any loss; its class weights, ``ignore_index`` and ``reduction`` are respected.
        bias: (K,) or ``None``.

    Example:
        >>> import noiseproof as nf
        >>> h, W, y = torch.randn(4, 8), torch.randn(100, 8), torch.tensor([1, 2, 3, 4])
        >>> agce = nf.AGCE(a=1, q=0.5)
        >>> bool(nf.linear_loss(h, W, y, agce).isclose(agce(h @ W.T, y)))
        True
    """
    _check(hidden, weight, target, bias, loss)
    if loss.random:  # a pass that is done again would draw again
        logits = linear(hidden, weight, bias).reshape(-1, len(weight))
        drawn: Tensor = loss(logits, target.reshape(-1))
        return drawn.reshape(target.shape) if loss.reduction == "none" else drawn
    h, y = hidden.reshape(-1, hidden.shape[-1]), target.reshape(-1).long()
    device = hidden.device.type
    if torch.is_autocast_enabled(device):
        low = torch.get_autocast_dtype(device)
        h, weight = h.to(low), weight.to(low)
        bias = None if bias is None else bias.to(low)
    y, valid = without_ignored(y, len(weight), loss.ignore_index)
    logits_like = weight.new_empty(0, len(weight))
    scale = loss._scale(row_weights(logits_like, y, valid, loss.weight), valid, len(y))
    value: Tensor = _LinearLoss.apply(h, weight, bias, y, scale, loss)  # type: ignore[no-untyped-call]
    return value.reshape(target.shape) if loss.reduction == "none" else value


class _LinearLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        target: Tensor,
        scale: kernels.Scale,
        loss: Loss,
    ) -> Tensor:
        ctx.loss, ctx.scale, ctx.gradients = loss, scale, None
        ctx.save_for_backward(hidden, weight, bias, target)
        # A scalar loss knows its gradient up to a factor and computes it while the logits are
        # here; unreduced losses learn each row's factor only in the backward pass.
        wanted = ctx.needs_input_grad[:3] if loss.reduction != "none" else (False, False, False)
        done = kernels.linear_pass(loss.block, hidden, weight, bias, target, scale, wanted)
        if any(wanted):
            ctx.gradients = (done.hidden, done.weight, done.bias)
        return loss._reduced(done.rows, scale)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            raise RuntimeError("linear_loss has no double backward: compute the logits instead")
        hidden, weight, bias, target = ctx.saved_tensors
        gradients, ctx.gradients = ctx.gradients, None
        if gradients is None:
            scale = (grad_output * ctx.scale).expand(len(target))
            done = kernels.linear_pass(
                ctx.loss.block, hidden, weight, bias, target, scale, ctx.needs_input_grad[:3]
            )
            gradients = (done.hidden, done.weight, done.bias)
        else:
            for gradient in gradients:
                if gradient is not None:
                    gradient.mul_(grad_output)
        return *gradients, None, None, None


def _check(hidden: Tensor, weight: Tensor, target: Tensor, bias: Tensor | None, loss: Loss) -> None:
    if weight.dim() != 2 or hidden.dim() < 1 or hidden.shape[-1] != weight.shape[1]:
        raise ShapeError(
            f"expected hidden (..., d) and weight (K, d), got {tuple(hidden.shape)} and "
            f"{tuple(weight.shape)}"
        )
    if target.is_floating_point() or target.shape != hidden.shape[:-1]:
        raise ShapeError(
            f"expected class indices of shape {tuple(hidden.shape[:-1])}, got {target.dtype} of "
            f"shape {tuple(target.shape)}"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ShapeError(f"expected bias of shape ({len(weight)},), got {tuple(bias.shape)}")
    if loss.label_smoothing > 0:
        raise ParameterError("linear_loss has no label_smoothing: compute the logits instead")
