import pickle

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from noiseproof import noise
from noiseproof.errors import NoiseError, NoiseproofError, TargetError


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
    T = noise.estimate(noisy, sharpened(classifier(TRUE, 10), power))
    assert T.rate == pytest.approx(noisy.rate, abs=0.04)
    assert T.rate_interval[0] <= noisy.rate <= T.rate_interval[1]


@pytest.mark.parametrize("K", [2, 4, 10])
@pytest.mark.parametrize("rate", [0.005, 0.01])
def test_a_few_wrong_labels_among_easy_rows_are_found(K, rate):
    """A grid of the rate that has no step below theirs calls them difficult rows."""
    true = np.arange(6000) % K
    p, noisy = classifier(true, K, skill=6), noise.symmetric(K, rate).corrupt(true, seed=4)
    T = noise.estimate(noisy, p)
    wrong, listed = noisy.labels != true, T.doubt(noisy.labels, p)[0] >= 0.5
    assert T.rate == pytest.approx(noisy.rate, rel=0.4)
    assert T.rate_interval[0] <= noisy.rate <= T.rate_interval[1]
    assert (listed & wrong).sum() >= 0.9 * wrong.sum()
    assert (listed & wrong).sum() >= 0.9 * listed.sum()


def test_nearer_to_the_truth_than_the_plain_confident_joint():
    count = pytest.importorskip("cleanlab.count")
    p = classifier(TRUE, 10, skill=1.8)
    noisy = noise.symmetric(10, 0.3).corrupt(TRUE, seed=2)
    ours = abs(noise.estimate(noisy, p).rate - noisy.rate)
    theirs = abs(1 - np.trace(count.estimate_joint(noisy.labels, p)) - noisy.rate)
    assert ours < theirs / 2


def test_agrees_with_cleanlab_where_the_classifier_is_nearly_perfect():
    count = pytest.importorskip("cleanlab.count")
    p = classifier(TRUE, 10, skill=6)
    noisy = noise.asymmetric("mnist", 0.3).corrupt(TRUE, seed=3)
    joint = count.estimate_joint(noisy.labels, p).T  # cleanlab's rows are given labels
    assert np.abs(noise.estimate(noisy, p).joint - joint).max() < 0.01


def parity(rows, signs, seed=0):
    """Return labels that are all right and very hard, and a weak learner's held-out opinion."""
    numbers = np.random.default_rng(seed)
    x = numbers.normal(size=(rows, signs))
    true = (np.prod(np.sign(x), axis=1) > 0).astype(int)
    right = numbers.random(rows) < 0.55 + 0.1 * numbers.random(rows)
    p = 0.5 + 0.15 * numbers.random(rows) * np.where(right == (true == 1), 1, -1)
    return true, np.stack([1 - p, p], axis=1)


def easy(rows, seed=0):
    true = np.random.default_rng(seed).integers(0, 3, rows)
    return true, classifier(true, 3, seed, skill=4)


def overlapping(rows, seed=0):
    true = np.random.default_rng(seed).integers(0, 4, rows)
    return true, classifier(true, 4, seed, skill=1.5)


def guessed(rows, seed=0):
    numbers = np.random.default_rng(seed)
    return numbers.integers(0, 3, rows), numbers.dirichlet(np.ones(3), size=rows)


CLEAN = {
    "easy": easy(2000),
    "hard": parity(2000, 4),
    "overlapping": overlapping(3000),
    "tiny": easy(60),
    "tiny and hard": parity(60, 4),
    "nothing to learn": guessed(500),
}


@pytest.mark.parametrize("name", CLEAN)
def test_clean_labels_may_be_clean(name):
    labels, p = CLEAN[name]
    T = noise.estimate(labels, p)
    assert T.rate_interval[0] == 0
    wrong, _ = T.doubt(labels, p)
    assert (wrong > 0.9).mean() < 0.01


