"""Several runs at once: each is what it would have been alone."""

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from tiny_runs import ONE, TINY, measured, tiny, tiny_data

import noiseproof as nf
from noiseproof import loss as read_loss
from noiseproof.errors import DataError, ParameterError
from noiseproof.train import prepare
from noiseproof.train.loop import fit
from noiseproof.train.method import Method, Term
from noiseproof.train.progress import Watcher
from noiseproof.train.together import fit_together, run_together

LOSSES = [("CE", "symmetric:0.4"), ("NCE + 4*AGCE(a=6, q=1.5)", "none"), ("NLNL", "symmetric:0.2")]
FIELDS = {"epochs": 3, "batch": 32, "lr": 0.05, "weight_decay": 1e-3, "clip": 0.5}


def several(**fields):
    data = tiny_data()
    return [tiny(loss, noise, data=data, **{**FIELDS, **fields}) for loss, noise in LOSSES]


def weights(network):
    return torch.cat([value.flatten().double() for value in network.state_dict().values()])


@pytest.mark.parametrize("other", [
    {"seed": 2}, {"exact": False}, {"train_size": 50}, {"held_out": 20}, {"test_size": 10},
    {"noise": "matrix:T.csv"}, {"loss": "MAE"},
])  # fmt: skip
def test_what_is_shared_is_what_would_be_drawn(other, tmp_path, monkeypatch):
    """Also where the file of a matrix was changed: its name says nothing of what is in it."""
    monkeypatch.chdir(tmp_path)
    rows = [nf.noise.symmetric(4, rate).matrix for rate in (0.2, 0.6)]
    np.savetxt("T.csv", rows[0], delimiter=",")
    data, given = tiny_data(), {"noise": "symmetric:0.4", **other}
    like = tiny(data=data, noise=given["noise"])
    np.savetxt("T.csv", rows[1], delimiter=",")
    loss, seed = given.pop("loss", "CE"), given.pop("seed", 1)
    recipe = TINY.override(**{k: v for k, v in given.items() if k != "noise"})
    shared, alone = (
        prepare(data, recipe, loss, given["noise"], seed, like=one) for one in (like, None)
    )
    assert shared.identity == alone.identity
    for one, other in ((shared.train, alone.train), (shared.test, alone.test)):
        assert one.fingerprint == other.fingerprint


@pytest.mark.parametrize("fields", [
    {"network": "linear"},
    {"network": "mlp", "hidden": (16,)},
    {"network": "mlp", "hidden": (8, 6)},
])  # fmt: skip
def test_each_is_what_it_is_alone(fields):
    experiments = several(**fields)
    together = run_together(experiments, ONE)
    for experiment, (outcome, network) in zip(experiments, together, strict=True):
        alone, trained = experiment.run(ONE)
        assert torch.allclose(weights(network), weights(trained), atol=1e-4)
        for ours, theirs in zip(measured(outcome), measured(alone), strict=True):
            assert ours == pytest.approx(theirs, abs=0.02)
        assert outcome.history[-1].loss == pytest.approx(alone.history[-1].loss, abs=1e-4)


def test_what_is_held_out_is_measured_alone_too():
    experiments = several(network="linear", held_out=20, train_size=60)
    together = run_together(experiments, ONE)
    for experiment, (outcome, _) in zip(experiments, together, strict=True):
        alone, _ = experiment.run(ONE)
        assert alone.last.held_out == pytest.approx(outcome.last.held_out, abs=0.051)  # one of 20
        assert [row.held_out for row in alone.history[:-1]] == [None, None]


def test_the_stages_of_nlnl_beside_another_method():
    data = tiny_data()
    staged = tiny("NLNL", "symmetric:0.2", data=data, method="nlnl", network="linear", **FIELDS)
    plain = tiny("CE", "symmetric:0.2", data=data, network="linear", **FIELDS)
    (_, network), _ = run_together([staged, plain], ONE)
    assert torch.allclose(weights(network), weights(staged.run(ONE)[1]), atol=1e-4)


