"""The theory answers the same whatever torch is set to, and what a loss says of itself."""

from contextlib import contextmanager
from functools import cache

import numpy as np
import pytest
import torch
from registered import NAMES, text_of

import noiseproof as nf
from noiseproof.errors import ParameterError
from noiseproof.noise import TransitionMatrix
from noiseproof.theory import (
    asymmetry_ratio,
    audit,
    calibration,
    check_excess_risk,
    is_asymmetric,
    is_completely_asymmetric,
    is_symmetric,
    minimise_risk,
    numeric_asymmetry_ratio,
)
from noiseproof.theory.conditions import is_bounded


class Exponential(nf.Pointwise, register=False):
    """AEL(a=2.5), with nothing but ``value``."""

    def value(self, log_u):
        return torch.exp(-log_u.exp() / 2.5)


class Curved(nf.Loss, register=False):
    """Not bounded, not symmetric, whatever the defaults say."""

    symmetric = True

    def per_class(self, log_p):
        return log_p.exp().square().sum(-1, keepdim=True) - log_p


@contextmanager
def elsewhere():
    before = torch.get_default_device()
    torch.set_default_device("meta")
    try:
        yield
    finally:
        torch.set_default_device(before)


@contextmanager
def in_float16():
    torch.set_default_dtype(torch.float16)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


AROUND = [torch.no_grad, torch.inference_mode, elsewhere, in_float16]
WEIGHTS = [0.5, 0.3, 0.15, 0.05]


@cache
def expected(text):
    return list(answers(text))


def answers(text):
    loss = Exponential() if text is None else nf.loss(text)
    found = minimise_risk(loss, WEIGHTS)
    yield found.risk, found.attained, found.minimiser.tolist()
    yield is_symmetric(loss, 4), is_asymmetric(loss, WEIGHTS), is_completely_asymmetric(loss, 4)
    if isinstance(loss, nf.Pointwise):
        yield asymmetry_ratio(loss), numeric_asymmetry_ratio(loss, strict=True)
        yield calibration(loss, eta=[0.2, 0.7]).H.tolist()
        yield check_excess_risk(loss, problems=20)
    yield audit(loss, noise="pair-flip:0.3", classes=3).to_dict()


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("text", ["FL(gamma=2)", "AMSE(a=3)", "NCE + AEL(a=1)", None], ids=str)
def test_whatever_torch_is_set_to(text, around):
    wanted = expected(text)
    with around():
        assert list(answers(text)) == wanted


def test_a_loss_that_says_it_is_symmetric_is_measured():
    lying = type("Lying", (Exponential,), {"symmetric": True}, register=False)()
    honest, found = (
        audit(loss, noise="pair-flip:0.45", classes=3) for loss in (Exponential(), lying)
    )
    assert found.ratio == pytest.approx(honest.ratio)
    assert not found.completely_asymmetric
    assert not found.tolerant
    assert found.verdict == honest.verdict
    curved = audit(Curved(), classes=3)
    assert not curved.symmetric
    assert not curved.completely_asymmetric


@pytest.mark.parametrize("name", ["asymmetry_ratio", "strict_asymmetry_ratio"])
def test_a_closed_form_that_is_wrong_is_named(name):
    lying = type("Lying", (Exponential,), {name: lambda self: 1.0}, register=False)()
    with pytest.raises(
        ParameterError, match=r"says that its asymmetry ratio is 1, but it is 0\.6703"
    ):
        audit(lying, classes=3)
    right = type("Right", (Exponential,), {name: lambda self: 0.67032}, register=False)()
    assert audit(right, classes=3).ratio == pytest.approx(0.67032, abs=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_bounded_is_measured(name):
    loss = nf.loss(text_of(name))
    assert is_bounded(loss, classes=3) == loss.bounded


def test_what_only_says_it_is_bounded_is_not():
    assert Curved().bounded
    assert not audit(Curved(), classes=3).bounded


@pytest.mark.parametrize("text", ["MAE", "CE", "AEL(a=2.5)", "NCE + AGCE(a=0.1, q=0.5)"])
@pytest.mark.parametrize("kept", [0.5, 0.45], ids=["tie", "outvoted"])
def test_class_weights_may_settle_or_overturn_a_row(text, kept):
    T = TransitionMatrix(np.array([[kept, 1 - kept, 0], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]]))
    weighed = np.diag([1, 1, 1]) @ T.matrix * [3, 1, 1]
    found = audit(nf.loss(text, weight=torch.tensor([3.0, 1, 1])), noise=T)
    assert [m.tolerated for m in found.margins] == [is_asymmetric(text, row) for row in weighed]