def wide(rng):
    """More columns than rows, one of which says it all."""
    X = rng.normal(size=(120, 1500))
    return (
        X,
        (X[:, 0] > 0).astype(int),
        RandomForestClassifier(30, min_samples_leaf=3, random_state=0),
    )


def ten_bits(rng):
    """Parity, which only neighbours tell."""
    X = rng.integers(0, 2, (700, 10))
    return X, X.sum(axis=1) % 2, KNeighborsClassifier(40)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("made", [wide, ten_bits])
def test_a_weak_classifier_is_no_proof_of_noise(made, seed):
    X, labels, model = made(np.random.default_rng(seed))
    p = cross_val_predict(model, X, labels, cv=5, method="predict_proba")
    T = noise.estimate(labels, p)
    assert T.rate_interval[0] == 0
    assert not (T.doubt(labels, p)[0] > 0.9).any()


def blurred(rows, seed, rate=0.0):
    """Return two overlapping Gaussians, and their labels, so many of which are wrong."""
    numbers = np.random.default_rng(seed)
    true = numbers.integers(0, 2, rows)
    X = numbers.normal(size=(rows, 4))
    X[np.arange(rows), true] += 2
    return X, np.where(numbers.random(rows) < rate, 1 - true, true)


COARSE = {
    "neighbours": KNeighborsClassifier(),
    "few trees": RandomForestClassifier(10, random_state=0),
    "a tree": DecisionTreeClassifier(min_samples_leaf=20, random_state=0),
    "a tree, all 0 or 1": DecisionTreeClassifier(random_state=0),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("model", COARSE)
def test_probabilities_of_a_few_levels_are_no_surer_than_they_can_tell(model, seed):
    for rate in (0.0, 0.2):
        X, labels = blurred(2000, seed, rate)
        p = cross_val_predict(COARSE[model], X, labels, cv=5, method="predict_proba")
        low, high = noise.estimate(labels, p).rate_interval
        assert low <= rate <= high
        assert low == 0 or rate


@pytest.mark.parametrize("K", [2, 5])
@pytest.mark.parametrize("skill", [1.5, 2, 4])
def test_predictions_without_probabilities_do_not_show_what_is_difficult(K, skill):
    true = np.arange(4000) % K
    p = np.eye(K)[classifier(true, K, skill=skill).argmax(axis=1)]
    T = noise.estimate(true, p)
    assert T.rate_interval[0] == 0
    assert not T.decisive
    assert "all 0 or 1" in T.warnings[0]
    assert T.doubt(true, p)[0].max() <= 0.5
    noisy = noise.symmetric(K, 0.2).corrupt(true, seed=1)
    low, high = noise.estimate(noisy, p).rate_interval
    assert low == 0
    assert high >= noisy.rate
    places = np.arange(0, 4000, 10)
    T = noise.estimate(noisy, p, trusted=(places, true[places]))
    assert T.rate_interval[0] > 0.1
    assert T.decisive


def test_one_probability_of_0_changes_next_to_nothing():
    labels, p = easy(2000)
    noisy = noise.symmetric(3, 0.2).corrupt(labels, seed=1)
    soft = noise.estimate(noisy, p)
    p[0] = np.eye(3)[labels[0]]
    assert noise.estimate(noisy, p).rate == pytest.approx(soft.rate, abs=0.003)


@pytest.mark.parametrize("name", ["hard", "tiny and hard", "nothing to learn"])
def test_says_when_noise_cannot_be_told_from_difficulty(name):
    T = noise.estimate(*CLEAN[name])
    assert not T.decisive
    assert any("cannot tell noise from difficulty" in warning for warning in T.warnings)
    assert T.doubt(*CLEAN[name])[0].max() <= 0.5


def test_noise_that_shows_is_decisive():
    noisy = noise.symmetric(10, 0.3).corrupt(TRUE, seed=1)
    assert noise.estimate(noisy, classifier(TRUE, 10)).decisive
    assert noise.estimate(TRUE, classifier(TRUE, 10, skill=5)).decisive


KINDS = {
    "symmetric": noise.symmetric(4, 0.3).matrix,
    "next class": noise.pair_flip(4, 0.3).matrix,
    "one way": np.array([[0.7, 0.3, 0, 0], [0, 1, 0, 0], [0, 0, 0.7, 0.3], [0, 0, 0, 1]]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [300, 3000])
def test_intervals_hold_the_realised_rate(kind, rows):
    inside = 0
    for seed in range(10):
        true = np.arange(rows) % 4
        noisy = noise.TransitionMatrix(KINDS[kind]).corrupt(true, seed=seed)
        p = sharpened(classifier(true, 4, seed, skill=2 + seed / 5), 3 if seed % 2 else 1)
        T = noise.estimate(noisy, p)
        low, high = T.rate_interval
        assert low <= T.rate <= high
        assert T.clean_level_interval[0] <= T.clean_level <= T.clean_level_interval[1]
        inside += low <= noisy.rate <= high
    assert inside >= 9


def test_even_flips_do_not_make_the_clean_level_the_unluckiest_ratio():
    T0 = noise.symmetric(10, 0.4)
    T = noise.estimate(T0.corrupt(TRUE, seed=1), classifier(TRUE, 10, skill=6))
    assert T.clean_level > 0.75 * T0.clean_level


def test_joint_prior_and_matrix_fit_each_other():
    T = noise.estimate(noise.symmetric(10, 0.2).corrupt(TRUE, seed=1), classifier(TRUE, 10))
    assert T.joint.sum() == pytest.approx(1)
    assert np.allclose(T.prior[:, None] * T.matrix, T.joint)
    assert T.rate == pytest.approx(T.rate_under(T.prior))
    low, high = T.kept_interval
    assert (low <= np.diag(T.matrix)).all()
    assert (np.diag(T.matrix) <= high).all()


def learned_by_rule(rows, seed=0):
    """Return labels of which 40 % follow a wrong rule that the classifier has learned as well."""
    true = np.arange(rows) % 4
    rule = np.where(np.random.default_rng(seed).random(rows) < 0.4, (true + 1) % 4, true)
    return true, rule, classifier(rule, 4, seed, skill=4)


def test_trusted_rows_show_noise_that_the_classifier_has_learned():
    true, given, p = learned_by_rule(4000)
    rows = np.random.default_rng(1).choice(4000, 60, replace=False)
    blind, seeing = noise.estimate(given, p), noise.estimate(given, p, trusted=(rows, true[rows]))
    rate = (given != true).mean()
    assert blind.rate < 0.1
    assert seeing.rate_interval[0] <= rate <= seeing.rate_interval[1]
    assert seeing.rate == pytest.approx(rate, abs=0.15)
    assert seeing.strongest_confusion(1) == 2


def test_trusted_rows_narrow_the_interval():
    labels, p = overlapping(3000)
    noisy = noise.symmetric(4, 0.2).corrupt(labels, seed=1).labels
    rows = np.arange(100)
    wide = noise.estimate(noisy, p).rate_interval
    narrow = noise.estimate(noisy, p, trusted=(rows, labels[rows])).rate_interval
    assert narrow[1] - narrow[0] < wide[1] - wide[0]
    assert narrow[0] <= (noisy != labels).mean() <= narrow[1]


def test_neighbours_help_a_poor_classifier():
    numbers = np.random.default_rng(0)
    true = np.arange(2000) % 4
    x = (
        numbers.normal(size=(2000, 2))
        + 6 * np.eye(4)[true][:, :2]
        + 6 * np.eye(4)[true][:, 2:] * -1
    )
    noisy = noise.symmetric(4, 0.3).corrupt(true, seed=1).labels
    poor = classifier(true, 4, skill=0.8)
    near = noise.nearest(x, metric="euclidean")
    alone, helped = noise.estimate(noisy, poor), noise.estimate(noisy, poor, neighbours=near)
    rate = (noisy != true).mean()
    assert abs(helped.rate - rate) < 0.03
    assert np.ptp(helped.rate_interval) < np.ptp(alone.rate_interval) / 2


def test_many_classes_take_little_time_and_few_lines():
    K, rows = 2000, 6000
    true = np.arange(rows) % K
    noisy = noise.symmetric(K, 0.3).corrupt(true, seed=1)
    p = np.full((rows, K), 0.3 / K, dtype=np.float32)
    p[np.arange(rows), true] += np.random.default_rng(0).uniform(0.3, 0.7, rows)
    p /= p.sum(axis=1, keepdims=True)
    T = noise.estimate(noisy, p)
    assert T.rate_interval[0] <= noisy.rate <= T.rate_interval[1]
    assert len(T.warnings) <= 10


def test_doubt_is_what_true_class_says():
    noisy = noise.symmetric(10, 0.3).corrupt(TRUE, seed=1).labels
    p = classifier(TRUE, 10)
    T = noise.estimate(noisy, p)
    likely = T.true_class(noisy, p)
    wrong, proposed = T.doubt(noisy, p)
    np.testing.assert_allclose(wrong, 1 - likely[np.arange(len(noisy)), noisy], atol=1e-9)
    # Of a doubtful label, another class is proposed even if the label is the most likely one.
    doubtful = wrong >= 0.25
    others = likely.copy()
    others[np.arange(len(noisy)), noisy] = 0
    assert (proposed == np.where(doubtful, others.argmax(axis=1), likely.argmax(axis=1))).all()
    assert ((proposed != noisy) == doubtful).all()
    assert (doubtful & (wrong < 0.5)).any()
    assert (noisy != TRUE)[wrong > 0.5].mean() > 0.95


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


def test_exact_zeros_and_absent_classes_are_no_trouble():
    T = noise.estimate(np.array([0, 1] * 50), np.eye(3)[[0, 1] * 50])
    assert T.rate < 0.01
    assert T.rate_interval[0] == 0
    assert "class '2' is too small to tell: no row of it can be judged" in T.warnings


def test_survives_pickle():
    T = noise.estimate(TRUE, classifier(TRUE, 10))
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
    T = noise.estimate(noisy, classifier(true, 50))
    assert T.rate == pytest.approx(noisy.rate, abs=0.03)


def test_an_estimate_that_cannot_tell_says_so_wherever_it_is_printed():
    labels = np.arange(200) % 2
    assert "cannot tell noise" in repr(noise.estimate(labels, np.full((200, 2), 0.5)))
    sure = noise.estimate(labels, np.eye(2)[labels] * 0.98 + 0.01)
    assert repr(sure).endswith("dominant)")


def test_the_true_class_of_a_row_is_bayes_rule():
    T = np.array([[0.8, 0.2], [0.4, 0.6]])
    draws = np.array([[0.3, 0.9]])
    found = noise.EstimatedTransition(T, np.array([0.5, 0.5]), (0.2, 0.4), draws, 0.7, 100)
    likely = found.true_class(np.array([1]), [[0.5, 0.5]])
    np.testing.assert_allclose(likely, [[0.25, 0.75]])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"neighbours": [[1]]}, "neighbours"),
        ({"neighbours": [[5], [0]]}, "row numbers from 0 to 1"),
        ({"trusted": ([0, 1], [0])}, "as many trusted rows"),
        ({"trusted": ([7], [0])}, "trusted row numbers"),
        ({"trusted": ([0], ["sapm"])}, "did you mean 'spam'"),
        ({"trusted": ([1, 0, 1], [0, 0, 1])}, "trusted row 1 has two different true labels"),
    ],
)
def test_bad_helpers_are_one_clear_line(options, complaint):
    with pytest.raises(NoiseproofError, match=complaint):
        noise.estimate([0, 1], [[0.9, 0.1], [0.2, 0.8]], ["ham", "spam"], **options)


