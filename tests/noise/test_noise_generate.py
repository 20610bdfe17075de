"""The noise models: their matrices, the paper's maps, and noise that depends on the features."""

import numpy as np
import pandas as pd
import pytest
import torch
from chi_square import fits
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, truncnorm

import noiseproof as nf
from noiseproof.errors import NoiseError
from noiseproof.known import KNOWN
from noiseproof.noise import (
    TransitionMatrix,
    asymmetric,
    generate,
    identity,
    instance_dependent,
    pair_flip,
    stream,
    superclass,
    symmetric,
)
from noiseproof.noise.instance import _flip_rates

CIFAR10, CIFAR100 = KNOWN["cifar10"].classes, KNOWN["cifar100"].classes
CIFAR100_COARSE = KNOWN["cifar100"].groups

# Coarse labels of the fine ones, as the data set's own files pair them.
COARSE_OF_FINE = """
4 1 14 8 0 6 7 7 18 3 3 14 9 18 7 11 3 9 7 11 6 11 5 10 7 6 13 15 3 15 0 11 1 10 12 14 16 9 11 5
5 19 8 8 15 13 14 17 18 10 16 4 17 4 2 0 17 4 18 17 10 3 2 12 12 16 12 1 9 19 2 10 0 1 16 12 9 13
15 13 16 19 2 4 6 19 5 5 8 19 18 1 2 15 6 0 17 8 14 13
"""


@given(K=st.integers(2, 40), rate=st.floats(0, 1))
def test_symmetric_and_pair_flip(K: int, rate: float) -> None:
    T = symmetric(K, rate)
    assert (np.diag(T.matrix) == 1 - rate).all()
    np.testing.assert_allclose(T.matrix[~np.eye(K, dtype=bool)], rate / (K - 1), atol=1e-15)
    if rate > 1e-9:
        assert T.clean_level == pytest.approx((1 - rate) * (K - 1) / rate, rel=1e-9)
    flip = pair_flip(K, rate)
    assert T.rate == pytest.approx(rate, abs=1e-12)
    assert flip.rate == pytest.approx(rate, abs=1e-12)
    assert (flip.matrix[np.arange(K), (np.arange(K) + 1) % K] == rate).all()


@pytest.mark.parametrize(
    ("which", "mapping"),
    [("mnist", {7: 1, 2: 7, 5: 6, 6: 5, 3: 8}), ("cifar10", {9: 1, 2: 0, 4: 7, 3: 5, 5: 3})],
)
def test_the_paper_s_maps(which: str, mapping: dict[int, int]) -> None:
    expected = np.eye(10)
    for i, j in mapping.items():
        expected[i, i], expected[i, j] = 0.7, 0.3
    np.testing.assert_array_equal(asymmetric(which, 0.3).matrix, expected)
    np.testing.assert_array_equal(asymmetric(mapping, 0.3, classes=10).matrix, expected)


def test_the_cifar10_map_in_words() -> None:
    T = asymmetric("cifar10", 0.4)
    confused = [
        (CIFAR10[i], CIFAR10[j])
        for i in range(10)
        for j in [T.strongest_confusion(i)]
        if j is not None
    ]
    assert confused == [
        ("bird", "airplane"),
        ("cat", "dog"),
        ("deer", "horse"),
        ("dog", "cat"),
        ("truck", "automobile"),
    ]
    assert T.clean_level == pytest.approx(1.5)


def test_cifar100_super_classes_are_those_of_the_data_set() -> None:
    assert len(CIFAR100) == len(set(CIFAR100)) == 100
    assert {CIFAR100_COARSE.count(coarse) for coarse in CIFAR100_COARSE} == {5}
    numbers = {name: i for i, name in enumerate(sorted(set(CIFAR100_COARSE)))}
    assert [numbers[coarse] for coarse in CIFAR100_COARSE] == [
        int(word) for word in COARSE_OF_FINE.split()
    ]


def test_cifar100_goes_round_each_super_class() -> None:
    T = asymmetric("cifar100", 0.4)
    assert superclass("cifar100", 0.4) == T
    step = [T.strongest_confusion(i) for i in range(100)]
    assert all(
        CIFAR100_COARSE[i] == CIFAR100_COARSE[j] for i, j in enumerate(step) if j is not None
    )
    assert sorted(j for j in step if j is not None) == list(range(100))
    people = ["baby", "boy", "girl", "man", "woman"]
    rings = {CIFAR100[i]: CIFAR100[j] for i, j in enumerate(step) if j is not None}
    assert [rings[name] for name in people] == ["boy", "girl", "man", "woman", "baby"]


def test_the_released_cifar100_noise_mostly_leaves_the_super_class() -> None:
    """Erratum 1: blocks of five numbers, of which 6 flips of 100 stay in the super-class."""
    T = asymmetric("cifar100", 0.4, variant="released")
    step = [T.strongest_confusion(i) for i in range(100)]
    assert step[:10] == [1, 2, 3, 4, 0, 6, 7, 8, 9, 5]
    assert T.rate == pytest.approx(0.4)
    assert (
        sum(CIFAR100_COARSE[i] == CIFAR100_COARSE[j] for i, j in enumerate(step) if j is not None)
        == 6
    )


