"""Categories that the fit did not know warn of a change, and not of chance."""

import numpy as np
import pandas as pd
import pytest

from noiseproof.prepare.features import learn_features
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.samples import Samples

KINDS = {
    "40 alike": lambda rng, n: rng.integers(40, size=n),
    "300 alike": lambda rng, n: rng.integers(300, size=n),
    "1000 alike": lambda rng, n: rng.integers(1000, size=n),
    "geometric": lambda rng, n: rng.geometric(0.1, n),
    "zipf": lambda rng, n: rng.zipf(1.5, n),
    "few": lambda rng, n: rng.integers(5, size=n),
}


def table(codes, rng, prefix="c"):
    cities = [f"{prefix}{code}" for code in codes]
    return Samples("t", pd.DataFrame({"city": cities, "z": rng.normal(size=len(cities))}))


def warnings_of(kind, rows, seed, prefix="c"):
    rng, notes = np.random.default_rng(seed), Notes()
    features = learn_features(table(KINDS[kind](rng, rows), rng), (), 0, Notes())
    features.transform(table(KINDS[kind](rng, 200), rng, prefix), notes)
    return [line for line in notes.warnings if "unseen or rare" in line]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [100, 300, 3000])
def test_new_rows_of_the_same_kind_do_not_warn(kind, rows):
    assert sum(bool(warnings_of(kind, rows, seed)) for seed in range(20)) <= 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [1000, 3000])
def test_categories_with_other_names_warn_however_many_there_are(kind, rows):
    assert all(warnings_of(kind, rows, seed, "C") for seed in range(10))


def test_a_rename_is_told_where_each_category_was_seen_thrice_and_in_one_new_row():
    rng, notes, few = np.random.default_rng(0), Notes(), Notes()
    thrice = learn_features(table([*range(40)] * 3, rng), (), 0, Notes())
    thrice.transform(table(rng.integers(40, size=500), rng, "C"), notes)
    thrice.transform(table([3], rng, "C"), few)
    assert [len(told.warnings) for told in (notes, few)] == [1, 1]


def test_names_that_each_few_rows_share_are_other_ones_in_new_rows():
    """As those of families: nothing is known of them, and so nothing has changed."""
    rng, notes = np.random.default_rng(0), Notes()
    pairs = learn_features(table([*range(40)] * 2, rng), (), 0, Notes())
    pairs.transform(table(range(40, 80), rng), notes)
    assert notes.warnings == []
    assert len(notes.lines) == 1


def test_every_category_that_is_seen_often_has_a_feature_of_its_own():
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.repeat(np.arange(200), 15))  # one in fifteen rows is like another
    features = learn_features(table(codes, rng), (), 0, Notes())
    assert len(features.columns[0].values) == 200
    assert len(learn_features(table(codes[:900], rng), (), 0, Notes()).columns[0].values) == 50


def test_many_columns_of_many_categories_share_the_room():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"c{at}": rng.permutation(np.repeat(np.arange(300), 12)) for at in "abc"})
    features = learn_features(Samples("t", frame.astype(str) + "x"), (), 0, Notes())
    assert [len(column.values) for column in features.columns] == [300, 300, 50]


def test_the_order_of_rows_does_not_choose_among_equally_frequent_categories():
    rng = np.random.default_rng(0)
    codes = np.repeat(np.arange(80), 3)  # 50 have a feature
    names = [
        learn_features(table(rng.permutation(codes), rng), (), 0, Notes()).names for _ in range(3)
    ]
    assert names[0] == names[1] == names[2]