def test_labels_that_come_as_objects_are_numbers_where_they_are_numbers():
    true = np.arange(1200) % 12  # as texts, 10 is before 2
    labels = np.where(np.arange(1200) < 100, (true + 1) % 12, true)
    p = classifier(true, 12)
    expected = noise.estimate(labels, p, trusted=([5, 6], true[5:7]))
    found = noise.estimate(labels.astype(object), p, trusted=([5, 6], true[5:7].astype(object)))
    assert (found.rate, found.rate_interval) == (expected.rate, expected.rate_interval)
    for odd in (None, np.nan, pd.NA, 1.0, "1"):
        mixed = labels.astype(object)
        mixed[7] = odd
        with pytest.raises(NoiseError, match="at position"):
            noise.estimate(mixed, p)


def test_probabilities_of_half_precision_may_be_0():
    p = sharpened(classifier(TRUE, 10), 4)
    given = noise.parse("symmetric:0.2", 10, "mnist").transition.corrupt(TRUE, seed=1)
    found, expected = noise.estimate(given, p.astype(np.float16)), noise.estimate(given, p)
    assert found.rate == pytest.approx(expected.rate, abs=0.01)


def test_every_form_gives_the_same_estimate_and_masked_rows_are_refused():
    true = np.arange(120) % 3
    labels = np.where(np.arange(120) < 18, (true + 1) % 3, true)
    p = np.where(np.eye(3)[true] == 1, 0.75, 0.125)
    expected = noise.estimate(labels, p)
    for y, given in (
        (labels.tolist(), p.tolist()),
        (torch.tensor(labels), torch.tensor(p).bfloat16()),
        (torch.tensor(labels), torch.tensor(p, requires_grad=True)),
        (labels.astype(np.uint8), np.asfortranarray(p)),
        (pd.Series(labels), pd.DataFrame(p)),
        (pd.Series(labels, dtype=object), p.astype(np.float16)),
        (np.ma.array(labels, mask=False), np.ma.array(p, mask=False)),
    ):
        found = noise.estimate(y, given)
        assert (found.rate, found.rate_interval) == (expected.rate, expected.rate_interval)
    first = np.arange(120) < 5
    for y, given in (
        (np.ma.array(labels, mask=first), p),
        (labels, np.ma.array(p, mask=np.tile(first[:, None], 3))),
    ):
        with pytest.raises(NoiseError, match="expected no masked values"):
            noise.estimate(y, given)


