"""Every registered loss has the value and the gradient of its formula, and keeps its promises."""

import math

import mpmath
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from loss_examples import (
    AT_THE_ENDS,
    CENTRAL,
    EXAMPLES,
    PAPER,
    POINTWISE,
    SIMPLE,
    any_losses,
    classes_for,
    pointwise_losses,
    problem,
)
from references import formula, textbook, textbook_rows

import noiseproof as nf

DOUBLE = {"rtol": 1e-9, "atol": 1e-11}

# REFERENCE: logits [2, 1, 0.5, -1], label 1, in float64, to six digits after the point.
CHECK_VALUES = {
    "CE": 1.495182,
    "FL(gamma=0.5)": 1.316942,
    "GCE(q=0.7)": 0.926971,
    "NGCE(q=0.7)": 0.248823,
    "NCE": 0.199871,
    "NFL(gamma=0.5)": 0.190235,
    "MAE": 1.551584,
    "AGCE(a=0.6, q=0.6)": 0.725510,
    "AGCE(a=6, q=1.5)": 1.994587,
    "AUL(a=5.5, p=3)": 18.573770,
    "AUL(a=3, p=0.1)": 0.357137,
    "AEL(a=2.5)": 0.914221,
    f"RCE(A={math.log(1e-4)!r})": 7.145310,
}


@pytest.mark.parametrize("text", CHECK_VALUES)
def test_check_values_to_six_digits(text):
    z, y = torch.tensor([2, 1, 0.5, -1], dtype=torch.float64), torch.tensor(1)
    assert round(float(nf.loss(text)(z, y)), 6) == CHECK_VALUES[text]
    assert float(nf.loss(text)(z.float(), y)) == pytest.approx(CHECK_VALUES[text], rel=2e-6)
    assert round(float(textbook(nf.loss(text))(z[None], y[None])), 6) == CHECK_VALUES[text]


@pytest.mark.parametrize("loss", [*EXAMPLES, *PAPER], ids=str)
def test_value_and_gradient_are_those_of_the_textbook_form(loss):
    z, y = problem(loss, rows=16)
    expected = textbook(loss)(z, y)
    (expected_gradient,) = torch.autograd.grad(expected, z)
    value = loss(z, y)
    (gradient,) = torch.autograd.grad(value, z)
    torch.testing.assert_close(value, expected, **DOUBLE)
    torch.testing.assert_close(gradient, expected_gradient, **DOUBLE)
    with torch.no_grad():
        torch.testing.assert_close(loss(z, y), expected.detach(), **DOUBLE)


@pytest.mark.parametrize("loss", EXAMPLES, ids=str)
def test_float32_is_as_good_as_float32_can_be(loss):
    z, y = problem(loss, rows=16)
    (expected,) = torch.autograd.grad(textbook(loss)(z, y), z)
    narrow = z.detach().float().requires_grad_()
    value = loss(narrow, y)
    value.backward()
    torch.testing.assert_close(value.double(), textbook(loss)(z, y), rtol=2e-5, atol=1e-6)
    scale = float(expected.abs().max())
    torch.testing.assert_close(narrow.grad.double(), expected, rtol=1e-4, atol=1e-5 * scale)


@given(loss=any_losses(), seed=st.integers(0, 2**31))
@settings(max_examples=60)
def test_any_combination_is_its_textbook_form(loss, seed):
    z, y = problem(loss, seed=seed)
    expected = textbook(loss)(z, y)
    (expected_gradient,) = torch.autograd.grad(expected, z)
    value = loss(z, y)
    (gradient,) = torch.autograd.grad(value, z)
    size = float(expected_gradient.abs().max()) + 1e-3
    torch.testing.assert_close(value, expected, rtol=1e-7, atol=1e-8)
    torch.testing.assert_close(gradient, expected_gradient, rtol=1e-6, atol=1e-8 * size)


