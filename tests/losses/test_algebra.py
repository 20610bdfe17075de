"""Losses add up and multiply as functions do, with positive weights only (Theorem 5)."""

import operator

import pytest
import torch
from loss_examples import CENTRAL, POINTWISE, SUMS, classes_for, problem
from references import textbook

import noiseproof as nf
from noiseproof.errors import ParameterError


@pytest.mark.parametrize("left", CENTRAL[::3], ids=str)
@pytest.mark.parametrize("right", CENTRAL[1::3], ids=str)
def test_the_sum_of_losses_is_the_sum_of_their_values(left, right):
    both = 2 * left + right * 0.5
    classes = min(classes_for(left), classes_for(right))
    z = torch.randn(6, classes, dtype=torch.float64, requires_grad=True)
    y = torch.arange(6) % classes
    expected = 2 * textbook(left)(z, y) + 0.5 * textbook(right)(z, y)
    torch.testing.assert_close(both(z, y), expected)
    torch.testing.assert_close(
        torch.autograd.grad(both(z, y), z)[0], torch.autograd.grad(expected, z)[0]
    )
    assert both.factors == (2.0, 0.5)
    assert both.bounded == (left.bounded and right.bounded)
    assert both.symmetric == (left.symmetric and right.symmetric)
    assert both.random == (left.random or right.random)


@pytest.mark.parametrize("loss", [*CENTRAL, *SUMS], ids=str)
def test_multiples(loss):
    z, y = problem(loss)
    for factor in (2, 0.25, 7.0):
        value = textbook(loss)(z, y) * factor
        torch.testing.assert_close((factor * loss)(z, y), value)
        assert str(factor * loss) == str(loss * factor)
    assert str(1 * loss) == str(loss)
    assert str(0.5 * (2 * loss)) == str(loss)
    assert type(0.5 * (2 * loss)) is type(loss)


def test_sums_are_flat_and_multiplication_distributes():
    a, b, c = nf.CE(), nf.MAE(), nf.NCE()
    assert str((a + b) + c) == str(a + (b + c)) == "CE + MAE + NCE"
    assert str(2 * (a + 3 * b) + c) == "2*CE + 6*MAE + NCE"
    assert str(sum([b, c], start=a)) == "CE + MAE + NCE"


def test_positive_sums_of_pointwise_losses_are_pointwise():
    total = POINTWISE[0]
    for loss in POINTWISE[1:]:
        total = total + 2 * loss
        assert isinstance(total, nf.Pointwise)
    log_u = -torch.logspace(-3, 2, 20, dtype=torch.float64)
    value = POINTWISE[0].value(log_u) + 2 * sum(loss.value(log_u) for loss in POINTWISE[1:])
    torch.testing.assert_close(total.value(log_u), value)
    assert isinstance(3 * nf.CE(), nf.Pointwise)
    assert isinstance(nf.Normalized(total), nf.Normalized)
    assert not isinstance(total + nf.NCE(), nf.Pointwise)


def test_sce_is_the_sum_it_is_named_for():
    z, y = torch.randn(8, 5, dtype=torch.float64), torch.arange(8) % 5
    torch.testing.assert_close(
        nf.SCE(alpha=0.3, beta=2, A=-6)(z, y), (0.3 * nf.CE() + 2 * nf.RCE(A=-6))(z, y)
    )


def test_named_normalized_losses_are_normalized_losses():
    z, y = torch.randn(8, 5, dtype=torch.float64), torch.arange(8) % 5
    for named, base in [
        (nf.NCE(), nf.CE()),
        (nf.NFL(gamma=2), nf.FL(gamma=2)),
        (nf.NGCE(q=0.3), nf.GCE(q=0.3)),
    ]:
        assert isinstance(named, nf.Normalized)
        torch.testing.assert_close(named(z, y), nf.Normalized(base)(z, y))


@pytest.mark.parametrize(
    "factor", [-1, 0, -0.0, float("nan"), float("inf"), -float("inf")], ids=str
)
def test_weights_are_positive_and_finite(factor):
    for loss in (nf.CE(), nf.NCE(), nf.CE() + nf.NCE()):
        with pytest.raises(ParameterError, match=r"expected `weight of .*` > 0, got"):
            factor * loss


def test_division_and_sum_are_written_as_multiplication_and_plus():
    assert str(nf.MAE() / 2) == "0.5*MAE"
    assert str(sum([nf.NCE(), 2 * nf.MAE(), nf.CE()])) == "NCE + 2*MAE + CE"
    with pytest.raises(ParameterError, match="expected `weight of NCE` > 0, got 0"):
        0 * nf.NCE()
    with pytest.raises(TypeError):
        nf.CE() / 0


@pytest.mark.parametrize("loss", [nf.CE(), nf.NCE(), nf.NFL()], ids=str)
def test_products_of_weights_are_positive_and_finite_too(loss):
    with pytest.raises(ParameterError):
        1e-200 * (1e-200 * loss)
    with pytest.raises(ParameterError):
        1e200 * (1e200 * loss)


@pytest.mark.parametrize("other", [True, "2", None, 2j, [2]], ids=str)
def test_what_is_not_a_number_is_no_weight(other):
    with pytest.raises(TypeError):
        other * nf.CE()
    with pytest.raises(TypeError):
        nf.CE() * other


@pytest.mark.parametrize("other", [1, 0.5, "MAE", None], ids=str)
def test_only_losses_are_added(other):
    with pytest.raises(TypeError):
        nf.CE() + other
    with pytest.raises(TypeError):
        other + nf.CE()


@pytest.mark.parametrize("how", [operator.sub, operator.mul, operator.truediv, operator.pow])
def test_nothing_else_is_an_operation_on_losses(how):
    with pytest.raises(TypeError):
        how(nf.CE(), nf.MAE())


OPTIONS = [
    {"reduction": "sum"},
    {"ignore_index": 3},
    {"label_smoothing": 0.1},
    {"weight": torch.ones(3)},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options_must_agree_and_are_kept(options):
    (name,) = options
    with pytest.raises(ParameterError, match=f"different `{name}`"):
        nf.CE(**options) + nf.MAE()
    with pytest.raises(ParameterError, match=f"different `{name}`"):
        nf.MAE() + nf.CE(**options)
    both = 2 * (nf.CE(**options) + 3 * nf.NCE(**options))
    assert both.options == {**nf.CE().options, **options}
    z, y = torch.randn(4, 3), torch.tensor([0, 1, 2, 1])
    expected = 2 * nf.CE(**options)(z, y) + 6 * nf.NCE(**options)(z, y)
    torch.testing.assert_close(both(z, y), expected)


def test_weights_agree_by_their_numbers():
    z, y = torch.randn(4, 3), torch.tensor([0, 1, 2, 1])
    w = torch.tensor([1.0, 2.0, 3.0])
    both = nf.CE(weight=w) + nf.MAE(weight=w.clone())
    torch.testing.assert_close(both(z, y), nf.CE(weight=w)(z, y) + nf.MAE(weight=w)(z, y))
    for other in (w + 1, torch.ones(4)):
        with pytest.raises(ParameterError, match="different `weight`"):
            nf.CE(weight=w) + nf.MAE(weight=other)


def test_adding_does_not_change_the_parts():
    a, b = nf.CE(reduction="sum"), nf.AGCE(a=1, q=0.5, reduction="sum")
    before = repr(a), repr(b)
    _ = a + 3 * b
    assert (repr(a), repr(b)) == before
