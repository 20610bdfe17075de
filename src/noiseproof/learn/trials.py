"""Settings tried on held-out folds, as many at once as memory allows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from noiseproof import losses
from noiseproof.learn.choose import Setting, Trial
from noiseproof.learn.folds import Labels, held_out
from noiseproof.learn.head import Heads, Progress, Training, train
from noiseproof.learn.matrix import Floats, Matrix
from noiseproof.learn.objective import Task
from noiseproof.learn.treat import Nested

#: Bytes of weights, gradients and Adam's averages to train at once, at least.
ROOM = 2**26


@dataclass(frozen=True)
class Bench:
    """What every trial of a comparison shares.

    Args:
        matrix: (N, D) the inputs.
        labels: (N,) as given.
        classes: K.
        weights: (N,) what each row counts.
        fold: (N,) the fold of each row.
        seed: the same seed gives the same trials.
        progress: is told how far the comparison is, in steps of training.
    """

    matrix: Matrix
    labels: Labels
    classes: int
    weights: Floats
    fold: Labels
    seed: int
    progress: Progress | None = None

    @property
    def folds(self) -> int:
        """How many folds there are."""
        return int(self.fold.max()) + 1

    def run(
        self,
        settings: Sequence[Setting],
        training: Training,
        folds: int | None = None,
        nested: Nested | None = None,
    ) -> list[Trial]:
        """Try each setting with each of the first ``folds`` folds held out.

        Args:
            settings: what to try.
            training: how.
            folds: all of them unless said otherwise.
            nested: what treatments go by.
        """
        count = self.folds if folds is None else folds
        at_once = max(1, self._heads_at_once(training) // count)
        trials: list[Trial] = []
        for start in range(0, len(settings), at_once):
            part = settings[start : start + at_once]
            tasks = [self._task(s, f, nested) for s in part for f in range(count)]
            heads = self.train(tasks, training)
            trials += self.tested(part, heads, count)
        return trials

    def train(self, tasks: Sequence[Task], training: Training) -> Heads:
        """Train heads on the rows of this comparison."""
        return train(
            self.matrix, self.labels, self.classes, tasks, training, self.seed, self.progress
        )

    def pairs(self, setting: Setting, training: Training) -> Nested:
        """Return what heads trained without two folds say about the rows of both."""
        pairs = [(f, g) for g in range(self.folds) for f in range(g)]
        shape = (self.folds, len(self.labels), self.classes)
        # No head was trained without a fold twice over: what it says there is never used.
        out = np.full(shape, 1 / self.classes, dtype=np.float32)
        at_once = max(1, self._heads_at_once(training))
        for start in range(0, len(pairs), at_once):
            part = pairs[start : start + at_once]
            loss = losses.loss(setting.loss)
            tasks = [
                Task(loss, held_out(self.weights, self.fold, f, g), setting.decay, start=f)
                for f, g in part
            ]
            for rows, p in self.train(tasks, training).blocks(self.matrix):
                for (f, g), of_pair in zip(part, p, strict=True):
                    inside = self.fold[rows]
                    out[f, rows][inside == g] = of_pair[inside == g]
                    out[g, rows][inside == f] = of_pair[inside == f]
        return Nested.of(out, self.labels, self.fold)

    def _task(self, setting: Setting, fold: int, nested: Nested | None) -> Task:
        loss, weights = losses.loss(setting.loss), held_out(self.weights, self.fold, fold)
        plain = Task(loss, weights, setting.decay, start=fold)
        if setting.treatment == "none":
            return plain
        assert nested is not None, "a treatment goes by what other heads say"
        return nested.treated(plain, setting.treatment, fold)

    def tested(self, settings: Sequence[Setting], heads: Heads, folds: int) -> list[Trial]:
        """Return how heads in the order (setting, fold) did on the rows they were not shown."""
        rows = self.matrix.shape[0]
        seen = self.fold < folds
        probabilities = np.full((len(settings), rows, self.classes), 1 / self.classes, "f4")
        for part, p in heads.blocks(self.matrix):
            by_fold = p.reshape(len(settings), folds, *p.shape[1:])
            inside = np.flatnonzero(seen[part])
            at = part.start + inside
            probabilities[:, at] = by_fold[:, self.fold[at], inside]
        weights = np.where(seen, self.weights, 0).astype(np.float64)
        share = weights / weights.sum()
        right = (probabilities.argmax(-1) == self.labels).astype(np.float64)
        return [
            Trial(
                s, heads.pick(range(i * folds, (i + 1) * folds)), probabilities[i], right[i], share
            )
            for i, s in enumerate(settings)
        ]

    def _heads_at_once(self, training: Training) -> int:
        width = training.width if training.kind == "mlp" else self.classes
        return max(1, ROOM // (16 * self.matrix.shape[1] * width))