@given(loss=any_losses(), data=st.data())
@settings(max_examples=60)
def test_any_finite_logits_give_a_finite_value_and_gradient(loss, data):
    classes = classes_for(loss, 4)
    logit = st.floats(-1e4, 1e4, width=32)
    z = torch.tensor(data.draw(st.lists(logit, min_size=classes, max_size=classes)))
    y = torch.tensor(data.draw(st.integers(0, classes - 1)))
    z.requires_grad_()
    value = loss(z, y)
    value.backward()
    assert torch.isfinite(value)
    assert torch.isfinite(z.grad).all()
    # The gradient is in the plane of softmax: adding a constant to the logits changes nothing.
    size = sum(getattr(loss, "factors", (1.0,)))
    rounding = 1e-4 * float(z.grad.abs().sum()) + 1e-6 * max(1.0, size)
    assert abs(float(z.grad.double().sum())) <= rounding


@pytest.mark.parametrize("loss", [loss for loss in CENTRAL if not loss.random], ids=str)
def test_per_class_is_the_loss_had_the_label_been_k(loss):
    z, _ = problem(loss, rows=6)
    losses = loss.per_class(torch.log_softmax(z, 1))
    for k in range(z.shape[1]):
        expected = textbook_rows(loss)(z, torch.full((6,), k))
        torch.testing.assert_close(losses[:, k], expected, **DOUBLE)


@pytest.mark.parametrize("loss", [loss for loss in CENTRAL if loss.random], ids=str)
def test_per_class_of_a_random_loss_is_the_mean_of_its_draws(loss):
    z = torch.tensor([[2, 1, 0.5, -1]], dtype=torch.float64)
    rows = 20_000
    for k in range(4):
        drawn = loss.per_sample(torch.log_softmax(z, 1).expand(rows, 4), torch.full((rows,), k))
        expected = loss.per_class(torch.log_softmax(z, 1))[0, k]
        assert abs(float(drawn.mean() - expected)) < 5 * float(drawn.std()) / math.sqrt(rows)


def test_nlnl_draws_every_wrong_class_and_never_the_label():
    z = torch.tensor([2, 1, 0.5, -1], dtype=torch.float64)
    wrong = -torch.log(1 - torch.softmax(z, 0))  # -log(1 - p_k), by class
    for label in range(4):
        losses = nf.NLNL(reduction="none")(z.expand(3000, 4), torch.full((3000,), label))
        drawn = (losses[:, None] - wrong).abs().argmin(1)
        torch.testing.assert_close(losses, wrong[drawn])
        counts = torch.bincount(drawn, minlength=4).tolist()
        assert counts.pop(label) == 0
        assert all(900 < count < 1100 for count in counts)  # 1000 each, four standard deviations
        others = torch.cat([wrong[:label], wrong[label + 1 :]])
        expected = nf.NLNL().per_class(torch.log_softmax(z, 0))[label]
        torch.testing.assert_close(expected, others.mean())


def test_nlnl_draws_from_its_own_generator_where_one_is_set():
    z, y = torch.randn(64, 10), torch.zeros(64, dtype=torch.long)
    loss = nf.NLNL(reduction="none")
    loss.generator = torch.Generator().manual_seed(3)
    first = loss(z, y)
    before = torch.get_rng_state()
    loss.generator.manual_seed(3)
    assert torch.equal(loss(z, y), first)
    assert torch.equal(torch.get_rng_state(), before)
    assert not torch.equal(loss(z, y), first)


# Pointwise losses as functions of log u

LOG_U = -torch.cat([torch.zeros(1), torch.logspace(-12, 4, 129)]).double()
ENDS = [loss for loss in AT_THE_ENDS if isinstance(loss, nf.Pointwise)]


@pytest.mark.parametrize("loss", [*POINTWISE, *ENDS], ids=str)
def test_slope_is_the_derivative_of_value(loss):
    log_u = LOG_U.clone().requires_grad_()
    (expected,) = torch.autograd.grad(loss.value(log_u).sum(), log_u)
    again = LOG_U.clone()
    value, slope = loss.with_slope(again)
    torch.testing.assert_close(slope, expected, rtol=1e-6, atol=1e-9)
    torch.testing.assert_close(value, loss.value(LOG_U), **DOUBLE)
    assert torch.equal(again, LOG_U), "the argument was written to"


