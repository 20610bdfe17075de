"""Try settings on held-out folds, in parallel."""

import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noiseproof import parallel
from noiseproof.errors import ParameterError
from noiseproof.learn.ensemble import Ensemble, Member
from noiseproof.learn.folds import held_out
from noiseproof.learn.learner import Floats, Labels, Learner, Problem, Task, Trained
from noiseproof.learn.review import SOUND, stakes
from noiseproof.learn.training import checked, together, train_all
from noiseproof.learn.treat import PLAIN, Opinions, treated
from noiseproof.noise.clustered import mean_and_error
from noiseproof.progress import SILENT, Progress

#: With at most so many rows times classes, trials remember those models that may be kept.
SMALL = 60_000


@dataclass(frozen=True)
class Setting:
    """A learner, and the treatment of doubtful labels before it is trained."""

    learner: Learner
    treatment: str = PLAIN

    @property
    def name(self) -> str:
        """The learner with its settings, and the treatment if there is one."""
        treated = f", {self.treatment}" if self.treatment != PLAIN else ""
        return f"{self.learner}{treated}"

    @property
    def is_cross_entropy(self) -> bool:
        """Whether this is plain cross entropy, the baseline of every comparison."""
        return self.learner.by_cross_entropy and self.treatment == PLAIN


@dataclass(frozen=True, eq=False)
class Trial:
    """The result of a setting on some or all of the folds.

    Args:
        setting: what was tried.
        probabilities: (N, K) for each row by the model that had not seen it; 0 where there is none.
        right: (N,) whether they predict the label, by :meth:`Problem.right`.
        share: (N,) what each row counts, summing to 1; 0 where no model of the trial held it out.
        seconds: of one core.
        models: of each fold, where they were asked for.
        units: (N,) a number for each row, equal for rows that belong together; None without such.
    """

    setting: Setting
    probabilities: Floats
    right: NDArray[np.float64]
    share: NDArray[np.float64]
    seconds: float
    models: tuple[Trained, ...] = ()
    units: Labels | None = None

    @property
    def accuracy(self) -> float:
        """The share of held-out noisy labels that were predicted."""
        return float(self.right @ self.share)

    @property
    def standard_error(self) -> float:
        """The standard error of the accuracy."""
        return self.mean(self.right)[1]

    def mean(self, values: NDArray[np.float64]) -> tuple[float, float]:
        """Return the mean of values (N,) over the rows, as they count, and its standard error."""
        return mean_and_error(values, self.share, self.units)


class _Answer(NamedTuple):
    """What a model says of the rows it was asked about, and what it cost."""

    probabilities: Floats
    seconds: float
    model: Trained | None


