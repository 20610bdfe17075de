import math
from contextlib import contextmanager

import pytest
import torch
from stopped_runs import StopAfter
from tiny_runs import ONE, TINY, measured, tiny, tiny_data

from noiseproof import loss as read_loss
from noiseproof.noise import stream
from noiseproof.train.schedule import learning_rate
from noiseproof.train.streams import epoch_stream
from noiseproof.train.together import run_together


def weights(network):
    return torch.cat([p.detach().flatten() for p in network.parameters()])


@pytest.mark.parametrize("network", ["linear", "mlp", "cnn4"])
def test_same_seed_same_bits(network):
    fields = {"network": network, "augment": ("crop", "flip", "rotation", "colour"), "epochs": 2}
    runs = [tiny(seed=3, **fields).run(ONE) for _ in range(2)]
    assert measured(runs[0][0]) == measured(runs[1][0])
    assert torch.equal(weights(runs[0][1]), weights(runs[1][1]))
    assert not torch.equal(weights(tiny(seed=4, **fields).run(ONE)[1]), weights(runs[0][1]))


def test_global_generators_are_neither_read_nor_moved():
    torch.manual_seed(11)
    before = torch.get_rng_state()
    first = weights(tiny("NLNL", augment=("crop",)).run(ONE)[1])
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(12)
    assert torch.equal(weights(tiny("NLNL", augment=("crop",)).run(ONE)[1]), first)


def test_streams_are_independent():
    names = ("noise", "initialisation", "training subset", "order of epoch 0", "order of epoch 1")
    drawn = [tuple(stream(1, name).integers(2**62, size=4)) for name in names]
    assert len(set(drawn)) == len(names)
    assert epoch_stream(1, "order", 0).random() == stream(1, "order of epoch 0").random()


def test_noise_does_not_depend_on_how_one_trains():
    plain = tiny(noise="symmetric:0.4")
    other = tiny("AGCE(a=1, q=0.5)", network="mlp", epochs=9, augment=("flip",))
    assert plain.corruption.hash == other.corruption.hash
    assert tiny(seed=2).corruption.hash != plain.corruption.hash


def test_one_step_is_sgd_by_hand():
    data = tiny_data()
    fields = {"epochs": 1, "batch": 500, "lr": 0.5, "weight_decay": 0.01, "clip": 0.0}
    experiment = tiny(data=data, **fields)
    _, network = experiment.run(ONE)
    start = experiment.job(ONE).network
    x = (data.train.inputs.flatten(1) / 255 - data.train.mean[0]) / data.train.std[0]
    loss = read_loss("CE")(start.head(x), experiment.corruption.labels)
    loss.backward()
    for p, q in zip(start.parameters(), network.parameters(), strict=True):
        assert torch.allclose(p - 0.5 * (p.grad + 0.01 * p), q, atol=1e-6)


def test_clip_bounds_the_step():
    experiment = tiny(epochs=1, batch=500, lr=1.0, clip=1e-3)
    _, network = experiment.run(ONE)
    moved = weights(network) - weights(experiment.job(ONE).network)
    assert float(moved.norm()) == pytest.approx(1e-3, rel=1e-3)


def test_schedules():
    exponential = TINY.override(schedule="exponential", decay=0.97, epochs=5)
    assert learning_rate(exponential, 3) == pytest.approx(0.05 * 0.97**3)
    assert learning_rate(TINY.override(schedule="constant"), 2) == 0.05
    # torch's own, stepped once an epoch
    parameter = torch.nn.Parameter(torch.zeros(1))
    optimiser = torch.optim.SGD([parameter], lr=0.05)
    theirs = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, 10)
    for epoch in range(10):
        assert learning_rate(TINY.override(epochs=10), epoch) == pytest.approx(
            theirs.get_last_lr()[0]
        )
        optimiser.step()
        theirs.step()


def test_memorisation_is_seen():
    run = {"network": "mlp", "epochs": 40, "lr": 0.1, "noise": "symmetric:0.4"}
    last = tiny("CE", **run).run(ONE)[0].last
    assert last.corrupted_part > 0.9
    assert last.clean_part > 0.9
    assert last.recovered < 0.1
    assert last.train_accuracy == pytest.approx(0.6 * last.clean_part + 0.4 * last.corrupted_part)
    clean = tiny("CE", **run | {"noise": "none", "epochs": 2}).run(ONE)[0].last
    assert clean.corrupted_part is None
    assert clean.train_accuracy == clean.clean_part


