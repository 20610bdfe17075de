import json
from pathlib import Path

import pytest
import torch

from noiseproof import data, train
from noiseproof.errors import DataError, DataWarning
from noiseproof.results import Record, RunFiles, complete, load_model
from noiseproof.results.valid import identity_of


@pytest.fixture(scope="module")
def experiment():
    recipe = train.Recipe(network="linear", epochs=2, exact=True)
    return train.prepare(data.load("digits"), recipe, "NCE+RCE(A=-4)", "symmetric:0.4", seed=5)


@pytest.fixture(scope="module")
def record(experiment):
    machine = train.Machine(threads=1)
    return Record.of(experiment, experiment.run(machine)[0], machine)


def test_round_trip(record, tmp_path):
    path = tmp_path / "record.json"
    record.write(path)
    assert Record.read(path) == record
    assert json.loads(path.read_text())["schema"] == 1


def test_it_carries_what_made_it(record, experiment):
    values = record.to_dict()
    assert values["loss"] == "NCE + RCE(A=-4)"
    assert (values["noise"], values["seed"]) == ("symmetric:0.4", 5)
    assert values["noise_rate"] == pytest.approx(0.4, abs=0.005)
    assert values["noise_hash"] == experiment.corruption.hash
    assert values["recipe_hash"] == experiment.recipe.hash
    assert values["identity"] == experiment.identity
    assert values["machine"]["threads"] == 1
    assert values["machine"]["torch"]
    assert values["seconds"] == pytest.approx(sum(row["seconds"] for row in values["history"]))
    assert values["last"] == values["history"][-1]
    best = max(row["test_accuracy"] for row in values["history"])
    assert values["best"]["test_accuracy"] == best
    assert record.accuracy == values["last"]["test_accuracy"]


def test_it_can_be_repeated_from_the_record_alone(record, experiment):
    again = train.prepare(
        data.load(record.dataset), record.recipe, record.loss, record.noise, record.seed
    )
    assert again.identity == record.identity


@pytest.mark.parametrize("cut", [0, 1, 300, -3])
def test_a_torn_file_is_no_record(record, tmp_path, cut):
    path = tmp_path / "record.json"
    record.write(path)
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(DataError, match="not a record of a run, or not all of one"):
        Record.read(path)


def test_another_schema_and_a_missing_file(record, tmp_path):
    path = tmp_path / "record.json"
    path.write_text(json.dumps(record.to_dict() | {"schema": 99}))
    with pytest.raises(DataError, match="a record of schema 99, expected 1"):
        Record.read(path)
    with pytest.raises(DataError, match="no such file"):
        Record.read(tmp_path / "none.json")


def test_words(record):
    text = str(record)
    assert text.startswith("NCE + RCE(A=-4) on digits with noise symmetric:0.4, seed 5: test acc")
    assert f"{record.noise_rate:.1%} of the labels are wrong, of which it memorised" in text


def test_files_differ_when_anything_does(experiment, tmp_path):
    other = train.prepare(
        data.load("digits"), experiment.recipe.override(lr=0.5), "NCE+RCE", "symmetric:0.4", 5
    )
    files = [RunFiles.of(tmp_path, e) for e in (experiment, other)]
    assert files[0] != files[1]
    assert all(file.name.isascii() and "/" not in file.name for file in files)


def test_nothing_but_record_and_model_stays(experiment, tmp_path):
    complete(experiment, tmp_path, train.Machine(threads=1), save=True)
    files = RunFiles.of(tmp_path, experiment)
    assert set(tmp_path.iterdir()) == {files.record, files.model}
    assert load_model(files.model).classes == tuple("0123456789")
    whole = torch.load(files.model, weights_only=True)
    nan = {name: value * torch.nan for name, value in whole["network"].items()}
    kinds = [
        {name: value.to(kind) for name, value in whole["network"].items()}
        for kind in (torch.complex64, torch.int8, torch.bool, torch.float64, torch.bfloat16)
    ]
    recipe = whole["record"]["recipe"] | {"network": "mlp", "hidden": [10**6, 10**6]}
    wide = whole["record"] | {"recipe": recipe}
    wide["recipe_hash"] = train.Recipe.from_dict(recipe).hash
    wide["identity"] = identity_of(wide)
    for name, value in (
        ("schema", torch.zeros(2)), ("shape", ["a"]), ("shape", [10**9, 8, 8]), ("mean", None),
        ("mean", [torch.nan]), ("std", [0.0]), ("std", []), ("record", []), ("network", nan),
        ("record", wide), *(("network", weights) for weights in kinds),
    ):  # fmt: skip
        torch.save(whole | {name: value}, files.model)
        with pytest.raises(DataError, match="not a model of noiseproof's"):
            load_model(files.model)
    files.model.write_bytes(b"no model")
    with pytest.raises(DataError, match="not a model of noiseproof's"):
        load_model(files.model)


@pytest.mark.parametrize("classes", [10, 10**5])
def test_a_small_file_makes_no_large_network(experiment, tmp_path, monkeypatch, classes):
    """One number of a file can stand for any number of weights."""
    complete(experiment, tmp_path, train.Machine(threads=1), save=True)
    path = RunFiles.of(tmp_path, experiment).model
    whole = torch.load(path, weights_only=True)
    weights = {n: torch.zeros(1).expand(10**5, *v.shape[1:]) for n, v in whole["network"].items()}
    names = [str(number) for number in range(classes)]
    torch.save(whole | {"network": weights, "classes": names}, path)
    built = []
    monkeypatch.setattr("noiseproof.models.build", lambda *a, **b: built.append(a))
    with pytest.raises(DataError, match="not a model of noiseproof's"):
        load_model(path)
    assert not built


def test_a_damaged_record_is_run_again(experiment, record, tmp_path):
    files = RunFiles.of(tmp_path, experiment)
    files.record.write_text('{"schema": 1, "identity"')
    with pytest.warns(DataWarning, match="not all of one; set aside as .*, to be run again"):
        again = complete(experiment, tmp_path, train.Machine(threads=1))
    assert again.accuracy == record.accuracy
    assert set(tmp_path.iterdir()) == {files.record, Path(f"{files.record}.damaged")}
    assert Record.read(files.record) == again
