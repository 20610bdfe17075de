"""The fused gradient is the derivative of the value, however backward is called."""

import pytest
import torch
from loss_examples import CENTRAL, EXAMPLES, OTHERS, SUMS, classes_for, problem, with_options
from references import textbook, textbook_rows

import noiseproof as nf
from noiseproof.kernels import blocked, small

DOUBLE = {"rtol": 1e-9, "atol": 1e-11}
TRUE_GRADIENT = [loss for loss in EXAMPLES if not getattr(loss, "detach", False)]


def reseeded(loss, y):
    """The loss as a function of the logits alone: a random one draws the same each time."""

    def function(z):
        torch.manual_seed(0)
        return loss(z, y)

    return function


def several_classes(rows=3, classes=4):
    z = torch.randn(rows, classes, dtype=torch.float64, requires_grad=True)
    return z, torch.arange(rows) % classes


@pytest.mark.usefixtures("either_path")
@pytest.mark.parametrize("loss", TRUE_GRADIENT, ids=str)
def test_gradcheck(loss):
    z, y = several_classes()
    assert torch.autograd.gradcheck(reseeded(loss, y), z)
    assert torch.autograd.gradcheck(reseeded(with_options(loss, reduction="none"), y), z)


@pytest.mark.parametrize("loss", TRUE_GRADIENT, ids=str)
def test_gradgradcheck(loss):
    z, y = several_classes(rows=2, classes=3)
    assert torch.autograd.gradgradcheck(reseeded(loss, y), z)


@pytest.mark.parametrize("loss", [*CENTRAL, *SUMS], ids=str)
def test_gradcheck_with_soft_targets_smoothing_weights_and_ignored(loss):
    z, y = several_classes()
    soft = torch.softmax(torch.randn(3, 4, dtype=torch.float64), 1)
    w = torch.rand(4, dtype=torch.float64) + 0.5
    for reduction in ("mean", "none"):
        smooth = with_options(loss, label_smoothing=0.2, weight=w, reduction=reduction)
        weighted = with_options(loss, weight=w, ignore_index=1, reduction=reduction)
        for function in (reseeded(smooth, soft), reseeded(smooth, y), reseeded(weighted, y)):
            assert torch.autograd.gradcheck(function, z, fast_mode=True)


def test_gradient_reaches_soft_targets():
    z = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    soft = torch.softmax(torch.randn(3, 4, dtype=torch.float64), 1).requires_grad_()
    nf.CE()(z, soft).backward()
    (expected,) = torch.autograd.grad(torch.nn.functional.cross_entropy(z, soft), soft)
    torch.testing.assert_close(soft.grad, expected)


@pytest.mark.usefixtures("either_path")
@pytest.mark.parametrize("loss", EXAMPLES, ids=str)
def test_double_backward_is_the_hessian_of_the_textbook_form(loss):
    z, y = problem(loss, rows=3)
    direction = torch.randn_like(z)
    (gradient,) = torch.autograd.grad(loss(z, y), z, create_graph=True)
    (product,) = torch.autograd.grad(gradient, z, direction)
    hessian = torch.func.jacrev(torch.func.jacrev(textbook(loss)))(z.detach(), y)
    hessian = hessian.reshape(z.numel(), z.numel())
    torch.testing.assert_close(product.flatten(), hessian @ direction.flatten(), **DOUBLE)


@pytest.mark.parametrize("loss", [*CENTRAL, *SUMS], ids=str)
def test_gradient_penalty_trains_through_a_model(loss):
    x, y = torch.randn(6, 3, dtype=torch.float64), torch.arange(6) % 2
    w = torch.randn(3, classes_for(loss), dtype=torch.float64, requires_grad=True)

    def penalty(f):
        (g,) = torch.autograd.grad(f(x @ w, y), w, create_graph=True)
        return torch.autograd.grad(g.square().sum(), w)[0]

    torch.testing.assert_close(penalty(loss), penalty(textbook(loss)), **DOUBLE)


