"""A loss of the row names the sums it needs and runs in one pass; Normalized takes any loss."""

import pytest
import torch
from loss_examples import EXAMPLES

import noiseproof as nf
from noiseproof.kernels import rows as row_kernel


class Squared(nf.RowLoss, register=False):
    """mean_k (a e_y - p_k)^2 = (a^2 - 2 a u + sum_k p_k^2) / K."""

    a: float = nf.parameter(default=3.0, above=0)
    statistics = (nf.PowerSum(2),)

    def from_row(self, log_u, sums, classes):
        return (self.a**2 - 2 * self.a * log_u.exp() + sums[0]) / classes


class Entropy(nf.Statistic):
    """-sum_k p_k log p_k, with nothing but ``value``."""

    def value(self, log_p):
        return -log_p * log_p.exp()


class Hesitant(nf.RowLoss, register=False):
    """-log u plus a tenth of the entropy, times sum_k log p_k / K: two sums, one of its own."""

    statistics = (Entropy(), nf.LogSum())
    bounded = False

    def from_row(self, log_u, sums, classes):
        return -log_u + 0.1 * sums[0] - 0.01 * sums[1] / classes


def squared(z, y, a=3.0):
    one_hot = torch.nn.functional.one_hot(y, z.shape[1])
    return ((a * one_hot - torch.softmax(z, 1)) ** 2).mean(1)


def hesitant(z, y):
    log_p = torch.log_softmax(z, 1)
    entropy = -(log_p * log_p.exp()).sum(1)
    return -log_p.gather(1, y[:, None])[:, 0] + 0.1 * entropy - 0.01 * log_p.mean(1)


LOSSES = [
    (Squared(), squared),
    (Hesitant(), hesitant),
    (
        nf.NCE() + 2 * Squared(a=5) + Hesitant() + nf.MAE(),
        lambda z, y: (
            nf.NCE(reduction="none")(z, y)
            + 2 * squared(z, y, 5.0)
            + hesitant(z, y)
            + nf.MAE(reduction="none")(z, y)
        ),
    ),
]


@pytest.mark.parametrize("shape", [(5, 4), (6000, 7)], ids=["small", "in blocks"])
@pytest.mark.parametrize(("loss", "textbook"), LOSSES, ids=["one sum", "two sums", "a sum of both"])
def test_value_and_gradient(loss, textbook, shape):
    z = (2 * torch.randn(shape, dtype=torch.float64)).requires_grad_()
    y = torch.arange(shape[0]) % shape[1]
    value, expected = loss(z, y), textbook(z, y).mean()
    torch.testing.assert_close(value, expected)
    gradients = [torch.autograd.grad(v, z)[0] for v in (value, expected)]
    torch.testing.assert_close(*gradients)
    with torch.no_grad():
        torch.testing.assert_close(loss(z, y), expected)
    t = torch.softmax(torch.randn(shape, dtype=torch.float64), 1)
    soft = sum(t[:, k] * textbook(z, torch.full_like(y, k)) for k in range(shape[1])).mean()
    torch.testing.assert_close(loss(z, t), soft)


def test_it_runs_the_row_kernel_and_shared_sums_once(monkeypatch):
    seen = []
    kernel = row_kernel.row_block

    def spy(*given):
        seen.append(given[5])
        return kernel(*given)

    monkeypatch.setattr("noiseproof.kernels.row_block", spy)
    loss = nf.NCE() + Squared() + Squared(a=2) + nf.NFL()
    z = torch.randn(4000, 5, requires_grad=True)
    loss(z, torch.arange(4000) % 5).backward()
    (statistics,) = seen
    assert len(statistics) == 3
    assert statistics[:2] == (nf.LogSum(), nf.PowerSum(2))


@pytest.mark.parametrize("base", EXAMPLES, ids=str)
@pytest.mark.parametrize("rows", [6, 4000], ids=["small", "in blocks"])
def test_normalized_takes_any_loss_that_has_per_class(base, rows):
    loss = nf.Normalized(base)
    assert str(nf.loss(str(loss))) == str(loss)
    z = torch.randn(rows, 5, dtype=torch.float64, requires_grad=True)
    y = torch.arange(rows) % 5
    losses = base.per_class(torch.log_softmax(z, 1))
    expected = (losses.gather(1, y[:, None])[:, 0] / losses.sum(1)).mean()
    value = loss(z, y)
    torch.testing.assert_close(value, expected)
    gradients = [torch.autograd.grad(v, z)[0] for v in (value, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-6, atol=1e-9)
    assert nf.is_symmetric(loss, 5)


class Spread(nf.Loss, register=False):
    """A user's own loss of the whole row, with a logarithm that is not finite at p = 0."""

    def per_class(self, log_p):
        return -log_p + log_p.mean(-1, keepdim=True)


@pytest.mark.parametrize("rows", [4, 4000])
@pytest.mark.parametrize("size", [1e4, 1e30, 3e38])
@pytest.mark.parametrize("loss", [Spread(), Spread() + nf.MAE(), Squared(), Hesitant()])
def test_extreme_finite_logits_are_finite_at_every_size(loss, rows, size):
    z = (size * torch.tensor([[1.0, -1.0, 0.5, -0.5, 0.0]])).repeat(rows, 1).requires_grad_()
    for label in range(5):
        value = loss(z, torch.full((rows,), label))
        assert value.isfinite()
        assert torch.autograd.grad(value, z)[0].isfinite().all()
