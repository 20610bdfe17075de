"""Networks with one hidden layer; many are trained at once on the same batches."""

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from noiseproof.learn.arrays import REALS, ArrayModel, expect
from noiseproof.learn.learner import Floats, Learner, Problem, Shape, Task, Trained
from noiseproof.learn.learners.objective import Objective
from noiseproof.learn.matrix import Matrix, Scaling
from noiseproof.noise import stream

#: Below this many rows, a hidden layer only memorises.
LEAST_ROWS = 300
#: The share of hidden units to drop in each step.
DROPOUT = 0.2
#: Units are dropped by random bytes, which are quicker to draw than floats.
BYTE = 256
#: The share of steps at the start that use cross entropy: a bounded loss has almost no slope
#: where the label's probability is near 0.
WARM = 0.2
RATE = 0.02
#: With 300, models of ten spoiled tables were right on 0.5 (CE) and 0.9 points (GCE) fewer true
#: labels; on six clean tables there was no difference.
LEAST_STEPS = 200
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
        expect({W.dtype, V.dtype} <= set(REALS), "weights of type float32 or float64")
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
        """Return its epochs and width: such tasks take every step together."""
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
    [(200, 100), (200, 128), (500, 512), (9770, 1024)]
    """
    size = min(rows, max(128, min(rows // 50, 1024)))
    return max(LEAST_STEPS * epochs // 10, epochs * math.ceil(rows / size)), size


def _train(problem: Problem, matrix: Matrix, tasks: Sequence[Task]) -> list[Trained]:
    learners = [cast(Hidden, task.learner) for task in tasks]
    rows, seed, width = matrix.shape[0], problem.seed, learners[0].width
    stack = _Stack(tasks, matrix.shape[1], problem.classes, width, seed)
    warm, own = Objective(problem, tasks, "CE"), Objective(problem, tasks)
    adam = _Adam(stack.flat)
    dropout, dropped = stream(seed, "dropout"), round(DROPOUT * BYTE)
    steps, size = steps_and_size(rows, learners[0].epochs)
    table, heads = matrix.all, range(len(tasks))
    for step, chosen in enumerate(_batches(rows, size, steps, seed)):
        drawn = dropout.integers(BYTE, size=(1, len(chosen), width), dtype=np.uint8)
        keep = torch.from_numpy(drawn >= dropped).float() * (BYTE / (BYTE - dropped))
        x = torch.from_numpy(table[chosen])
        objective = warm if step < WARM * steps else own
        hidden, logits = stack.forward(x, keep)
        _, slope = objective.slope(logits, chosen, heads)
        # The shares sum to 1 over all rows, so scale up from the batch.
        gradient = stack.gradient(x, keep, hidden, slope.mul_(rows / len(chosen)))
        adam.step(gradient, RATE * _schedule(step / steps))
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
    """The weights of H networks side by side, as parts of one flat vector.

    W is (H, D, width), b (H, 1, width), V (H, K, width), c (H, 1, K). The gradient is written by
    hand: at this size autograd takes longer than the arithmetic.
    """

    def __init__(
        self, tasks: Sequence[Task], columns: int, classes: int, width: int, seed: int
    ) -> None:
        heads = len(tasks)
        self.shapes = [
            (heads, columns, width), (heads, 1, width), (heads, classes, width), (heads, 1, classes)
        ]  # fmt: skip
        self.flat = torch.zeros(sum(map(math.prod, self.shapes)), dtype=torch.float32)
        self.W, self.b, self.V, self.c = self.parts(self.flat)
        self.slope = torch.empty_like(self.flat)
        self.strength = torch.zeros_like(self.flat)
        decays = [cast(Hidden, task.learner).decay for task in tasks]
        decayed = self.parts(self.strength)
        for part in (decayed[0], decayed[2]):
            part += torch.tensor(decays, dtype=torch.float32)[:, None, None]
        drawn = {}
        for start in {task.start for task in tasks}:
            numbers = stream(seed, f"initialisation {start}")
            drawn[start] = numbers.standard_normal((columns, width), dtype=np.float32)
        for head, task in enumerate(tasks):
            self.W[head] = torch.from_numpy(drawn[task.start] / np.float32(math.sqrt(columns)))

    def parts(self, flat: Tensor) -> list[Tensor]:
        """Return the views of a flat vector that W, b, V and c are."""
        sizes = [math.prod(shape) for shape in self.shapes]
        split = zip(torch.split(flat, sizes), self.shapes, strict=True)
        return [part.view(shape) for part, shape in split]

    def forward(self, x: Tensor, keep: Tensor) -> tuple[Tensor, Tensor]:
        """Return the hidden units (H, B, width), some of them dropped, and logits (H, B, K)."""
        hidden = torch.baddbmm(self.b, x.expand(len(self.W), *x.shape), self.W)
        hidden.clamp_min_(0).mul_(keep)
        return hidden, torch.baddbmm(self.c, hidden, self.V.transpose(1, 2))

    def gradient(self, x: Tensor, keep: Tensor, hidden: Tensor, slope: Tensor) -> Tensor:
        """Return the flat gradient from that of the logits (H, B, K), with that of the decay."""
        W, b, V, c = self.parts(self.slope)
        torch.bmm(slope.transpose(1, 2), hidden, out=V)
        torch.sum(slope, 1, keepdim=True, out=c)
        back = torch.bmm(slope, self.V).mul_(keep)
        back = torch.ops.aten.threshold_backward(back, hidden, 0)  # 0 where the unit is 0
        torch.bmm(x.t().expand(len(W), *x.t().shape), back, out=W)
        torch.sum(back, 1, keepdim=True, out=b)
        return self.slope.addcmul_(self.flat, self.strength)

    def models(self, scaling: Scaling) -> list[Trained]:
        """Return each network."""
        W, b, V, c = (part.numpy() for part in (self.W, self.b, self.V, self.c))
        return [
            HiddenModel(scaling, (W[head], b[head, 0]), (V[head].T.copy(), c[head, 0]))
            for head in range(len(W))
        ]


class _Adam:
    """Adam on one flat vector. Making torch's own imports its compiler, which takes seconds."""

    def __init__(self, at: Tensor, first: float = 0.9, second: float = 0.99) -> None:
        self.at, self.first, self.second, self.steps = at, first, second, 0
        self.mean, self.square = torch.zeros_like(at), torch.zeros_like(at)

    def step(self, gradient: Tensor, rate: float) -> None:
        """Move against the gradient."""
        self.steps += 1
        self.mean.lerp_(gradient, 1 - self.first)
        self.square.mul_(self.second).addcmul_(gradient, gradient, value=1 - self.second)
        size = self.square.sqrt().div_(math.sqrt(1 - self.second**self.steps)).add_(1e-8)
        self.at.addcdiv_(self.mean, size, value=-rate / (1 - self.first**self.steps))
