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


KERNELS = ["CE", "AGCE(a=6, q=1.5)", "NCE + 4*AGCE(a=6, q=1.5)", "NFL(gamma=0.5)", "NFL(gamma=0.3)",
           "NFL(gamma=0.5, detach=True)", "NGCE(q=0.7)", "NGCE(q=0.01)", "5*NCE + AMSE(a=20)",
           "Normalized(MAE)", "NNFL", "NFL(gamma=2) + NGCE(q=0.5) + AMSE(a=2)"]  # fmt: skip


@pytest.mark.parametrize("text", KERNELS)
@pytest.mark.parametrize(
    ("spread", "shift"),
    [(1, 0), (20, 0), (1, 60), (1, 1000), (300, 0)],
    ids=["near", "confident", "shifted", "shifted far", "far apart"],
)
def test_the_kernel_in_float32_has_the_numbers_of_float64(text, spread, shift):
    loss = nf.loss(text)
    z = (spread * torch.randn(300, 60) + shift).requires_grad_()
    y = torch.where(torch.rand(300) < 0.5, z.argmax(1), torch.randint(60, (300,)))
    value = loss(z, y)
    (gradient,) = torch.autograd.grad(value, z)
    wide = z.detach().double().requires_grad_()
    expected = loss.rows(wide, y).mean()
    (wanted,) = torch.autograd.grad(expected, wide)
    torch.testing.assert_close(value.double(), expected, rtol=1e-5, atol=1e-7)
    size = wanted.abs().max().clamp_min(1e-30)
    torch.testing.assert_close(gradient.double() / size, wanted / size, rtol=0, atol=1e-5)


SUMMED = [nf.FL(0.5), nf.FL(0.3), nf.FL(2, detach=True), nf.GCE(0.7), nf.GCE(0.01), nf.MAE()]


@pytest.mark.parametrize("f", [*SUMMED, nf.PowerSum(2), nf.PowerSum(0.3)], ids=str)
def test_sums_with_p_at_hand_are_the_sums(f):
    log_p = torch.log_softmax(4 * torch.randn(50, 9, dtype=torch.float64), 1)
    p = log_p.exp()
    value, slope = f.with_slope(log_p)
    kept = p.clone()
    total, fall = f.summed(log_p.clone(), p)
    torch.testing.assert_close(total, value.sum(1, keepdim=True), rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(fall, -slope, rtol=1e-7, atol=1e-9)
    assert torch.equal(p, kept)
