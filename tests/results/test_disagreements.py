"""Records of the same data, of the same labels, agree about them; if not, verify says so."""

from dataclasses import replace

import pytest
from made_records import identified, made

from noiseproof.bench import load_grid
from noiseproof.results import Store
from noiseproof.results.verify import verify_store

RECORD = made(load_grid("digits-symmetric").cells()[-1], 0.75)


def cleaned(record):
    """The fields of a record whose labels are said to be right."""
    right = {"corrupted_part": None, "recovered": None}
    history = (replace(row, train_accuracy=row.clean_part, **right) for row in record.history)
    return {"noise_rate": 0.0, "history": tuple(history)}


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def test_rows_of_the_same_data_are_tested_on_as_many_samples(store):
    # Of a user's own data nobody knows how many there are, but they are as many for every loss.
    own = replace(RECORD, dataset="mine", fingerprint="a" * 64)
    store.put(identified(own))
    store.put(identified(replace(own, loss="MAE", noise="none", **cleaned(own))))
    assert verify_store(store).problems == ()
    right = tuple(replace(epoch, test_accuracy=1.0) for epoch in own.history)
    store.put(identified(replace(own, loss="FL", test_samples=1, history=right)))
    assert ["tested on 355 samples" in line for line in verify_store(store).problems] == [True]


def test_the_same_labels_are_wrong_as_often(store):
    own = replace(RECORD, noise="human:worst")
    for loss in ("CE", "MAE"):
        store.put(identified(replace(own, loss=loss)))
    assert verify_store(store).problems == ()
    store.put(identified(replace(own, loss="FL", **cleaned(own))))
    assert ["different labels" in line for line in verify_store(store).problems] == [True]