class Broken(torch.nn.Module):
    """A loss that gives ``value`` in its fourth call."""

    def __init__(self, value):
        super().__init__()
        self.value, self.calls = value, 0

    def forward(self, logits, labels):
        self.calls += 1
        loss = torch.nn.functional.cross_entropy(logits, labels)
        return loss * self.value if self.calls == 9 else loss


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_is_no_number_stops_the_run(value, monkeypatch, tmp_path):
    from noiseproof.train import experiment as module
    from noiseproof.train.method import Method

    monkeypatch.setattr(module, "make_method", lambda *_: Method(Broken(value)))
    outcome, _ = tiny(batch=32).run(ONE, tmp_path / "checkpoint.pt")  # 160 samples: 5 steps
    assert outcome.status == "failed"
    assert outcome.failure == f"the loss is {value} in step 4 of epoch 2"
    assert [row.number for row in outcome.history] == [1]


def test_a_last_step_too_far_is_a_failure():
    outcome, _ = tiny(epochs=1, batch=200, lr=1e300).run(ONE)
    assert outcome.failure == "a weight is not finite after epoch 1"
    assert outcome.history == ()


def test_a_last_batch_of_one_is_left_out():
    outcome, _ = tiny(network="mlp", batch=53).run(ONE)  # 160 = 3 * 53 + 1
    assert outcome.status == "done"


def test_subsets_are_drawn_by_the_seed():
    first, second = tiny(train_size=50, test_size=10), tiny(train_size=50, test_size=10, seed=2)
    assert (len(first.train), len(first.test)) == (50, 10)
    assert not torch.equal(first.train.inputs, second.train.inputs)


def test_bfloat16_trains():
    outcome, _ = tiny(precision="bfloat16", epochs=10, noise="none").run(ONE)
    assert outcome.last.test_accuracy > 0.9


def test_threads_are_put_back():
    before = torch.get_num_threads()
    tiny(epochs=1).run(ONE)
    assert torch.get_num_threads() == before


@contextmanager
def other_default_type():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


SURROUNDINGS = {
    "no gradients": torch.no_grad,
    "inference": torch.inference_mode,
    "another type": other_default_type,
    "another device": lambda: torch.device("meta"),
    "another precision": lambda: torch.autocast("cpu", torch.bfloat16),
}


@pytest.mark.parametrize("around", SURROUNDINGS.values(), ids=SURROUNDINGS)
def test_what_torch_is_set_to_makes_no_difference(around):
    data = tiny_data()
    _, expected = tiny("NCE + 4*AGCE(a=6, q=1.5)", data=data).run(ONE)
    _, narrow = tiny("CE", data=data, precision="bfloat16").run(ONE)
    with around():
        _, again = tiny("CE", data=data, precision="bfloat16").run(ONE)
        _, found = tiny("NCE + 4*AGCE(a=6, q=1.5)", data=data).run(ONE)
        ((_, together), _) = run_together([tiny("CE", data=data), tiny("MAE", data=data)], ONE)
        dtype = torch.get_default_dtype()
    assert torch.equal(weights(found), weights(expected))
    assert torch.equal(weights(again), weights(narrow))
    _, alone = tiny("CE", data=data).run(ONE)
    assert torch.allclose(weights(together), weights(alone), atol=1e-6)
    assert (dtype == torch.float64) == (around is other_default_type)


@pytest.mark.parametrize("fields", [{"network": "mlp"}, {"network": "mlp", "nesterov": True}])
@pytest.mark.parametrize("loss", ["CE", "1000*CE"])
def test_what_the_memory_held_before_plays_no_part(monkeypatch, loss, fields):
    """In float16 the first gradients of a large loss are infinite: these steps are skipped."""
    experiment, found = tiny(loss, precision="float16", batch=64, **fields), []
    for held in (0.0, 1.0, math.nan):
        with monkeypatch.context() as patched:
            patched.setattr(torch, "empty_like", left_in_memory(held))
            outcome, network = experiment.run(ONE)
        found.append((outcome.failure, measured(outcome), weights(network).tolist()))
    assert not found[0][0]
    assert found[0] == found[1] == found[2]


def left_in_memory(held):
    made = torch.empty_like

    def empty_like(*arguments, **options):
        new = made(*arguments, **options)
        return new.fill_(held) if new.is_floating_point() else new

    return empty_like


def test_a_run_whose_first_steps_were_skipped_resumes(tmp_path, monkeypatch):
    monkeypatch.setattr(torch, "empty_like", left_in_memory(math.nan))
    experiment = tiny("1000*CE", network="mlp", precision="float16", batch=500)
    with pytest.raises(KeyboardInterrupt):
        experiment.run(ONE, tmp_path / "checkpoint.pt", StopAfter(1))
    resumed, _ = experiment.run(ONE, tmp_path / "checkpoint.pt")
    assert measured(resumed) == measured(experiment.run(ONE)[0])
