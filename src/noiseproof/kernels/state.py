"""What torch is doing around us: the only file that asks its private functions."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.overrides import TorchFunctionMode


def is_transformed() -> bool:
    """Whether a ``torch.func`` transform (grad, vmap, ...) is at work."""
    # The same question, asked the same way, decides how torch.autograd.Function.apply runs.
    return torch._C._are_functorch_transforms_active()


def is_batched(grad_output: Tensor) -> bool:
    """Whether a backward pass runs for many gradients at once (``is_grads_batched``, ``vmap``)."""
    return is_transformed() or torch._C._functorch.is_legacy_batchedtensor(grad_output)


def is_traced() -> bool:
    """Whether values are out of reach: under ``torch.compile`` or a ``torch.func`` transform."""
    return torch.compiler.is_compiling() or is_transformed()


def is_plain(z: Tensor) -> bool:
    """Whether a kernel may use the storage of ``z`` directly: plain numbers, nothing tracing it.

    Not so for subclasses (DTensor, FakeTensor), under a dispatch mode (FakeTensorMode, make_fx), a
    compiler, ``torch.jit.trace`` or a ``torch.func`` transform, on the meta device, in forward-mode
    AD, and for sparse and nested tensors.
    """
    return (
        type(z) in (Tensor, torch.nn.Parameter)
        and not torch.compiler.is_compiling()
        and not torch._C._is_tracing()
        and not torch._C._are_functorch_transforms_active()
        and torch._C._len_torch_dispatch_stack() == 0
        and forward_ad._current_level < 0
        and not z.is_meta
        and z.layout is torch.strided
        and not z.is_nested
    )


def is_trained(module: nn.Module) -> bool:
    """Whether a parameter is to be trained; ``module.parameters()`` takes five times as long."""
    for parameter in module._parameters.values():
        if parameter is not None and parameter.requires_grad:
            return True
    return any(part is not None and is_trained(part) for part in module._modules.values())


def recording() -> AbstractContextManager[None]:
    """Let autograd record, under ``torch.no_grad`` and ``torch.inference_mode`` too."""
    inferring = torch.is_inference_mode_enabled()
    return torch.inference_mode(False) if inferring else torch.enable_grad()


class _Undetached(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (Tensor.detach, torch.detach) and args and args[0].requires_grad:
            return args[0]
        if func is torch._C._set_grad_enabled:
            args = (True,)
        elif func in (Tensor.numpy, Tensor.__array__):  # which read only what is detached
            args = (args[0].detach(), *args[1:])
        return func(*args, **(kwargs or {}))


@contextmanager
def undetached() -> Iterator[None]:
    """Let autograd record all of a formula, also what it means to hold constant in training.

    The gradient then is that of the value, whatever ``detach`` and ``torch.no_grad`` are in it.
    """
    with torch.enable_grad(), _Undetached():
        yield


def made_on_cpu() -> AbstractContextManager[Any]:
    """Make tensors on the CPU, unless a device is named, whatever the caller's default is."""
    elsewhere = torch.get_default_device().type != "cpu"
    return torch.device("cpu") if elsewhere else nullcontext()


def recordable(x: Tensor) -> Tensor:
    """Return ``x``, or a copy where it comes from inference, while autograd is recording."""
    return x.clone() if x.is_inference() else x


def leaf_of(x: Tensor) -> Tensor:
    """Return ``x`` as what to differentiate by, while autograd is recording."""
    return recordable(x.detach()).requires_grad_()


def gradient_of(total: Tensor, leaf: Tensor) -> Tensor:
    """Return d total / d leaf; 0 for a step function, flat wherever it has a slope."""
    if not total.requires_grad:
        return torch.zeros_like(leaf)
    (gradient,) = torch.autograd.grad(total, leaf, materialize_grads=True)
    return gradient


_ask_if_kept = getattr(torch._C._autograd, "_get_current_graph_task_keep_graph", lambda: True)


def graph_is_kept() -> bool:
    """Whether the graph of the running backward pass is kept for another one."""
    return bool(_ask_if_kept())
