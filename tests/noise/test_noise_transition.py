"""TransitionMatrix: its checks, what it says of the noise, and how matrices compose."""

import copy
import itertools
import math
import pickle

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from noiseproof.errors import NoiseError
from noiseproof.noise import TransitionMatrix, identity, pair_flip, symmetric
from noiseproof.noise.transition import Confusion

LOPSIDED = [[0.4, 0.5, 0.1], [0.0, 1.0, 0.0], [0.2, 0.3, 0.5]]


@st.composite
def matrices(draw: st.DrawFn, classes: int | None = None) -> TransitionMatrix:
    K = classes or draw(st.integers(2, 6))
    cells = st.lists(st.integers(0, 20), min_size=K, max_size=K).filter(any)
    weights = np.array([draw(cells) for _ in range(K)], dtype=float)
    return TransitionMatrix(weights / weights.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.9, 0.1], [0.3, 0.8]], "row 1 sums to 1.1, not to 1"),
        ([[0.9, 0.1 - 2e-6], [0.5, 0.5]], "row 0 sums to 0.999998, not to 1"),
        ([[1.2, -0.2], [0, 1]], "row 0 has -0.2 in column 1: not a probability"),
        ([[1, 0], [math.nan, 1]], "row 1 has nan in column 0: not a probability"),
        ([[1, 0], [0, math.inf]], "row 1 has inf in column 1: not a probability"),
        ([[1, 0, 0], [0, 1, 0]], "expected a square matrix, got shape (2, 3)"),
        ([0.5, 0.5], "expected a square matrix, got shape (2,)"),
        ([[1]], "expected at least 2 classes, got 1"),
        (np.zeros((0, 0)), "expected at least 2 classes, got 0"),
        ([["a", "b"], ["c", "d"]], "expected a matrix of numbers"),
        ([[1, 0], [0, 1, 0]], "expected rows of one length, got lists of different lengths"),
    ],
)
def test_what_is_not_a_transition_matrix_is_refused(matrix: object, message: str) -> None:
    with pytest.raises(NoiseError) as error:
        TransitionMatrix(matrix)  # type: ignore[arg-type]
    assert str(error.value) == message


def test_names_must_fit() -> None:
    with pytest.raises(NoiseError, match="3 class names for a matrix of 2 classes"):
        TransitionMatrix(np.eye(2), classes=["a", "b", "c"])


def test_a_row_that_is_nearly_one_is_scaled_to_one() -> None:
    T = TransitionMatrix([[0.9, 0.1 + 5e-7], [0.5, 0.5]])
    assert abs(T.matrix[0].sum() - 1) < 1e-15
    assert T.matrix[0, 0] / T.matrix[0, 1] == pytest.approx(0.9 / (0.1 + 5e-7), rel=1e-14)


@given(matrices())
def test_a_matrix_read_back_is_the_same(T: TransitionMatrix) -> None:
    again = TransitionMatrix(T.matrix)
    assert again == T
    assert hash(again) == hash(T)


def test_it_cannot_be_changed_and_takes_a_copy() -> None:
    source = np.eye(3)
    T = TransitionMatrix(source, ["a", "b", "c"])
    source[0] = [0, 1, 0]
    assert T.matrix[0, 0] == 1
    for same in (T, copy.deepcopy(T), pickle.loads(pickle.dumps(T))):
        assert same == T
        with pytest.raises(ValueError, match="read-only"):
            same.matrix[0, 0] = 0.5
    with pytest.raises(AttributeError):
        T.matrix = np.eye(3)  # type: ignore[misc]


def test_tensors_and_arrays_are_read_alike() -> None:
    T = TransitionMatrix(torch.tensor(LOPSIDED))
    np.testing.assert_allclose(np.asarray(T), LOPSIDED, atol=1e-7)
    assert T.matrix.dtype == np.float64
    assert TransitionMatrix(np.eye(2)) != TransitionMatrix(np.eye(2), ["a", "b"])
    assert TransitionMatrix(np.eye(2)) != "identity"


