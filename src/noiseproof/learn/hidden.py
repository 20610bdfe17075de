"""Networks with one hidden layer; many are trained at once on the same batches."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from noiseproof.learn.arrays import ArrayModel, expect
from noiseproof.learn.learner import Floats, Learner, Problem, Shape, Task, Trained
from noiseproof.learn.matrix import DenseBatch as Batch
from noiseproof.learn.matrix import Matrix, Scaling
from noiseproof.learn.objective import Objective
from noiseproof.noise import stream

#: Below this many rows, a hidden layer only memorises.
LEAST_ROWS = 300
#: The share of hidden units to drop in each step.
DROPOUT = 0.2
#: The share of steps at the start that use cross entropy: a bounded loss has almost no slope
#: where the label's probability is near 0.
WARM = 0.2
RATE = 0.02
LEAST_STEPS = 300
#: The bytes of weights, gradients and Adam's averages to hold at once.
ROOM = 2**26
BLOCK = 512


class HiddenModel(ArrayModel):
    """softmax(relu(scaled(x) W + b) V + c).

    Args:
        scaling: of the features.
        first: W (D, width) and b (width,).
        last: V (width, K) and c (K,).
    """

    learner = "hidden"

    def __init__(
        self, scaling: Scaling, first: tuple[Floats, Floats], last: tuple[Floats, Floats]
    ) -> None:
        self.scaling, self.first, self.last = scaling, first, last

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of features and of classes, (D, K)."""
        return len(self.first[0]), len(self.last[1])

    def probabilities(self, X: Any) -> Floats:
        """Return (N, K), computed in blocks of rows."""
        matrix = Matrix(X, self.scaling)
        out = np.empty((matrix.shape[0], len(self.last[1])), dtype=np.float32)
        for start in range(0, len(out), BLOCK):
            rows = slice(start, start + BLOCK)
            hidden = np.maximum(matrix.scaled(rows) @ self.first[0] + self.first[1], 0)
            z = hidden @ self.last[0] + self.last[1]
            out[rows] = torch.softmax(torch.from_numpy(z), -1).numpy()
        return out

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the scaling and both layers."""
        return {
            "mean": self.scaling.mean, "factor": self.scaling.factor,
            "weight0": self.first[0], "bias0": self.first[1],
            "weight1": self.last[0], "bias1": self.last[1],
        }  # fmt: skip

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild the model from :meth:`arrays`."""
        W, b, V, c = (arrays[n] for n in ("weight0", "bias0", "weight1", "bias1"))
        expect(W.ndim == V.ndim == 2, "matrices of weights")
        expect(b.shape == W.shape[1:] == V.shape[:1] and c.shape == V.shape[1:], "matching layers")
        mean, factor = arrays["mean"], arrays["factor"]
        expect(mean.shape == factor.shape == W.shape[:1], "a weight for each feature")
        return cls(Scaling(mean, factor), (W, b), (V, c))