def test_a_trusted_row_that_is_given_twice_counts_once():
    labels = np.where(np.arange(300) < 60, (TRUE[:300] + 1) % 10, TRUE[:300])
    p, rows = classifier(TRUE[:300], 10), np.arange(0, 300, 10)
    once = noise.estimate(labels, p, trusted=(rows, TRUE[rows]))
    twice = np.tile(rows[::-1], 3)
    again = noise.estimate(labels, p, trusted=(twice, TRUE[twice]))
    assert again == once
    assert again.rate_interval == once.rate_interval


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize(("origin", "unit"), [(0, 1e-30), (0, 1e30), (1e4, 1), (1e9, 1)])
def test_neighbours_depend_on_neither_the_origin_nor_the_unit(metric, origin, unit):
    X = np.random.default_rng(0).normal(size=(200, 3))
    if metric == "cosine":
        origin = 0
        X[:100] *= 1e-20  # the length of a row says nothing about its direction
    at = X / np.linalg.norm(X, axis=1, keepdims=True) if metric == "cosine" else X
    far = ((at[:, None] - at) ** 2).sum(2)
    np.fill_diagonal(far, np.inf)
    expected = np.sort(np.argsort(far, axis=1)[:, :4], axis=1)
    found = np.sort(noise.nearest(origin + unit * X, 4, metric), axis=1)
    assert (found == expected).mean() > 0.999


