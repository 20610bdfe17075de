"""Every learner of the registry keeps the promises of the protocol."""

import copy
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

from noiseproof.learn.learner import Problem, Shape, Task, of_name
from noiseproof.learn.learners import registry

CLASSES = 3


def blobs(rows: int = 240, seed: int = 0):
    rng = np.random.default_rng(seed)
    labels = np.arange(rows) % CLASSES
    X = rng.standard_normal((rows, 5)) + 3 * np.eye(CLASSES, 5)[labels]
    return X.astype(np.float32), labels.astype(np.int64)


def counts(rows: int = 240, seed: int = 0):
    rng = np.random.default_rng(seed)
    labels = np.arange(rows) % CLASSES
    X = rng.poisson(0.3 + 4 * np.eye(CLASSES, 6)[labels])
    return sparse.csr_matrix(X.astype(np.float32)), labels.astype(np.int64)


def data(kind, rows: int = 240, seed: int = 0):
    """Return what the learner suits: dense rows where it can, else counts."""
    dense = kind.suits(Shape(10_000, 5, CLASSES, sparse=False))
    return (blobs if dense else counts)(rows, seed)


def problem(X, labels, weights=None, seed=0) -> Problem:
    every = np.ones(len(labels)) if weights is None else weights
    return Problem(X, labels, CLASSES, np.asarray(every, dtype=np.float32), seed)


def settings():
    """Every learner with its first settings, and with a robust loss where it takes one."""
    shape = Shape(10_000, 5, CLASSES, sparse=False)
    for kind in registry.values():
        first = list(kind.first(shape))
        robust = first[0].with_loss("AGCE(a=1, q=0.5)")
        yield from dict.fromkeys([first[0], first[-1], *([robust] if robust else [])])


SETTINGS = list(settings())
EVERY = pytest.mark.parametrize("learner", SETTINGS, ids=str)
ONE_EACH = pytest.mark.parametrize("kind", list(registry.values()), ids=list(registry))


def train(task: Task, of: Problem):
    (model,) = type(task.learner).train(of, [task])
    return model


def first(kind):
    return kind.first(Shape(10_000, 5, CLASSES, sparse=False))[0]


@EVERY
def test_learns_what_is_easy_and_gives_probabilities(learner):
    X, labels = data(type(learner))
    test, true = data(type(learner), 300, seed=1)
    p = train(Task(learner, np.ones(240, dtype=np.float32)), problem(X, labels)).probabilities(test)
    assert p.shape == (300, CLASSES)
    assert p.dtype == np.float32
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(1), 1, atol=1e-4)
    assert (p.argmax(1) == true).mean() > 0.85


@EVERY
def test_rows_of_weight_0_are_left_out(learner):
    X, labels = data(type(learner))
    wrong = np.where(np.arange(240) < 120, (labels + 1) % CLASSES, labels)
    weights = (np.arange(240) >= 120).astype(np.float32)
    p = train(Task(learner, weights), problem(X, wrong, weights)).probabilities(X)
    rest = problem(X[120:], labels[120:])
    alone = train(Task(learner, np.ones(120, dtype=np.float32)), rest).probabilities(X)
    assert (p.argmax(1) == labels).mean() > 0.85
    # What is drawn may differ with the number of rows, what is learnt may not.
    assert np.abs(p - alone).mean() < 0.12


@EVERY
def test_a_soft_label_is_weighted_copies(learner):
    X, labels = data(type(learner))
    soft = np.full((240, CLASSES), 0.15, dtype=np.float32)
    soft[np.arange(240), labels] = 0.7
    weights = np.ones(240, dtype=np.float32)
    one = train(Task(learner, weights, targets=soft), problem(X, labels)).probabilities(X)
    stack = sparse.vstack if sparse.issparse(X) else np.concatenate
    copies = problem(
        stack([X] * CLASSES), np.repeat(np.arange(CLASSES), 240), soft.T.ravel() * CLASSES
    )
    if sparse.issparse(X):
        copies = problem(copies.features.tocsr(), copies.labels, copies.weights)
    if learner.name == "neighbours":  # k copies of a row are k neighbours
        learner = learner.varied(k=learner.k * CLASSES)
    other = train(Task(learner, copies.weights), copies).probabilities(X)
    assert np.abs(one - other).mean() < 0.06
    if learner.settings.get("latent"):
        return  # takes the doubt for noise in the labels, and is right to be sure
    hard = train(Task(learner, weights), problem(X, labels)).probabilities(X)
    assert one.max(1).mean() < hard.max(1).mean()  # soft labels are learnt as such


