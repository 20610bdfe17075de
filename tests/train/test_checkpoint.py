import zipfile

import pytest
import torch
from stopped_runs import StopAfter
from tiny_runs import ONE, TINY, measured, tiny

from noiseproof.errors import DataError
from noiseproof.results import complete
from noiseproof.results.run_files import without_torn
from noiseproof.train.checkpoint import load_checkpoint, restore, save_checkpoint
from noiseproof.train.optimiser import make_optimiser
from noiseproof.train.tensors import read_tensors

CPU = torch.device("cpu")
#: What a run keeps, with nothing in it.
EMPTY = {"network": {}, "optimiser": {}, "scaler": {}, "history": []}


@pytest.mark.parametrize("loss", ["CE", "NLNL"])
def test_taken_up_after_any_epoch_it_ends_the_same(tmp_path, loss):
    fields = {"network": "mlp", "epochs": 4, "augment": ("crop", "flip"), "seed": 2}
    if loss == "NLNL":
        fields["method"] = "nlnl"
    whole, network = tiny(loss, **fields).run(ONE)
    path = tmp_path / "checkpoint.pt"
    for stop in (1, 3):
        with pytest.raises(KeyboardInterrupt):
            tiny(loss, **fields).run(ONE, path, StopAfter(stop))
    state = torch.load(path, weights_only=True)
    assert len(state["history"]) == 3
    outcome, again = tiny(loss, **fields).run(ONE, path)
    assert measured(outcome) == measured(whole)
    for name, value in network.state_dict().items():
        assert torch.equal(again.state_dict()[name], value), name


def test_checkpoint_of_another_run_is_refused(tmp_path):
    path = tmp_path / "checkpoint.pt"
    tiny(epochs=1).run(ONE, path)
    before = path.read_bytes()
    with pytest.raises(DataError, match="belongs to another run") as error:
        tiny(epochs=2).run(ONE, path)
    assert "\n" not in str(error.value)
    assert path.read_bytes() == before


def test_every_part_of_the_identity_counts():
    experiments = [
        tiny(), tiny("GCE(q=0.7)"), tiny(noise="symmetric:0.5"), tiny(seed=2), tiny(lr=0.1),
        tiny(train_size=100),
    ]  # fmt: skip
    assert len({e.identity for e in experiments}) == len(experiments)
    assert tiny().identity == tiny().identity


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 torn", b"\x80\x04N."])
def test_damaged_checkpoint_is_one_line(tmp_path, content):
    path = tmp_path / "checkpoint.pt"
    path.write_bytes(content)
    with pytest.raises(DataError, match="not a checkpoint; --restart begins anew"):
        load_checkpoint(path, "x", CPU)


def test_a_changed_bit_is_never_a_changed_weight(tmp_path):
    path = tmp_path / "checkpoint.pt"
    save_checkpoint(path, "x", EMPTY | {"network": {"a": torch.arange(64.0)}})
    whole = path.read_bytes()
    refused = 0
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        try:
            state = load_checkpoint(path, "x", CPU)
        except DataError:
            refused += 1
        else:
            assert torch.equal(state["network"]["a"], torch.arange(64.0)), at
    assert refused > 64  # the weights alone are 256 bytes


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_torn_checkpoint_is_one_line(tmp_path, share):
    path = tmp_path / "checkpoint.pt"
    save_checkpoint(path, "x", EMPTY | {"network": {"a": torch.arange(2000.0)}})
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])
    with pytest.raises(DataError, match="not a checkpoint; --restart begins anew"):
        load_checkpoint(path, "x", CPU)


def test_a_packed_checkpoint_is_not_unpacked(tmp_path):
    """It may hold gigabytes of zeros in a few bytes; torch packs none."""
    path, packed = tmp_path / "checkpoint.pt", tmp_path / "packed.pt"
    torch.save({"identity": "a", "weight": torch.zeros(10**6)}, path)
    assert read_tensors(path) is not None
    with zipfile.ZipFile(path) as file, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as out:
        for part in file.infolist():
            out.writestr(part.filename, file.read(part))
    assert read_tensors(packed) is None


