"""Linear and small-MLP classifiers, many trained at once over the same batches."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from noiseproof.learn.bayes import naive_bayes
from noiseproof.learn.matrix import Batch, Matrix, Scaling
from noiseproof.learn.objective import Floats, Objective, Task
from noiseproof.noise import stream

Kind = Literal["linear", "bayes", "mlp"]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Training:
    """How heads are trained: Adam, the learning rate raised for a moment, then lowered to 0.

    Args:
        kind: ``"linear"``; ``"bayes"``, the same but begun at naive Bayes and drawn to it by the
            decay, for counts; or ``"mlp"`` with one hidden layer.
        width: of the hidden layer.
        dropout: the share of hidden units left out in each step.
        epochs: how often every row is seen, where there are many.
        steps: how many steps there are at least, however few the rows.
        batch: rows in a step; of more than 50 times as many rows, a fiftieth, up to 1024.
        lr: the highest learning rate.
        warm: the first part of the steps, in which every head is trained by cross entropy: a
            bounded loss has hardly a slope where the label's probability is near 0.
    """

    kind: Kind = "linear"
    width: int = 128
    dropout: float = 0.2
    epochs: int = 10
    steps: int = 300
    batch: int = 128
    lr: float = 0.02
    warm: float = 0.2

    def size(self, rows: int) -> int:
        """Return the rows in a step.

        >>> [Training().size(rows) for rows in (100, 1_000, 25_600, 1_000_000)]
        [100, 128, 512, 1024]
        """
        return min(rows, max(self.batch, min(rows // 50, 1024)))

    def length(self, rows: int) -> int:
        """Return the number of steps for so many rows."""
        return max(self.steps, self.epochs * math.ceil(rows / self.size(rows)))


@dataclass(frozen=True)
class Heads:
    """H trained heads.

    Args:
        scaling: of the inputs.
        classes: K.
        layers: weights (H, in, out) and biases (H, out), from the input on.
    """

    scaling: Scaling
    classes: int
    layers: tuple[tuple[Floats, Floats], ...]

    def __len__(self) -> int:
        return len(self.layers[0][0])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the weights, and of the probabilities."""
        return self.layers[0][0].dtype

    def pick(self, which: Sequence[int]) -> "Heads":
        """Return some of the heads."""
        index = list(which)
        layers = tuple((weight[index], bias[index]) for weight, bias in self.layers)
        return Heads(self.scaling, self.classes, layers)

    def blocks(self, matrix: Matrix, rows: int = 512) -> Iterator[tuple[slice, Floats]]:
        """Yield blocks of rows and every head's probabilities (H, B, K) for them."""
        stack = _Stack.of(self)
        for start in range(0, matrix.shape[0], rows):
            part = slice(start, min(start + rows, matrix.shape[0]))
            with torch.no_grad():
                z = stack.logits(stack.first_layer(matrix.batch(part, self.dtype)), None)
                yield part, torch.softmax(z, -1).transpose(0, 1).numpy()

    def mean(self, matrix: Matrix) -> Floats:
        """Return (N, K): the mean over the heads of their probabilities."""
        out = np.empty((matrix.shape[0], self.classes), dtype=self.dtype)
        for rows, probabilities in self.blocks(matrix):
            out[rows] = probabilities.mean(axis=0)
        return out


def stacked(heads: Sequence[Heads]) -> Heads:
    """Return several heads of the same shape as one."""
    layers = zip(*(one.layers for one in heads), strict=True)
    joined = tuple(
        (np.concatenate([w for w, _ in layer]), np.concatenate([b for _, b in layer]))
        for layer in layers
    )
    return Heads(heads[0].scaling, heads[0].classes, joined)


def train(
    matrix: Matrix,
    labels: NDArray[np.int64],
    classes: int,
    tasks: Sequence[Task],
    training: Training,
    seed: int,
    progress: Progress | None = None,
) -> Heads:
    """Train a head for each task; the same seed gives the same bits.

    Args:
        matrix: (N, D) the inputs.
        labels: (N,) the labels given, 0 to K-1.
        classes: K.
        tasks: what each head minimises, over which rows.
        training: how.
        seed: of the order and of what is drawn for a hidden layer.
        progress: is told how many of how many steps are made.
    """
    rows = matrix.shape[0]
    if training.kind == "bayes":
        stack = _Stack.drawn_to(len(tasks), *naive_bayes(matrix, labels, classes, tasks))
    else:
        stack = _Stack.new(tasks, matrix.shape[1], classes, training, seed)
    objective = Objective(labels, classes, tasks)
    optimiser = torch.optim.Adam(stack.parameters, lr=training.lr, betas=(0.9, 0.99), fused=True)
    dropout = stream(seed, "dropout")
    steps, size = training.length(rows), training.size(rows)
    for step, chosen in enumerate(_batches(rows, size, steps, seed)):
        for group in optimiser.param_groups:
            group["lr"] = training.lr * _schedule(step / steps)
        keep = None
        if stack.last and training.dropout:
            drawn = dropout.random((1, size, training.width), dtype=np.float32)
            keep = torch.from_numpy(drawn >= training.dropout) / (1 - training.dropout)
        batch = matrix.batch(chosen)
        first = stack.first_layer(batch).requires_grad_()
        loss = objective(stack.logits(first, keep), chosen, step < training.warm * steps)
        torch.autograd.backward(loss)
        stack.finish_gradient(batch, cast(Tensor, first.grad), objective.decay)
        optimiser.step()
        optimiser.zero_grad()
        if progress is not None:
            progress(step + 1, steps)
    return stack.trained(matrix.scaling, classes)