@pytest.mark.usefixtures("either_path")
@pytest.mark.parametrize("loss", EXAMPLES, ids=str)
def test_backward_twice_accumulated_and_scaled(loss):
    z, y = problem(loss)
    (once,) = torch.autograd.grad(textbook(loss)(z, y), z)
    value = loss(z, y)
    value.backward(retain_graph=True)
    torch.testing.assert_close(z.grad, once, **DOUBLE)
    value.backward()
    torch.testing.assert_close(z.grad, 2 * once, **DOUBLE)
    (3 * loss(z, y)).backward()
    torch.testing.assert_close(z.grad, 5 * once, **DOUBLE)
    (loss(z, y) - 2 * loss(2 * z, y)).backward()
    (other,) = torch.autograd.grad(textbook(loss)(2 * z, y), z)
    torch.testing.assert_close(z.grad, 6 * once - 2 * other, **DOUBLE)


@pytest.mark.usefixtures("either_path")
@pytest.mark.parametrize("loss", EXAMPLES, ids=str)
def test_scaled_backward_twice_over_one_graph(loss):
    z, y = problem(loss)
    (once,) = torch.autograd.grad(textbook(loss)(z, y), z)
    value = loss(z, y)
    (first,) = torch.autograd.grad(value, z, torch.tensor(-2.0).double(), retain_graph=True)
    kept = first.clone()
    (second,) = torch.autograd.grad(value, z, torch.tensor(0.5).double())
    torch.testing.assert_close(second, 0.5 * once, **DOUBLE)
    torch.testing.assert_close(first, -2 * once, **DOUBLE)
    assert torch.equal(first, kept)


@pytest.mark.usefixtures("either_path")
@pytest.mark.parametrize("loss", EXAMPLES, ids=str)
def test_each_row_has_its_own_grad_output(loss):
    z, y = problem(loss)
    grad_output = torch.randn(len(z), dtype=torch.float64)
    (expected,) = torch.autograd.grad(textbook_rows(loss)(z, y), z, grad_output)
    kept = grad_output.clone()
    rows = with_options(loss, reduction="none")(z, y)
    for _ in range(2):
        (gradient,) = torch.autograd.grad(rows, z, grad_output, retain_graph=True)
        torch.testing.assert_close(gradient, expected, **DOUBLE)
    assert torch.equal(grad_output, kept)


@pytest.mark.usefixtures("either_path")
@pytest.mark.parametrize("loss", EXAMPLES, ids=str)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_fused_and_plain_paths_agree(loss, reduction):
    z, y = problem(loss)
    loss = with_options(loss, reduction=reduction)
    fused = loss(z, y).sum()
    (gradient,) = torch.autograd.grad(fused, z)
    with torch.no_grad():
        torch.testing.assert_close(fused.detach(), loss(z, y).sum(), **DOUBLE)
    # A torch.func transform cannot see into the kernel: it takes the plain path.
    plain = torch.func.grad(lambda z: loss(z, y).sum())(z.detach())
    torch.testing.assert_close(gradient, plain, **DOUBLE)


@pytest.mark.parametrize("loss", [*CENTRAL, *OTHERS, *SUMS], ids=str)
@pytest.mark.parametrize("elements", [1, 11, 40])
def test_many_blocks_with_an_uneven_tail(loss, elements, monkeypatch):
    monkeypatch.setattr(small, "SMALL", 0)  # else a small batch of plain CE is torch's own
    z, y = problem(loss, rows=23)
    w = torch.rand(z.shape[1], dtype=torch.float64) + 0.5
    expected = torch.autograd.grad((textbook_rows(loss)(z, y) * w[y]).sum() / w[y].sum(), z)[0]
    monkeypatch.setattr(blocked, "CPU_BLOCK", elements)
    seen = []
    monkeypatch.setattr(type(loss), "block", _counting(type(loss).block, seen))
    value = with_options(loss, weight=w)(z, y)
    (gradient,) = torch.autograd.grad(value, z)
    torch.testing.assert_close(gradient, expected, **DOUBLE)
    torch.testing.assert_close(
        value, (textbook_rows(loss)(z, y) * w[y]).sum() / w[y].sum(), **DOUBLE
    )
    assert loss.random or len(seen) > 2, "the block size was not the one that was set"


