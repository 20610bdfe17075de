"""A record counts only if it is possible; anything else is set aside, counted, never averaged."""

import json
import os
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_records import identified, made

from noiseproof.bench import load_grid
from noiseproof.errors import DataError
from noiseproof.noise import parse
from noiseproof.results import Record, Store
from noiseproof.results.pack import SUFFIX, pack
from noiseproof.results.valid import identity_of
from noiseproof.results.verify import verify_store
from noiseproof.train import Recipe

CELL = load_grid("digits-symmetric").cells()[-1]
VALUES = made(CELL, 0.75).to_dict()

NUMBERS = [5.0, -0.1, float("nan"), float("inf"), 10**400, "0.9", None, True, [], {}]
DAMAGES = {
    "identity": ["0" * 64, "", None, 7],
    "fingerprint": ["0" * 64, "", "x" * 64, None],
    "dataset": [None, 3, ["digits"]],
    "loss": ["AGCE(a=1, q=2)", None, 3],
    "noise": [None, 0.4, "none", "symmetric:0.2", "pair-flip:0.7", "symmetric:x", "symmetric:7",
              "asymmetric:0.4", "asymmetric:0.4:released", "superclass:0.3", "superclass",
              "instance:0.1", "instance:0.5"],
    "noise_rate": [*NUMBERS, 0, 0.79, 0.8000001],
    "noise_hash": ["0" * 64, "", None],
    "recipe": [{}, None, [], {"network": 3}, VALUES["recipe"] | {"epochs": 1},
               VALUES["recipe"] | {"lr": 0.5}, VALUES["recipe"] | {"name": [1]},
               VALUES["recipe"] | {"unknown": 1}, VALUES["recipe"] | {"epochs": "60"}],
    "recipe_hash": ["0" * 64, None],
    "seed": [-1, 1.5, "1", None, True, 2],
    "status": ["failed", "finished", "", None, 1],
    "failure": ["the loss is nan", None, 3],
    "train_samples": [0, -1, 1.5, "1442", None, 1, 1441, 1443],
    "test_samples": [0, None, 1, 354, 710],
    "seconds": [-1, float("nan"), "1", None, 1e300, 29],
    "machine": [None, "cpu", []],
    "noiseproof": [None, 1],
    "matrix": ["0", None, 1, "0" * 64],
    "history": [None, {}, [], [{}], [None], VALUES["history"][:-1],
                VALUES["history"] + VALUES["history"][-1:], VALUES["history"][::-1]],
    "last": [VALUES["history"][0], None, {}],
    "best": [VALUES["history"][0], 1.0],
}  # fmt: skip
EPOCH = {
    "number": [0, 2, "1", None],
    "lr": [-1, "x", None, 1e300, 0.5, VALUES["recipe"]["lr"] * 1.001],
    "loss": [float("nan"), "1", None],
    "test_accuracy": [*NUMBERS, 0.6500001],
    "train_accuracy": [*NUMBERS, 0.9, 0, 0.05],
    "clean_part": [n for n in NUMBERS if n is not None] + [0.001],
    "corrupted_part": [*NUMBERS, 0.95],
    "recovered": [*NUMBERS, 0.9999],
    "held_out": [0.5],
    "seconds": [-1, None],
}


def damaged_records():
    for field, wrong in DAMAGES.items():
        for value in wrong:
            yield f"{field}={str(value)[:20]}", VALUES | {field: value}
        yield f"no {field}", {k: v for k, v in VALUES.items() if k != field}
    for field, wrong in EPOCH.items():
        for value in wrong:
            row = VALUES["history"][0] | {field: value}
            yield f"epoch {field}={value}"[:40], VALUES | {"history": [row, *VALUES["history"][1:]]}
    for whole in (None, [], 3, "text", {}, {"schema": 1}, VALUES | {"schema": "1"}):
        yield str(whole)[:20], whole


OPTIONAL = {"no matrix", "no last", "no best"}
CASES = [case for case in damaged_records() if case[0] not in OPTIONAL]


def test_the_record_that_is_damaged_below_is_valid():
    assert Record.from_dict(VALUES).accuracy == 266 / 355  # digits has 355 test samples