@pytest.mark.parametrize(
    ("T", "level"),
    [
        (symmetric(10, 0.8), 9 / 4),
        (symmetric(10, 0.4), 13.5),
        (symmetric(2, 0.5), 1.0),
        (pair_flip(10, 0.2), 4.0),
        (TransitionMatrix(LOPSIDED), 0.8),
        (identity(4), math.inf),
        (TransitionMatrix([[0, 1], [0, 1]]), 0.0),
    ],
)
def test_clean_level_against_hand_numbers(T: TransitionMatrix, level: float) -> None:
    assert T.clean_level == pytest.approx(level, rel=1e-12)
    assert T.dominant == (level > 1)


@given(matrices())
def test_clean_level_is_the_minimum_of_the_definition(T: TransitionMatrix) -> None:
    K = len(T)
    ratios = [
        T.matrix[i, i] / T.matrix[i, j] if T.matrix[i, j] else math.inf
        for i in range(K)
        for j in range(K)
        if j != i
    ]
    assert T.clean_level == min(ratios)
    assert T.clean_levels.min() == T.clean_level
    for i in range(K):
        j = T.strongest_confusion(i)
        if j is None:
            assert T.clean_levels[i] == math.inf
        else:
            assert T.clean_levels[i] == T.matrix[i, i] / T.matrix[i, j]
    assert (not T.confusions()) == T.dominant


def test_confusions_come_worst_first() -> None:
    T = TransitionMatrix(LOPSIDED)
    np.testing.assert_allclose(T.clean_levels, [0.8, math.inf, 5 / 3])
    assert T.confusions() == [Confusion(0, 1, 0.8)]
    listed = T.confusions(at_most=math.inf)
    assert [(true, given) for true, given, _ in listed] == [(0, 1), (2, 1), (2, 0), (0, 2)]


def test_rate_weighs_the_classes() -> None:
    T = TransitionMatrix(LOPSIDED)
    assert T.rate == pytest.approx((0.6 + 0 + 0.5) / 3)
    assert T.rate_under([1, 2, 1]) == pytest.approx((0.6 + 0.5) / 4)
    for prior in ([1, 2], [0, 0, 0], [1, -1, 1], [math.inf, 0, 0]):
        with pytest.raises(NoiseError, match="expected 3 class frequencies"):
            T.rate_under(prior)


@given(matrices(3), matrices(3), matrices(3))
def test_composition_is_first_left_then_right(
    S: TransitionMatrix, T: TransitionMatrix, U: TransitionMatrix
) -> None:
    by_hand = [
        [sum(S.matrix[i, k] * T.matrix[k, j] for k in range(3)) for j in range(3)] for i in range(3)
    ]
    np.testing.assert_allclose((S @ T).matrix, by_hand, atol=1e-12)
    np.testing.assert_allclose(((S @ T) @ U).matrix, (S @ (T @ U)).matrix, atol=1e-12)
    np.testing.assert_allclose((S @ identity(3)).matrix, S.matrix)


def test_composition_of_two_corruptions_is_one_of_the_product() -> None:
    S, T = symmetric(4, 0.3), pair_flip(4, 0.2)
    labels = np.repeat(np.arange(4), 50_000)
    twice = T.corrupt(S.corrupt(labels, seed=1).labels, seed=2).labels
    realised = np.array([np.bincount(twice[labels == i], minlength=4) for i in range(4)]) / 50_000
    np.testing.assert_allclose(realised, (S @ T).matrix, atol=0.01)


def test_composition_needs_the_same_classes() -> None:
    with pytest.raises(NoiseError, match="noise of 2 and of 3 classes"):
        identity(2) @ identity(3)
    with pytest.raises(NoiseError, match="different names"):
        identity(2, ["a", "b"]) @ identity(2, ["b", "a"])
    assert (identity(2) @ identity(2, ["a", "b"])).classes == ("a", "b")
    with pytest.raises(TypeError):
        identity(2) @ "noise"


def test_printing() -> None:
    T = TransitionMatrix([[0.9, 0.1], [0, 1]], ["ham", "unsolicited mail"])
    assert repr(T) == "TransitionMatrix(2 classes, rate 0.05, clean level 9, dominant)"
    head, columns, ham, _ = str(T).splitlines()
    assert head == repr(T)
    assert columns.split() == ["true", "\\", "given", "ham", "unsoli…"]
    assert ham.split() == ["ham", "0.900", "0.100"]
    assert str(symmetric(21, 0.1)) == repr(symmetric(21, 0.1))
    assert "not dominant" in repr(TransitionMatrix(LOPSIDED))


