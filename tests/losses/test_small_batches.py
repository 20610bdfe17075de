"""Small batches go their own way: in few operations, with the same numbers."""

import pytest
import torch
from loss_examples import EXAMPLES, problem, with_options

import noiseproof as nf
from noiseproof.errors import TargetError
from noiseproof.kernels import small


def nodes(value):
    """How many operations of the graph a backward pass has to run, those of leaves left out."""
    seen, waiting = set(), [value.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen or node.name() == "torch::autograd::AccumulateGrad":
            continue
        seen.add(node)
        waiting += [following for following, _ in node.next_functions]
    return len(seen)


# F.cross_entropy has 2, the textbook form (softmax, one-hot, sum) of AGCE 8.
@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("CE", 2),
        ("MAE", 3),
        ("GCE(q=0.7)", 3),
        ("AGCE(a=0.6, q=0.6)", 5),
        ("AGCE(a=6, q=1.5)", 5),
        ("AUL(a=3, p=0.1)", 6),
        ("AEL(a=2.5)", 5),
        ("NCE", 5),
        ("NCE + 4*AGCE(a=6, q=1.5)", 9),
        ("FL(gamma=0.5)", 7),
        ("NFL(gamma=0.5)", 10),
    ],
)
def test_operations_of_the_graph(text, most):
    z, y = torch.randn(128, 10, requires_grad=True), torch.arange(128) % 10
    assert nodes(nf.loss(text)(z, y)) <= most


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize("loss", [loss for loss in EXAMPLES if not loss.random], ids=str)
def test_the_numbers_are_those_of_the_kernel(loss, dtype, monkeypatch):
    z, y = problem(loss, rows=6)
    z = z.detach().to(dtype).requires_grad_()
    for reduction in ("mean", "sum", "none"):
        loss = with_options(loss, reduction=reduction)
        few = loss(z, y)
        (gradient,) = torch.autograd.grad(few.sum(), z)
        with monkeypatch.context() as patch:
            patch.setattr(small, "SMALL", 0)
            many = loss(z, y)
            (expected,) = torch.autograd.grad(many.sum(), z)
        assert few.dtype == many.dtype
        torch.testing.assert_close(few, many)
        torch.testing.assert_close(gradient, expected)


def test_inference_first_and_training_after_it():
    small._filled.cache_clear()
    loss, z, y = nf.loss("NCE + AGCE(a=2, q=0.5)"), torch.randn(7, 3), torch.arange(7) % 3
    with torch.inference_mode():
        value = loss(z, y)
    z.requires_grad_()
    loss(z, y).backward()
    assert torch.isfinite(z.grad).all()
    torch.testing.assert_close(value.clone(), loss(z, y).detach())


def test_another_default_device_changes_nothing():
    small._filled.cache_clear()
    z, y = torch.randn(7, 3), torch.arange(7) % 3
    with torch.device("meta"):
        value = nf.MAE()(z, y)
    assert value.device.type == "cpu"


@pytest.mark.parametrize("q", [1e-9, 1e-3, 1.0, 1e3, 1e9])
@pytest.mark.parametrize("factor", [-2.0, 1e-20, 1e35])
def test_scaled_expm1_near_and_far(q, factor):
    x = -torch.logspace(-9, 3, 40, dtype=torch.float64)
    expected = torch.expm1(x * q) * factor
    torch.testing.assert_close(small.scaled_expm1(x, q, factor), expected, rtol=1e-12, atol=0)
    x = -x  # rising, where the number by which x is multiplied is negative
    rising = small.scaled_expm1(-x, -min(q, 1e-3), factor)
    torch.testing.assert_close(rising, torch.expm1(x * min(q, 1e-3)) * factor, rtol=1e-12, atol=0)


def test_unreduced_cross_entropy_has_a_quick_way_too():
    z, y = torch.randn(16, 10), torch.arange(16) % 10
    value = nf.CE(reduction="none")._of_few(z, y)
    torch.testing.assert_close(value, torch.nn.functional.cross_entropy(z, y, reduction="none"))


@pytest.mark.parametrize("least", [-(2**63), 2**63 - 1, -1], ids=str)
@pytest.mark.parametrize("loss", EXAMPLES, ids=str)
def test_what_a_missing_value_becomes_is_no_label(loss, least):
    with pytest.raises(TargetError):
        loss(torch.zeros(3, 4), torch.tensor([0, least, 1]))