def test_the_released_cifar10_noise_sends_some_cats_back() -> None:
    T = asymmetric("cifar10", 0.4, variant="released")
    assert T.matrix[3, 5] == pytest.approx(0.4 * 0.6)
    assert T.matrix[5, 3] == pytest.approx(0.4)
    assert T.rate == pytest.approx(0.184)
    assert asymmetric("mnist", 0.4, variant="released") == asymmetric("mnist", 0.4)


def test_a_map_by_name_and_a_lonely_class() -> None:
    T = asymmetric({"cow": "cat"}, 0.2, classes=["cat", "dog", "cow"])
    assert T.matrix[2].tolist() == [0.2, 0, 0.8]
    assert T.classes == ("cat", "dog", "cow")
    assert len(asymmetric({0: 3}, 0.2)) == 4
    assert superclass([0, 1, 0], 0.5).matrix.tolist() == [[0.5, 0, 0.5], [0, 1, 0], [0.5, 0, 0.5]]
    assert asymmetric({}, 0.5, classes=3) == identity(3)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: symmetric(10, 1.1), "expected a rate from 0 to 1, got 1.1"),
        (lambda: symmetric(10, -0.1), "expected a rate from 0 to 1, got -0.1"),
        (lambda: pair_flip(10, float("nan")), "expected a rate from 0 to 1, got nan"),
        (lambda: symmetric(10, True), "expected a rate from 0 to 1, got True"),
        (lambda: symmetric(10, "much"), "expected a rate from 0 to 1, got 'much'"),
        (lambda: symmetric(1, 0.1), "expected at least 2 classes, got 1"),
        (lambda: identity(0), "expected at least 2 classes, got 0"),
        (
            lambda: superclass("cifar10", 0.1),
            "no super-classes known for 'cifar10'; known: cifar100",
        ),
        (
            lambda: asymmetric("cifar", 0.1),
            "no asymmetric noise known for 'cifar'; did you mean 'cifar10'?",
        ),
        (
            lambda: asymmetric("cifar10", 0.1, variant="release"),
            "unknown variant 'release'; did you mean 'released'?",
        ),
        (
            lambda: asymmetric({0: 1}, 0.1, variant="released"),
            "only the paper's data sets have a released variant, not a map",
        ),
        (lambda: asymmetric({0: 5}, 0.1, 3), "cannot map class 0 to 5: expected two of 0..2"),
        (lambda: asymmetric({1: 1}, 0.1, 3), "cannot map class 1 to 1: expected two of 0..2"),
        (
            lambda: asymmetric({"cta": "dog"}, 0.1, ["cat", "dog"]),
            "no class is called 'cta'; did you mean 'cat'?",
        ),
        (
            lambda: asymmetric({"cat": "dog"}, 0.1),
            "no class is called 'cat'; give their names as classes",
        ),
        (
            lambda: asymmetric({0.7: 1}, 0.1),
            "expected classes by number or by name, got 0.7",
        ),
        (
            lambda: asymmetric("mnist", 0.1, classes=12),
            "mnist has 10 classes, not 12",
        ),
    ],
)
def test_one_line_says_what_is_wrong(make: object, message: str) -> None:
    with pytest.raises(NoiseError) as error:
        make()  # type: ignore[operator]
    assert str(error.value) == message


NUMBERED = {"dog": 1, "cat": 0}  # as a model's label2id; its keys are in another order


@pytest.mark.parametrize(
    "make",
    [
        lambda: superclass({"cat": "pet", "dog": "pet", "car": "thing", "bus": "thing"}, 0.3),
        lambda: superclass(["pet", "pet"], 0.3, NUMBERED),
        lambda: identity(2, NUMBERED),
        lambda: symmetric(2, 0.3, NUMBERED),
        lambda: pair_flip(2, 0.3, NUMBERED),
        lambda: asymmetric({"cat": "dog"}, 0.3, NUMBERED),
        lambda: nf.noise.parse("symmetric:0.3", NUMBERED),
        lambda: nf.noise.TransitionMatrix(np.eye(2), NUMBERED),
        lambda: nf.noise.estimate([0, 1], np.eye(2), NUMBERED),
        lambda: nf.recommend("symmetric:0.3", NUMBERED),
    ],
)
def test_a_dictionary_is_no_list_of_its_keys(make: object) -> None:
    with pytest.raises(NoiseError, match=r"expected the .*, got \{"):
        make()  # type: ignore[operator]


FEATURES = stream(3, "features of this test").random((20_000, 12))
LABELS = np.arange(20_000) % 5


