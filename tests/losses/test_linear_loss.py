"""linear_loss is the loss of hidden @ weight.T + bias: value and gradients, without the logits."""

import re

import pytest
import torch
from loss_examples import CENTRAL, EXAMPLES, SUMS, classes_for, with_options
from references import textbook, textbook_rows
from torch import nn

import noiseproof as nf
from noiseproof.errors import InputTypeError, ParameterError, ShapeError, TargetError
from noiseproof.kernels import linear

DOUBLE = {"rtol": 1e-8, "atol": 1e-10}
LOSSES = [*CENTRAL, *SUMS]


def layer(loss, rows=11, features=3, classes=5, dtype=torch.float64):
    """hidden, weight, bias with gradients, and targets."""
    classes = classes_for(loss, classes)
    shapes = ((rows, features), (classes, features), (classes,))
    h, w, b = (torch.randn(s, dtype=dtype, requires_grad=True) for s in shapes)
    return h, w, b, torch.randint(classes, (rows,))


@pytest.fixture(params=[2**25, 16, 1], ids=["one block", "blocks of 16", "blocks of a row"])
def _blocks(request, monkeypatch):
    monkeypatch.setattr(linear, "BLOCK", request.param)
    monkeypatch.setattr(linear, "LEAST_ROWS", 1)


def same(value, expected, inputs):
    """Whether value and all gradients agree, for a grad_output that is not 1."""
    torch.testing.assert_close(value, expected, **DOUBLE)
    grad_output = torch.randn_like(expected)
    gradients = torch.autograd.grad(value, inputs, grad_output)
    wanted = torch.autograd.grad(expected, inputs, grad_output)
    for gradient, want, x in zip(gradients, wanted, inputs, strict=True):
        assert gradient.dtype == x.dtype
        torch.testing.assert_close(gradient, want, **DOUBLE)


@pytest.mark.usefixtures("_blocks")
@pytest.mark.parametrize("loss", EXAMPLES, ids=str)
def test_value_and_all_three_gradients(loss):
    h, w, b, y = layer(loss)
    rows = textbook_rows(loss)(h @ w.T + b, y)
    none = with_options(loss, reduction="none")
    same(nf.linear_loss(h, w, y, loss, b), textbook(loss)(h @ w.T + b, y), (h, w, b))
    same(nf.linear_loss(h, w, y, none, b), rows, (h, w, b))
    total = with_options(loss, reduction="sum")
    same(nf.linear_loss(h, w, y, total), textbook_rows(loss)(h @ w.T, y).sum(), (h, w))


