"""A parameter or option changed after building counts as if the loss had been built with it."""

import dataclasses

import pytest
import torch
from loss_examples import CENTRAL, inside

import noiseproof as nf
from noiseproof.errors import ParameterError

NUMBERS = [(loss, name) for loss in CENTRAL if not loss.random for name in loss.domains()]


def rebuilt(loss, **changed):
    fields = {f.name: getattr(loss, f.name) for f in loss.parameters_declared()}
    return type(loss)(**{**fields, **changed})


@pytest.mark.parametrize("rows", [6, 4000], ids=["small", "in blocks"])
@pytest.mark.parametrize(("loss", "name"), NUMBERS, ids=str)
def test_a_number(loss, name, rows):
    z = 3 * torch.randn(rows, 5, dtype=torch.float64)
    z.requires_grad_()
    y = torch.arange(rows) % 5
    number = inside(loss.domains()[name], 0.37)
    changed, expected = rebuilt(loss), rebuilt(loss, **{name: number})
    setattr(changed, name, number)
    assert str(changed) == str(expected)
    torch.testing.assert_close(changed(z, y), expected(z, y), rtol=0, atol=0)
    one, other = (torch.autograd.grad(each(z, y), z)[0] for each in (changed, expected))
    torch.testing.assert_close(one, other, rtol=0, atol=0)


@pytest.mark.parametrize(("loss", "name"), NUMBERS, ids=str)
def test_a_wrong_number_is_refused_and_changes_nothing(loss, name):
    changed = rebuilt(loss)
    for wrong in (float("nan"), "much", None):
        with pytest.raises(ParameterError, match=name):
            setattr(changed, name, wrong)
    assert str(changed) == str(loss)


def test_a_flag():
    changed = nf.NFL(gamma=1.0)
    changed.detach = True
    assert changed.base.detach
    with pytest.raises(ParameterError, match="True or False"):
        changed.detach = 1


@pytest.mark.parametrize(
    "wrong", [{"reduction": "Mean"}, {"label_smoothing": 2}, {"ignore_index": None}], ids=str
)
def test_a_wrong_option_is_refused(wrong):
    loss = nf.AGCE(a=1, q=0.5)
    ((name, value),) = wrong.items()
    with pytest.raises(ParameterError, match=name):
        setattr(loss, name, value)
    assert not loss.options_changed
    assert dataclasses.is_dataclass(loss)