LOAD = """
import sys
from pathlib import Path

import numpy as np
from scipy import sparse

from noiseproof.learn.learners import registry

for folder in Path(sys.argv[1]).iterdir():
    X = np.load(folder / "X.npy")
    name, is_sparse = (folder / "learner").read_text().split()
    model = registry[name].trained.load(folder / "model")
    assert model.sizes == (X.shape[1], 3), model.sizes
    X = sparse.csr_matrix(X) if is_sparse == "True" else X
    np.save(folder / "p.npy", model.probabilities(X))
"""


@pytest.fixture(scope="module")
def in_another_process(tmp_path_factory):
    """For each setting, what its model says here and after loading in another process."""
    home, here = tmp_path_factory.mktemp("models"), {}
    for i, learner in enumerate(SETTINGS):
        X, labels = data(type(learner))
        model = train(Task(learner, np.ones(240, dtype=np.float32)), problem(X, labels))
        (home / str(i) / "model").mkdir(parents=True)
        model.save(home / str(i) / "model")
        np.save(home / str(i) / "X.npy", X.toarray() if sparse.issparse(X) else X)
        (home / str(i) / "learner").write_text(f"{learner.name} {sparse.issparse(X)}")
        here[learner] = model.probabilities(X)
    subprocess.run([sys.executable, "-c", LOAD, str(home)], check=True)
    return {one: (p, np.load(home / str(i) / "p.npy")) for i, (one, p) in enumerate(here.items())}


@EVERY
def test_save_and_load_to_the_bit_in_another_process(learner, in_another_process):
    here, there = in_another_process[learner]
    assert (there == here).all()
    assert of_name(learner.name, learner.settings) == learner


@ONE_EACH
def test_a_class_without_a_row_is_not_predicted(kind):
    X, labels = data(kind)
    weights = (labels != 1).astype(np.float32)
    p = train(Task(first(kind), weights), problem(X, labels)).probabilities(X)
    assert np.isfinite(p).all()
    assert (p[labels != 1].argmax(1) == labels[labels != 1]).mean() > 0.9
    assert (p[labels != 1].argmax(1) != 1).all()


@ONE_EACH
def test_one_class_alone_is_predicted(kind):
    X, labels = data(kind)
    weights = (labels == 2).astype(np.float32)
    p = train(Task(first(kind), weights), problem(X, labels)).probabilities(X)
    assert (p[labels == 2].argmax(1) == 2).all()


@ONE_EACH
def test_the_same_seed_gives_the_same_bits(kind):
    X, labels = data(kind)
    task = Task(first(kind), np.ones(240, dtype=np.float32))
    again = [train(task, problem(X, labels, seed=7)).probabilities(X) for _ in range(2)]
    assert (again[0] == again[1]).all()


@ONE_EACH
def test_many_tasks_at_once_are_the_tasks_one_at_a_time(kind):
    X, labels = data(kind)
    halves = [(np.arange(240) % 2 == f).astype(np.float32) for f in range(2)]
    tasks = [Task(learner, half) for learner in kind.first(problem(X, labels).shape)[:2]
             for half in halves]  # fmt: skip
    of = problem(X, labels)
    for group in kind.together(tasks):
        for task, model in zip(group, kind.train(of, group), strict=True):
            alone = train(task, of).probabilities(X)
            np.testing.assert_allclose(model.probabilities(X), alone, atol=5e-3)