@pytest.mark.parametrize(("name", "values"), CASES, ids=[name for name, _ in CASES])
def test_an_impossible_record_is_refused(name, values):
    with pytest.raises(DataError) as error:
        Record.from_dict(values)
    assert len(str(error.value).splitlines()) == 1


def test_a_recipe_of_endless_epochs_takes_neither_time_nor_memory():
    recipe = Recipe.from_dict(VALUES["recipe"] | {"epochs": 10**9, "schedule": "constant"})
    values = VALUES | {"recipe": recipe.to_dict(), "recipe_hash": recipe.hash}
    values["identity"] = identity_of(values)
    with pytest.raises(DataError, match="60 epochs of 1000000000"):
        Record.from_dict(values)


@pytest.mark.parametrize("encoder", ["", "lite0:" + "a" * 64 + ":128:"], ids=["pixels", "encoded"])
@pytest.mark.parametrize("wrong", [{"train_samples": 7}, {"test_samples": 1}], ids=str)
def test_the_samples_of_published_data_are_counted(encoder, wrong):
    published = VALUES["fingerprint"]
    features = {"encoded": encoder + published, "fingerprint": "b" * 64} if encoder else {}
    values = VALUES | features
    values["identity"] = identity_of(values)
    Record.from_dict(values)
    with pytest.raises(DataError, match=r"_samples is \d, and by data and recipe"):
        Record.from_dict(values | wrong)


@pytest.mark.parametrize("rate", [0.2, 0.4])
@pytest.mark.parametrize("name", ["digits-asymmetric", "mnist-asymmetric", "cifar10-asymmetric"])
def test_a_noise_of_some_classes_makes_labels_of_theirs_wrong(name, rate):
    cells = load_grid(name).cells()
    record = made(next(cell for cell in cells if cell.noise == f"asymmetric:{rate}"), 0.5)
    for part, believed in ((0.5, True), (0.45, True), (0.1, False), (0.0, False)):
        found = round(part * rate * record.train_samples) / record.train_samples
        wrong = {} if found else {"corrupted_part": None, "recovered": None}
        history = tuple(
            replace(
                epoch,
                train_accuracy=(1 - found) * epoch.clean_part + found * epoch.corrupted_part,
                **wrong,
            )
            for epoch in record.history
        )
        values = replace(record, noise_rate=found, history=history).to_dict()
        if believed:
            assert Record.from_dict(values).noise_rate == found
        else:
            with pytest.raises(DataError, match="noise_rate is"):
                Record.from_dict(values)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("noise", ["none", "symmetric:0.003", "symmetric:0.5", "pair-flip:0.3"])
def test_whatever_share_a_noise_makes_wrong_is_believed(noise, exact):
    record = replace(made(CELL, 0.75), dataset="mine", fingerprint="a" * 64, noise=noise)
    recipe = replace(CELL.recipe, exact=exact)
    record = replace(record, recipe=recipe, recipe_hash=recipe.hash)
    for seed in range(20):
        for samples, classes in ((3, 2), (20, 10), (500, 3), (3000, 100)):
            labels = np.arange(samples) % classes
            rate = parse(noise, classes).apply(labels, seed=seed, exact=exact).rate
            row = {} if rate else {"corrupted_part": None, "recovered": None}
            history = tuple(
                replace(
                    epoch,
                    train_accuracy=(1 - rate) * epoch.clean_part + rate * epoch.corrupted_part,
                    **row,
                )
                for epoch in record.history
            )
            drawn = replace(record, noise_rate=rate, train_samples=samples, history=history)
            assert Record.from_dict(identified(drawn).to_dict()).noise_rate == rate


def test_a_store_counts_what_is_damaged_and_averages_the_rest(tmp_path):
    store, good = Store(tmp_path), made(CELL.with_seed(9), 0.5)
    store.put(good)
    for number, (_, values) in enumerate(CASES):
        path = tmp_path / f"cell-seed1-{number:010x}.json"
        if isinstance(values, dict) and "identity" in values:
            path = tmp_path / f"cell-{number}-seed1-{VALUES['identity'][:10]}.json"
        path.write_text(json.dumps(values))
    assert store.records() == {good.key: good}
    assert len(store.damaged) == len(CASES)
    assert len(list(tmp_path.glob("*.damaged"))) == len(CASES)
    assert len(verify_store(Store(tmp_path)).problems) == 0  # they are out of the way


