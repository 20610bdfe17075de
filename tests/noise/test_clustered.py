"""Rows that belong together say less: intervals and standard errors hold all the same."""

import numpy as np
import pytest

from noiseproof import noise
from noiseproof.errors import NoiseError
from noiseproof.fitting import evaluate
from noiseproof.noise.clustered import independent, mean_and_error, units_of


def test_copies_say_no_more_than_the_rows_they_are_copies_of() -> None:
    values = np.random.default_rng(0).random(50)
    _, once = mean_and_error(values, np.full(50, 1 / 50))
    _, copied = mean_and_error(np.repeat(values, 8), np.full(400, 1 / 400), np.repeat(range(50), 8))
    assert copied == pytest.approx(once * np.sqrt(50 / 49))


def test_rows_on_their_own_and_groups_that_do_not_matter_count_as_rows() -> None:
    right = np.random.default_rng(1).random(2000) < 0.8
    assert units_of(np.arange(2000)) is None
    assert independent(right, None) == 2000
    assert independent(right, np.arange(2000) // 4) > 1700


@pytest.mark.parametrize("value", [1.0, 0.0, 0.1, 0.95])
def test_where_all_values_are_equal_groups_are_counted_whatever_is_rounded(value: float) -> None:
    for rows in range(20, 200):
        units = np.arange(rows) // 4
        assert independent(np.full(rows, value), units) == len(np.unique(units))
        every = independent(np.append(np.full(rows - 1, value), 1 - value), units)
        assert len(np.unique(units)) < every <= rows


def test_rows_without_a_share_do_not_count() -> None:
    values, share = np.array([0.0, 1.0, 5.0, 9.0]), np.array([0.5, 0.5, 0.0, 0.0])
    both = mean_and_error(values, share, np.array([0, 1, 2, 2]))
    assert both == mean_and_error(values[:2], share[:2], np.array([0, 1]))


def test_rows_of_one_group_say_as_much_as_one_row() -> None:
    for right in range(1, 60):  # where the sum of all deviations is 0 but for rounding
        assert independent(np.arange(60) < right, np.zeros(60, dtype=np.int64)) == 1
    assert independent(np.ones(4), np.array([0, 0, 1, 1])) == 2
    assert independent(np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])) == 4


@pytest.mark.parametrize("groups", [1, 2, 3, 5, 10])
def test_an_interval_holds_with_few_groups_too(groups: int) -> None:
    numbers, held = np.random.default_rng(3), 0
    for _ in range(200):
        units = np.repeat(np.arange(groups), numbers.integers(20, 40, groups))
        of_group, own = numbers.random(groups)[units], numbers.random(len(units))
        right = np.where(numbers.random(len(units)) < 0.2, of_group, own) < 0.7
        found = evaluate.measured(right, "", units)
        held += found.low <= 0.7 <= found.high
    assert held / 200 > 0.91


@pytest.mark.parametrize("alike", [0.0, 0.7, 1.0])
def test_an_interval_of_the_accuracy_holds_it_whatever_rows_share(alike: float) -> None:
    numbers, held = np.random.default_rng(2), 0
    for _ in range(300):
        units = np.repeat(np.arange(60), numbers.integers(1, 12, 60))
        of_group, own = numbers.random(60)[units], numbers.random(len(units))
        right = np.where(numbers.random(len(units)) < alike, of_group, own) < 0.8
        found = evaluate.measured(right, "", units)
        held += found.low <= 0.8 <= found.high
    assert held / 300 > 0.91


@pytest.mark.parametrize(("groups", "each"), [(20, 3), (30, 4), (15, 10)])
def test_an_exact_interval_holds_where_rows_of_a_group_are_wrong_together(groups, each) -> None:
    numbers, held = np.random.default_rng(4), 0
    units = np.repeat(np.arange(groups), each)
    for _ in range(300):
        of_group, own = numbers.random(groups)[units], numbers.random(len(units))
        wrong = np.where(numbers.random(len(units)) < 0.8, of_group, own) < 0.2
        found = evaluate.exact(wrong, "", units)
        held += found.low <= 0.2 <= found.high
    assert held / 300 > 0.91
    assert evaluate.exact(wrong, "", np.arange(len(units))) == evaluate.exact(wrong, "")


def cases(seed: int, copies: int):
    """Return labels, true labels and the probabilities of a classifier, each row several times."""
    numbers = np.random.default_rng(seed)
    true = numbers.integers(0, 3, 100)
    scores = numbers.normal(size=(100, 3)) + 3 * np.eye(3)[true]
    p = np.exp(2 * scores) / np.exp(2 * scores).sum(axis=1, keepdims=True)
    given = noise.symmetric(3, 0.2).corrupt(true, seed=seed).labels
    return (np.repeat(part, copies, axis=0) for part in (given, true, p))


def test_the_interval_of_the_rate_is_that_of_the_cases() -> None:
    wide, narrow, single = [], [], []
    for seed in range(5):
        given, _, p = cases(seed, 10)
        groups = np.repeat(np.arange(100), 10)
        for into, found in (
            (wide, noise.estimate(given, p, groups=groups)),
            (narrow, noise.estimate(given, p)),
            (single, noise.estimate(given[::10], p[::10])),
        ):
            low, high = found.rate_interval
            into.append(high - low)
    assert np.mean(wide) == pytest.approx(np.mean(single), rel=0.2)
    assert np.mean(narrow) < 0.8 * np.mean(wide)


def test_trusted_copies_tell_the_rate_no_better_than_the_rows_they_are_copies_of() -> None:
    wide, narrow, single = [], [], []
    for seed in range(5):
        given, true, p = cases(seed, 10)
        some, groups = np.arange(400), np.repeat(np.arange(100), 10)
        for into, found in (
            (wide, noise.estimate(given, p, trusted=(some, true[some]), groups=groups)),
            (narrow, noise.estimate(given, p, trusted=(some, true[some]))),
            (single, noise.estimate(given[::10], p[::10], trusted=(some[:40], true[:400:10]))),
        ):
            low, high = found.rate_interval
            into.append(high - low)
    assert np.mean(wide) == pytest.approx(np.mean(single), rel=0.2)
    assert np.mean(narrow) < 0.7 * np.mean(wide)


def test_groups_of_another_length_are_refused() -> None:
    given, _, p = cases(0, 1)
    with pytest.raises(NoiseError, match="a group for each of 100 rows"):
        noise.estimate(given, p, groups=[1, 2])


@pytest.mark.parametrize("missing", [None, np.nan, np.datetime64("NaT")])
def test_missing_groups_are_refused(missing: object) -> None:
    given, _, p = cases(0, 1)
    other = np.datetime64("2020-01-01") if isinstance(missing, np.datetime64) else 1.0
    with pytest.raises(NoiseError, match="missing or mixed"):
        noise.estimate(given, p, groups=[missing, other] * 50)
    with pytest.raises(NoiseError, match="missing or mixed"):
        noise.estimate(given, p, groups=np.array([missing, "ann"] * 50, dtype=object))