@EVERY
def test_the_unit_of_the_weights_changes_nothing(learner):
    """Weights that sum to 1 mean the same as those with a mean of 1."""
    X, labels = data(type(learner))
    wrong = np.where(np.arange(240) % 5 == 0, (labels + 1) % CLASSES, labels)
    weights = np.random.default_rng(0).uniform(0.5, 1.5, 240)
    found = []
    for unit in (1, 1e-6, 1e-45, 1e300):
        of = Problem(X, wrong, CLASSES, unit * weights)
        found.append(train(Task(learner, of.weights), of).probabilities(X))
    for other in found[1:]:
        assert (other.argmax(1) == found[0].argmax(1)).mean() > 0.99
        assert np.abs(other - found[0]).mean() < 0.01


@EVERY
def test_constant_columns_change_nothing(learner):
    kind = type(learner)
    if not kind.suits(Shape(10_000, 5, CLASSES, sparse=False)):
        pytest.skip(f"{kind.name} is for counts")
    X, labels = blobs()
    wrong = np.where(np.arange(240) % 5 == 0, (labels + 1) % CLASSES, labels)
    more = np.hstack([X, np.full((240, 40), 7, dtype=np.float32)])
    task = Task(learner, np.ones(240, dtype=np.float32))
    plain = train(task, problem(X, wrong)).probabilities(X)
    other = train(task, problem(more, wrong)).probabilities(more)
    # What is drawn for each column may differ with their number, what is learnt may not.
    drawn = kind.name in ("hidden", "trees")
    assert np.abs(plain - other).mean() < (0.07 if drawn else 1e-5)


@ONE_EACH
def test_labels_of_which_no_part_is_large_are_learnt_from(kind):
    X, labels = data(kind)
    soft = np.full((240, 100), 0.01, dtype=np.float32)
    of = Problem(X, labels, 100, np.ones(240))
    p = train(Task(first(kind), of.weights, targets=soft), of).probabilities(X)
    assert np.isfinite(p).all()
    soft[:120] = np.eye(100)[labels[:120]]
    p = train(Task(first(kind), of.weights, targets=soft), of).probabilities(X)
    assert (p[:120].argmax(1) == labels[:120]).mean() > 0.8


def wide(copies: int):
    """Return noisy rows that a learner can learn by heart, each so many times."""
    rng = np.random.default_rng(0)
    labels = rng.integers(CLASSES, size=300)
    X = (rng.standard_normal((300, 60)) + 2 * np.eye(CLASSES, 60)[labels]).astype(np.float32)
    wrong = np.where(rng.random(300) < 0.35, (labels + 1) % CLASSES, labels)
    return problem(np.tile(X, (copies, 1)), np.tile(wrong, copies))


@pytest.mark.parametrize("loss", ["CE", "AGCE(a=1, q=0.5)"])
def test_boosting_stops_although_rows_have_copies(loss):
    of = wide(4)
    model = train(Task(registry["boosting"](loss), of.weights), of)
    assert model.rounds < 150  # of 333, of which it takes all if copies say when to stop


@pytest.mark.parametrize("latent", [False, True])
def test_log_odds_are_not_larger_because_rows_have_copies(latent):
    sure = []
    for of in (wide(1), wide(4)):
        model = train(Task(registry["discriminant"](0.1, latent), of.weights), of)
        sure.append(model.probabilities(np.eye(60, dtype=np.float32)).max(1).mean())
    assert sure[1] == pytest.approx(sure[0], abs=0.03)


@EVERY
@pytest.mark.parametrize("power", [-60, -27, 40])
def test_another_unit_changes_nothing(learner, power):
    """A column in metres is learnt from like one in nanometres."""
    kind = type(learner)
    if not kind.suits(Shape(10_000, 5, CLASSES, sparse=False)):
        pytest.skip(f"{kind.name} is for counts")
    X, labels = blobs()
    task = Task(learner, np.ones(240, dtype=np.float32))
    scaled = X * np.float32(2.0**power)
    plain = train(task, problem(X, labels)).probabilities(X)
    other = train(task, problem(scaled, labels)).probabilities(scaled)
    assert (plain.argmax(1) == other.argmax(1)).mean() > 0.97


@ONE_EACH
def test_sparse_and_dense_features_that_are_equal_are_learnt_alike(kind):
    X, labels = counts()
    if not kind.suits(Shape(10_000, 6, CLASSES, sparse=True)):
        pytest.skip(f"{kind.name} is for dense features")
    task = Task(first(kind), np.ones(240, dtype=np.float32))
    thin = train(task, problem(X, labels)).probabilities(X)
    full = train(task, problem(X.toarray(), labels)).probabilities(X.toarray())
    assert (thin.argmax(1) == full.argmax(1)).mean() > 0.93


