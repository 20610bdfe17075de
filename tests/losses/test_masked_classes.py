"""Logits of -inf mask a class: it has no part in the loss, and CE does what torch's does."""

import pytest
import torch
from loss_examples import CENTRAL, SUMS, with_options
from torch.nn.functional import cross_entropy

import noiseproof as nf
from noiseproof.errors import ParameterError

# A random wrong class, or the mean over them, counts the masked ones as classes that are not y.
LOSSES = [loss for loss in [*CENTRAL, *SUMS] if not loss.random]
LOSSES += [
    nf.loss(text)
    for text in (
        "UnitLogits(CE)", "UnitLogits(NCE)", "EpsSoftmax(GCE, m=3)", "Normalized(UnitLogits(CE))",
        "Normalized(EpsSoftmax(CE, m=2))", "Normalized(UnitLogits(CE + MAE))",
    )
]  # fmt: skip


def problem(rows, classes=6):
    z = 2 * torch.randn(rows, classes, dtype=torch.float64)
    y = torch.arange(rows) % (classes - 2)
    masked = z.clone()
    masked[:, -2:] = -torch.inf
    return z[:, :-2].requires_grad_(), masked.requires_grad_(), y


def same(value, expected, masked, few):
    torch.testing.assert_close(value, expected)
    (gradient,) = torch.autograd.grad(value, masked)
    (wanted,) = torch.autograd.grad(expected, few)
    torch.testing.assert_close(gradient[:, :-2], wanted)
    assert (gradient[:, -2:] == 0).all()


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("rows", [8, 4000], ids=["small", "in blocks"])
def test_a_masked_class_has_no_part(loss, rows):
    few, masked, y = problem(rows)
    same(loss(masked, y), loss(few, y), masked, few)
    with torch.no_grad():
        torch.testing.assert_close(loss(masked, y), loss(few, y))
    if loss.infinite:  # CE, and torch: every class has its share of the smoothing
        return
    smooth = with_options(loss, label_smoothing=0.2)
    torch.testing.assert_close(smooth(masked, y), smooth(few, y))
    t = torch.softmax(torch.randn(rows, 4, dtype=torch.float64), 1)
    none = torch.zeros(rows, 2, dtype=torch.float64)
    torch.testing.assert_close(loss(masked, torch.cat([t, none], 1)), loss(few, t))


@pytest.mark.parametrize("loss", [nf.NCE(), nf.NFL(), nf.NCE() + nf.MAE()], ids=str)
def test_segmentation(loss):
    image = torch.randn(2, 5, 40, 30, dtype=torch.float64)
    image[:, 3] = -torch.inf
    y = torch.randint(3, (2, 40, 30))
    few = image[:, [0, 1, 2, 4]].requires_grad_()
    image.requires_grad_()
    value, expected = loss(image, y), loss(few, y)
    torch.testing.assert_close(value, expected)
    gradient = torch.autograd.grad(value, image)[0]
    torch.testing.assert_close(gradient[:, [0, 1, 2, 4]], torch.autograd.grad(expected, few)[0])


@pytest.mark.parametrize("rows", [6, 4000], ids=["small", "in blocks"])
@pytest.mark.parametrize("options", [{}, {"label_smoothing": 0.1}, {"reduction": "none"}], ids=str)
def test_cross_entropy_does_what_torch_does(rows, options):
    z = torch.randn(rows, 5, requires_grad=True)
    masked = z.masked_fill(torch.tensor([False, True, False, False, True]), -torch.inf)
    y = torch.arange(rows) % 5  # masked labels too
    value, expected = nf.CE(**options)(masked, y), cross_entropy(masked, y, **options)
    torch.testing.assert_close(value, expected)
    assert expected.isinf().any()
    if "label_smoothing" not in options:
        gradients = [
            torch.autograd.grad(v.sum(), z, retain_graph=True)[0] for v in (value, expected)
        ]
        torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("loss", [x for x in LOSSES if x.bounded and not x.transforms], ids=str)
@pytest.mark.parametrize("rows", [4, 4000], ids=["small", "in blocks"])
def test_a_masked_label_costs_what_a_hopeless_one_does(loss, rows):
    z = torch.randn(rows, 5, dtype=torch.float64)
    z[:, 2] = -1e200
    y = torch.full((rows,), 2)
    hopeless = loss(z, y)
    z[:, 2] = -torch.inf
    z.requires_grad_()
    value = loss(z, y)
    torch.testing.assert_close(value, hopeless)
    assert torch.autograd.grad(value, z)[0].isfinite().all()


NESTED = ["Normalized(NCE)", "Normalized(Normalized(NCE))", "NCE + Normalized(Normalized(MAE))"]


@pytest.mark.parametrize("loss", [*LOSSES, *map(nf.loss, NESTED)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("rows", [4, 4000], ids=["small", "in blocks"])
def test_one_class_left_is_certain_and_flat(loss, dtype, rows):
    z = torch.full((rows, 3), -torch.inf, dtype=dtype)
    z[:, 1] = torch.randn(rows, dtype=dtype)
    z.requires_grad_()
    gradient = torch.autograd.grad(loss(z, torch.ones(rows, dtype=torch.long)), z)[0]
    torch.testing.assert_close(gradient, torch.zeros_like(z))


@pytest.mark.parametrize("loss", [x for x in LOSSES if not x.transforms], ids=str)
def test_derivatives_in_scores_refuse_a_mask(loss):
    _, masked, y = problem(4)
    with pytest.raises(ParameterError, match="a score of -inf: leave its class out"):
        loss.derivatives(masked, y)


class Entropic(nf.Pointwise, register=False):
    """1 + u log u - u: bounded, but 0 * -inf where u is 0."""

    def value(self, log_u):
        return 1 + log_u.exp() * log_u - log_u.exp()


class Plain(nf.Pointwise, register=False):
    def value(self, log_u):
        return 1 - log_u.exp()

    def prepare(self):
        """Leave out what a Pointwise prepares."""


@pytest.mark.parametrize("rows", [4, 400])
@pytest.mark.parametrize("options", [{}, {"label_smoothing": 0.1}, {"reduction": "sum"}])
@pytest.mark.parametrize("kind", [Entropic, Plain])
def test_a_users_bounded_loss_need_not_bear_infinity(kind, options, rows):
    for loss in (kind(**options), 2 * kind() + nf.MAE()):
        z = torch.zeros(rows, 5)
        z[:, 2] = -torch.inf
        z[0, 1] = 3e38
        z.requires_grad_()
        value = loss(z, torch.zeros(rows, dtype=torch.long))
        value.backward()
        assert value.isfinite()
        assert z.grad.isfinite().all()


def test_bounded_losses_take_a_probability_of_zero_as_it_is():
    """Which saves small batches an operation."""
    found = [loss for loss in (*CENTRAL, *SUMS) if isinstance(loss, nf.Pointwise)]
    assert len(found) > 5
    for loss in found:
        assert loss.takes_zero == loss.bounded, loss
