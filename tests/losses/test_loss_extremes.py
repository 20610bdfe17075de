"""Finite logits of any size and type, parameters at the ends of their ranges: finite numbers."""

import math

import pytest
import torch
from loss_examples import (
    AT_THE_ENDS,
    CENTRAL,
    EXAMPLES,
    POINTWISE,
    classes_for,
    with_options,
)
from references import textbook

import noiseproof as nf

DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
HALF = [torch.float16, torch.bfloat16]


def extreme_logits(dtype, classes, largest):
    """Rows of ``classes`` logits up to ``largest``: confident, undecided, equal, mixed."""
    big = min(largest, torch.finfo(dtype).max)
    rows = [torch.full((classes,), x) for x in (0.0, big, -big)]
    for size in (30.0, 1e3, 1e4, big):
        size = min(size, big)
        one = torch.zeros(classes)
        one[0] = size
        rows += [one, -one, one.flip(0), one - one.flip(0), size * torch.linspace(-1, 1, classes)]
        rows += [torch.where(torch.arange(classes) % 2 == 0, size, -size)]
    return torch.stack(rows).to(dtype)


def with_every_label(z):
    """Each row once with each label."""
    classes = z.shape[1]
    return z.repeat(classes, 1), torch.arange(classes).repeat_interleave(len(z))


def finite(loss, z, y):
    z = z.clone().requires_grad_()
    losses = with_options(loss, reduction="none")(z, y)
    losses.sum().backward()
    assert losses.dtype == (torch.float64 if z.dtype == torch.float64 else torch.float32)
    assert z.grad.dtype == z.dtype
    assert torch.isfinite(losses).all(), z[~torch.isfinite(losses)]
    assert torch.isfinite(z.grad).all(), z[~torch.isfinite(z.grad).all(1)]
    return losses


@pytest.mark.usefixtures("either_path")
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("loss", EXAMPLES, ids=str)
def test_logits_to_ten_thousand(loss, dtype):
    check(loss, dtype, 1e4)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize("loss", AT_THE_ENDS, ids=str)
def test_logits_to_ten_thousand_at_the_ends_of_every_parameter(loss, dtype):
    check(loss, dtype, 1e4)
    if dtype == torch.float32:  # a gradient that 1 / (a sum that underflows) has not yet broken
        check(100 * loss, dtype, 1e4)


@pytest.mark.usefixtures("either_path")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("loss", EXAMPLES, ids=str)
def test_logits_as_large_as_float32_has_them(loss, dtype):
    # Of an unbounded loss only a fraction: 2.4 times 3e38 is not a float32.
    check(loss, dtype, 3e38 if loss.bounded else 5e37)


