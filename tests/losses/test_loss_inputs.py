"""What goes in: shapes, dtypes and layouts that fit, and errors in plain words for the rest."""

import re

import pytest
import torch
from loss_examples import CENTRAL, NAMED, SUMS, bounds, central, problem, takes_losses, with_options
from references import textbook

import noiseproof as nf
from noiseproof.errors import NoiseproofError, ParameterError, ShapeError, TargetError

LOSSES = [*CENTRAL, *SUMS]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("dtype", [torch.int32, torch.int16, torch.int8, torch.uint8], ids=str)
def test_targets_of_any_integer_type(loss, dtype):
    z, y = problem(loss)
    assert torch.equal(loss(z, y.to(dtype)), loss(z, y))


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("layout", ["transposed", "every second", "expanded", "sliced"])
def test_logits_that_are_not_contiguous(loss, layout):
    z, y = problem(loss, rows=8)
    z = z.detach()
    odd = {
        "transposed": lambda z: z.t().contiguous().t(),
        "every second": lambda z: torch.stack([z, -z], 2).reshape(8, -1)[:, ::2],
        "expanded": lambda z: z[:1].expand(8, -1),
        "sliced": lambda z: torch.cat([z, z], 1)[:, 1 : 1 + z.shape[1]],
    }[layout](z)
    assert not odd.is_contiguous()
    results = []
    for logits in (odd, odd.clone(memory_format=torch.contiguous_format)):
        leaf = logits.detach().requires_grad_()
        value = loss(leaf, y)
        results.append((value, *torch.autograd.grad(value, leaf)))
    torch.testing.assert_close(*results)
    torch.testing.assert_close(results[0][0], textbook(loss)(odd, y))


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_expanded_logits_sum_their_gradients(loss):
    z, y = problem(loss)
    row = z.detach()[:1].clone().requires_grad_()
    (gradient,) = torch.autograd.grad(loss(row.expand(len(y), -1), y), row)
    (expected,) = torch.autograd.grad(textbook(loss)(row.expand(len(y), -1), y), row)
    torch.testing.assert_close(gradient, expected)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("wrong", ["K", -1, 10**6, -(2**40)])
def test_a_target_out_of_range_is_named(loss, wrong):
    z, y = problem(loss)
    classes = z.shape[1]
    wrong = classes if wrong == "K" else wrong
    y[3] = wrong
    for options in ({}, {"ignore_index": 0}, {"label_smoothing": 0.1}):
        with pytest.raises(TargetError, match=rf"{wrong}\b.*0\.\.{classes - 1}") as caught:
            with_options(loss, **options)(z, y)
        assert "\n" not in str(caught.value)
    with torch.no_grad(), pytest.raises(TargetError, match=f"{wrong}"):
        loss(z, y)
    with pytest.raises(IndexError):  # as torch
        loss(z, y)


def test_the_ignored_index_is_not_out_of_range_and_others_still_are():
    z = torch.randn(3, 4)
    assert torch.isfinite(nf.CE(ignore_index=-1)(z, torch.tensor([0, -1, 2])))
    with pytest.raises(TargetError, match="-100"):
        nf.CE(ignore_index=-1)(z, torch.tensor([0, -1, -100]))


WRONG_SHAPES = {
    "rows": ((4, 5), (3,)),
    "column": ((4, 5), (4, 1)),
    "scalar target": ((4, 5), ()),
    "scalar logits": ((), ()),
    "spatial": ((4, 5, 2), (4, 3)),
    "spatial missing": ((4, 5, 2), (4,)),
    "single": ((5,), (5,)),
}


@pytest.mark.parametrize("loss", CENTRAL, ids=str)
@pytest.mark.parametrize("case", WRONG_SHAPES)
def test_shapes_that_do_not_fit(loss, case):
    logits, target = WRONG_SHAPES[case]
    with pytest.raises(ShapeError, match=re.escape(str(target))) as caught:
        loss(torch.randn(logits), torch.zeros(target, dtype=torch.long))
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="expected"):
        loss(torch.randn(logits), torch.zeros(target, dtype=torch.long))


@pytest.mark.parametrize("shape", [(4,), (4, 6), (4, 5, 1)], ids=str)
def test_soft_targets_have_the_shape_of_the_logits(shape):
    with pytest.raises(ShapeError, match=re.escape(str(shape))):
        nf.CE()(torch.randn(4, 5), torch.rand(shape))


def test_logits_are_floating_and_weights_are_one_a_class():
    y = torch.tensor([1])
    with pytest.raises(ShapeError, match="int64"):
        nf.CE()(torch.tensor([[1, 2, 3]]), y)
    for options in ({}, {"label_smoothing": 0.1}):
        with pytest.raises(ShapeError, match=r"3 classes.*\(4,\)"):
            nf.CE(weight=torch.ones(4), **options)(torch.randn(1, 3), y)
    with pytest.raises(ShapeError, match="3 classes"):
        nf.CE(weight=torch.ones(4))(torch.randn(1, 3), torch.rand(1, 3))


