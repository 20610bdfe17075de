"""Logistic regression, also with robust losses: full-batch L-BFGS along a path of decays."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from noiseproof.learn.arrays import REALS, ArrayModel, expect
from noiseproof.learn.learner import Floats, Learner, Problem, Shape, Task, Trained
from noiseproof.learn.learners.lbfgs import add, dot, minimise
from noiseproof.learn.learners.objective import Objective
from noiseproof.learn.matrix import Matrix, Scale, Scaling, as_batch

#: Compute the logits of this many rows at once.
BLOCK = 4096
#: From this many columns on, also try one scale factor for all columns.
WIDE = 32
#: The bytes of weights and their history to hold at once.
ROOM = 2**28


class LinearModel(ArrayModel):
    """softmax(scaled(x) W + b).

    Args:
        scaling: of the features.
        weight: (D, K).
        bias: (K,).
    """

    learner = "linear"

    def __init__(self, scaling: Scaling, weight: Floats, bias: Floats) -> None:
        self.scaling, self.weight, self.bias = scaling, weight, bias

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of features and of classes, (D, K)."""
        columns, classes = self.weight.shape
        return columns, classes

    def probabilities(self, X: Any) -> Floats:
        """Return (N, K), computed in blocks of rows."""
        matrix = Matrix(X, self.scaling)
        out = np.empty((matrix.shape[0], len(self.bias)), dtype=np.float32)
        for start in range(0, len(out), BLOCK):
            rows = slice(start, start + BLOCK)
            z = matrix.scaled(rows, self.weight.dtype) @ self.weight + self.bias
            out[rows] = torch.softmax(torch.from_numpy(z), -1).numpy()
        return out

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the scaling, the weight and the bias."""
        return {
            "mean": self.scaling.mean, "factor": self.scaling.factor,
            "weight": self.weight, "bias": self.bias,
        }  # fmt: skip

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild the model from :meth:`arrays`."""
        mean, factor, weight, bias = (arrays[n] for n in ("mean", "factor", "weight", "bias"))
        expect(weight.dtype in REALS, "weights of type float32 or float64")
        expect(weight.ndim == 2 and bias.shape == weight.shape[1:], "a weight for each class")
        expect(mean.shape == factor.shape == weight.shape[:1], "a weight for each feature")
        return cls(Scaling(mean, factor), weight, bias)


@dataclass(frozen=True)
class Linear(Learner):
    """A linear model.

    Args:
        loss: the loss to minimise, as text.
        decay: adds half of this times the sum of squared weights to the mean loss.
        scale: whether every column gets a deviation of 1, or all columns share one factor.
    """

    name: ClassVar[str] = "linear"
    trained: ClassVar[type[Trained]] = LinearModel
    takes_noise: ClassVar[bool] = True

    loss: str = "CE"
    decay: float = 1e-3
    scale: Scale = "standard"

    #: The first is used where there is no time to compare it.
    DECAYS: ClassVar[tuple[float, ...]] = (1e-1, 1.0, 3e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4)

    @classmethod
    def suits(cls, shape: Shape) -> bool:
        """Return whether some hundred passes over the rows are quick."""
        return shape.sparse or shape.is_quick

    @classmethod
    def first(cls, shape: Shape) -> Sequence[Self]:
        """Return a path of decays with CE, for each scale worth trying."""
        scales: tuple[Scale, ...] = ("standard",)
        if shape.columns >= WIDE and not shape.sparse:
            scales = ("standard", "common")
        return [cls("CE", decay, scale) for scale in scales for decay in cls.DECAYS]

    @classmethod
    def group(cls, task: Task) -> Hashable:
        """Return its scale and loss: the decays of one loss warm-start each other."""
        learner = cast(Linear, task.learner)
        return learner.scale, learner.loss

    @classmethod
    def train(cls, problem: Problem, tasks: Sequence[Task]) -> list[Trained]:
        """Solve the tasks from strong to weak decay; a robust loss starts from CE's solution."""
        assert isinstance(tasks[0].learner, Linear)
        matrix = problem.matrix(tasks[0].learner.scale)
        solver = Solver(problem, matrix)
        out: dict[int, Trained] = {}
        starts: dict[Any, Tensor] = {}
        order = sorted(range(len(tasks)), key=lambda i: -_decay(tasks[i]))
        for decay in dict.fromkeys(_decay(tasks[i]) for i in order):
            level = [i for i in order if _decay(tasks[i]) == decay]
            for part in solver.fitting(level):
                here = [tasks[i] for i in part]
                zero = solver.zero(1)[0]
                start = torch.stack([starts.get(_data(task), zero) for task in here])
                solved = solver.solve(here, [decay] * len(here), start)
                for i, one in zip(part, solved, strict=True):
                    starts[_data(tasks[i])] = one.start
                    out[i] = LinearModel(matrix.scaling, one.weight, one.bias)
        return [out[i] for i in range(len(tasks))]


