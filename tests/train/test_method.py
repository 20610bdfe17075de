import pytest
import torch
from tiny_runs import ONE, measured, tiny

from noiseproof import NLNL
from noiseproof.errors import ParameterError
from noiseproof.train.method import Method, StagedNLNL, make_method


def generator(seed=1):
    return torch.Generator().manual_seed(seed)


def begun(epochs, epoch, seed=1):
    method = StagedNLNL(epochs)
    method.start(epoch, generator(seed))
    return method


def test_each_stage_selects_by_its_threshold():
    # Rows with p_y of 0.05, 0.2 and 0.8 for the label 0, of K = 10 classes: 1/K is 0.1.
    p = torch.tensor([0.05, 0.2, 0.8])
    logits = torch.cat([p[:, None], ((1 - p) / 9)[:, None].expand(3, 9)], 1).log()
    labels = torch.zeros(3, dtype=torch.int64)
    # Every wrong class has the same probability, so what is drawn does not matter.
    negative = -torch.log(1 - (1 - p) / 9)
    nl, sel_nl, sel_pl = (begun(3, epoch)(logits, labels) for epoch in range(3))
    assert int(nl.samples) == 3
    assert float(nl.mean) == pytest.approx(float(negative.mean()), rel=1e-5)
    assert int(sel_nl.samples) == 2
    assert float(sel_nl.mean) == pytest.approx(float(negative[1:].mean()), rel=1e-5)
    assert int(sel_pl.samples) == 1
    assert float(sel_pl.mean) == pytest.approx(-float(p[2].log()), rel=1e-5)


def test_nothing_selected_is_an_idle_step():
    logits = torch.tensor([[-9.0, 0.0, 0.0]], requires_grad=True)
    term = begun(3, 2)(logits, torch.tensor([0]))
    term.mean.backward()
    assert (int(term.samples), float(term.mean.detach())) == (0, 0.0)
    assert torch.equal(logits.grad, torch.zeros(1, 3))


def test_complementary_labels_come_from_the_generator():
    logits, labels = torch.randn(64, 10), torch.zeros(64, dtype=torch.int64)
    torch.manual_seed(1)
    first = begun(3, 0)(logits, labels).mean
    torch.manual_seed(2)
    assert torch.equal(begun(3, 0)(logits, labels).mean, first)
    assert not torch.equal(begun(3, 0, seed=2)(logits, labels).mean, first)


def test_a_sum_with_nlnl_draws_from_the_run_too():
    from noiseproof import CE

    loss = CE() + 0.5 * NLNL()
    numbers = generator()
    Method(loss).start(0, numbers)
    assert loss.losses[1].generator is numbers


def test_stages_need_the_loss():
    from noiseproof import CE

    with pytest.raises(ParameterError, match="the method nlnl trains with the loss NLNL"):
        make_method("nlnl", CE(), 3)
    with pytest.raises(ParameterError):
        tiny("CE", method="nlnl")


def test_staged_run_repeats_and_differs_from_one_stage():
    staged = tiny("NLNL", method="nlnl", epochs=6)
    first, second = (measured(staged.run(ONE)[0]) for _ in range(2))
    assert first == second
    assert first != measured(tiny("NLNL", epochs=6).run(ONE)[0])
    # The last stage trains on what the model believes already.
    assert first[-1]["loss"] < 1
