import pickle

import numpy as np
import pytest

from noiseproof import noise
from noiseproof.errors import NoiseError, TargetError


def classifier(true, K, seed=0, skill=3.0):
    """Return calibrated probabilities: Gaussian scores, ``skill`` higher for the true class."""
    scores = np.random.default_rng(seed).normal(size=(len(true), K))
    scores[np.arange(len(true)), true] += skill
    p = np.exp(skill * scores)  # the likelihood ratio of such scores
    return p / p.sum(axis=1, keepdims=True)


def sharpened(p, power):
    q = p**power
    return q / q.sum(axis=1, keepdims=True)


TRUE = np.arange(4000) % 10
NOISES = ("none", "symmetric:0.6", "asymmetric:0.3")


@pytest.mark.parametrize("text", NOISES)
@pytest.mark.parametrize("power", [0.3, 4])
def test_rate_is_near_the_truth_however_confident_the_classifier(text, power):
    noisy = noise.parse(text, 10, "mnist").transition.corrupt(TRUE, seed=1)
    T = noise.estimate(noisy, sharpened(classifier(TRUE, 10), power), bootstrap=20)
    assert T.rate == pytest.approx(noisy.rate, abs=0.03)


def test_mistakes_of_the_classifier_are_not_noise():
    p = classifier(TRUE, 10, skill=1.5)
    mistakes = (p.argmax(1) != TRUE).mean()
    assert mistakes > 0.3
    assert noise.estimate(TRUE, p, bootstrap=20).rate < mistakes / 5


def test_nearer_to_the_truth_than_the_plain_confident_joint():
    count = pytest.importorskip("cleanlab.count")
    p = classifier(TRUE, 10, skill=1.8)
    noisy = noise.symmetric(10, 0.3).corrupt(TRUE, seed=2)
    ours = abs(noise.estimate(noisy, p, bootstrap=20).rate - noisy.rate)
    theirs = abs(1 - np.trace(count.estimate_joint(noisy.labels, p)) - noisy.rate)
    assert ours < 0.03 < theirs


def test_agrees_with_cleanlab_where_the_classifier_is_nearly_perfect():
    count = pytest.importorskip("cleanlab.count")
    p = classifier(TRUE, 10, skill=6)
    noisy = noise.asymmetric("mnist", 0.3).corrupt(TRUE, seed=3)
    joint = count.estimate_joint(noisy.labels, p).T  # cleanlab's rows are given labels
    assert np.abs(noise.estimate(noisy, p, bootstrap=20).joint - joint).max() < 0.01


def test_intervals_hold_the_estimate_and_usually_the_realised_rate():
    true, inside = TRUE[:2000], 0
    for seed in range(6):
        noisy = noise.symmetric(10, 0.4).corrupt(true, seed=seed)
        T = noise.estimate(noisy, classifier(true, 10, seed), bootstrap=100)
        low, high = T.rate_interval
        assert low <= T.rate <= high
        assert T.clean_level_interval[0] <= T.clean_level <= T.clean_level_interval[1]
        inside += low <= noisy.rate <= high
    assert inside >= 5


def test_even_flips_do_not_make_the_clean_level_the_unluckiest_ratio():
    T0 = noise.symmetric(10, 0.4)
    T = noise.estimate(T0.corrupt(TRUE, seed=1), classifier(TRUE, 10, skill=6), bootstrap=20)
    assert T.clean_level > 0.75 * T0.clean_level


def test_joint_prior_and_matrix_fit_each_other():
    T = noise.estimate(noise.symmetric(10, 0.2).corrupt(TRUE, seed=1), classifier(TRUE, 10))
    assert T.joint.sum() == pytest.approx(1)
    assert np.allclose(T.prior[:, None] * T.matrix, T.joint)
    assert T.rate == pytest.approx(T.rate_under(T.prior))
    assert T.matrix_interval.shape == (2, 10, 10)


def test_labels_may_be_names():
    names = np.array(["ham", "spam"])[TRUE % 2]
    p = classifier(TRUE % 2, 2)
    by_name, by_number = noise.estimate(names, p), noise.estimate(TRUE % 2, p, ["ham", "spam"])
    assert by_name.classes == ("ham", "spam")
    assert by_name == by_number


def test_says_which_class_is_too_small_and_which_is_not_dominant():
    true = np.repeat([0, 1, 2], [2000, 2000, 8])
    given = noise.TransitionMatrix([[0.4, 0.6, 0], [0, 1, 0], [0, 0, 1]]).corrupt(true, seed=1)
    T = noise.estimate(given, classifier(true, 3, skill=6), ["cat", "dog", "newt"])
    assert any("'newt' is too small" in warning for warning in T.warnings)
    assert any("'cat' is labelled 'dog'" in warning for warning in T.warnings)


def test_says_when_the_classifier_knows_too_little():
    warnings = noise.estimate(TRUE, classifier(TRUE, 10, skill=0.5)).warnings
    assert any("own mistakes" in warning for warning in warnings)


def test_exact_zeros_and_absent_classes_are_no_trouble():
    T = noise.estimate(np.array([0, 1] * 50), np.eye(3)[[0, 1] * 50])
    assert T.rate == 0
    assert any("0 rows" in warning for warning in T.warnings)


def test_survives_pickle():
    T = noise.estimate(TRUE, classifier(TRUE, 10), bootstrap=20)
    back = pickle.loads(pickle.dumps(T))
    assert (back.rate_interval, back.warnings, back.rate) == (T.rate_interval, T.warnings, T.rate)


@pytest.mark.parametrize(
    ("labels", "p", "complaint"),
    [
        ([0, 1], [[0.5, 0.5]], "2 labels, but 1 rows"),
        ([0], [[0.5, 0.9]], "row 0"),
        ([0], [[np.nan, 1]], "row 0"),
        ([0], [0.5, 0.5], "shape"),
        (["ham", "sapm"], [[1, 0], [0, 1]], "did you mean 'spam'"),
    ],
)
def test_bad_input_is_one_clear_line(labels, p, complaint):
    with pytest.raises(NoiseError, match=complaint):
        noise.estimate(labels, p, ["ham", "spam"])


def test_a_label_without_probability_is_an_error():
    with pytest.raises(TargetError, match=r"outside 0\.\.1"):
        noise.estimate([0, 2], [[1, 0], [0, 1]])


def test_many_classes_with_few_rows_each_are_not_overfitted():
    true = np.arange(4000) % 50
    noisy = noise.symmetric(50, 0.4).corrupt(true, seed=1)
    T = noise.estimate(noisy, classifier(true, 50), bootstrap=20)
    assert T.rate == pytest.approx(noisy.rate, abs=0.03)


def test_the_true_class_of_a_row_is_bayes_rule():
    T = np.array([[0.8, 0.2], [0.4, 0.6]])
    found = noise.EstimatedTransition(T / 2, (0, 1), np.stack([T, T]), (1, 2))
    likely = found.true_class(np.array([1]), [[0.5, 0.5]])
    np.testing.assert_allclose(likely, [[0.25, 0.75]])