@dataclass(frozen=True)
class Hidden(Learner):
    """A network with one hidden layer.

    Args:
        loss: the loss to minimise, as text.
        decay: adds half of this times the sum of squared weights to the mean loss.
        epochs: the number of passes over the rows.
        width: the number of hidden units.
    """

    name: ClassVar[str] = "hidden"
    trained: ClassVar[type[Trained]] = HiddenModel
    dense_only: ClassVar[bool] = True
    averaged: ClassVar[bool] = True
    takes_noise: ClassVar[bool] = True

    loss: str = "CE"
    decay: float = 1e-3
    epochs: int = 10
    width: int = 128

    DECAYS: ClassVar[tuple[float, ...]] = (1e-2, 1e-3)

    @classmethod
    def suits(cls, shape: Shape) -> bool:
        """Return whether the features are dense, with enough rows, and passes over them quick."""
        return not shape.sparse and shape.rows >= LEAST_ROWS and shape.is_quick

    @classmethod
    def first(cls, shape: Shape) -> Sequence[Self]:
        """Return several decays with CE."""
        return [cls("CE", decay) for decay in cls.DECAYS]

    @classmethod
    def group(cls, task: Task) -> Hashable:
        """Return its epochs and width: such tasks share one product with the features."""
        learner = cast(Hidden, task.learner)
        return learner.epochs, learner.width

    @classmethod
    def train(cls, problem: Problem, tasks: Sequence[Task]) -> list[Trained]:
        """Train with Adam; the learning rate rises briefly, then falls to 0."""
        matrix = problem.matrix("standard")
        width = cast(Hidden, tasks[0].learner).width
        at_once = max(1, ROOM // (16 * matrix.shape[1] * width))
        out: list[Trained] = []
        for start in range(0, len(tasks), at_once):
            out += _train(problem, matrix, tasks[start : start + at_once])
        return out


def steps_and_size(rows: int, epochs: int) -> tuple[int, int]:
    """Return the number of steps and the batch size.

    >>> [steps_and_size(rows, 10) for rows in (100, 1_000, 25_600, 1_000_000)]
    [(300, 100), (300, 128), (500, 512), (9770, 1024)]
    """
    size = min(rows, max(128, min(rows // 50, 1024)))
    return max(LEAST_STEPS * epochs // 10, epochs * math.ceil(rows / size)), size


def _train(problem: Problem, matrix: Matrix, tasks: Sequence[Task]) -> list[Trained]:
    learners = [cast(Hidden, task.learner) for task in tasks]
    rows, seed, width = matrix.shape[0], problem.seed, learners[0].width
    stack = _Stack(tasks, matrix.shape[1], problem.classes, width, seed)
    warm, own = Objective(problem, tasks, "CE"), Objective(problem, tasks)
    decay = torch.tensor([learner.decay for learner in learners])
    optimiser = torch.optim.Adam(stack.parameters, lr=RATE, betas=(0.9, 0.99))
    dropout = stream(seed, "dropout")
    steps, size = steps_and_size(rows, learners[0].epochs)
    table, heads = matrix.all, range(len(tasks))
    for step, chosen in enumerate(_batches(rows, size, steps, seed)):
        for group in optimiser.param_groups:
            group["lr"] = RATE * _schedule(step / steps)
        drawn = dropout.random((1, len(chosen), width), dtype=np.float32)
        keep = torch.from_numpy(drawn >= DROPOUT) / (1 - DROPOUT)
        batch = Batch(torch.from_numpy(table[chosen]))
        first = stack.first_layer(batch).requires_grad_()
        objective = warm if step < WARM * steps else own
        # The shares sum to 1 over all rows, so scale up from the batch.
        loss = objective(stack.logits(first, keep), chosen, heads).sum() * (rows / len(chosen))
        torch.autograd.backward(loss)
        stack.finish_gradient(batch, cast(Tensor, first.grad), decay)
        optimiser.step()
        optimiser.zero_grad()
    return stack.models(matrix.scaling)


def _batches(rows: int, size: int, steps: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield the rows of each step; every row comes once before any comes again."""
    order, queue = stream(seed, "order"), np.empty(0, dtype=np.int64)
    for _ in range(steps):
        if len(queue) < size:
            queue = np.concatenate([queue, order.permutation(rows)])
        chosen, queue = queue[:size], queue[size:]
        yield np.sort(chosen)


def _schedule(done: float) -> float:
    """Return the factor of the learning rate after a share of the steps."""
    return min(1.0, 0.02 + done / 0.05) * (1 + math.cos(math.pi * done)) / 2


class _Stack:
    """The weights of H networks side by side.

    ``first`` is the layer that reads the features, (D, H * width) and (H * width,); its gradient
    is written by hand, which saves a copy of the batch. ``last`` is (H, width, K) and (H, 1, K).
    """

    def __init__(
        self, tasks: Sequence[Task], columns: int, classes: int, width: int, seed: int
    ) -> None:
        starts = {}
        for start in {task.start for task in tasks}:
            drawn = stream(seed, f"initialisation {start}").standard_normal(
                (columns, width), dtype=np.float32
            )
            starts[start] = drawn / np.float32(math.sqrt(columns))
        self.heads = len(tasks)
        weight = torch.from_numpy(np.concatenate([starts[task.start] for task in tasks], axis=1))
        self.first = [weight, torch.zeros(weight.shape[1])]
        self.last = [
            torch.zeros(self.heads, width, classes, requires_grad=True),
            torch.zeros(self.heads, 1, classes, requires_grad=True),
        ]

    @property
    def parameters(self) -> list[Tensor]:
        return [*self.first, *self.last]

    def first_layer(self, batch: Batch) -> Tensor:
        """Return (B, H * width)."""
        return batch.times(self.first[0]).add_(self.first[1])

    def logits(self, first: Tensor, keep: Tensor) -> Tensor:
        """Return (H, B, K) from the first layer's output."""
        z = first.view(len(first), self.heads, -1)
        hidden = torch.relu(z).transpose(0, 1) * keep
        return torch.bmm(hidden, self.last[0]) + self.last[1]

    @torch.no_grad()
    def finish_gradient(self, batch: Batch, gradient: Tensor, decay: Tensor) -> None:
        """Set the first layer's gradient, and add the gradient of the decay to all weights."""
        weight, bias = self.first
        strength = decay.repeat_interleave(weight.shape[1] // self.heads)
        weight.grad = batch.back(gradient).addcmul_(weight, strength)
        bias.grad = gradient.sum(0)
        cast(Tensor, self.last[0].grad).addcmul_(self.last[0], decay[:, None, None])

    def models(self, scaling: Scaling) -> list[Trained]:
        """Return each network."""
        weight, bias = (tensor.numpy() for tensor in self.first)
        firsts = weight.reshape(len(weight), self.heads, -1).transpose(1, 0, 2)
        lasts, biases = (tensor.detach().numpy() for tensor in self.last)
        return [
            HiddenModel(scaling, (np.ascontiguousarray(W), b), (V, c[0]))
            for W, b, V, c in zip(firsts, bias.reshape(self.heads, -1), lasts, biases, strict=True)
        ]