@pytest.mark.parametrize(("K", "texts"), [(3, 9), (20, 400), (21, 0)])
def test_plot_writes_values_up_to_twenty_classes(K: int, texts: int) -> None:
    with mpl.rc_context({"backend": "agg"}):
        import matplotlib.pyplot as plt

        ax = symmetric(K, 0.3).plot()
        assert len(ax.texts) == texts
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("given label", "true label")
        ax.figure.canvas.draw()
        plt.close(ax.figure)


def test_plot_uses_the_axes_and_names_given() -> None:
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    T = TransitionMatrix([[0.999, 0.001], [0, 1]], ["ham", "spam"])
    assert T.plot(ax) is ax
    assert [label.get_text() for label in ax.get_xticklabels()] == ["ham", "spam"]
    assert [text.get_text() for text in ax.texts] == ["1.00", "<.01", "1.00"]


@pytest.mark.parametrize("classes", [3, 2.5, "abc"])
def test_names_are_a_list(classes):
    with pytest.raises(NoiseError, match="expected the names of the classes, got"):
        TransitionMatrix(np.eye(3), classes)


TRUE, NOISY = pd.Series(list("aaabbbcccc")), pd.Series(list("aabbbcccca"))


def test_the_rows_and_columns_of_a_table_are_the_same_classes() -> None:
    table = pd.crosstab(TRUE, NOISY, normalize="index")
    plain = TransitionMatrix(table.to_numpy())
    assert TransitionMatrix(table) == plain
    assert TransitionMatrix(table.reset_index(drop=True)) == plain  # as read from a CSV file
    assert TransitionMatrix(table.set_axis(range(3)).set_axis(range(3), axis=1)) == plain
    assert TransitionMatrix(table, list("abc")) == TransitionMatrix(plain.matrix, list("abc"))
    never_given = NOISY.replace({"a": "d"})
    numbers = {name: i for i, name in enumerate("abcd")}
    counted = table.set_axis(range(3)).set_axis(range(3), axis=1)
    for other in (
        table[list("bca")],
        table.loc[list("cab")],
        counted[[1, 2, 0]],
        pd.crosstab(TRUE, never_given, normalize="index"),
        pd.crosstab(TRUE.map(numbers), never_given.map(numbers), normalize="index"),
    ):
        with pytest.raises(NoiseError, match="expected the same classes in the same order"):
            TransitionMatrix(other)
    with pytest.raises(NoiseError, match="`classes` has them in another order"):
        TransitionMatrix(table, list("bca"))
    for other in (counted.loc[[1, 2, 0], [1, 2, 0]], counted.iloc[::-1, ::-1]):
        for names in (None, list("abc")):
            with pytest.raises(NoiseError, match="but they are numbered in another order"):
                TransitionMatrix(other, names)
        turned = [str(k) for k in other.columns]
        assert TransitionMatrix(other, turned) == TransitionMatrix(other.to_numpy(), turned)


@pytest.mark.parametrize("classes", [None, ("b", "c", "a")])
def test_frequencies_go_by_the_index_of_a_series(classes: tuple[str, ...] | None) -> None:
    T = TransitionMatrix([[0.5, 0.5, 0], [0, 1, 0], [0.1, 0, 0.9]], classes)
    labels = pd.Series(np.repeat([0, 1, 2], [10, 20, 70]))
    expected = T.rate_under([10, 20, 70])
    counts = labels.value_counts()  # the most frequent first
    assert T.rate_under(counts) == T.rate_under(counts.rename(float)) == expected
    counted = pd.Series([10, 20, 70])
    assert T.rate_under(counted) == T.rate_under(counted[::-1]) == expected
    for order in itertools.permutations(range(3)):
        assert T.rate_under(counted.iloc[list(order)]) == expected
    assert T.rate_under(pd.concat([labels, counted])[-3:].reset_index(drop=True)) == expected
    assert T.rate_under(pd.Series([1, 2, 10, 20, 70])[2:]) == expected  # cut out, and counted
    named = counts.rename(dict(enumerate(classes or "xyz")))
    if classes:
        assert T.rate_under(named) == expected
    else:
        with pytest.raises(NoiseError, match=r"of \['z', 'y', 'x'\], but the classes are 0 to 2"):
            T.rate_under(named)
    with pytest.raises(NoiseError, match="but the classes are"):
        T.rate_under(counts[counts > 10])