@ONE_EACH
def test_what_is_damaged_is_refused(kind, tmp_path):
    X, labels = data(kind)
    model = train(Task(first(kind), np.ones(240, dtype=np.float32)), problem(X, labels))
    model.save(tmp_path)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 3])
    with pytest.raises(ValueError):  # noqa: PT011  any one, which becomes a line for the user
        kind.trained.load(tmp_path)


@pytest.mark.parametrize("poison", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused(poison, tmp_path):
    X, labels = blobs()
    kind = registry["linear"]
    model = train(Task(kind(), np.ones(240, dtype=np.float32)), problem(X, labels))
    model.weight[0, 0] = poison
    model.save(tmp_path)
    with pytest.raises(ValueError, match="expected finite numbers in weight"):
        kind.trained.load(tmp_path)


def test_a_forest_whose_nodes_lead_nowhere_is_refused(tmp_path):
    X, labels = blobs()
    kind = registry["trees"]
    model = train(Task(kind(), np.ones(240, dtype=np.float32)), problem(X, labels))
    for name, value in (("left", 10**6), ("right", 0), ("feature", 99)):
        arrays = model.arrays()
        arrays[name] = arrays[name].copy()
        arrays[name][0] = value  # node 0 is a root
        with pytest.raises(ValueError, match="expected"):
            kind.trained.of_arrays(arrays)


#: Shapes that a learner may be named for although it does not suit them: rows, columns, classes.
EXTREMES = {"wide": (60, 4000, 2), "many classes": (900, 4, 300), "both": (240, 2000, 120)}


@pytest.mark.parametrize("shape", EXTREMES)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
@ONE_EACH
def test_what_was_fitted_to_an_extreme_shape_is_saved_loaded_and_copied(
    kind, form, shape, tmp_path
):
    rows, columns, classes = EXTREMES[shape]
    if kind.dense_only and form is not np.asarray:
        pytest.skip("refuses sparse rows")
    labels = np.arange(rows, dtype=np.int64) % classes
    X = np.random.default_rng(0).normal(size=(rows, columns)).astype(np.float32)
    X[np.random.default_rng(1).random(X.shape) < 0.9] = 0
    X = form(X)
    of = Problem(X, labels, classes, np.ones(rows, dtype=np.float32), 0)
    (learner, *_) = kind.first(of.shape)
    model = train(Task(learner, of.weights), of)
    p = model.probabilities(X)
    assert np.array_equal(copy.deepcopy(model).probabilities(X), p)
    model.save(tmp_path)
    assert np.array_equal(kind.trained.load(tmp_path).probabilities(X), p)


@pytest.mark.parametrize("columns", [2, 40])  # by distance, and by direction
@ONE_EACH
def test_a_row_is_predicted_alike_alone_and_among_others(kind, columns):
    """Also where many rows are equal, so that distances between them are rounding."""
    rng = np.random.default_rng([2, columns])
    X = (rng.integers(0, 4, (600, columns)) * rng.uniform(0.1, 0.5, columns)).astype(np.float32)
    labels = rng.integers(0, CLASSES, 600)
    if not kind.suits(Shape(10_000, columns, CLASSES, sparse=False)):
        X = sparse.csr_matrix(X)
    of = problem(X, labels)
    (learner, *_) = kind.first(of.shape)
    model = train(Task(learner, of.weights), of)
    every = model.probabilities(X)
    for rows in ([5], [599], [0, 300], list(range(257)), list(range(599, -1, -1))):
        np.testing.assert_allclose(model.probabilities(X[rows]), every[rows], atol=1e-5)


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 9, 12])
@ONE_EACH
def test_a_handful_of_rows_with_a_weight_is_enough(kind, rows):
    X, labels = data(kind, 60)
    weights = np.zeros(60, dtype=np.float32)
    weights[:rows] = 1
    p = train(Task(first(kind), weights), problem(X, labels)).probabilities(X)
    assert np.isfinite(p).all()