def test_what_a_killed_process_left_is_swept_up(tmp_path):
    (tmp_path / ".checkpoint.pt.0123abcd.part").write_bytes(b"half")
    save_checkpoint(tmp_path / "checkpoint.pt", "x", EMPTY)
    assert [p.name for p in tmp_path.iterdir()] == ["checkpoint.pt"]


def test_a_checkpoint_with_other_parts_is_one_line_and_run_again_by_a_grid(tmp_path):
    """As another version may have written it."""
    path = tmp_path / "checkpoint.pt"
    tiny(epochs=2).run(ONE, path)
    whole, row = torch.load(path), torch.load(path)["history"][0]
    changes = [{part: value} for part in EMPTY for value in (7, None, "x")]
    changes += [{"history": value} for value in ([], {}, ())]
    odd = [(name, value) for name in row for value in ("x", -1, float("nan"), [])]
    rows = ({}, row | {"new": 1}, row | {"number": 2}, 7, *(row | dict([one]) for one in odd))
    rows = tuple(one for one in rows if one == 7 or one.get("loss") != -1)  # a loss may be negative
    changes += [{"history": [other]} for other in rows]
    for number, change in enumerate(changes):
        torch.save(whole | change, path)
        with pytest.raises(DataError, match="not a checkpoint; --restart begins anew"):
            load_checkpoint(path, whole["identity"])
        assert without_torn(path, whole["identity"], path.exists) is False
        assert len(list(tmp_path.iterdir())) == number + 1  # each was set aside


def test_a_checkpoint_that_does_not_fit_is_one_line(tmp_path):
    path = tmp_path / "checkpoint.pt"
    tiny(epochs=2).run(ONE, path)
    whole = torch.load(path)
    weights, row = whole["network"], whole["history"][-1]
    name, buffers = next(iter(weights)), whole["optimiser"]["state"]
    for change in (
        {"network": weights | {name: torch.zeros(1, 1)}},
        {"network": {k: v for k, v in weights.items() if k != name}},
        {"network": weights | {name: "x"}},
        {"optimiser": {}},
        {"network": weights | {name: weights[name].to(torch.complex64)}},
        {"network": weights | {name: weights[name].double()}},
        {"network": weights | {name: weights[name] * torch.inf}},
        {"optimiser": {"state": {}, "param_groups": []}},
        *(
            {"optimiser": whole["optimiser"] | {"state": buffers | {0: {"momentum_buffer": odd}}}}
            for odd in (
                None,
                "x",
                3.0,
                torch.zeros(1),
                buffers[0]["momentum_buffer"] * torch.nan,
                buffers[0]["momentum_buffer"].to(torch.complex64).mul(1j),
            )
        ),
        {"history": [row | {"number": number} for number in range(1, 9)]},
    ):
        torch.save(whole | change, path)
        with pytest.raises(DataError, match=r"checkpoint\.pt: does not fit this run") as error:
            tiny(epochs=2).run(ONE, path)
        assert "\n" not in str(error.value)


def test_numbers_that_share_their_memory_in_a_file_are_restored_apart():
    network = torch.nn.Linear(3, 2)
    optimiser = make_optimiser(network.parameters(), TINY)
    shared = {
        number: {"momentum_buffer": torch.ones(1).expand(parameter.shape)}
        for number, parameter in enumerate(network.parameters())
    }
    restore(network, network.state_dict(), optimiser, {"state": shared})
    for parameter in network.parameters():
        kept = optimiser.state[parameter]["momentum_buffer"]
        assert kept.stride() == parameter.stride()
        assert (kept == 1).all()


def test_done_is_done(tmp_path):
    first = complete(tiny(), tmp_path, ONE)
    again = complete(tiny(), tmp_path, ONE)
    assert again.seconds == first.seconds  # read, not run
    anew = complete(tiny(), tmp_path, ONE, resume=False)
    assert anew.seconds != first.seconds
    assert measured(anew.outcome) == measured(first.outcome)


def test_a_restart_that_is_stopped_leaves_the_old_record(tmp_path):
    first = complete(tiny(), tmp_path, ONE, save=True)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(KeyboardInterrupt):
        complete(tiny(), tmp_path, ONE, StopAfter(1), resume=False, save=True)
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    assert complete(tiny(), tmp_path, ONE) == first
    assert {path.name for path in tmp_path.iterdir()} == before.keys()
