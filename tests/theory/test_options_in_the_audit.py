"""An audit accounts for class weights and label smoothing: it promises nothing that is false."""

import numpy as np
import pytest
import torch
from registered import NAMES, text_of
from torch.nn.functional import cross_entropy

import noiseproof as nf
from noiseproof.errors import TheoryError
from noiseproof.theory.options import effective

HEAVY = torch.tensor([20.0, 1.0, 1.0, 1.0])


def test_a_heavy_class_is_where_the_risk_is_least_and_the_audit_says_so():
    """The case that was promised: AGCE(.6, .6), a weight of 20 on one class, symmetric .6."""
    loss = nf.AGCE(0.6, 0.6, weight=HEAVY)
    noise = nf.noise.symmetric(4, 0.6)
    assert nf.audit(nf.AGCE(0.6, 0.6), noise=noise).tolerant
    found = nf.audit(loss, noise=noise)
    assert found.tolerant is False
    assert [m.name for m in found.failing] == ["1", "2", "3"]
    # By brute force: rows of class 1, their labels noisy; where is their mean loss least?
    labels = torch.tensor([0, 0, 1, 1, 2, 2, 3, 3, 1, 1])  # .4 of them right, .2 for each other
    means = [
        nf.AGCE(0.6, 0.6, weight=HEAVY)(20.0 * torch.eye(4)[[k] * 10], labels) for k in range(4)
    ]
    assert int(torch.stack(means).argmin()) == 0
    assert int(nf.minimise_risk(loss, noise.matrix[1]).minimiser.argmax()) == 0


def test_smoothing_is_symmetric_noise_on_top():
    # s = .5 with 10 classes adds a rate of .45: of MAE's .9 there remains (.9 - .45) / .5 = .9,
    # and of AGCE(.6, .6)'s .8587 there remains .8175.
    assert nf.audit(nf.MAE(label_smoothing=0.5), classes=10).max_symmetric_rate == pytest.approx(
        0.9
    )
    plain = nf.audit(nf.AGCE(0.6, 0.6), classes=10).max_symmetric_rate
    smooth = nf.audit(nf.AGCE(0.6, 0.6, label_smoothing=0.5), classes=10)
    assert smooth.max_symmetric_rate == pytest.approx((plain - 0.45) / 0.5)
    assert "label smoothing                         0.5" in str(smooth)
    assert smooth.ratio == nf.asymmetry_ratio("AGCE(a=0.6, q=0.6)")  # the formula's


@pytest.mark.parametrize("text", ["AGCE(a=0.6, q=0.6)", "MAE", "NCE + MAE", "NCE + AMSE(a=9)"])
@pytest.mark.parametrize(
    "options",
    [{"label_smoothing": 0.3}, {"weight": torch.tensor([1.0, 2.0, 1.5, 1.0])}],
    ids=["smoothing", "weight"],
)
def test_the_largest_rate_is_where_tolerance_ends(text, options):
    loss = nf.loss(text, **options)
    rate = nf.audit(loss, classes=4).max_symmetric_rate
    assert 0 < rate <= 0.75
    assert nf.audit(loss, noise=nf.noise.symmetric(4, rate - 0.01)).tolerant
    if rate < 0.75:  # from there on no loss can help
        assert not nf.audit(loss, noise=nf.noise.symmetric(4, rate + 0.01)).tolerant


def in_a_heavy_sum(name):
    """Return a loss beside AMSE, without and with class weights."""
    text = f"{text_of(name)} + AMSE(a=9)"
    return nf.loss(text), nf.loss(text, weight=torch.tensor([3.0, 1.0, 1.0]))


@pytest.mark.parametrize("name", NAMES)
def test_the_properties_are_those_of_the_formula_in_a_sum_too(name):
    """The terms of a sum have its weights: a search on each was led to the heavy class."""
    plain, heavy = in_a_heavy_sum(name)
    assert nf.is_completely_asymmetric(plain, 3) == nf.is_completely_asymmetric(heavy, 3)


@pytest.mark.parametrize("name", ["CE", "MAE", "NCE"])
def test_the_audit_of_a_sum_is_that_of_the_formula(name):
    plain, heavy = in_a_heavy_sum(name)
    found, expected = nf.audit(heavy), nf.audit(plain, classes=3)
    assert (found.ratio, found.completely_asymmetric) == (
        expected.ratio,
        expected.completely_asymmetric,
    )
    assert found.max_symmetric_rate <= expected.max_symmetric_rate


@pytest.mark.parametrize("name", NAMES)
def test_every_class_is_learnt_below_the_largest_rate(name):
    """NGCE learns a light class among equals, and none where a light one is among the others."""
    loss = nf.loss(text_of(name), weight=torch.tensor([0.5, 1.0, 1.0, 1.0]))
    rate = nf.audit(loss).max_symmetric_rate
    light, heavy, *_ = nf.noise.symmetric(4, 0.9 * rate).matrix
    assert rate < 0.01 or (nf.is_asymmetric(loss, light) and nf.is_asymmetric(loss, heavy))


def test_the_risk_that_is_minimised_is_the_one_that_is_trained():
    """Mean losses over labels drawn as w equal the risk with effective weights, for CE by torch."""
    weight = torch.tensor([1.0, 3.0, 0.5], dtype=torch.float64)
    loss = nf.CE(weight, label_smoothing=0.2)
    counts = [5, 3, 2]
    labels = torch.arange(3).repeat_interleave(torch.tensor(counts))
    z = torch.randn(3, dtype=torch.float64)
    total = cross_entropy(z.expand(10, 3), labels, weight, reduction="sum", label_smoothing=0.2)
    risk = effective(loss, np.array(counts, dtype=float)) @ -torch.log_softmax(z, 0).numpy()
    assert risk == pytest.approx(float(total))


def test_equal_weights_change_nothing_and_wrong_ones_are_named():
    same = nf.audit(nf.AGCE(0.6, 0.6, weight=torch.full((4,), 3.0)), classes=4)
    plain = nf.audit(nf.AGCE(0.6, 0.6), classes=4)
    assert same.max_symmetric_rate == pytest.approx(plain.max_symmetric_rate)
    assert nf.audit(nf.MAE(weight=HEAVY)).classes == 4
    with pytest.raises(TheoryError, match="has weights for 4 classes, asked about 10"):
        nf.audit(nf.MAE(weight=HEAVY), classes=10)