@pytest.mark.usefixtures("_blocks")
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("ignored", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_weights_and_ignored(loss, smoothing, ignored, reduction):
    h, w, b, y = layer(loss)
    class_weight = torch.rand(len(w), dtype=torch.float64) + 0.1
    if ignored:
        y[::3] = -100
    options = {"reduction": reduction, "weight": class_weight, "label_smoothing": smoothing}
    loss = with_options(loss, **options)
    same(nf.linear_loss(h, w, y, loss, b), loss(h @ w.T + b, y), (h, w, b))


def test_ce_is_the_linear_layer_and_torchs_cross_entropy():
    h, w, b, y = layer(nf.CE(), rows=50, classes=30)
    y[3] = -100
    for reduction in ("mean", "sum", "none"):
        expected = nn.functional.cross_entropy(
            nn.functional.linear(h, w, b), y, reduction=reduction
        )
        same(nf.linear_loss(h, w, y, nf.CE(reduction=reduction), b), expected, (h, w, b))


@pytest.mark.parametrize("shape", [(4, 3), (2, 5), (2, 3, 4), ()], ids=str)
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_leading_dimensions(shape, reduction):
    loss = nf.loss("NCE + 4*AGCE(a=6, q=1.5)", reduction=reduction)
    h = torch.randn(*shape, 6, dtype=torch.float64, requires_grad=True)
    w = torch.randn(5, 6, dtype=torch.float64, requires_grad=True)
    y = torch.randint(5, shape)
    logits = h @ w.T
    rows = textbook_rows(loss)(logits.reshape(-1, 5), y.reshape(-1)).reshape(shape)
    expected = rows if reduction == "none" else rows.mean()
    value = nf.linear_loss(h, w, y, loss)
    assert value.shape == expected.shape
    same(value, expected, (h, w))


@pytest.mark.parametrize("frozen", [0, 1, 2])
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_only_the_gradients_that_are_wanted(frozen, reduction):
    loss = nf.AGCE(a=1, q=0.5, reduction=reduction)
    h, w, b, y = layer(loss)
    inputs = [h, w, b]
    inputs.pop(frozen).requires_grad_(False)
    same(nf.linear_loss(h, w, y, loss, b), loss(h @ w.T + b, y), inputs)


def test_no_gradients_at_all():
    h, w, b, y = layer(nf.CE())
    expected = nn.functional.cross_entropy(h @ w.T + b, y).detach()
    with torch.no_grad():
        value = nf.linear_loss(h, w, y, nf.CE(), b)
    assert not value.requires_grad
    torch.testing.assert_close(value, expected)
    value = nf.linear_loss(h.detach(), w.detach(), y, nf.CE(), b.detach())
    torch.testing.assert_close(value, expected)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_backward_twice(loss):
    h, w, b, y = layer(loss)
    value = nf.linear_loss(h, w, y, loss, b)
    first = torch.autograd.grad(value, (h, w, b), torch.tensor(3.0).double(), retain_graph=True)
    kept = [g.clone() for g in first]
    second = torch.autograd.grad(value, (h, w, b))
    for one, again, three in zip(second, first, kept, strict=True):
        torch.testing.assert_close(again, 3 * one, **DOUBLE)
        assert torch.equal(again, three)


@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_a_random_loss_has_the_gradient_of_what_it_drew(reduction):
    # With ten classes the draws differ: value and gradient have to belong to the same one.
    h, w, _, y = layer(nf.CE(), rows=6, classes=10)
    loss = nf.NLNL(reduction=reduction)
    step = 1e-6 * torch.randn_like(h)
    torch.manual_seed(5)
    value = nf.linear_loss(h, w, y, loss).sum()
    (gradient,) = torch.autograd.grad(value, h)
    torch.manual_seed(5)
    moved = nf.linear_loss(h + step, w, y, loss).sum()
    assert float((moved - value).detach()) == pytest.approx(
        float((gradient * step).sum()), rel=1e-3
    )


def test_double_backward_is_right_or_refused():
    h, w, _, y = layer(nf.CE())

    def penalised(value):
        (gradient,) = torch.autograd.grad(value, h, create_graph=True)
        return torch.autograd.grad(value + gradient.square().sum(), h)[0]

    expected = penalised(nf.CE()(h @ w.T, y))
    try:
        got = penalised(nf.linear_loss(h, w, y, nf.CE()))
    except RuntimeError:
        return
    torch.testing.assert_close(got, expected)


@pytest.mark.usefixtures("_blocks")
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize("loss", CENTRAL, ids=str)
def test_lower_precision(loss, dtype):
    h, w, b, y = layer(loss, dtype=dtype)
    wide = [x.detach().double().requires_grad_() for x in (h, w, b)]
    value = nf.linear_loss(h, w, y, loss, b)
    value.backward()
    expected = textbook(loss)(wide[0] @ wide[1].T + wide[2], y)
    expected.backward()
    assert value.dtype == torch.float32
    error = {torch.bfloat16: 0.05, torch.float16: 0.01, torch.float32: 1e-4}[dtype]
    torch.testing.assert_close(value.double(), expected, rtol=error, atol=error)
    for x, exact in zip((h, w, b), wide, strict=True):
        assert x.grad.dtype == dtype
        size = float(exact.grad.abs().max())
        torch.testing.assert_close(x.grad.double(), exact.grad, rtol=error, atol=error * size)


@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_autocast(reduction):
    loss = nf.loss("NCE + 4*AGCE(a=6, q=1.5)", reduction=reduction)
    h, w, b, y = layer(loss, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        value = nf.linear_loss(h, w, y, loss, b).sum()
        expected = loss(nn.functional.linear(h, w, b), y).sum()
    assert value.dtype == torch.float32
    torch.testing.assert_close(value, expected, rtol=0.01, atol=0.01)
    gradients = torch.autograd.grad(value, (h, w, b))
    for gradient, wanted in zip(gradients, torch.autograd.grad(expected, (h, w, b)), strict=True):
        assert gradient.dtype == torch.float32
        size = float(wanted.abs().max())
        torch.testing.assert_close(gradient, wanted, rtol=0.05, atol=0.05 * size)


@pytest.mark.usefixtures("_blocks")
def test_autocast_rounds_what_is_multiplied_and_sums_in_float32():
    h, w, _, y = layer(nf.CE(), rows=64, features=32, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        value = nf.linear_loss(h, w, y, nf.CE())
    gradient = torch.autograd.grad(value, w)[0]
    low = [x.detach().bfloat16().float().requires_grad_() for x in (h, w)]
    expected = nn.functional.cross_entropy(low[0] @ low[1].T, y)
    torch.testing.assert_close(value, expected, rtol=1e-5, atol=1e-5)
    wanted = torch.autograd.grad(expected, low[1])[0]
    # Rounded once at the end, however many blocks were summed: 2^-9 of each entry.
    torch.testing.assert_close(gradient, wanted, rtol=2**-8, atol=1e-7)
    exact = nn.functional.cross_entropy(h @ w.T, y)
    assert (value - exact).abs().item() > 1e-4


@pytest.mark.parametrize("largest", [1e4, 3e38])
@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss.bounded], ids=str)
def test_extreme_logits(loss, largest):
    classes = classes_for(loss, 4)
    w = torch.eye(classes, requires_grad=True)
    h = torch.zeros(3, classes)
    h[0, 0], h[1, 1], h[2] = largest, -largest, largest
    h.requires_grad_()
    value = nf.linear_loss(h, w, torch.zeros(3, dtype=torch.long), loss)
    value.backward()
    assert torch.isfinite(value)
    assert torch.isfinite(h.grad).all()


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("rows", [0, 4])
def test_nothing_to_learn_from_is_what_torch_makes_of_it(reduction, rows):
    h, w, b, y = layer(nf.CE(), rows=rows)
    y.fill_(-100)
    torchs = nn.functional.cross_entropy(h @ w.T + b, y, reduction=reduction)
    ours = nf.linear_loss(h, w, y, nf.CE(reduction=reduction), b)
    torch.testing.assert_close(ours, torchs, equal_nan=True)
    expected = torch.autograd.grad(torchs.sum(), (h, w, b))
    for gradient, want in zip(torch.autograd.grad(ours.sum(), (h, w, b)), expected, strict=True):
        torch.testing.assert_close(gradient, want, equal_nan=True)


def test_inputs_are_not_written_to():
    h, w, b, y = layer(nf.CE())
    before = [x.detach().clone() for x in (h, w, b, y)]
    value = nf.linear_loss(h, w, y, nf.CE(), b)
    value.backward(retain_graph=True)
    value.backward()
    for x, old in zip((h, w, b, y), before, strict=True):
        assert torch.equal(x.detach(), old)


def test_layouts_and_integer_types():
    h, w, b, y = layer(nf.MAE())
    expected = nf.MAE()(h @ w.T + b, y)
    odd_h = h.detach().t().contiguous().t().requires_grad_()
    odd_w = w.detach().t().contiguous().t().requires_grad_()
    value = nf.linear_loss(odd_h, odd_w, y.int(), nf.MAE(), b)
    torch.testing.assert_close(value, expected)
    gradients = torch.autograd.grad(value, (odd_h, odd_w))
    wanted = torch.autograd.grad(expected, (h, w))
    for gradient, want in zip(gradients, wanted, strict=True):
        torch.testing.assert_close(gradient, want)


def test_a_module_trains_the_same():
    model, again = nn.Linear(4, 6), nn.Linear(4, 6)
    again.load_state_dict(model.state_dict())
    loss = nf.loss("NCE + MAE")
    x, y = torch.randn(20, 4), torch.arange(20) % 6
    nf.linear_loss(x, model.weight, y, loss, model.bias).backward()
    loss(again(x), y).backward()
    torch.testing.assert_close(model.weight.grad, again.weight.grad)
    torch.testing.assert_close(model.bias.grad, again.bias.grad)


WRONG = {
    "features": ((4, 3), (5, 2), (4,), None),
    "weight not a matrix": ((4, 3), (3,), (4,), None),
    "rows": ((4, 3), (5, 3), (3,), None),
    "bias": ((4, 3), (5, 3), (4,), (4,)),
    "scalar": ((), (5, 3), (), None),
}


@pytest.mark.parametrize("case", WRONG)
def test_shapes_that_do_not_fit(case):
    h, w, y, b = WRONG[case]
    bias = None if b is None else torch.zeros(b)
    with pytest.raises(ShapeError, match="expected") as caught:
        nf.linear_loss(torch.randn(h), torch.randn(w), torch.zeros(y).long(), nf.CE(), bias)
    assert "\n" not in str(caught.value)


def test_other_errors():
    h, w, _, y = layer(nf.CE())
    with pytest.raises(ShapeError, match="class indices"):
        nf.linear_loss(h, w, torch.rand(11, 4), nf.CE())
    with pytest.raises(InputTypeError, match="build it first"):
        nf.linear_loss(h, w, y, "CE")
    with pytest.raises(InputTypeError, match="takes a noiseproof loss, got CrossEntropyLoss"):
        nf.linear_loss(h, w, y, torch.nn.CrossEntropyLoss())
    with pytest.raises(InputTypeError, match="expected hidden to be a tensor, got list"):
        nf.linear_loss(h.tolist(), w, y, nf.CE())
    with pytest.raises(ParameterError, match="`block_rows` >= 1"):
        nf.linear_loss(h, w, y, nf.CE(), block_rows=0)
    with pytest.raises(ShapeError, match=re.escape("(4,)")):
        nf.linear_loss(h, w, y, nf.CE(weight=torch.ones(4)))
    y[2] = 5
    with pytest.raises(TargetError, match=re.escape("target 5 is outside 0..4")):
        nf.linear_loss(h, w, y, nf.CE())
    y[2] = -1
    with pytest.raises(TargetError, match="target -1"):
        nf.linear_loss(h, w, y, nf.CE())


def test_where_no_kernel_may_run_the_logits_are_computed():
    loss = nf.loss("NCE + 4*AGCE(a=6, q=1.5)")
    h, w, b, y = layer(loss, dtype=torch.float32)
    expected = textbook(loss)(h @ w.T + b, y)
    (wanted,) = torch.autograd.grad(expected, h)

    def value(h):
        return nf.linear_loss(h, w, y, loss, b)

    compiled = torch.compile(value, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(h), expected)
    torch.testing.assert_close(torch.autograd.grad(compiled(h), h)[0], wanted)
    torch.testing.assert_close(torch.func.grad(value)(h.detach()), wanted)
    there = [x.detach().to("meta") for x in (h, w, y, b)]
    assert nf.linear_loss(*there[:3], loss, there[3]).is_meta
