"""Checkpoints that somebody made up: refused in one line, at no great cost, and never believed."""

import io
import pickle
import tracemalloc
import zipfile

import pytest
import torch
from stopped_runs import StopAfter
from tiny_runs import ONE, tiny

from noiseproof.errors import DataError
from noiseproof.results import Record, RunFiles
from noiseproof.results.complete import complete_together
from noiseproof.results.run_files import checkpoint_together, without_torn
from noiseproof.train.checkpoint import load_checkpoint
from noiseproof.train.possible import Run, check_history
from noiseproof.train.tensors import read_tensors
from noiseproof.train.together import identity_together

FIELDS = {"network": "linear", "epochs": 3}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """An experiment, and what it had kept after two of three epochs."""
    path = tmp_path_factory.mktemp("stopped") / "checkpoint.pt"
    with pytest.raises(KeyboardInterrupt):
        tiny(**FIELDS).run(ONE, path, StopAfter(2))
    return tiny(**FIELDS), torch.load(path)


def archive(pickled: bytes) -> bytes:
    """Return a file of torch's whose pickle is another."""
    written, made = io.BytesIO(), io.BytesIO()
    torch.save({"weight": torch.zeros(2)}, written)
    with zipfile.ZipFile(written) as file, zipfile.ZipFile(made, "w") as out:
        for part in file.infolist():
            is_pickle = part.filename.endswith("data.pkl")
            out.writestr(part.filename, pickled if is_pickle else file.read(part))
    return made.getvalue()


class Call:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


def twice() -> bytes:
    made, empty = io.BytesIO(), pickle.dumps({}, protocol=2)
    with zipfile.ZipFile(made, "w") as out:
        for name in ("archive/data.pkl", "archive/data_pkl"):
            out.writestr(name, empty)
    return made.getvalue().replace(b"data_pkl", b"data.pkl")


@pytest.mark.parametrize(
    "content",
    [
        archive(pickle.dumps({"a": Call(bytearray, 10**9)}, protocol=2)),
        archive(pickle.dumps({"a": Call(set, "x")}, protocol=2)),
        archive(pickle.dumps({"a": Call(torch.device, "cpu")}, protocol=2)),
        archive(pickle.dumps({"a": Call(torch.Tensor, 10**9)}, protocol=2)),
        twice(),
    ],
    ids=["bytearray", "set", "device", "tensor", "twice"],
)
def test_a_file_that_asks_for_more_than_tensors_is_not_read(tmp_path, content):
    path = tmp_path / "checkpoint.pt"
    path.write_bytes(content)
    tracemalloc.start()
    try:
        assert read_tensors(path) is None
        assert tracemalloc.get_traced_memory()[1] < 10**7
    finally:
        tracemalloc.stop()


HUGE = torch.zeros(1).expand(10**12)


@pytest.mark.parametrize(
    "change",
    [
        {"network": {"body.weight": HUGE, "head.weight": HUGE, "head.bias": HUGE}},
        {"identity": torch.zeros(3)},
        {"identity": ["x"]},
        {"history": HUGE},
    ],
    ids=["weights", "tensor", "list", "history"],
)
def test_a_few_bytes_that_claim_much_are_one_line(stopped, tmp_path, change):
    experiment, whole = stopped
    path = tmp_path / "checkpoint.pt"
    torch.save(whole | change, path)
    with pytest.raises(DataError, match=r"checkpoint\.pt: ") as error:
        experiment.run(ONE, path)
    assert "\n" not in str(error.value)


IMPOSSIBLE = {
    "test_accuracy": [0.123456, 1e-3],
    "train_accuracy": [0.0, 1.0, None],
    "clean_part": [None, 0.0, 1.0],
    "corrupted_part": [None, 1.0],
    "recovered": [None, 1.0],
    "lr": [0.5, 1e300],
    "held_out": [0.5],
}


@pytest.mark.parametrize(
    ("field", "value"), [(field, value) for field, odd in IMPOSSIBLE.items() for value in odd]
)
def test_an_epoch_that_the_run_cannot_have_had_never_gets_into_its_record(
    stopped, tmp_path, field, value
):
    experiment, whole = stopped
    path = tmp_path / "checkpoint.pt"
    first, second = whole["history"]
    torch.save(whole | {"history": [first, second | {field: value}]}, path)
    with pytest.raises(DataError, match=r"checkpoint\.pt: does not fit this run"):
        experiment.run(ONE, path)


@pytest.mark.parametrize(
    "change",
    [
        *({"scale": value} for value in (float("inf"), float("nan"), 0.0, -1.0, 1e300, "x", None)),
        *({"_growth_tracker": value} for value in (-1, 2000, 1.0, None)),
    ],
    ids=str,
)
def test_a_scale_that_would_stop_all_steps_is_refused(tmp_path, change):
    experiment, path = tiny(**FIELDS, precision="float16"), tmp_path / "checkpoint.pt"
    with pytest.raises(KeyboardInterrupt):
        experiment.run(ONE, path, StopAfter(2))
    whole = torch.load(path)
    torch.save(whole | {"scaler": whole["scaler"] | change}, path)
    with pytest.raises(DataError, match=r"checkpoint\.pt: does not fit this run"):
        experiment.run(ONE, path)


def test_runs_at_once_set_what_does_not_fit_aside_and_begin_anew(tmp_path):
    experiments = [tiny(loss, **FIELDS) for loss in ("CE", "MAE")]
    path = checkpoint_together(tmp_path, identity_together(experiments))
    with pytest.raises(KeyboardInterrupt):
        complete_together(experiments, tmp_path, ONE, StopAfter(2))
    whole = torch.load(path)
    nan = {name: value * torch.nan for name, value in whole["stack"].items()}
    (first, second), rows = whole["history"], whole["history"][1]
    changes = [
        *({"failures": odd} for odd in ([], [""], ["", "", ""], ["", 7], "ab", ["x", "x"], None)),
        {"stack": nan},
        {"stack": nan, "failures": ["the loss is nan in step 1 of epoch 2", ""]},
        {"history": [first, second[:1]]},
        {"history": [first, [rows[0], rows[1] | {"test_accuracy": 0.123456}]]},
    ]
    expected = None
    for number, change in enumerate(changes, start=1):
        torch.save(whole | change, path)
        records = complete_together(experiments, tmp_path, ONE)
        found = [record.accuracy for record in records]
        assert found == (expected or found), change
        expected = found
        assert len(list(tmp_path.glob("*.damaged*"))) == number, change
        for experiment in experiments:
            Record.read(RunFiles.of(tmp_path, experiment).record)
            RunFiles.of(tmp_path, experiment).record.unlink()


def test_a_grid_sets_what_does_not_fit_aside(stopped, tmp_path):
    experiment, whole = stopped
    path = tmp_path / "checkpoint.pt"
    torch.save(whole | {"network": {}}, path)
    outcome, _ = without_torn(path, experiment.identity, lambda: experiment.run(ONE, path))
    assert len(outcome.history) == 3
    assert [p.name for p in tmp_path.glob("*damaged")] == ["checkpoint.pt.damaged"]


def test_what_a_run_wrote_is_possible(stopped, tmp_path):
    experiment, whole = stopped
    path = tmp_path / "checkpoint.pt"
    torch.save(whole, path)
    assert load_checkpoint(path, experiment.identity) is not None
    facts = Run(experiment.recipe, len(experiment.train), len(experiment.test), 0.4)
    check_history(whole["history"], facts, whole=False)
    with pytest.raises(DataError, match="2 epochs of 3"):
        check_history(whole["history"], facts, whole=True)
