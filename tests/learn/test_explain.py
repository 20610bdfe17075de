"""The choice where right labels may not dominate: by how likely models make the noisy labels."""

from types import SimpleNamespace

import numpy as np
import pytest

from noiseproof.learn.choice import best_explanation, choose
from noiseproof.learn.decide import much_told, structured
from noiseproof.learn.explain import explained
from noiseproof.learn.learn import learn
from noiseproof.learn.learner import Problem
from noiseproof.learn.learners.discriminant import Discriminant
from noiseproof.learn.learners.trees import Trees
from noiseproof.learn.trials import Folds, Setting, Trial

ROWS = 2000
NOISE = np.array([[0.3, 0.7, 0.0], [0.0, 0.9, 0.1], [0.1, 0.0, 0.9]])  # a 0 is called a 1
NOBODY = np.zeros(ROWS, dtype=bool)


@pytest.fixture
def noisy() -> tuple[np.ndarray, np.ndarray]:
    """Return true classes and noisy labels."""
    numbers = np.random.default_rng(0)
    true = numbers.integers(3, size=ROWS)
    return true, (NOISE.cumsum(1)[true] < numbers.random(ROWS)[:, None]).sum(1)


def soft(classes: np.ndarray, sure: float = 0.9) -> np.ndarray:
    """Return predictions of classes, ``sure`` of each."""
    return np.where(np.eye(3, dtype=bool)[classes], sure, (1 - sure) / 2).astype(np.float32)


def mean_log(q: np.ndarray, labels: np.ndarray, known: np.ndarray = NOBODY) -> float:
    return float(np.log(explained(q, labels, np.arange(ROWS) % 2 == 0, known)).mean())


def test_true_classes_explain_the_labels_as_well_as_predicting_the_labels_does(noisy) -> None:
    true, labels = noisy
    perfect = float(np.log(NOISE[true, labels]).mean())
    of_labels = mean_log(NOISE[true], labels)
    assert mean_log(soft(true), labels) == pytest.approx(perfect, abs=0.02)
    assert of_labels == pytest.approx(perfect, abs=0.02)
    # By accuracy the one that predicts labels is far ahead.
    predicted = NOISE[true].argmax(1)
    assert (predicted == labels).mean() > (true == labels).mean() + 0.05


def test_who_knows_less_explains_less_however_sure(noisy) -> None:
    true, labels = noisy
    numbers = np.random.default_rng(1)
    often = np.where(numbers.random(ROWS) < 0.7, true, numbers.integers(3, size=ROWS))
    never = numbers.integers(3, size=ROWS)
    found = [mean_log(soft(who, sure), labels) for sure in (0.6, 0.99) for who in (true, often)]
    assert found[0] > found[1] + 0.1
    assert found[2] > found[3] + 0.1
    frequent = np.bincount(labels) / ROWS
    assert mean_log(soft(never), labels) < np.log(frequent[labels]).mean() + 0.01


def test_a_label_that_is_known_is_not_explained_by_noise(noisy) -> None:
    true, labels = noisy
    half, q = np.arange(ROWS) % 2 == 0, soft(true)
    known = np.arange(ROWS) < 100
    right = np.where(known, true, labels)
    found = explained(q, right, half, known)
    assert found[known].min() > 0.6  # what the model says of the class, sharpened or not
    of_zeros = (true == 0) & known
    assert found[of_zeros].mean() > explained(q, right, half, NOBODY)[of_zeros].mean() + 0.3


def test_labels_of_one_class_and_classes_without_labels_are_explained() -> None:
    labels = np.zeros(ROWS, dtype=np.int64)
    assert mean_log(soft(labels), labels) > -0.1
    assert np.isfinite(mean_log(soft(labels + 1, 1.0), labels))
    everyone = ~NOBODY
    assert np.isfinite(mean_log(soft(labels), labels, everyone))


