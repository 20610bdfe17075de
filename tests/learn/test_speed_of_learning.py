"""Short cuts in training give what the long way gives."""

import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.tree import ExtraTreeClassifier
from threadpoolctl import threadpool_info, threadpool_limits

from noiseproof import losses
from noiseproof.learn import training
from noiseproof.learn.learn import learn
from noiseproof.learn.learner import Problem, Task
from noiseproof.learn.learners import lbfgs
from noiseproof.learn.learners.forest import Forest
from noiseproof.learn.learners.hidden import Hidden, _Stack
from noiseproof.learn.learners.linear import Linear
from noiseproof.learn.learners.objective import Objective, unit_slope
from noiseproof.learn.trials import Folds, Setting
from noiseproof.parallel import one_thread
from noiseproof.progress import Progress
from noiseproof.torch_threads import one_torch_thread


def rows(count=60, columns=4, classes=3):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((count, columns)).astype(np.float32)
    weights = rng.random(count).astype(np.float32)
    return Problem(X, rng.integers(classes, size=count), classes, weights)


@pytest.mark.parametrize("leaf", [1, 3, 8])
def test_a_forest_cut_back_predicts_by_the_lowest_node_that_is_heavy_enough(leaf):
    problem = rows(200)
    X, labels = problem.features, problem.labels
    tree = ExtraTreeClassifier(random_state=0).fit(X, labels)
    forest = Forest.of_trees([tree], tree.classes_, 3, 4, leaf)
    path = tree.decision_path(X).toarray().astype(bool)
    weight = tree.tree_.weighted_n_node_samples
    # Children come after their parents, so the last heavy node of a path is the lowest.
    lowest = [np.flatnonzero(nodes & (weight >= leaf))[-1] for nodes in path]
    expected = tree.tree_.value[lowest, 0]
    np.testing.assert_allclose(forest.probabilities(X), expected, atol=1e-3)
    assert len(forest.feature) < len(weight) or leaf == 1


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("name", ["CE", "AGCE(a=1, q=0.5)"])
def test_the_slope_of_an_objective_is_the_derivative_of_the_weighted_mean_loss(name, soft):
    problem = rows()
    targets = np.random.default_rng(1).dirichlet(np.ones(3), 60).astype(np.float32)
    tasks = [
        Task(Linear(name), problem.weights, targets if soft else None),
        Task(Linear("CE"), np.where(np.arange(60) < 30, 1, 0).astype(np.float32)),
    ]
    z = torch.randn(2, 60, 3, generator=torch.Generator().manual_seed(0), requires_grad=True)
    value, slope = Objective(problem, tasks).slope(z.detach(), slice(None), [0, 1])
    for head, task in enumerate(tasks):
        loss = losses.loss(task.learner.loss, reduction="none")
        answer = torch.from_numpy(problem.labels if task.targets is None else task.targets)
        share = torch.from_numpy(task.weights / task.weights.sum())
        mean = (loss(z[head], answer) * share).sum() * unit_slope(task.learner.loss, 3)[1]
        (expected,) = torch.autograd.grad(mean, z)
        torch.testing.assert_close(value[head], mean.detach(), rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(slope[head], expected[head], rtol=1e-4, atol=1e-6)


def test_the_gradient_of_hidden_layers_is_that_of_autograd():
    problem = rows()
    tasks = [Task(Hidden("CE", decay), problem.weights, start=i) for i, decay in enumerate((1, 2))]
    stack = _Stack(tasks, 4, 3, 8, seed=0)
    stack.flat += 0.1 * torch.randn(len(stack.flat), generator=torch.Generator().manual_seed(0))
    x, keep = (
        torch.from_numpy(problem.features),
        (torch.arange(60 * 8) % 5 > 0).view(1, 60, 8) * 1.25,
    )
    hidden, logits = stack.forward(x, keep)
    found = stack.gradient(x, keep, hidden, torch.cos(logits)).clone()
    W, b, V, c = parts = [part.clone().requires_grad_() for part in stack.parts(stack.flat)]
    units = torch.relu(x @ W + b) * keep
    decay = sum(d * (p[i] ** 2).sum() / 2 for i, d in enumerate((1, 2)) for p in (W, V))
    (torch.sin(units @ V.transpose(1, 2) + c).sum() + decay).backward()
    expected = torch.cat([part.grad.flatten() for part in parts])
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_training_does_not_import_the_compiler_of_torch():
    code = (
        "import sys, numpy as np; from noiseproof.learn.learn import learn\n"
        "X = np.random.default_rng(0).normal(size=(300, 3)).astype('float32')\n"
        "learn(X, X.argmax(1), 3, learners=['hidden', 'linear'])\n"
        "assert 'torch._dynamo' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_learning_uses_one_thread_a_job_and_leaves_the_callers_setting_alone():
    class Seen(Progress):
        def step(self, name):
            threads.add(torch.get_num_threads())
            threads.update(pool["num_threads"] for pool in threadpool_info())

    threads, before = set(), torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        problem = rows(150)
        learn(problem.features, problem.labels, 3, learners="linear", progress=Seen())
        assert threads == {1}
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def in_another_thread(function):
    found = []
    thread = threading.Thread(target=lambda: found.append(function()))
    thread.start()
    thread.join()
    return found[0]


def test_threads_that_learn_at_the_same_time_leave_the_callers_setting_alone():
    def threads():
        return [p["num_threads"] for p in threadpool_info() if p["user_api"] == "blas"]

    with threadpool_limits(2):
        before, first, second = threads(), one_thread(), one_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)  # ends while the other is still at work
        assert set(threads()) == {1}
        second.__exit__(None, None, None)
        assert threads() == before


@pytest.mark.parametrize("inside", [one_thread, one_torch_thread])
def test_threads_at_work_leave_the_setting_for_later_threads_alone(inside):
    def work(begun, end):
        with inside(), inside():
            begun.set()
            end.wait()
            at_work.append(in_another_thread(torch.get_num_threads))
        after.append(torch.get_num_threads())

    at_work, after, threads = [], [], torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        events = [(threading.Event(), threading.Event()) for _ in range(2)]
        workers = [threading.Thread(target=work, args=pair) for pair in events]
        for worker, (begun, _) in zip(workers, events, strict=True):
            worker.start()
            begun.wait()
        for worker, (_, end) in zip(workers, events, strict=True):
            end.set()  # the first ends while the other is still at work
            worker.join()
        assert at_work == [1, 1]
        assert after == [2, 2]
        assert torch.get_num_threads() == in_another_thread(torch.get_num_threads) == 2
    finally:
        torch.set_num_threads(threads)


def linear_model():
    """Return the head that logistic regression learns from 190 x 40 sparse rows of four classes."""
    X = sparse.random(190, 40, density=0.3, format="csr", random_state=0, dtype=np.float32)
    y = np.asarray(X[:, :4].argmax(axis=1)).ravel()
    problem = Problem(X, y, 4, np.ones(190))
    tasks = [Task(Linear("CE", decay), problem.weights) for decay in (1e-2, 1e-3)]
    return [model.weight for model in Linear.train(problem, tasks)]


def test_long_vectors_in_blocks_lead_to_the_same_models(monkeypatch):
    whole = linear_model()
    monkeypatch.setattr(lbfgs, "BLOCK", 7)
    for found, expected in zip(linear_model(), whole, strict=True):
        np.testing.assert_allclose(found, expected, atol=2e-3)


@pytest.mark.parametrize(("large", "jobs"), [(10**6, [6]), (0, [1])])
def test_where_models_are_large_the_time_is_looked_at_before_each(monkeypatch, large, jobs):
    """A dozen models that take a minute each would be one job, which nothing stops."""
    problem = rows()
    folds = Folds(problem, np.arange(60) % 3, time.monotonic() + 600)
    trained = []
    learnt = Linear.train

    def train(problem, tasks):
        trained.append(len(tasks))
        folds.deadline = 0.0
        return learnt(problem, tasks)

    monkeypatch.setattr(training, "LARGE", large)
    monkeypatch.setattr("noiseproof.parallel.cores", lambda: 1)
    monkeypatch.setattr(Linear, "train", train)
    folds.run([Setting(Linear("CE", decay)) for decay in (1e-1, 1e-2)])
    assert trained == jobs