def _batches(rows: int, size: int, steps: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of each step: all of them once before any again."""
    order, queue = stream(seed, "order"), np.empty(0, dtype=np.int64)
    for _ in range(steps):
        if len(queue) < size:
            queue = np.concatenate([queue, order.permutation(rows)])
        chosen, queue = queue[:size], queue[size:]
        yield np.sort(chosen)


def _schedule(done: float) -> float:
    """Return the part of the learning rate to use after a share of the steps."""
    return min(1.0, 0.02 + done / 0.05) * (1 + math.cos(math.pi * done)) / 2


class _Stack:
    """The weights of H heads side by side: one product with the inputs serves them all.

    ``first`` is the layer that reads the inputs, (D, H * out) and (H * out,). Its gradient is
    written by hand, because the inputs may be sparse. ``last`` is (H, width, K) and (H, 1, K).
    Decay draws the first layer's weights to ``goal``, to 0 without one.
    """

    def __init__(
        self,
        heads: int,
        first: Sequence[Tensor],
        last: Sequence[Tensor],
        goal: Tensor | None = None,
    ) -> None:
        self.heads, self.first, self.last, self.goal = heads, list(first), list(last), goal

    @classmethod
    def new(
        cls, tasks: Sequence[Task], columns: int, classes: int, training: Training, seed: int
    ) -> "_Stack":
        """Start linear heads from 0 and hidden layers from the random start of their task."""
        heads = len(tasks)
        if training.kind == "linear":
            width = heads * classes
            return cls(heads, (torch.zeros(columns, width), torch.zeros(width)), ())
        starts = {}
        for start in {task.start for task in tasks}:
            drawn = stream(seed, f"initialisation {start}").standard_normal(
                (columns, training.width), dtype=np.float32
            )
            starts[start] = drawn / np.float32(math.sqrt(columns))
        first = torch.from_numpy(np.concatenate([starts[task.start] for task in tasks], axis=1))
        last = torch.zeros(heads, training.width, classes), torch.zeros(heads, 1, classes)
        stack = cls(heads, (first, torch.zeros(first.shape[1])), last)
        for parameter in stack.last:
            parameter.requires_grad_()
        return stack

    @classmethod
    def drawn_to(cls, heads: int, weight: Floats, bias: Floats) -> "_Stack":
        """Start linear heads where their decay draws them to."""
        goal = torch.from_numpy(weight)
        return cls(heads, (goal.clone(), torch.from_numpy(bias)), (), goal)

    @classmethod
    def of(cls, heads: Heads) -> "_Stack":
        (weight, bias), *rest = heads.layers
        columns = weight.shape[1]
        wide = np.ascontiguousarray(weight.transpose(1, 0, 2).reshape(columns, -1))
        last = (torch.from_numpy(rest[0][0]), torch.from_numpy(rest[0][1])[:, None]) if rest else ()
        return cls(len(heads), (torch.from_numpy(wide), torch.from_numpy(bias.reshape(-1))), last)

    @property
    def parameters(self) -> list[Tensor]:
        return [*self.first, *self.last]

    def first_layer(self, batch: Batch) -> Tensor:
        """Return (B, H * out)."""
        return batch.times(self.first[0]).add_(self.first[1])

    def logits(self, first: Tensor, keep: Tensor | None) -> Tensor:
        """Return (B, H, K) from the first layer's output."""
        z = first.view(len(first), self.heads, -1)
        if not self.last:
            return z
        hidden = torch.relu(z).transpose(0, 1)
        if keep is not None:
            hidden = hidden * keep
        return (torch.bmm(hidden, self.last[0]) + self.last[1]).transpose(0, 1)

    @torch.no_grad()
    def finish_gradient(self, batch: Batch, gradient: Tensor, decay: Tensor) -> None:
        """Write the first layer's gradient, and add to all weights that of their decay."""
        weight, bias = self.first
        strength = decay.repeat_interleave(weight.shape[1] // self.heads)
        away = weight if self.goal is None else weight - self.goal
        weight.grad = batch.back(gradient).addcmul_(away, strength)
        bias.grad = gradient.sum(0)
        if self.last:
            cast(Tensor, self.last[0].grad).addcmul_(self.last[0], decay[:, None, None])

    def trained(self, scaling: Scaling, classes: int) -> Heads:
        weight, bias = (tensor.numpy() for tensor in self.first)
        deep = weight.reshape(len(weight), self.heads, -1).transpose(1, 0, 2)
        layers = [(np.ascontiguousarray(deep), bias.reshape(self.heads, -1))]
        if self.last:
            layers.append((self.last[0].detach().numpy(), self.last[1].detach().numpy()[:, 0]))
        return Heads(scaling, classes, tuple(layers))
