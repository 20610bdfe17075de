"""Mistakes are one clear line, of the type torch raises for the same mistake."""

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

import noiseproof as nf
from noiseproof.errors import InputTypeError, NoiseproofError, ParameterError, ShapeError

Z, Y = torch.randn(4, 3), torch.tensor([0, 1, 2, 0])


@pytest.mark.parametrize(
    ("z", "y", "options"),
    [
        (Z, Y[:3], {}),
        (Z, torch.rand(4, 5), {}),
        (Z, Y + 1, {}),
        (Z, Y - 1, {}),
        (Z, Y, {"weight": torch.ones(4)}),
        (Z.numpy(), Y, {}),
        (Z.tolist(), Y, {}),
        (Z, Y.tolist(), {}),
        (torch.randn(2, 5, 3), torch.zeros(2, 5, dtype=torch.int64), {}),
    ],
    ids=["rows", "soft", "large", "negative", "weight", "array", "list", "labels", "B,T,K"],
)
def test_errors_are_of_the_types_torch_raises(z, y, options):
    with pytest.raises(Exception) as theirs:  # noqa: PT011 - whatever torch raises
        cross_entropy(z, y, **options)
    with pytest.raises(NoiseproofError) as ours:
        nf.CE(**options)(z, y)
    assert isinstance(ours.value, type(theirs.value))
    assert "\n" not in str(ours.value)


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: nf.CE()(Z.numpy(), Y), InputTypeError, "expected logits to be a tensor, got nump"),
        (lambda: nf.CE()(Z, Y.tolist()), InputTypeError, "expected target to be a tensor, got li"),
        (lambda: nf.CE(weight=[1, 2, 3]), InputTypeError, "expected weight to be a tensor"),
        (lambda: nf.CE(weight=np.ones(3)), InputTypeError, "expected weight to be a tensor"),
        (lambda: nf.CE(weight=torch.ones(3, 1)), ShapeError, r"shape \(K,\), got"),
        (lambda: nf.CE(weight=torch.tensor([1, 2, 3])), ShapeError, "floating-point weight"),
        (lambda: nf.MAE(weight=-torch.ones(3)), ParameterError, "class weights >= 0"),
        (lambda: nf.MAE(ignore_index=None), ParameterError, "expected `ignore_index` to be an int"),
        (lambda: nf.audit("CE", noise=3), nf.errors.TheoryError, "expected `noise` as"),
        (lambda: 0 * nf.NCE(), ParameterError, "expected `weight of NCE` > 0, got 0"),
    ],
)
def test_one_clear_line(call, kind, says):
    with pytest.raises(kind, match=says) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_classes_last_is_recognised():
    with pytest.raises(ShapeError, match=r"classes are dimension 1 .* logits.movedim\(-1, 1\)"):
        nf.CE()(torch.randn(2, 5, 3), torch.zeros(2, 5, dtype=torch.int64))


def test_called_as_torch_is():
    w = torch.tensor([1.0, 2.0, 3.0])
    theirs = torch.nn.CrossEntropyLoss(w)
    torch.testing.assert_close(nf.CE(w)(input=Z, target=Y), theirs(input=Z, target=Y))
    assert repr(nf.CE(w)) == "<CE, weight=tensor([1., 2., 3.])>"
