"""The loss of a linear layer's output, computed without that output."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import linear

from noiseproof import kernels
from noiseproof.errors import InputTypeError, ParameterError, ShapeError
from noiseproof.losses.base import Loss
from noiseproof.losses.derivatives import mixture
from noiseproof.losses.reduction import reduced, scale_of, total_weight
from noiseproof.losses.targets import (
    check_dense,
    check_probabilities,
    not_a_tensor,
    row_weights,
    sample_weights,
    without_ignored,
)


def linear_loss(
    hidden: Tensor,
    weight: Tensor,
    target: Tensor,
    loss: Loss,
    bias: Tensor | None = None,
    *,
    sample_weight: Tensor | None = None,
    block_rows: int | None = None,
) -> Tensor:
    """Return ``loss(hidden @ weight.T + bias, target)`` without ever holding all the logits.

    With 128,000 classes the logits and their gradient are most of the memory of a step. Here a
    block of rows is multiplied, turned into its own gradient in place and used up. Under
    ``torch.compile``, ``torch.func``, on the meta device and for losses that draw, where a second
    pass is impossible or would draw again, the logits are computed as usual; so they are where
    targets, sample weights or the loss itself are learnt. On a CPU float16 and bfloat16 are
    multiplied and summed in float32, with a copy of the weight.

    Args:
        hidden: (..., d) features; the leading dimensions are those of ``target``.
        weight: (K, d) weight of the layer, as ``nn.Linear`` has it.
        target: (...) class indices or (..., K) class probabilities.
        loss: any loss; all its options are respected.
        bias: (K,) or ``None``.
        sample_weight: (...) what each row counts, as for the loss itself.
        block_rows: rows in a block; by default as many as 2^24 logits allow, 128 at least.

    Example:
        >>> import noiseproof as nf
        >>> h, W, y = torch.randn(4, 8), torch.randn(100, 8), torch.tensor([1, 2, 3, 4])
        >>> agce = nf.AGCE(a=1, q=0.5)
        >>> bool(nf.linear_loss(h, W, y, agce).isclose(agce(h @ W.T, y)))
        True
    """
    _check(hidden, weight, target, bias, loss, block_rows)
    shape, classes = hidden.shape[:-1], len(weight)
    h = hidden.flatten(0, -2) if hidden.dim() > 1 else hidden.unsqueeze(0)
    soft = target.is_floating_point()
    y = target.reshape(-1, classes) if soft else target.reshape(-1).long()
    w = None
    if sample_weight is not None:
        w = sample_weights(sample_weight, shape, hidden).reshape(-1)
    if _goes_by_logits(loss, h, weight, y, w):
        value: Tensor = Loss.__call__(loss, linear(h, weight, bias), y, w)
        return value.reshape(shape) if loss.reduction == "none" else value
    device = hidden.device.type
    if torch.is_autocast_enabled(device) and hidden.dtype != torch.float64:
        low = torch.get_autocast_dtype(device)
        h, weight = h.to(low), weight.to(low)
        bias = None if bias is None else bias.to(low)
    scale, y, block = _prepared(loss, weight, y, w, soft)
    value = _LinearLoss.apply(  # type: ignore[no-untyped-call]
        h, weight, bias, y, scale, loss.reduction, block, block_rows
    )
    return value.reshape(shape) if loss.reduction == "none" else value


def _goes_by_logits(loss: Loss, h: Tensor, weight: Tensor, y: Tensor, w: Tensor | None) -> bool:
    """Whether the pass by blocks would draw anew, is out of reach, or loses somebody's gradient."""
    if loss.random or not (kernels.is_plain(h) and kernels.is_plain(weight)):
        return True
    if type(loss).forward is not Loss.forward:  # a user's, who does more there
        return True
    others = [x for x in (y, w, loss.weight) if x is not None]
    return torch.is_grad_enabled() and (loss.learns or any(x.requires_grad for x in others))


def _prepared(
    loss: Loss, weight: Tensor, y: Tensor, w: Tensor | None, soft: bool
) -> tuple[kernels.Scale, Tensor, kernels.Block]:
    """Return what each row counts, the targets without ignored ones, and the block function."""
    z = weight.new_empty(0, len(weight))  # the dtype and the classes of the logits
    if soft:
        if loss.ignore_index >= 0:
            raise ParameterError("ignore_index is for class indices, not for class probabilities")
        if not loss.is_cross_entropy:
            check_probabilities(y)
        scale = scale_of(loss.reduction, w, None, len(y))
        return scale, y, _mixture_block(loss)
    y, valid = without_ignored(y, len(weight), loss.ignore_index)
    weights = row_weights(z, y, valid, loss.weight, w)
    if loss.label_smoothing == 0:
        return scale_of(loss.reduction, weights, valid, len(y)), y, loss.block
    # The class weights are in the mixture; a mean still divides by those of the labels.
    counted = row_weights(z, y, valid, None, w)
    if weights is None or loss.reduction != "mean":
        return scale_of(loss.reduction, counted, valid, len(y)), y, _mixture_block(loss)
    each = weights.new_ones(len(y)) if counted is None else counted
    return each / total_weight(weights, valid), y, _mixture_block(loss)


