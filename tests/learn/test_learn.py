"""Learning from noisy labels: ahead of CE where there is noise, never far behind where not."""

import json
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_classification

from noiseproof import losses, noise
from noiseproof.errors import MissingExtraError
from noiseproof.learn.choose import Setting, Trial, decide
from noiseproof.learn.folds import deal, row_weights
from noiseproof.learn.head import Heads, Training, train
from noiseproof.learn.learn import FEW, Learned, learn
from noiseproof.learn.matrix import Matrix, Scaling
from noiseproof.learn.objective import Task
from noiseproof.learn.search import search
from noiseproof.learn.treat import Nested
from noiseproof.learn.trials import Bench
from noiseproof.noise.estimate import EstimatedTransition


def digits(rate: float, rows: int = 500):
    X, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X[order], y[order].astype(np.int64)
    given = noise.symmetric(10, rate).corrupt(y[:rows], seed=1).labels if rate else y[:rows]
    return X[:rows], np.asarray(given), y[:rows], X[rows:], y[rows:]


@pytest.fixture(scope="module")
def noisy():
    X, given, true, X_test, test = digits(0.4)
    steps = []
    learned = learn(X, given, 10, head="linear", watch=lambda *step: steps.append(step))
    return learned, X, given, true, X_test, test, steps


def test_beats_cross_entropy_on_true_labels(noisy):
    learned, X, given, _, X_test, test, _ = noisy
    task = Task(losses.CE(), row_weights(None, len(given)))
    plain = train(Matrix(X), given, 10, [task], Training(), 0)
    right = (learned.predict_proba(X_test).argmax(1) == test).mean()
    assert right > (plain.mean(Matrix(X_test, plain.scaling)).argmax(1) == test).mean() + 0.03
    assert learned.loss != "CE" or learned.treatment != "none"


def test_says_what_was_compared_and_why(noisy):
    learned, _, given, *_, steps = noisy
    accuracies = [candidate.noisy_accuracy for candidate in learned.comparison]
    assert accuracies == sorted(accuracies, reverse=True)
    assert any(c.loss == "CE" and c.treatment == "none" for c in learned.comparison)
    assert {c.treatment for c in learned.comparison} == {
        "none", "drop", "weigh", "refine", "forward",
    }  # fmt: skip
    assert "points more of the held-out noisy labels than CE" in learned.why
    held_out = (learned.probabilities.argmax(1) == given).mean()
    assert held_out == pytest.approx(accuracies[0])
    assert {name for name, *_ in steps} == {"scout", "compare losses", "treat doubtful labels"}
    assert all(0 < done <= total for _, done, total in steps)


def test_finds_the_noise_and_the_wrong_rows(noisy):
    learned, _, given, true, *_ = noisy
    assert learned.estimate.rate == pytest.approx((given != true).mean(), abs=0.1)
    suspects = learned.suspects()
    assert (given != true)[suspects.rows].mean() > 0.75
    assert (suspects.proposed == true[suspects.rows]).mean() > 0.7
    assert (suspects.proposed != given[suspects.rows]).all()
    assert (np.diff(suspects.confidence) <= 0).all()


def test_goes_through_arrays_and_json_and_back(noisy):
    learned, *_, X_test, _, _ = noisy
    loaded = Learned.load(learned.arrays(), json.loads(json.dumps(learned.describe())))
    assert (loaded.predict_proba(X_test) == learned.predict_proba(X_test)).all()
    assert loaded.comparison == learned.comparison
    assert (loaded.loss, loaded.treatment, loaded.why) == (
        learned.loss, learned.treatment, learned.why,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(2))
def test_with_clean_labels_the_choice_is_not_worse_than_ce_by_a_standard_error(seed):
    X, y = make_classification(
        1000, 10, n_informative=6, n_classes=3, class_sep=1.5, random_state=seed
    )
    learned = learn(X[:400], y[:400], 3, head="linear", seed=seed)
    plain = train(
        Matrix(X[:400]), y[:400], 3, [Task(losses.CE(), row_weights(None, 400))], Training(), seed
    )
    test = y[400:]
    ours = (learned.predict_proba(X[400:]).argmax(1) == test).mean()
    theirs = (plain.mean(Matrix(X[400:], plain.scaling)).argmax(1) == test).mean()
    assert ours >= theirs - np.sqrt(theirs * (1 - theirs) / len(test))