@pytest.mark.parametrize(
    "form", [np.asarray, np.asfortranarray, list, pd.DataFrame, torch.tensor, np.ma.asarray]
)
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_neighbours_of_every_form_are_the_same(form, metric):
    numbers = np.random.default_rng(0)
    for X in (numbers.normal(size=(50, 3)), numbers.integers(0, 20, size=(400, 5))):  # with ties
        assert (noise.nearest(form(X), 3, metric) == noise.nearest(X, 3, metric)).all()


@pytest.mark.parametrize("far", [1e9, 1e12, -1e15])
def test_a_row_far_from_all_others_does_not_change_their_neighbours(far):
    X = np.random.default_rng(0).normal(size=(200, 3))
    alone = noise.nearest(X, 4, "euclidean")
    both = noise.nearest(np.vstack([X, [[far] * 3]]), 4, "euclidean")
    assert (both[:-1] == alone).all()


@pytest.mark.parametrize(
    ("features", "k", "complaint"),
    [
        ([[0, np.nan], [1, 2]], 1, "finite"),
        ([["a"], ["b"]], 1, "finite numbers"),
        (np.ma.array([[0.0], [1.0]], mask=[[0], [1]]), 1, "masked"),
        (sparse.eye(3), 1, "dense features"),
        ([[0.0]], 1, "N >= 2"),
        ([[0.0], [1.0]], 1.5, "k >= 1"),
    ],
)
def test_features_without_neighbours_are_one_clear_line(features, k, complaint):
    with pytest.raises(NoiseproofError, match=complaint):
        noise.nearest(features, k)