def _counting(block, seen):
    def counted(self, z, target, scale, out):
        seen.append(len(z))
        return block(self, z, target, scale, out)

    return counted


@pytest.mark.parametrize("shape", [(30, 700), (2 * blocked.CPU_BLOCK // 500 + 7, 500)], ids=str)
@pytest.mark.parametrize("loss", [nf.AGCE(a=1, q=0.5), nf.NCE() + nf.MAE(), nf.NFL()], ids=str)
def test_the_sizes_the_kernels_are_tuned_for(loss, shape):
    z = torch.randn(shape, requires_grad=True)
    y = torch.randint(shape[1], shape[:1])
    loss(z, y).backward()
    (expected,) = torch.autograd.grad(textbook(loss)(z.double(), y), z)
    torch.testing.assert_close(z.grad, expected, rtol=1e-3, atol=1e-10)


@pytest.mark.parametrize("loss", [*CENTRAL, *SUMS], ids=str)
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64], ids=str)
def test_inputs_are_not_written_to(loss, dtype):
    z, y = problem(loss, dtype=dtype)
    before, labels = z.detach().clone(), y.clone()
    value = loss(z, y)
    value.backward(retain_graph=True)
    value.backward()
    assert torch.equal(z.detach(), before)
    assert torch.equal(y, labels)


@pytest.mark.parametrize("loss", [*CENTRAL, *SUMS], ids=str)
def test_changing_the_logits_before_backward_is_refused(loss):
    z, y = problem(loss)
    logits = z * 1
    value = loss(logits, y)
    with torch.no_grad():
        logits.mul_(2)
    try:
        (gradient,) = torch.autograd.grad(value, z)
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)  # noqa: PT017
    else:  # the gradient was kept, so it is still the right one
        torch.testing.assert_close(
            gradient, torch.autograd.grad(textbook(loss)(z, y), z)[0], **DOUBLE
        )


@pytest.mark.parametrize("loss", [*CENTRAL, *SUMS], ids=str)
def test_frozen_logits_and_no_grad_give_values_without_a_graph(loss):
    z, y = problem(loss)
    expected = textbook(loss)(z, y).detach()
    with torch.no_grad():
        assert not loss(z, y).requires_grad
    with torch.inference_mode():
        torch.testing.assert_close(loss(z, y), expected, **DOUBLE)
    assert not loss(z.detach(), y).requires_grad


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # torch's own
@pytest.mark.parametrize("loss", [*CENTRAL, *SUMS], ids=str)
def test_forward_mode(loss):
    z, y = problem(loss)
    tangent = torch.randn_like(z)
    (gradient,) = torch.autograd.grad(loss(z, y), z)
    _, derivative = torch.func.jvp(lambda z: loss(z, y), (z.detach(),), (tangent,))
    torch.testing.assert_close(derivative, (gradient * tangent).sum(), **DOUBLE)


@pytest.mark.parametrize(
    ("loss", "released", "least", "most"),
    [
        (nf.GCE(0.7), lambda u: (1 - u**0.7) / 0.7, 0, 1e-4),
        (nf.RCE(A=-9), lambda u: 9 * (1 - u), 0, 1e-4),
        (nf.SCE(1, 1, A=-9), lambda u: -torch.log(u) + 9 * (1 - u), 0.3, 0.6),
    ],
    ids=lambda x: str(x) if isinstance(x, nf.Loss) else "",
)
def test_what_the_clamp_of_the_released_code_costs(loss, released, least, most):
    """docs/theory.md: a label with p < 1e-7 has no gradient there, which matters for SCE."""
    z = 10 * torch.randn(2000, 100, dtype=torch.float64)
    y = torch.where(torch.rand(2000) < 0.6, z.argmax(1), torch.randint(100, (2000,)))
    z.requires_grad_()
    u = torch.softmax(z, 1).clamp(1e-7, 1).gather(1, y.unsqueeze(1))
    (theirs,) = torch.autograd.grad(released(u).mean(), z)
    (ours,) = torch.autograd.grad(loss(z, y), z)
    lost = (theirs.norm(dim=1) == 0).double().mean()
    assert 0.28 < lost < 0.37
    assert least <= (ours - theirs).norm() / ours.norm() <= most