def test_few_rows_get_cross_entropy():
    X, y = make_classification(FEW - 1, 5, random_state=0)
    learned = learn(X, y, 2)
    assert learned.loss == "CE"
    assert "Fewer than" in learned.why
    assert (learned.predict_proba(X).argmax(1) == y).mean() > 0.8


def trial(name: str, right: list[int]) -> Trial:
    loss, _, treatment = name.partition(", ")
    heads = Heads(Scaling(np.zeros(1), np.ones(1)), 2, ())
    share = np.full(len(right), 1 / len(right))
    setting = Setting(loss, 1e-3, treatment or "none")
    return Trial(setting, heads, np.zeros((len(right), 2)), np.array(right, dtype=float), share)


def test_cross_entropy_is_used_unless_another_is_better_by_more_than_a_standard_error():
    plain = trial("CE", [1, 0, 1, 0, 1, 0, 1, 0])
    # One row of eight: a gain of 1/8, with a standard error of sqrt(7/64/8) = 0.117 < 0.125.
    ahead = trial("MAE", [1, 1, 1, 0, 1, 0, 1, 0])
    # Two rows gained, one lost: the same gain, with a standard error of 0.21.
    level = trial("MAE, drop", [1, 1, 1, 1, 1, 0, 0, 0])
    chosen, why = decide([plain, ahead])
    assert chosen is ahead
    assert why.startswith("MAE predicts 12.5 points more")
    chosen, why = decide([plain, level])
    assert chosen is plain
    assert "within one standard error" in why
    assert decide([plain, trial("MAE", [0] * 8)])[0] is plain


def test_nested_probabilities_never_saw_the_held_out_fold():
    # The labels of fold 0 are changed: nothing that fold 0 is judged by may change with them.
    X, y, *_ = digits(0.0, rows=120)
    fold = deal(y, 3, seed=0)
    changed = np.where(fold == 0, (y + 1) % 10, y)
    training = Training(steps=20, epochs=1)

    def nested(labels):
        bench = Bench(Matrix(X), labels, 10, row_weights(None, 120), fold, 0)
        return bench.pairs(Setting("CE", 1e-3), training).probabilities

    a, b = nested(y), nested(changed)
    assert (a[0][fold != 0] == b[0][fold != 0]).all()
    assert (a[1][fold == 2] != b[1][fold == 2]).any()


@pytest.mark.parametrize("treatment", ["drop", "weigh", "refine", "forward"])
def test_treatments_count_a_label_that_the_others_contradict_for_less(treatment):
    p = np.array([[0.95, 0.05]] * 4 + [[0.05, 0.95]], dtype=np.float32)
    labels = np.array([0, 0, 0, 1, 1])
    T = np.array([[0.7, 0.3], [0.3, 0.7]])
    draws = np.array([[0.3, 0.9]])
    noise = EstimatedTransition(T, np.array([0.5, 0.5]), (0.2, 0.4), draws, 0.8, 5)
    nested = Nested(p[None], labels, (noise,))
    plain = Task(losses.CE(), np.ones(5, dtype=np.float32))
    task = nested.treated(plain, treatment, 0)
    if treatment == "forward":
        assert (task.transition == T).all()
    elif treatment == "refine":
        np.testing.assert_allclose(task.targets[3], [0.475, 0.525])
    else:
        assert task.weights[3] < 0.3 < 0.9 < task.weights[0] < 1.5 < task.weights[4]


def test_search_is_repeatable_and_asks_for_optuna(monkeypatch):
    X, y, *_ = digits(0.4, rows=120)
    bench = Bench(Matrix(X), y, 10, row_weights(None, 120), deal(y, 2, 0), 0)
    training = Training(steps=10, epochs=1)
    first, again = ([trial.setting for trial in search(bench, training, 3)] for _ in range(2))
    assert first == again
    assert len(first) == 3
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError, match="optuna is missing: pip install"):
        search(bench, training, 1)
