"""A loss for the ``Trainer`` of Hugging Face transformers, which is not imported here."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from noiseproof.errors import ParameterError, ShapeError, TargetError
from noiseproof.losses import Loss, linear_loss
from noiseproof.losses.expression import as_loss
from noiseproof.losses.parameter import as_number, check_flag
from noiseproof.losses.targets import check_dense, not_a_tensor

#: In the names of outputs of transformers: their scores belong to the token that they stand at.
IN_PLACE = ("Classif", "MaskedLM", "Seq2Seq", "XLNetLM")


def compute_loss(
    loss: str | Loss, *, shift: bool | None = None, linear: nn.Module | None = None
) -> Callable[..., Tensor]:
    """Return a loss for ``Trainer(compute_loss_func=...)``.

    It serves classifiers of sequences and of tokens, masked and causal language models. Labels of
    -100 count nothing. The sum over the items is divided by the number of items of the whole step,
    which the Trainer counts, so gradient accumulation gives the gradient of one large batch.
    Weights of classes weigh the items but not their number.

    Args:
        loss: a loss, or its text. A parameter that is changed between steps counts from then on.
        shift: whether the scores of a token predict the next one. By default they do where the
            model returns an output of a causal language model, such as ``CausalLMOutput``. Some
            outputs of transformers, such as that of BLIP, do not tell: then this must be given.
        linear: the causal language model that is trained, to have :func:`noiseproof.linear_loss`
            compute the loss from its last hidden states, without the logits of a training step.

    Example:
        >>> from types import SimpleNamespace
        >>> outputs = SimpleNamespace(logits=torch.zeros(2, 3))  # as a classifier returns them
        >>> compute_loss("CE")(outputs, torch.tensor([0, -100]), num_items_in_batch=1)  # log 3
        tensor(1.0986)
    """
    made = as_loss(loss)
    shift = None if shift is None else check_flag("shift", shift)
    if made.ignore_index != -100:
        raise ParameterError(
            f"ignore_index={made.ignore_index}: the Trainer counts every label except -100; label "
            "what to ignore as -100"
        )
    last = None if linear is None else _LastStates(linear)

    def computed(outputs: Any, labels: Tensor, num_items_in_batch: Any = None) -> Tensor:
        if labels is None:
            raise ParameterError("the Trainer found no `labels` in the batch: name its column that")
        if not isinstance(labels, Tensor):
            raise not_a_tensor(labels=labels)
        logits = _logits(outputs)
        made.to(logits.device)
        language = "CausalLM" in type(outputs).__name__
        causal = _predicts_next(outputs, logits) if shift is None else shift
        labels = labels if labels.is_meta else labels.to(logits.device)
        check_dense(logits=logits, labels=labels)
        hidden = None if last is None else last.taken(logits)
        if logits.dim() < (3 if causal else 1) or logits.shape[-1] == 0:
            form = "(B, T, K)" if causal else "(..., K)"
            raise ShapeError(f"expected logits {form}, got {tuple(logits.shape)}")
        if causal and labels.shape[:2] != logits.shape[:2] and hidden is None:
            raise _wrong_labels(labels, logits)
        whole, labels = labels, labels[:, 1:] if causal else labels
        if hidden is not None and last is not None:
            hidden = hidden[:, :-1] if causal else hidden
            with _summed(made):
                total = linear_loss(hidden, last.head.weight, labels, made, last.head.bias)
            classes = len(last.head.weight)
        else:
            logits = logits[:, :-1] if causal else logits
            classes = logits.shape[-1]
            with _summed(made):
                total = made(logits.reshape(-1, classes), _rows(labels, logits))
        count = _count(num_items_in_batch)
        if labels.is_floating_point():
            items = _soft_items(labels.numel() / classes, whole, language, count)
        else:
            items = (labels != -100).sum() if count is None else count
        mean: Tensor = total / items
        return mean

    return computed


@contextmanager
def _summed(loss: Loss) -> Iterator[None]:
    """Let a loss return sums, then leave it as it was."""
    before, loss.reduction = loss.reduction, "sum"
    try:
        yield
    finally:
        loss.reduction = before


def _logits(outputs: Any) -> Tensor:
    logits = outputs.get("logits") if isinstance(outputs, dict) else None
    logits = getattr(outputs, "logits", None) if logits is None else logits
    if not isinstance(logits, Tensor):
        raise ParameterError(
            f"expected a model that returns `logits`, got {type(outputs).__name__}: set "
            "return_dict=True in its config"
        )
    return logits


def _predicts_next(outputs: Any, logits: Tensor) -> bool:
    """Return whether the scores of a token predict the next one; raise where nothing tells.

    A dictionary, or an output that is not of transformers, is taken for one that does not.
    """
    name, package = type(outputs).__name__, type(outputs).__module__.partition(".")[0]
    if "CausalLM" in name:
        return True
    theirs = package in ("transformers", "transformers_modules")  # of code on the hub
    if theirs and logits.dim() == 3 and not any(word in name for word in IN_PLACE):
        raise ParameterError(
            f"{name} does not tell whether the scores of a token predict the next one: give "
            "shift=True (as causal language models do) or shift=False"
        )
    return False


def _rows(labels: Tensor, logits: Tensor) -> Tensor:
    """Return the labels as rows: class indices, or class probabilities as soft labels."""
    if labels.shape == logits.shape and labels.is_floating_point():
        if ((labels.float().sum(-1) - 1).abs() > 0.01).any():
            raise TargetError(
                "expected class probabilities that add up to 1; a loss over classes cannot train "
                "a multi-label problem, with several labels a row"
            )
        return labels.reshape(-1, logits.shape[-1])
    if labels.shape != logits.shape[:-1] or labels.is_floating_point():
        raise _wrong_labels(labels, logits)
    return labels.reshape(-1)


def _wrong_labels(labels: Tensor, logits: Tensor) -> ShapeError:
    return ShapeError(
        f"expected integer labels of shape {tuple(logits.shape[:-1])} for logits of shape "
        f"{tuple(logits.shape)}, got {labels.dtype} of shape {tuple(labels.shape)}"
    )


def _count(given: Any) -> Any:
    """Return what the Trainer counted: nothing, a number, or a tensor that stays on its device.

    With several GPUs in one process it repeats the number for each of them, and then multiplies the
    loss by their number, or has divided the labels by it. Either is meant for a loss of one GPU's
    part; this one is of all parts, gathered, and the sum of the repeated numbers makes up for it.
    """
    if isinstance(given, Tensor):
        check_dense(num_items_in_batch=given)
        return given.sum()
    return None if given is None else as_number("num_items_in_batch", given)


def _soft_items(rows: float, whole: Tensor, language: bool, count: Any) -> Any:
    """Return the number of soft labels of a step, of which ``rows`` are in this batch.

    The Trainer counts their numbers. Of a causal language model it means to leave out the first
    token, ``labels[..., 1:]``, and leaves out the first class of every token instead. So its count
    is only compared with the same count of this batch, which is exact where all batches of the step
    have one length. Of a model that the Trainer does not know for one, such as GPT2LMHeadModel, the
    mean is then too small by one part in K.
    """
    if count is None:
        return rows
    here = whole[..., 1:] if language else whole
    return count * (rows / max(here.numel(), 1))


class _LastStates:
    """The last hidden states of a language model in training, in place of its logits.

    In training the model computes the logits of the last token only; its hidden states are kept
    until they are taken.
    """

    def __init__(self, model: nn.Module) -> None:
        if not isinstance(model, nn.Module):
            raise ParameterError(f"expected `linear` to be the model, got {model!r}")
        head = getattr(model, "get_output_embeddings", lambda: None)()
        base = getattr(model, "base_model", None)
        forward = inspect.signature(model.forward).parameters
        if (
            not isinstance(head, nn.Linear)
            or not isinstance(base, nn.Module)
            or base is model
            or "logits_to_keep" not in forward
        ):
            raise ParameterError(
                f"{type(model).__name__} has no head that can be left out: give `linear` a causal "
                "language model, or leave it out"
            )
        self.head = head
        self.hidden: Tensor | None = None
        self.left_out = False
        self.seen: tuple[Tensor, Tensor] | None = None
        model.register_forward_pre_hook(self._keep_one, with_kwargs=True)
        base.register_forward_hook(self._store)
        self.looking: Any = head.register_forward_hook(self._look)

    def _keep_one(self, model: nn.Module, given: Any, named: dict[str, Any]) -> Any:
        self.left_out = model.training
        if model.training:
            return given, named | {"logits_to_keep": 1}

    def _store(self, base: nn.Module, given: Any, outputs: Any) -> None:
        self.hidden = outputs[0] if base.training else None

    def _look(self, head: nn.Module, given: Any, scores: Tensor) -> None:
        self.seen = given[0].detach(), scores.detach()

    def taken(self, logits: Tensor) -> Tensor | None:
        """Return the hidden states (B, T, d) of the step, or None where all logits are there."""
        hidden, self.hidden = self.hidden, None
        if self.left_out and self.looking is not None:
            # To the last bit: what caps large logits leaves small ones nearly as they are.
            last = None if hidden is None else hidden[:, -1:]
            if self.seen is None or not (_same(last, self.seen[0]) and _same(logits, self.seen[1])):
                raise ParameterError(
                    "this model changes what its last layer reads or returns: leave `linear` out"
                )
            self.looking.remove()
            self.looking = self.seen = None
        return hidden


def _same(a: Tensor | None, b: Tensor) -> bool:
    """Whether two tensors hold the same numbers, in whatever types."""
    if a is None or a.shape != b.shape:
        return False
    return torch.allclose(a.detach().float(), b.float(), rtol=0, atol=0, equal_nan=True)