def _mixture_block(loss: Loss) -> kernels.Block:
    def block(z: Tensor, y: Tensor, scale: kernels.Scale, out: Tensor) -> Tensor:
        return loss.mixture_block(z, mixture(loss, z, y), scale, out)

    return block


class _LinearLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        target: Tensor,
        scale: kernels.Scale,
        reduction: Any,
        block: kernels.Block,
        block_rows: int | None,
    ) -> Tensor:
        ctx.block, ctx.scale, ctx.block_rows, ctx.gradients = block, scale, block_rows, None
        ctx.save_for_backward(hidden, weight, bias, target)
        # A scalar loss knows its gradient up to a factor and computes it while the logits are
        # here; unreduced losses learn each row's factor only in the backward pass.
        wanted = ctx.needs_input_grad[:3] if reduction != "none" else (False, False, False)
        done = kernels.linear_pass(block, hidden, weight, bias, target, scale, wanted, block_rows)
        if any(wanted):
            ctx.gradients = (done.hidden, done.weight, done.bias)
        return reduced(done.rows, reduction, scale, done.rows.shape)

    @staticmethod
    def backward(ctx: Any, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            raise RuntimeError("linear_loss has no double backward: compute the logits instead")
        hidden, weight, bias, target = ctx.saved_tensors
        gradients, ctx.gradients = ctx.gradients, None
        if gradients is None:
            scale = (grad_output * ctx.scale).expand(len(target))
            done = kernels.linear_pass(
                ctx.block,
                hidden,
                weight,
                bias,
                target,
                scale,
                ctx.needs_input_grad[:3],
                ctx.block_rows,
            )
            gradients = (done.hidden, done.weight, done.bias)
        else:
            for gradient in gradients:
                if gradient is not None:
                    gradient.mul_(grad_output)
        return *gradients, None, None, None, None, None


def _check(
    hidden: Tensor,
    weight: Tensor,
    target: Tensor,
    bias: Tensor | None,
    loss: Loss,
    block_rows: int | None,
) -> None:
    if not isinstance(loss, Loss):
        raise InputTypeError(
            f"linear_loss takes a noiseproof loss, got {loss!r}"
            + ("; build it first: nf.loss(text)" if isinstance(loss, str) else "")
        )
    given = {"hidden": hidden, "weight": weight, "target": target}
    if bias is not None:
        given["bias"] = bias
    if not all(isinstance(x, Tensor) for x in given.values()):
        raise not_a_tensor(**given)
    check_dense(**given)
    if weight.dim() != 2 or hidden.dim() < 1 or hidden.shape[-1] != weight.shape[1]:
        raise ShapeError(
            f"expected hidden (..., d) and weight (K, d), got {tuple(hidden.shape)} and "
            f"{tuple(weight.shape)}"
        )
    _check_dtypes(hidden=hidden, weight=weight, **({} if bias is None else {"bias": bias}))
    if len(weight) == 0:
        raise ShapeError("expected weight (K, d) of one class at least, got none")
    labels = hidden.shape[:-1]
    shape = (*labels, len(weight)) if target.is_floating_point() else labels
    if target.shape != shape or target.is_complex():
        raise ShapeError(
            f"expected class indices of shape {tuple(labels)} or class probabilities of shape "
            f"{(*labels, len(weight))}, got {target.dtype} of shape {tuple(target.shape)}"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ShapeError(f"expected bias of shape ({len(weight)},), got {tuple(bias.shape)}")
    if block_rows is not None and not (isinstance(block_rows, int) and block_rows >= 1):
        raise ParameterError(f"expected `block_rows` >= 1, got {block_rows!r}")


def _check_dtypes(**given: Tensor) -> None:
    """Say what torch's linear layer would not multiply."""
    dtypes, device = {x.dtype for x in given.values()}, given["hidden"].device.type
    mixed = len(dtypes) > 1
    if mixed and device != "meta" and torch.float64 not in dtypes:
        mixed = not torch.is_autocast_enabled(device)  # which narrows them all
    if mixed or not dtypes <= set(kernels.FLOATS):
        said = ", ".join(f"{name} {x.dtype}" for name, x in given.items())
        raise ShapeError(f"expected one floating type, got {said}")