def test_noise_shows_among_many_classes_of_a_handful_of_rows():
    true = np.arange(1200) % 100
    noisy = noise.symmetric(100, 0.2).corrupt(true, seed=3)
    found = noise.estimate(noisy, classifier(true, 100, skill=5))
    assert found.decisive
    assert found.rate_interval[0] < noisy.rate < found.rate_interval[1]


def test_neither_the_order_of_rows_nor_the_numbers_of_classes_matter_in_ties():
    rng = np.random.default_rng(0)
    true = rng.integers(0, 3, 300)
    z = rng.normal(size=(300, 3)) * 1.5 + 5 * np.eye(3)[true]
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    votes = np.stack([rng.multinomial(19, row) for row in p]) / 19
    given = np.where(rng.random(300) < 0.15, 0, true)
    expected = noise.estimate(given, votes).rate_interval
    for numbers in ([1, 2, 0], [2, 1, 0]):
        found = noise.estimate(np.argsort(numbers)[given], votes[:, numbers]).rate_interval
        np.testing.assert_allclose(found, expected, atol=1e-9)
    for order in (np.argsort(given, kind="stable"), np.argsort(-given, kind="stable")):
        found = noise.estimate(given[order], votes[order]).rate_interval
        np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("away", [1.2, 2.0, 2.8, 3.6])
def test_a_rare_class_that_nobody_can_foretell_is_not_called_noise(away):
    """A share of 5 to 28 % has a rare label by chance: all of these together were "a low rate"."""
    for seed in range(4):
        numbers = np.random.default_rng(seed)
        chance = 1 / (1 + np.exp(away - 1.2 * numbers.normal(size=1500)))
        given, p = (
            (numbers.random(1500) < chance).astype(int),
            np.column_stack([1 - chance, chance]),
        )
        found = noise.estimate(given, p)
        assert found.rate_interval[0] == 0
        assert not found.decisive
        assert found.doubt(given, p)[0].max() <= 0.5


def test_a_rare_class_that_is_easy_to_tell_shows_its_noise():
    for seed in range(4):
        numbers = np.random.default_rng(seed)
        true = (numbers.random(1500) < 0.1).astype(int)
        score = 4 * (2 * true - 1) + numbers.normal(size=1500)
        p = 1 / (1 + np.exp(np.column_stack([2 * score, -2 * score])))
        given = np.where(numbers.random(1500) < 0.1, 1 - true, true)
        found = noise.estimate(given, p)
        low, high = found.rate_interval
        assert found.decisive
        assert low < (given != true).mean() < high
        assert found.doubt(given, p)[0][given != true].mean() > 0.8