def test_instance_noise_flips_at_its_rate_and_never_to_the_own_class() -> None:
    noisy = instance_dependent(FEATURES, LABELS, 0.3, seed=1)
    # The mean of the truncated normal; the binomial standard deviation is .0032.
    assert noisy.rate == pytest.approx(truncnorm.mean(-3, 7, 0.3, 0.1), abs=0.01)
    assert ((noisy.labels != LABELS) == noisy.changed).all()
    assert len(noisy.counts) == 5


@pytest.mark.parametrize("rate", [0.05, 0.3, 0.5, 1.0])
def test_flip_rates_follow_the_truncated_normal(rate: float) -> None:
    rates = _flip_rates(rate, 20_000, stream(1, "noise"))
    law = truncnorm((0 - rate) / 0.1, (1 - rate) / 0.1, rate, 0.1)
    assert kstest(rates, law.cdf).pvalue > 0.01


def test_instance_noise_depends_on_the_instance() -> None:
    """Samples that look alike go the same way, far more than the class alone can say."""
    centres = stream(1, "centres").random((8, 12)) * 10
    which = stream(2, "centres").integers(0, 8, 20_000)
    noisy = instance_dependent(centres[which] + 0.1 * FEATURES, LABELS, 0.4, seed=1)
    went = np.zeros((5, 8, 5), dtype=int)
    np.add.at(went, (LABELS, which, noisy.labels), noisy.changed)
    by_class = went.sum(axis=1).max(axis=1).sum() / went.sum()
    by_look = went.max(axis=2).sum() / went.sum()
    assert by_look > by_class + 0.2
    for y in range(5):
        own_way = went[y].sum(axis=0) / went[y].sum()
        assert not fits(went[y], np.tile(own_way, (8, 1)), level=1e-12)


def test_instance_noise_is_repeatable_whatever_the_unit_and_the_container() -> None:
    pixels = (FEATURES[:2000].reshape(2000, 3, 2, 2) * 255).astype(np.uint8)
    labels = LABELS[:2000]
    first = instance_dependent(pixels, labels, 0.3, seed=1)
    as_tensor = instance_dependent(
        torch.from_numpy(pixels).double() / 256 - 3, torch.from_numpy(labels), 0.3, seed=1
    )
    assert isinstance(as_tensor.labels, torch.Tensor)
    assert as_tensor.hash == first.hash
    assert instance_dependent(pixels, labels, 0.3, seed=2).hash != first.hash


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_frames_of_columns_that_may_have_gaps_are_read_as_any_other(backend: str) -> None:
    """As read_csv with a dtype_backend and convert_dtypes make them."""
    features, labels = pd.DataFrame(FEATURES[:200]), LABELS[:200]
    matrix = pd.DataFrame(symmetric(3, 0.3).matrix)
    nullable, nullable_matrix = (
        frame.convert_dtypes(dtype_backend=backend) for frame in (features, matrix)
    )
    found, expected = (
        instance_dependent(frame, labels, 0.3, seed=1) for frame in (nullable, features)
    )
    assert found.hash == expected.hash
    assert TransitionMatrix(nullable_matrix) == symmetric(3, 0.3)
    for frame in (nullable, nullable_matrix):
        frame.iloc[1, 1] = pd.NA
    with pytest.raises(NoiseError, match="expected features to be numbers"):
        instance_dependent(nullable, labels, 0.3, seed=1)
    with pytest.raises(NoiseError, match="expected a matrix of numbers"):
        TransitionMatrix(nullable_matrix)


def test_instance_noise_at_its_ends() -> None:
    assert instance_dependent(FEATURES, LABELS, 0.0, seed=1).rate == 0
    constant = instance_dependent(np.ones((20_000, 1)), LABELS, 0.5, seed=1)
    away = constant.matrix[~np.eye(5, dtype=bool)]
    np.testing.assert_allclose(away, 0.125, atol=0.03)
    none = instance_dependent(np.zeros((0, 4)), np.array([], dtype=int), 0.5, seed=1, classes=3)
    assert len(none) == 0
    half = instance_dependent(torch.ones(4, 2, dtype=torch.bfloat16), torch.arange(4), 0.5, seed=1)
    assert len(half) == 4


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.ones((3, 2)), r"4 labels, but features of shape \(3, 2\)"),
        (np.full((4, 2), np.nan), "features contain values that are not finite"),
        (np.array([["a"]] * 4), "expected features to be numbers"),
    ],
)
def test_features_that_do_not_fit(features: object, message: str) -> None:
    with pytest.raises(NoiseError, match=message):
        instance_dependent(features, np.array([0, 1, 0, 1]), 0.3, seed=1)


def test_a_matrix_that_does_not_fit_into_memory_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(generate, "available", lambda: 2 * 10**9)
    for make in (lambda K: symmetric(K, 0.4), lambda K: pair_flip(K, 0.4), identity):
        with pytest.raises(NoiseError, match=r"20,000 classes need about 9\.6 GB .* 2\.0 GB are"):
            make(20_000)