def _decay(task: Task) -> float:
    assert isinstance(task.learner, Linear)
    return task.learner.decay


def _data(task: Task) -> Any:
    """Return a key that is equal for tasks on the same data."""
    return id(task.weights), id(task.targets), id(task.transition)


@dataclass(frozen=True, eq=False)
class Solution:
    """A solved head: its weight (D, K), its bias (K,), and the start for the next decay."""

    weight: Floats
    bias: Floats
    start: Tensor


class Solver:
    """Trains linear heads on one matrix; decay pulls their weights to a goal, by default 0."""

    def __init__(self, problem: Problem, matrix: Matrix) -> None:
        self.problem, self.matrix = problem, matrix
        self.columns, self.classes = matrix.shape[1], problem.classes
        self.table = matrix.all

    def zero(self, heads: int) -> Tensor:
        """Return zeros (H, (D + 1) K)."""
        return torch.zeros(heads, (self.columns + 1) * self.classes, dtype=torch.float32)

    def fitting(self, which: Sequence[int]) -> list[Sequence[int]]:
        """Split tasks into parts whose weights and history fit in memory."""
        size = (self.columns + 1) * self.classes * 20 * 4
        step = max(1, ROOM // size)
        return [which[at : at + step] for at in range(0, len(which), step)]

    def solve(
        self,
        tasks: Sequence[Task],
        decays: Sequence[float],
        start: Tensor,
        goal: Tensor | None = None,
    ) -> list[Solution]:
        """Return the head of each task.

        Args:
            tasks: the H tasks.
            decays: how strongly each head is pulled to the goal.
            start: (H, (D + 1) K) starting points.
            goal: the goals, of the same shape.
        """
        strength = torch.tensor(decays, dtype=torch.float32)
        evaluate = self._evaluate(Objective(self.problem, tasks, "CE"), strength, goal)
        convex = minimise(evaluate, start)
        found = convex
        robust = [i for i, task in enumerate(tasks) if not task.learner.by_cross_entropy]
        if robust:
            some = [tasks[i] for i in robust]
            held = None if goal is None else goal[robust]
            evaluate = self._evaluate(Objective(self.problem, some), strength[robust], held)
            found = convex.clone()
            found[robust] = minimise(evaluate, convex[robust])
        shaped = found.view(len(tasks), self.columns + 1, self.classes).numpy()
        return [
            Solution(np.ascontiguousarray(one[:-1]), one[-1].copy(), origin)
            for one, origin in zip(shaped, convex, strict=True)
        ]

    def _evaluate(self, objective: Objective, decay: Tensor, goal: Tensor | None) -> Any:
        columns, classes = self.columns, self.classes

        def evaluate(x: Tensor, which: Tensor) -> tuple[Tensor, Tensor]:
            heads = which.tolist()
            w = x.view(len(heads), columns + 1, classes)
            wide = w[:, :-1].permute(1, 0, 2).reshape(columns, -1).contiguous()
            bias = w[:, -1].reshape(-1)
            gradient: Tensor | None = None
            of_bias = torch.zeros_like(bias)
            value = torch.zeros(len(heads), dtype=torch.float64)
            for start in range(0, self.table.shape[0], BLOCK):
                rows = slice(start, min(start + BLOCK, self.table.shape[0]))
                batch = as_batch(self.table[rows])
                z = batch.times(wide).add_(bias).view(-1, len(heads), classes).transpose(0, 1)
                parts, slope = objective.slope(z, rows, heads)
                g = slope.transpose(0, 1).reshape(-1, len(heads) * classes)
                value += parts
                part = batch.back(g)
                gradient = part if gradient is None else gradient.add_(part)
                of_bias += g.sum(0)
            assert gradient is not None, "there are rows"
            out = torch.empty_like(w)
            out[:, :-1] = gradient.view(columns, len(heads), classes).transpose(0, 1)
            out[:, -1] = of_bias.view(len(heads), classes)
            flat, weights = out.view_as(x), columns * classes
            away = x[:, :weights]
            if goal is not None:
                away = away - goal[which, :weights]
            value += 0.5 * decay[which] * dot(away, away)
            add(flat[:, :weights], decay[which], away)
            return value.float(), flat

        return evaluate