def test_in_a_packed_file_the_rest_counts_and_the_file_stays(tmp_path):
    path = tmp_path / f"mine{SUFFIX}"
    good = [made(CELL.with_seed(seed), 0.5).to_dict() for seed in (1, 2)]
    wrong = [values for _, values in CASES]
    path.write_bytes(pack([good[0], *wrong, good[1]]))
    before = path.read_bytes()
    store = Store(path)
    assert len(store.records()) == 2
    assert len(store.damaged) == len(wrong)
    assert path.read_bytes() == before


#: What a program may find in place of any value of a record.
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@given(st.data())
def test_whatever_stands_in_a_field_is_a_record_or_refused(data):
    values = deepcopy(VALUES)
    target = data.draw(st.sampled_from([values, values["recipe"], values["history"][0]]))
    target[data.draw(st.sampled_from(sorted(target)))] = data.draw(ANYTHING)
    with suppress(DataError):
        record = Record.from_dict(values)
        assert 0 <= record.accuracy <= 1
        assert record.identity == identity_of(values)
        assert record.recipe.hash == record.recipe_hash


@pytest.mark.skipif(os.name != "posix", reason="pipes and devices")
def test_what_is_no_plain_file_of_the_store_is_not_opened(tmp_path):
    record = made(CELL, 0.5)
    outside = Store(tmp_path / "outside").put(record)
    store = Store(tmp_path / "store")
    inside = store.put(made(CELL.with_seed(2), 0.6))
    name = outside.name
    os.mkfifo(store.path / name.replace("seed", "pipe"))
    (store.path / name.replace("seed", "device")).symlink_to("/dev/zero")
    (store.path / name.replace("seed", "out")).symlink_to(outside)
    (store.path / name.replace("seed", "folder")).mkdir()
    os.mkfifo(store.path / f"pipe{SUFFIX}")
    (store.path / "more").symlink_to(outside.parent)  # a folder
    (store.path / "copy").mkdir()
    (store.path / "copy" / inside.name).symlink_to(inside)  # inside the store: the same record
    assert [r.seed for r in store.records().values()] == [2]
    assert len(store.damaged) == 5
    assert outside.exists()
    assert not list(tmp_path.rglob("*.damaged"))


def test_a_record_that_is_too_large_to_be_one(tmp_path, monkeypatch):
    from noiseproof.results import plain

    path = Store(tmp_path).put(made(CELL, 0.5))
    monkeypatch.setattr(plain, "LARGEST", path.stat().st_size - 1)
    store = Store(tmp_path)
    assert store.records() == {}
    assert "larger than any record" in store.damaged[0]
    assert path.exists()


def test_other_samples_in_the_same_cell_disagree(tmp_path):
    record = made(CELL, 0.5)
    other = identified(replace(record, noise_hash="d" * 64))
    store = Store(tmp_path)
    store.put(record)
    store.put(other)
    assert store.records() == {}
    assert len(store.disputes) == 1


def test_fashion_mnist_that_is_mnists_content_is_reported(tmp_path):
    cell = load_grid("mnist-symmetric").cells()[0]
    for name, problems in (("mnist", 0), ("fashion-mnist", 1)):
        store = Store(tmp_path / name)
        store.put(replace(made(cell, 0.5), dataset=name))
        assert len(verify_store(store).problems) == problems
        (record,) = store.records().values()
        assert record.place.data == cell.place.data


def test_a_network_that_this_version_does_not_know_is_set_aside():
    recipe = CELL.recipe.to_dict() | {"network": "vit9"}
    values = made(CELL, 0.75).to_dict() | {"recipe": recipe}
    values["recipe_hash"] = Recipe.from_dict(recipe).hash
    values["identity"] = identity_of(values)
    with pytest.raises(DataError, match="knows no network 'vit9'"):
        Record.from_dict(values)