def check(loss, dtype, largest):
    z, y = with_every_label(extreme_logits(dtype, classes_for(loss, 4), largest))
    losses = finite(loss, z, y)
    with torch.no_grad():  # the plain path too
        plain = with_options(loss, reduction="none")(z, y)
    assert torch.isfinite(plain).all()
    if largest <= 1e4:
        torch.testing.assert_close(plain, losses, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("loss", [*CENTRAL, *AT_THE_ENDS], ids=str)
def test_soft_targets_and_smoothing_are_finite_too(loss, dtype):
    z = extreme_logits(dtype, classes_for(loss, 4), 1e4).requires_grad_()
    classes = z.shape[1]
    soft = torch.eye(classes)[torch.arange(len(z)) % classes] * 0.9 + 0.1 / classes
    smooth = with_options(loss, label_smoothing=0.1)
    for value in (loss(z, soft), loss(z, soft.round()), smooth(z, torch.arange(len(z)) % classes)):
        (gradient,) = torch.autograd.grad(value, z)
        assert torch.isfinite(value)
        assert torch.isfinite(gradient).all()
        assert gradient.dtype == dtype


@pytest.mark.parametrize("loss", [*CENTRAL, *AT_THE_ENDS], ids=str)
def test_double_backward_is_finite_too(loss):
    z = extreme_logits(torch.float32, classes_for(loss, 4), 1e4).requires_grad_()
    y = torch.arange(len(z)) % z.shape[1]
    (gradient,) = torch.autograd.grad(loss(z, y), z, create_graph=True)
    (second,) = torch.autograd.grad(gradient.sum(), z)
    assert torch.isfinite(gradient).all()
    assert torch.isfinite(second).all()


@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("loss", EXAMPLES, ids=str)
def test_half_precision_is_computed_in_float32(loss, dtype):
    classes = classes_for(loss)
    z = (4 * torch.randn(64, classes)).to(dtype).requires_grad_()
    y = torch.randint(classes, (64,))
    wide = z.detach().double().requires_grad_()
    value, expected = loss(z, y), textbook(loss)(wide, y)
    value.backward()
    expected.backward()
    assert value.dtype == torch.float32
    torch.testing.assert_close(value.double(), expected, rtol=1e-5, atol=1e-6)
    assert z.grad.dtype == dtype
    error = 0.002 if dtype == torch.float16 else 0.01  # that of one rounding
    torch.testing.assert_close(z.grad.double(), wide.grad, rtol=error, atol=1e-6)


@pytest.mark.parametrize("loss", EXAMPLES, ids=str)
def test_float16_gradients_survive_under_a_gradient_scaler(loss):
    # Gradients of 2^-20 are zeros or subnormals in float16; those of a scaled loss are not.
    classes = classes_for(loss)
    z = (4 * torch.randn(256, classes)).half().requires_grad_()
    y = torch.randint(classes, (256,))
    wide = z.detach().double().requires_grad_()
    (loss(z, y) * 2.0**10).backward()
    (textbook(loss)(wide, y) * 2.0**10).backward()
    visible = wide.grad.abs() > 1e-4
    assert visible.any()
    torch.testing.assert_close(
        z.grad.double()[visible], wide.grad[visible], rtol=0.005, atol=0, equal_nan=False
    )


@pytest.mark.parametrize("loss", POINTWISE, ids=str)
def test_the_kernel_alone_is_finite_at_both_ends_of_u(loss):
    for dtype in (torch.float32, torch.float64):
        log_u = torch.tensor([0.0, -1e-30, -88.0, -1e4, torch.finfo(dtype).min / 8], dtype=dtype)
        for one in (loss.value(log_u), *loss.with_slope(log_u)):
            assert one.dtype == dtype
            assert torch.isfinite(one).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("loss", EXAMPLES, ids=str)
def test_the_hessian_stays_small_where_u_rounds_to_1(loss, dtype):
    loss, K = with_options(loss, reduction="sum"), classes_for(loss)
    y = torch.tensor([0])
    end = -math.log(torch.finfo(dtype).eps)

    def curvature(gap):
        z = torch.full((1, K), -gap, dtype=dtype)
        z[0, 0] = 0
        return float(torch.autograd.functional.hessian(lambda z: loss(z, y), z).abs().max())

    # It falls with the gap, or is that of a loss which is not flat at u = 1.
    before = curvature(end - 3)
    for beyond in (0.8, 1.5, 3, 10, 40):
        assert curvature(end + beyond) <= 1.1 * before + 1e-9


@pytest.mark.parametrize("K", [3, 7])
@pytest.mark.parametrize("loss", [one for one in EXAMPLES if not one.random], ids=str)
def test_training_and_evaluation_agree_on_logits_of_any_size(loss, K):
    loss = with_options(loss, reduction="none")
    K = max(K, classes_for(loss))
    for big in (1e20, 1e29, 4e29, 1e30, 1e35, 3e38):
        z, y = with_every_label(torch.cat([big * torch.eye(K), -big * torch.eye(K)]))
        torch.testing.assert_close(loss(z.clone().requires_grad_(), y).detach(), loss(z, y))


OF_ROWS = [nf.Normalized(base) for base in (nf.NCE(), nf.AMSE(a=3), nf.Normalized(nf.NCE()))]


@pytest.mark.parametrize("rows", [1, 4, 300])
@pytest.mark.parametrize("loss", EXAMPLES + OF_ROWS, ids=str)
def test_logits_that_are_no_numbers_have_no_loss_that_is_one(loss, rows):
    classes = classes_for(loss)
    for wrong in (torch.nan, torch.inf):
        z, y = torch.randn(rows, classes), torch.randint(classes, (rows,))
        z[0] = wrong
        soft = torch.full((rows, classes), 1 / classes)
        assert not loss(z, y).isfinite()
        assert not loss(z.requires_grad_(), y).isfinite()
        assert not loss(z, soft).isfinite()
        assert not with_options(loss, label_smoothing=0.1)(z, y).isfinite()
