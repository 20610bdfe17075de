"""What is learnt besides the logits has its gradient on every path: weights, targets, the loss."""

import pytest
import torch
from loss_examples import CENTRAL, SUMS
from torch import nn

import noiseproof as nf

LOSSES = [loss for loss in [*CENTRAL, *SUMS] if not loss.random]


class Scaled(nf.Pointwise, register=False):
    """k (1 - u), with k to be learnt."""

    def __post_init__(self):
        super().__post_init__()
        self.k = nn.Parameter(torch.zeros(1, 1, dtype=torch.float64))

    def value(self, log_u):
        k = self.k if "k" in self._parameters else 1.0
        return -torch.expm1(log_u) * k


class ScaledBySlope(Scaled, register=False):
    def value(self, log_u):
        return super().value(log_u)

    def with_slope(self, log_u):
        return self.value(log_u), -log_u.exp() * self.k


def problem(rows=6, classes=5):
    z = (2 * torch.randn(rows, classes, dtype=torch.float64)).requires_grad_()
    return z, torch.arange(rows) % classes


def through_linear(loss, z, y, w=None):
    eye = torch.eye(z.shape[1], dtype=z.dtype)
    bias = z[0].detach().clamp_max(0).floor().where(z[0] == -torch.inf, 0)
    hidden = torch.where(z == -torch.inf, 0, z)
    return nf.linear_loss(hidden, eye, y, loss, bias, sample_weight=w)


WAYS = [lambda loss, z, y, w=None: loss(z, y, w), through_linear]


@pytest.mark.parametrize("way", WAYS, ids=["loss", "linear_loss"])
@pytest.mark.parametrize("rows", [6, 4000], ids=["small", "in blocks"])
@pytest.mark.parametrize("kind", [Scaled, ScaledBySlope])
@pytest.mark.parametrize("at", [0.0, 2.0])
def test_a_parameter_of_the_loss(kind, at, rows, way):
    z, y = problem(rows)
    loss = kind()
    nn.init.constant_(loss.k, at)
    for whole in (loss, loss + nf.CE()):
        (found,) = torch.autograd.grad(way(whole, z, y), loss.k)
        expected = (1 - z.softmax(1).gather(1, y[:, None])).mean()
        torch.testing.assert_close(found.squeeze(), expected.detach())


@pytest.mark.parametrize("way", WAYS, ids=["loss", "linear_loss"])
@pytest.mark.parametrize("options", [{}, {"label_smoothing": 0.1}, {"reduction": "sum"}], ids=str)
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_sample_weights(loss, options, way):
    z, y = problem()
    w = torch.tensor([0.0, 1, 2, 0.5, 0, 3], dtype=torch.float64, requires_grad=True)
    made = nf.loss(str(loss), **options)
    (found,) = torch.autograd.grad(way(made, z, y, w), w)
    rows = nf.loss(str(loss), **{**options, "reduction": "none"})(z, y).detach()
    total = (rows * w).sum() / (1 if "reduction" in options else w.sum())
    torch.testing.assert_close(found, torch.autograd.grad(total, w)[0])  # at a weight of 0 too


@pytest.mark.parametrize("way", WAYS, ids=["loss", "linear_loss"])
def test_a_step_of_learning_to_reweight(way):
    """Ren et al. (2018): the gradient, in weights that are 0, of the loss after a step."""
    z, y = problem(classes=6)
    w = torch.zeros(6, dtype=torch.float64, requires_grad=True)
    loss = nf.AGCE(a=1, q=0.5, reduction="sum")
    (step,) = torch.autograd.grad(way(loss, z, y, w), z, create_graph=True)
    (found,) = torch.autograd.grad(nf.CE()(z - step, y), w)
    each, clean = torch.autograd.grad(loss(z, y), z)[0], torch.autograd.grad(nf.CE()(z, y), z)[0]
    torch.testing.assert_close(found, -(each * clean).sum(1))


@pytest.mark.parametrize("way", WAYS, ids=["loss", "linear_loss"])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_class_probabilities(loss, way):
    z, _ = problem()
    t = torch.rand_like(z).requires_grad_()
    (found,) = torch.autograd.grad(way(loss, z, t), t)
    torch.testing.assert_close(found, loss.class_rows(z).detach() / len(z))


@pytest.mark.parametrize("way", WAYS, ids=["loss", "linear_loss"])
@pytest.mark.parametrize("rows", [6, 4000], ids=["small", "in blocks"])
def test_class_weights(rows, way):
    z, y = problem(rows)
    weight = nn.Parameter(torch.rand(5, dtype=torch.float64))
    loss = nf.AGCE(a=1, q=0.5, weight=weight, reduction="sum")
    assert not list(loss.parameters())  # a buffer, as in torch's
    (found,) = torch.autograd.grad(way(loss, z, y), weight)
    each = nf.AGCE(a=1, q=0.5, reduction="none")(z, y).detach()
    torch.testing.assert_close(found, torch.zeros_like(found).index_add(0, y, each))


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_derivatives_and_linear_loss_where_nothing_is_recorded(loss):
    z, y = problem()
    z = z.detach()
    expected = loss.derivatives(z, y)
    assert expected.gradient.abs().max() > 0 or str(loss) == "Spread"
    t = torch.rand_like(z)
    mixed = loss.derivatives(z, t)
    for mode in (torch.no_grad, torch.inference_mode):
        with mode():
            here, there, soft = z.clone(), y.clone(), t.clone()
            masked = torch.where(torch.arange(5) == 1, -torch.inf, here)[y != 1]
            assert_all_close(loss.derivatives(z, y), expected)
            assert_all_close(loss.derivatives(here, there), expected)
            assert_all_close(loss.derivatives(here, soft), mixed)
            for logits, target in ((here, there), (here, soft), (masked, there[y != 1])):
                value = through_linear(loss, logits, target)
                torch.testing.assert_close(value, loss(logits, target))
        assert_all_close(loss.derivatives(here, there), expected)


def assert_all_close(found, expected):
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)