def test_where_labels_may_mislead_the_model_that_tells_true_classes_is_chosen(noisy) -> None:
    true, labels = noisy
    features, weights = np.zeros((ROWS, 1)), np.ones(ROWS, dtype=np.float32)
    problem, share = Problem(features, labels, 3, weights), np.full(ROWS, 1 / ROWS)
    numbers = np.random.default_rng(2)
    guess = np.where(numbers.random(ROWS) < 0.9, true, numbers.integers(3, size=ROWS))
    said = {
        Setting(Trees()): NOISE[guess].astype(np.float32),
        Setting(Discriminant(latent=True)): soft(guess),
        Setting(Trees(), "em"): soft(numbers.integers(3, size=ROWS)),
    }
    trials = [Trial(s, p, problem.right(p.argmax(axis=1)), share, 0.0) for s, p in said.items()]
    flexible, latent, lost = trials
    assert flexible.accuracy > latent.accuracy + 0.05
    assert structured(trials) == []  # so far behind that it is not believed about the noise
    folds = Folds(problem, np.arange(ROWS) % 5)
    sound, wary = (
        SimpleNamespace(
            rate=0.3, rate_interval=(0.0, 0.5), clean_level_interval=(c, 3.0), decisive=False
        )
        for c in (2.0, 1.1)
    )
    assert choose(folds, trials, None, sound).settings[0] == flexible.setting
    chosen = choose(folds, trials, None, wary)
    assert chosen.settings == (latent.setting,)
    assert "--trusted" in chosen.why
    assert "--trusted" not in choose(folds, trials, None, sound).why
    # A model of true classes that explains nothing is not preferred for its kind.
    assert choose(folds, [flexible, lost], None, wary).settings == (flexible.setting,)


def test_where_features_tell_little_the_most_accurate_model_is_chosen_and_the_doubt_is_said(
    noisy,
) -> None:
    """Labels may always mislead there, and the preference for models of true classes decided."""
    true, labels = noisy
    problem = Problem(np.zeros((ROWS, 1)), labels, 3, np.ones(ROWS, dtype=np.float32))
    share, numbers = np.full(ROWS, 1 / ROWS), np.random.default_rng(2)
    guess = np.where(numbers.random(ROWS) < 0.4, true, numbers.integers(3, size=ROWS))
    said = {
        Setting(Trees()): NOISE[guess].astype(np.float32),
        Setting(Discriminant(latent=True)): soft(guess),
    }
    trials = [Trial(s, p, problem.right(p.argmax(axis=1)), share, 0.0) for s, p in said.items()]
    assert not much_told(trials, labels)
    wary = SimpleNamespace(
        rate=0.3, rate_interval=(0.0, 0.5), clean_level_interval=(1.1, 3.0), decisive=False
    )
    chosen = choose(Folds(problem, np.arange(ROWS) % 5), trials, None, wary)
    assert Setting(Trees()) in chosen.settings
    assert "--trusted" in chosen.why
    assert "explain" not in chosen.why


@pytest.mark.parametrize("seed", [5, 8])
def test_a_rare_class_that_features_hardly_tell_costs_no_accuracy(seed) -> None:
    """Sixteen in a hundred leave, and nobody knows who: 20 and 5 points below "nobody" before."""
    numbers = np.random.default_rng(seed)
    X = numbers.normal(size=(400, 12)).astype(np.float32)
    chance = 1 / (1 + np.exp(2 - 0.6 * X[:, 0] - 0.4 * X[:, 1]))
    true = (numbers.random(400) < chance).astype(np.int64)
    given = np.where(numbers.random(400) < 0.25, 1 - true, true)
    learned = learn(X, given, 2, learners=["linear", "discriminant"], seed=seed)
    right = (learned.probabilities.argmax(1) == true).mean()
    assert right > 1 - true.mean() - 0.04


def test_rows_of_weight_0_have_no_say_in_the_noise(noisy) -> None:
    true, labels = noisy
    half, left_out = np.arange(ROWS) % 2 == 0, np.arange(ROWS) % 4 >= 2
    spoilt = np.where(left_out, (labels + 1) % 3, labels)
    weights = np.where(left_out, 0, 1).astype(np.float32)
    found = explained(soft(true), spoilt, half, NOBODY, weights)[~left_out]
    kept = [part[~left_out] for part in (soft(true), labels, half, NOBODY)]
    np.testing.assert_allclose(found, explained(*kept))


def test_a_model_that_explains_clearly_more_is_heard_however_few_labels_it_predicts(noisy) -> None:
    true, labels = noisy
    weights, share = np.ones(ROWS, dtype=np.float32), np.full(ROWS, 1 / ROWS)
    problem = Problem(np.zeros((ROWS, 1)), labels, 3, weights)
    folds = Folds(problem, np.arange(ROWS) % 5)

    def trial(setting: Setting, q: np.ndarray) -> Trial:
        return Trial(setting, q.astype(np.float32), problem.right(q.argmax(axis=1)), share, 0.0)

    knows = trial(Setting(Discriminant(latent=True)), soft(true))
    merges = trial(Setting(Trees()), soft(NOISE[true].argmax(1)))  # takes every 0 for a 1
    predicts = trial(Setting(Trees(leaf=8)), NOISE[true])
    assert knows.accuracy < merges.accuracy - 0.05
    assert best_explanation(folds, [knows, merges]) is knows
    assert best_explanation(folds, [knows, merges, predicts]) is None  # explains as much
    assert best_explanation(folds, [merges]) is None
    assert best_explanation(folds, [knows]) is None