@pytest.mark.parametrize("loss", [*POINTWISE, *ENDS], ids=str)
def test_value_and_slope_keep_their_digits_at_the_ends(loss):
    # The formula in 400 digits is exact for this purpose; float64 has 15, float32 has 6.
    exact = formula(loss, mpmath)
    if exact is None:
        pytest.skip(f"no formula of {loss} to compare with")
    points = [-1e4, -700.0, -87.0, -20.0, -1.0, -0.25, -(2.0**-10), -(2.0**-20)]
    values, slopes = [], []
    with mpmath.workdps(400):
        for x in points:
            u = mpmath.exp(mpmath.mpf(x))
            values.append(float(exact(u)))
            step = mpmath.mpf(10) ** -100
            slopes.append(float((exact(u * mpmath.exp(step)) - exact(u)) / step))
    # Far from 0 the digits are relative; near it, those of the largest value or slope.
    precisions = [(torch.float64, 1e-9, 1e-12, 1e-12), (torch.float32, 1e-4, 1e-3, 1e-7)]
    for dtype, digits, value_floor, slope_floor in precisions:
        log_u = torch.tensor(points, dtype=dtype)
        for got, expected, floor in [
            (loss.value(log_u), values, value_floor),
            (loss.with_slope(log_u)[1], slopes, slope_floor),
        ]:
            expected = torch.tensor(expected, dtype=torch.float64)
            near_0 = floor * float(expected.abs().max()) + torch.finfo(dtype).tiny
            torch.testing.assert_close(got.double(), expected, rtol=digits, atol=near_0)


@given(loss=pointwise_losses())
@example(loss=nf.FL(gamma=0.0625))  # at u = 1, where (1 - u)^gamma has no finite slope
def test_slope_is_the_derivative_for_any_parameters(loss):
    log_u = LOG_U.clone().requires_grad_()
    (expected,) = torch.autograd.grad(loss.value(log_u).sum(), log_u)
    floor = 1e-11 * float(expected.abs().max())
    torch.testing.assert_close(loss.with_slope(LOG_U)[1], expected, rtol=1e-6, atol=floor)


@pytest.mark.parametrize("loss", POINTWISE, ids=str)
def test_a_pointwise_loss_decreases_in_u(loss):
    u = torch.linspace(0.01, 1, 200, dtype=torch.float64)
    assert (loss.value(u.log()).diff() < 0).all()
    assert (loss.with_slope(u.log()[:-1])[1] < 0).all()


# What the class declares


@pytest.mark.parametrize("loss", CENTRAL, ids=str)
def test_symmetric_is_declared_where_the_sum_over_classes_is_constant(loss):
    log_p = torch.log_softmax(3 * torch.randn(100, 6, dtype=torch.float64), 1)
    total = loss.per_class(log_p).sum(1)
    assert (float(total.max() - total.min()) < 1e-9 * float(total.mean())) == loss.symmetric


@pytest.mark.parametrize("loss", CENTRAL, ids=str)
def test_bounded_is_declared_where_the_loss_stays(loss):
    direction = torch.randn(50, 6, dtype=torch.float64)
    far, farther = (
        float(loss.per_class(torch.log_softmax(size * direction, 1)).max()) for size in (1e4, 1e6)
    )
    if loss.bounded:
        assert farther == pytest.approx(far, rel=0.01)
    else:
        assert farther > 10 * far


@pytest.mark.parametrize("name", SIMPLE)
def test_parameters_are_declared_with_a_domain(name):
    cls = SIMPLE[name]
    assert {f.name for f in cls.parameters_declared() if f.type in (float, "float")} == set(
        cls.domains()
    )