@dataclass(eq=False)
class Folds:
    """Trains settings without one fold, or two, and predicts the rows that they have not seen.

    Args:
        problem: the rows.
        fold: (N,) the fold of each row.
        deadline: the time, by ``time.monotonic``, after which no further job is started.
        progress: receives how many jobs are done.
        misled: by how much noisy labels may mislead; see :func:`~noiseproof.learn.review.stakes`.
        units: (N,) a number for each row, equal for rows that belong together; None without such.
        at_once: how many jobs run at a time; None is one for each core.
    """

    problem: Problem
    fold: Labels
    deadline: float = math.inf
    progress: Progress = SILENT
    misled: float = SOUND
    units: Labels | None = None
    at_once: int | None = None
    _weights: dict[tuple[int, ...], Floats] = field(default_factory=dict)
    _models: dict[Setting, tuple[Trained, ...]] = field(default_factory=dict)
    _looks: dict[tuple[Setting, int], _Answer] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """The number of folds."""
        return int(self.fold.max()) + 1

    @property
    def _is_small(self) -> bool:
        """Whether the models of all trials fit in memory, so that none is trained twice."""
        return len(self.fold) * self.problem.classes <= SMALL

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() > self.deadline

    @property
    def left(self) -> str:
        """The remaining time, in words; empty if there is no limit."""
        if math.isinf(self.deadline):
            return ""
        minutes, seconds = divmod(max(0, round(self.deadline - time.monotonic())), 60)
        return f"at most {minutes}:{seconds:02d} left to try more"

    @property
    def patient(self) -> "Folds":
        """The same without a time limit."""
        return replace(self, deadline=math.inf)

    def forget_looks(self, but: Collection[Setting]) -> None:
        """Free what first looks found, but for some settings."""
        for job in [job for job in self._looks if job[0] not in but]:
            del self._looks[job]

    def forget(self) -> None:
        """Free what is only kept to be quick: models, first looks, and scaled features."""
        self._models.clear()
        self._looks.clear()
        self.problem.forget()

    def weights(self, *without: int) -> Floats:
        """Return the rows' weights, 0 in the folds ``without``; always the same array."""
        if without not in self._weights:
            self._weights[without] = held_out(self.problem.weights, self.fold, *without)
        return self._weights[without]

    def share(self, folds: int, but: Labels | None = None) -> NDArray[np.float64]:
        """Return what each row counts in a choice, 0 outside the first ``folds`` folds.

        Args:
            folds: how many.
            but: checked rows that are to have no say.
        """
        review = self.problem.review
        weights = np.where(self.fold < folds, self.problem.weights, 0).astype(np.float64)
        if but is not None:
            weights[but] = 0
        judges = np.empty(0, dtype=np.int64) if review is None else review.judges
        return stakes(weights, judges[weights[judges] > 0], self.misled)

    def run(
        self,
        settings: Sequence[Setting],
        folds: int | None = None,
        opinions: Opinions | None = None,
        keep: bool = False,
    ) -> list[Trial]:
        """Try each setting with each of the first ``folds`` folds held out.

        Args:
            settings: what to try; those that the time does not allow are left out.
            folds: all of them unless said otherwise.
            opinions: what treatments go by.
            keep: whether the trials keep their models.
        """
        count = folds or self.count
        where = [np.flatnonzero(self.fold == f) for f in range(count)]
        jobs = [(setting, f) for setting in settings for f in range(count)]
        # What a first look at the setting has found is not computed again.
        known = {job: self._looks[job] for job in jobs if job in self._looks and not keep}
        new = [job for job in jobs if job not in known]
        tasks = [self.task(setting, f, opinions) for setting, f in new]
        kept = [keep or (self._is_small and s.learner.averaged) for s, _ in new]
        asked = self._ask(tasks, [where[f] for _, f in new], kept)
        said = known | dict(zip(new, asked, strict=True))
        del known, asked  # so that an answer is freed when it has been copied: see pop below
        seen, share = self.fold < count, self.share(count)
        trials = []
        for setting in dict.fromkeys(settings):
            if any(said[setting, f] is None for f in range(count)):
                continue
            # Rows that no model held out stay 0, and what was never written takes no memory.
            p = np.zeros((len(seen), self.problem.classes), dtype=np.float32)
            models, seconds = [], 0.0
            for f, rows in enumerate(where):
                part = said.pop((setting, f))
                of_all = len(part.probabilities) == len(p)  # a look's, of which these rows count
                p[rows] = part.probabilities[rows] if of_all else part.probabilities
                models.append(part.model)
                seconds += part.seconds
                if count < self.count:  # the look and the trial share an array
                    self._looks[setting, f] = part._replace(probabilities=p)
                del part
            if count == self.count and self._is_small and setting.learner.averaged:
                self._models[setting] = tuple(models)
            right = self.problem.right(p.argmax(axis=1))
            kept_models = tuple(models) if keep else ()
            trials.append(Trial(setting, p, right, share, seconds, kept_models, self.units))
        return trials

    def task(self, setting: Setting, without: int | None, opinions: Opinions | None) -> Task:
        """Return the task that trains a setting without a fold, or on all rows."""
        if without is None:
            task = Task(setting.learner, self.problem.weights, self.problem.soft)
        else:
            task = Task(setting.learner, self.weights(without), self.problem.soft, start=without)
        if setting.treatment == PLAIN:
            return task
        assert opinions is not None, "a treatment goes by what other models say"
        opinion = opinions.whole if without is None else opinions.folds[without]
        return treated(task, setting.treatment, self.problem, opinion)

    def keep(
        self, settings: Sequence[Setting], weights: Sequence[float], opinions: Opinions | None
    ) -> tuple[Member, ...]:
        """Train the models to keep.

        Args:
            settings: the chosen settings.
            weights: the weight of each setting; they sum to 1.
            opinions: the opinions that treatments rely on.
        """
        folds = {s: range(self.count) if s.learner.averaged else [None] for s in settings}
        new = [(s, f) for s in settings if s not in self._models for f in folds[s]]
        tasks = [self.task(setting, f, opinions) for setting, f in new]
        trained: dict[Setting, list[Trained]] = {s: list(self._models.get(s, ())) for s in settings}
        for (setting, _), model in zip(new, train_all(self.problem, tasks), strict=True):
            trained[setting].append(model)
        return tuple(
            Member(setting.learner, setting.treatment, weight / len(trained[setting]), model)
            for setting, weight in zip(settings, weights, strict=True)
            for model in trained[setting]
        )

    def without(self, fold: int, model: Ensemble, opinions: Opinions | None) -> Ensemble:
        """Return the model trained without a fold, and not sharpened."""
        share: dict[Setting, float] = {}
        for member in model.members:
            setting = Setting(member.learner, member.treatment)
            share[setting] = share.get(setting, 0.0) + member.weight
        trained = train_all(self.problem, [self.task(s, fold, opinions) for s in share])
        return Ensemble(
            tuple(
                Member(setting.learner, setting.treatment, weight, one)
                for (setting, weight), one in zip(share.items(), trained, strict=True)
            )
        )

    def pairs(self, learner: Learner) -> Floats | None:
        """Return (F, N, K) predictions; entry f is from models that saw neither fold f nor the row.

        Return None if the time runs out first.
        """
        if self.count < 3:
            return None  # without two of two folds there is nothing to train on
        pairs = [(f, g) for g in range(self.count) for f in range(g)]
        soft = self.problem.soft
        tasks = [Task(learner, self.weights(f, g), soft, start=f) for f, g in pairs]
        both = [np.flatnonzero((self.fold == f) | (self.fold == g)) for f, g in pairs]
        said = self._ask(tasks, both, [False] * len(tasks))
        if any(one is None for one in said):
            return None
        shape = (self.count, len(self.fold), self.problem.classes)
        # No pair leaves out (f, f), so out[f] stays uniform on fold f's rows; nothing uses those.
        out = np.full(shape, 1 / self.problem.classes, dtype=np.float32)
        for (f, g), rows, one in zip(pairs, both, said, strict=True):
            for mine, other in ((f, g), (g, f)):
                inside = self.fold[rows] == other
                out[mine, rows[inside]] = one.probabilities[inside]
        return out

    def _ask(
        self, tasks: Sequence[Task], rows: Sequence[Labels], keep: Sequence[bool]
    ) -> list[Any]:
        """Train the tasks; return for each its :class:`_Answer`.

        The answer is None for tasks that the deadline stopped.

        Args:
            tasks: the tasks.
            rows: the rows that each is asked about.
            keep: whether the answer keeps the model.
        """
        at = {id(task): i for i, task in enumerate(tasks)}
        groups = together(tasks, self.problem.shape)
        jobs: list[Callable[[], list[Any]]] = [
            partial(self._job, group, [(rows[at[id(t)]], keep[at[id(t)]]) for t in group])
            for group in groups
        ]
        found = parallel.run(
            jobs,
            lambda done: self.progress.update(done, len(jobs), self.left),
            at_once=self.at_once,
        )
        out: list[Any] = [None] * len(tasks)
        for group, answers in zip(groups, found, strict=True):
            for task, answer in zip(group, answers, strict=True):
                out[at[id(task)]] = answer
        return out

    def _job(self, tasks: Sequence[Task], asked: Sequence[tuple[Labels, bool]]) -> list[Any]:
        if self.late:
            return [None] * len(tasks)
        start = time.thread_time()
        models = type(tasks[0].learner).train(self.problem, tasks)
        name = tasks[0].learner.name
        if len(models) != len(tasks):
            raise ParameterError(f"{name}: {len(models)} models for {len(tasks)} tasks")
        said = [
            checked(
                model.probabilities(self.problem.features[where]),
                name,
                len(where),
                self.problem.classes,
            )
            for model, (where, _) in zip(models, asked, strict=True)
        ]
        each = (time.thread_time() - start) / len(tasks)
        return [
            _Answer(p, each, model if keep else None)
            for p, model, (_, keep) in zip(said, models, asked, strict=True)
        ]