def test_a_loss_of_the_whole_batch_sees_its_own_run_alone():
    class OfBatch(nf.CE):
        def forward(self, input, target, sample_weight=None):
            rows = torch.nn.functional.cross_entropy(input, target, reduction="none")
            rows = rows / rows.detach().max()
            return rows if self.reduction == "none" else rows.mean()

    try:
        noises, data = ("none", "symmetric:0.6"), tiny_data()
        fields = {**FIELDS, "network": "linear"}
        experiments = [tiny("OfBatch", noise, data=data, **fields) for noise in noises]
        for experiment, (_, network) in zip(
            experiments, run_together(experiments, ONE), strict=True
        ):
            assert torch.allclose(weights(network), weights(experiment.run(ONE)[1]), atol=1e-4)
    finally:
        del nf.registry["OfBatch"]


class _Broken(Method):
    """Gives no number in its seventh step."""

    steps = 0

    def __call__(self, logits, labels):
        self.steps += 1
        mean, samples = super().__call__(logits, labels)
        return Term(mean * math.nan if self.steps == 7 else mean, samples)


def test_a_loss_that_is_not_finite_harms_no_other():
    sound, doomed = several(network="linear")[:2]
    with ONE.settled():
        first = sound.job(ONE)
        second = replace(doomed.job(ONE, like=first), method=_Broken(read_loss("MAE")))
        states = []
        keep = lambda state: states.append(copy.deepcopy(state))  # noqa: E731
        fine, failed = fit_together([first, second], None, keep, Watcher())
        alone = fit(
            replace(doomed.job(ONE), method=_Broken(read_loss("MAE"))),
            None,
            lambda _: None,
            Watcher(),
        )
        third = sound.job(ONE)
        jobs = [third, doomed.job(ONE, like=third)]
        resumed, still = fit_together(jobs, states[-1], lambda _: None, Watcher())
    assert (resumed.status, still.failure) == ("done", failed.failure)  # one that failed is kept
    assert fine.status == "done"
    assert torch.allclose(weights(first.network), weights(sound.run(ONE)[1]), atol=1e-4)
    assert failed.failure == alone.failure == "the loss is nan in step 2 of epoch 2"
    assert len(failed.history) == len(alone.history) == 1


class _StoppedError(Exception):
    pass


def test_a_last_step_too_far_is_a_failure():
    jobs = [tiny(loss, epochs=1, batch=200, lr=1e300).job(ONE) for loss in ("CE", "MAE")]
    with ONE.settled():
        outcomes = fit_together(jobs, None, lambda _: None, Watcher())
    assert {o.failure for o in outcomes} == {"a weight is not finite after epoch 1"}


def test_resumed_it_is_the_same_to_the_bit(tmp_path):
    class Stopper(Watcher):
        def epoch(self, row):
            if row.number == 2:
                raise _StoppedError

    checkpoint = tmp_path / "some.checkpoint.pt"
    whole = run_together(several(network="mlp", hidden=(8,)), ONE)
    with pytest.raises(_StoppedError):
        run_together(several(network="mlp", hidden=(8,)), ONE, checkpoint, Stopper())
    resumed = run_together(several(network="mlp", hidden=(8,)), ONE, checkpoint)
    for (one, first), (two, second) in zip(whole, resumed, strict=True):
        assert measured(one) == measured(two)
        assert torch.equal(weights(first), weights(second))
    with pytest.raises(DataError, match="another run"):
        run_together(several(network="mlp", hidden=(8,))[:2], ONE, checkpoint)


@pytest.mark.parametrize(("fields", "said"), [
    ({"seed": 2}, "same data, recipe and seed"),
    ({"epochs": 4}, "same data, recipe and seed"),
    ({"network": "cnn4"}, "only linear and mlp"),
])  # fmt: skip
def test_what_cannot_be_trained_together(fields, said):
    first = several(network=fields.get("network", "linear"))
    other = tiny(**{**FIELDS, "network": "linear", "data": tiny_data(), **fields})
    with pytest.raises(ParameterError, match=said):
        run_together([*first[:1], other] if "network" not in fields else first, ONE)