def test_negative_learning_needs_a_wrong_class():
    with pytest.raises(ShapeError, match="2 classes"):
        nf.NLNL()(torch.randn(3, 1), torch.zeros(3, dtype=torch.long))


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if not loss.random], ids=str)
def test_a_single_class_has_nothing_to_learn(loss):
    z = torch.randn(3, 1, dtype=torch.float64, requires_grad=True)
    value = loss(z, torch.zeros(3, dtype=torch.long))
    value.backward()
    assert torch.isfinite(value)
    torch.testing.assert_close(z.grad, torch.zeros_like(z))


# Parameters and options

OUTSIDE = [
    (name, parameter, domain)
    for name, cls in NAMED.items()
    if not takes_losses(cls)
    for parameter, domain in cls.domains().items()
]


@pytest.mark.parametrize(
    ("name", "parameter", "domain"), OUTSIDE, ids=[f"{name}.{p}" for name, p, _ in OUTSIDE]
)
def test_a_parameter_outside_its_domain_is_refused_in_words(name, parameter, domain):
    cls = NAMED[name]
    good = {n: getattr(central(cls), n) for n in cls.domains()}
    low, high = bounds(domain)
    bad = [x for x in (low - 0.5, low, high, high + 0.5) if abs(x) < 1e300 and x not in domain]
    assert bad, "a domain without an end"
    for x in [*bad, float("nan"), float("inf"), -float("inf")]:
        with pytest.raises(ParameterError, match=f"expected .*`{parameter}`.*, got ") as caught:
            cls(**{**good, parameter: x})
        assert "\n" not in str(caught.value)
    for x in ("much", None, True, [1.0]):
        with pytest.raises(ParameterError, match=f"expected `{parameter}` to be a number, got "):
            cls(**{**good, parameter: x})


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: nf.AUL(a=0.5, p=1), "expected `a` > 1, got 0.5"),
        (lambda: nf.AUL(a=1, p=1), "expected `a` > 1, got 1"),
        (lambda: nf.AUL(a=2, p=0), "expected `p` > 0, got 0"),
        (lambda: nf.AGCE(a=0, q=1), "expected `a` > 0, got 0"),
        (lambda: nf.AGCE(a=1, q=-2), "expected `q` > 0, got -2"),
        (lambda: nf.AEL(a=0), "expected `a` > 0, got 0"),
        (lambda: nf.GCE(q=1.5), "expected 0 < `q` <= 1, got 1.5"),
        (lambda: nf.NGCE(q=0), "expected 0 < `q` <= 1, got 0"),
        (lambda: nf.FL(gamma=-1), "expected `gamma` >= 0, got -1"),
        (lambda: nf.NFL(gamma=-1), "expected `gamma` >= 0, got -1"),
        (lambda: nf.RCE(A=0), "expected `A` < 0, got 0"),
        (lambda: nf.SCE(alpha=0, beta=1), "expected `alpha` > 0, got 0"),
        (lambda: nf.CE(label_smoothing=1.5), "expected 0 <= `label_smoothing` <= 1, got 1.5"),
        (lambda: nf.CE(reduction="average"), "expected reduction none, mean or sum, got 'average'"),
    ],
)
def test_the_words(build, message):
    with pytest.raises(ParameterError, match=re.escape(message)) as caught:
        build()
    assert str(caught.value) == message


def test_normalized_takes_losses_only():
    with pytest.raises(ParameterError, match="Normalized takes a loss, got 3"):
        nf.Normalized(3)


def test_every_error_can_be_caught_as_one():
    for error in (ParameterError, ShapeError, TargetError):
        assert issubclass(error, NoiseproofError)


@pytest.mark.parametrize("loss", CENTRAL, ids=str)
def test_parameters_that_are_integers_or_tensors_are_numbers(loss):
    cls = type(loss)
    if takes_losses(cls) or not cls.domains():
        pytest.skip("has no numbers")
    values = {n: getattr(loss, n) for n in cls.domains()}
    tensors = cls(**{n: torch.tensor(x, dtype=torch.float64) for n, x in values.items()})
    assert str(tensors) == str(loss)
    assert all(type(getattr(tensors, n)) is float for n in values)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("shape", [(0, 3), (0, 3, 4), (2, 3, 0), (2, 3, 0, 4)], ids=str)
@pytest.mark.parametrize("loss", [*CENTRAL, *SUMS], ids=str)
def test_no_rows(loss, shape, dtype):
    """As torch: a mean over nothing is NaN, a sum 0, and the gradient is empty too."""
    z = torch.zeros(shape, dtype=dtype, requires_grad=True)
    y = torch.zeros((shape[0], *shape[2:]), dtype=torch.long)
    for reduction in ("none", "mean", "sum"):
        value = with_options(loss, reduction=reduction)(z, y)
        expected = torch.nn.functional.cross_entropy(z.float(), y, reduction=reduction)
        torch.testing.assert_close(value.float(), expected.detach(), equal_nan=True)
        assert torch.autograd.grad(value.sum(), z)[0].shape == z.shape
