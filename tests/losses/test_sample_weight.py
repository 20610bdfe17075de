"""``loss(logits, target, sample_weight=w)``: weights of rows, in every path."""

import pytest
import torch
from loss_examples import CENTRAL, SUMS, classes_for, with_options

import noiseproof as nf
from noiseproof.errors import InputTypeError, ParameterError, ShapeError

LOSSES = [loss for loss in [*CENTRAL, *SUMS] if not loss.random]


def problem(rows, classes=5):
    z = (2 * torch.randn(rows, classes, dtype=torch.float64)).requires_grad_()
    return z, torch.arange(rows) % classes


def same(value, expected, *leaves):
    torch.testing.assert_close(value, expected)
    for one, other in zip(
        torch.autograd.grad(value.sum(), leaves),
        torch.autograd.grad(expected.sum(), leaves),
        strict=True,
    ):
        torch.testing.assert_close(one, other, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("rows", [6, 4000], ids=["small", "in blocks"])
def test_a_weight_of_two_is_a_row_given_twice_and_of_zero_one_left_out(loss, rows):
    z, y = problem(rows)
    counts = torch.arange(rows) % 3
    t = torch.softmax(torch.randn(rows, 5, dtype=torch.float64), 1)
    weight = torch.tensor([0.5, 1.0, 2.0, 3.0, 0.1], dtype=torch.float64)
    for options in ({}, {"weight": weight}, {"weight": weight, "label_smoothing": 0.3}):
        for target in (y, t):
            for reduction in ("mean", "sum"):
                which = with_options(loss, reduction=reduction, **options)
                copies = which(z.repeat_interleave(counts, 0), target.repeat_interleave(counts, 0))
                same(which(z, target, sample_weight=counts.double()), copies, z)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_unreduced_losses_are_multiplied(loss):
    z, y = problem(6)
    w = torch.rand(6, dtype=torch.float64)
    rows = with_options(loss, reduction="none")
    same(rows(z, y, sample_weight=w), w * rows(z, y), z)


def test_the_mean_divides_by_the_sum_of_the_effective_weights():
    z, y = problem(4)
    w = torch.tensor([1.0, 0.0, 2.0, 0.5], dtype=torch.float64)
    weight = torch.tensor([3.0, 1.0, 0.5, 2.0, 1.0], dtype=torch.float64)
    y[3] = -100
    rows = torch.nn.functional.cross_entropy(z, y, reduction="none")
    both = w * torch.where(y >= 0, weight[y.clamp_min(0)], 0.0)
    value = nf.CE(weight)(z, y, sample_weight=w)
    torch.testing.assert_close(value, (rows * both).sum() / both.sum())
    assert nf.CE()(z, y, sample_weight=torch.zeros(4)).isnan()  # a mean over nothing, as torch


@pytest.mark.parametrize("loss", [nf.AGCE(1, 0.5), nf.NCE() + nf.MAE(), nf.NFL()], ids=str)
def test_images_and_linear_loss(loss):
    image = torch.randn(2, 5, 4, 3, dtype=torch.float64, requires_grad=True)
    labels, w = torch.randint(5, (2, 4, 3)), torch.rand(2, 4, 3, dtype=torch.float64)
    rows = with_options(loss, reduction="none")(image, labels)
    same(loss(image, labels, sample_weight=w), (w * rows).sum() / w.sum(), image)
    h = torch.randn(2, 4, 3, 6, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(5, 6, dtype=torch.float64, requires_grad=True)
    for smoothing in (0.0, 0.2):
        logits = (h @ weight.T).reshape(-1, 5)
        which = with_options(loss, label_smoothing=smoothing)
        value = nf.linear_loss(h, weight, labels, which, sample_weight=w, block_rows=5)
        same(value, which(logits, labels.flatten(), sample_weight=w.flatten()), h, weight)


def test_broken_rows_of_weight_zero_count_nothing():
    z, y = problem(3)
    z = z.detach()
    z[1] = torch.nan
    w = torch.tensor([1.0, 0.0, 1.0], dtype=torch.float64)
    for loss in (nf.CE(), nf.NCE(), nf.AGCE(1, 0.5, label_smoothing=0.1)):
        assert loss(z, y, sample_weight=w).isfinite()


def test_compile_and_vmap():
    z, y = problem(6)
    w = torch.rand(6, dtype=torch.float64)
    loss = nf.NCE() + nf.AGCE(1, 0.5)
    torch._dynamo.reset()
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    same(compiled(z, y, sample_weight=w), loss(z, y, sample_weight=w), z)
    torch._dynamo.reset()
    each = torch.func.vmap(lambda z, y, w: loss(z[None], y[None], w[None]))(z, y, w)
    torch.testing.assert_close(each, with_options(loss, reduction="none")(z, y))


def test_mistakes():
    z, y = problem(4)
    with pytest.raises(ShapeError, match=r"expected sample_weight of shape \(4,\), got \(3,\)"):
        nf.CE()(z, y, sample_weight=torch.ones(3))
    with pytest.raises(ParameterError, match="sample_weight >= 0"):
        nf.CE()(z, y, sample_weight=-torch.ones(4))
    with pytest.raises(InputTypeError, match="expected sample_weight to be a tensor, got list"):
        nf.CE()(z, y, sample_weight=[1.0] * 4)
    assert classes_for(nf.CE()) == 5
