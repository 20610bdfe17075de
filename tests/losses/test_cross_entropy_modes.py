"""CE() is F.cross_entropy in value and gradient in every mode; the others follow the same rules."""

import itertools

import pytest
import torch
from loss_examples import CENTRAL, SUMS, classes_for, with_options
from references import textbook_rows
from torch.nn.functional import cross_entropy, one_hot

import noiseproof as nf

K = 5
SHAPES = {
    "(K,)": (K,),
    "(N,K)": (6, K),
    "(N,K,d1)": (3, K, 4),
    "(N,K,d1,d2)": (2, K, 3, 2),
    "(0,K)": (0, K),
    "(0,K,d1)": (0, K, 3),
    "(N,K,0)": (2, K, 0),
}
# What the targets are, and the ignore_index that goes with them.
TARGETS = {
    "hard": -100,
    "some ignored": -100,
    "some ignored, index 2": 2,
    "some ignored, index 255": 255,
    "all ignored": -100,
    "all ignored, index 2": 2,
    "soft": -100,
}
MODES = list(
    itertools.product(
        SHAPES, TARGETS, ["none", "mean", "sum"], ["unweighted", "weighted"], [0, 0.1]
    )
)


def make_target(kind, shape, classes=K):
    spatial = shape[:0] + shape[1:] if len(shape) == 1 else shape[:1] + shape[2:]
    if kind == "soft":
        return torch.softmax(torch.randn(shape, dtype=torch.float64), 0 if len(shape) == 1 else 1)
    y = torch.randint(classes, spatial)
    ignored = TARGETS[kind]
    if kind.startswith("all"):
        return torch.full_like(y, ignored)
    if kind.startswith("some") and y.numel():
        y.view(-1)[:: 2 if y.numel() > 1 else 1] = ignored
    return y


@pytest.mark.parametrize(
    ("shape", "target", "reduction", "weighted", "smoothing"),
    MODES,
    ids=["-".join(map(str, mode)) for mode in MODES],
)
def test_ce_is_torchs_cross_entropy(shape, target, reduction, weighted, smoothing):
    z = torch.randn(SHAPES[shape], dtype=torch.float64, requires_grad=True)
    y = make_target(target, SHAPES[shape])
    options = {
        "weight": torch.rand(K, dtype=torch.float64) + 0.1 if weighted == "weighted" else None,
        "reduction": reduction,
        "ignore_index": TARGETS[target],
        "label_smoothing": smoothing,
    }
    expected = cross_entropy(z, y, **options)
    value = nf.CE(**options)(z, y)
    assert value.shape == expected.shape
    torch.testing.assert_close(value, expected, equal_nan=True)
    grad_output = torch.randn_like(expected)
    (expected_gradient,) = torch.autograd.grad(expected, z, grad_output)
    (gradient,) = torch.autograd.grad(value, z, grad_output)
    torch.testing.assert_close(gradient, expected_gradient, equal_nan=True)
    with torch.no_grad():
        torch.testing.assert_close(nf.CE(**options)(z, y), expected.detach(), equal_nan=True)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("smoothing", [0, 0.1])
def test_ce_with_a_class_of_weight_zero(reduction, smoothing):
    z = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    w = torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64)
    options = {"weight": w, "reduction": reduction, "label_smoothing": smoothing}
    for y in (torch.tensor([0, 1, 2, 0]), torch.zeros(4, dtype=torch.long)):
        ours, torchs = nf.CE(**options)(z, y), cross_entropy(z, y, **options)
        torch.testing.assert_close(ours, torchs, equal_nan=True)
        (expected,) = torch.autograd.grad(torchs.sum(), z)
        (gradient,) = torch.autograd.grad(ours.sum(), z)
        torch.testing.assert_close(gradient, expected, equal_nan=True)


LOSSES = [*CENTRAL, *SUMS]


def batch(loss, shape=(6, 5)):
    classes = classes_for(loss, shape[1])
    z = torch.randn(shape[0], classes, *shape[2:], dtype=torch.float64, requires_grad=True)
    return z, torch.randint(classes, z[:, 0].shape)


def rows(loss, z, y):
    """The losses one by one, from the textbook form."""
    flat = z.movedim(1, -1).reshape(-1, z.shape[1])
    return textbook_rows(loss)(flat, y.reshape(-1)).reshape(y.shape)


def same(loss, z, y, expected):
    """Whether value and gradient are those expected."""
    value = loss(z, y)
    torch.testing.assert_close(value, expected, equal_nan=True)
    grad_output = torch.randn_like(value)
    (gradient,) = torch.autograd.grad(value, z, grad_output)
    (wanted,) = torch.autograd.grad(expected, z, grad_output, retain_graph=True)
    torch.testing.assert_close(gradient, wanted, equal_nan=True)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("shape", [(6, 5), (3, 5, 4), (2, 5, 3, 2)], ids=str)
def test_reductions_weights_and_ignored(loss, shape):
    z, y = batch(loss, shape)
    w = torch.rand(z.shape[1], dtype=torch.float64) + 0.1
    plain = rows(loss, z, y)
    for weight, counts in ((None, torch.ones_like(plain)), (w, w[y])):
        options = {"weight": weight}
        weighted = plain * counts
        same(with_options(loss, **options, reduction="none"), z, y, weighted)
        same(with_options(loss, **options, reduction="sum"), z, y, weighted.sum())
        same(with_options(loss, **options), z, y, weighted.sum() / counts.sum())
        for ignore_index in (-100, 1, 255):
            ignored = torch.arange(y.numel()).reshape(y.shape) % 3 == 1
            if ignore_index == 1:
                ignored = ignored | (y == 1)
            with_ignored = y.masked_fill(ignored, ignore_index)
            kept = torch.where(ignored, torch.zeros(()).double(), weighted)
            options["ignore_index"] = ignore_index
            same(with_options(loss, **options, reduction="none"), z, with_ignored, kept)
            same(with_options(loss, **options, reduction="sum"), z, with_ignored, kept.sum())
            mean = kept.sum() / counts[~ignored].sum()
            same(with_options(loss, **options), z, with_ignored, mean)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_ignored_rows_have_no_gradient(loss):
    z, y = batch(loss)
    y[1::2] = -100
    loss(z, y).backward()
    assert torch.equal(z.grad[1::2], torch.zeros_like(z.grad[1::2]))
    assert (z.grad[::2] != 0).any(1).all()


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("shape", [(0, 5), (0, 5, 3), (4, 5)], ids=str)
def test_nothing_to_learn_from_is_what_torch_makes_of_it(loss, reduction, shape):
    z, y = batch(loss, shape)
    y.fill_(-100)  # (4, 5): all ignored; the others: an empty batch
    torchs = cross_entropy(z, y, reduction=reduction)
    (expected,) = torch.autograd.grad(torchs.sum(), z)
    ours = with_options(loss, reduction=reduction)(z, y)
    (gradient,) = torch.autograd.grad(ours.sum(), z)
    torch.testing.assert_close(ours, torchs, equal_nan=True)
    torch.testing.assert_close(gradient, expected, equal_nan=True)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("shape", [(6, 5), (2, 5, 3, 2)], ids=str)
def test_soft_targets_are_the_sum_over_classes(loss, shape):
    z, y = batch(loss, shape)
    classes = z.shape[1]
    t = torch.softmax(torch.randn_like(z), 1)
    w = torch.rand(classes, dtype=torch.float64) + 0.1
    by_class = [rows(loss, z, torch.full_like(y, k)) for k in range(classes)]

    def mixed(t, w):
        return sum(t[:, k] * w[k] * by_class[k] for k in range(classes))

    ones = torch.ones_like(w)
    same(with_options(loss, reduction="none"), z, t, mixed(t, ones))
    same(with_options(loss, reduction="sum", weight=w), z, t, mixed(t, w).sum())
    same(with_options(loss, weight=w), z, t, mixed(t, w).mean())
    smooth = 0.8 * t + 0.2 / classes
    same(with_options(loss, label_smoothing=0.2), z, t, mixed(smooth, ones).mean())
    # Smoothing a hard target is a soft target.
    certain = one_hot(y, classes).double().movedim(-1, 1)
    smooth = 0.8 * certain + 0.2 / classes
    same(with_options(loss, label_smoothing=0.2, reduction="none"), z, y, mixed(smooth, ones))
    same(with_options(loss), z, certain, rows(loss, z, y).mean())


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_a_single_sample_is_a_batch_of_one(loss):
    z, y = batch(loss, (1, 5))
    for reduction in ("none", "mean", "sum"):
        alone = with_options(loss, reduction=reduction)(z[0], y[0])
        assert alone.shape == ()
        torch.testing.assert_close(alone, rows(loss, z, y)[0])
        (gradient,) = torch.autograd.grad(alone, z)
        torch.testing.assert_close(gradient, torch.autograd.grad(rows(loss, z, y)[0], z)[0])


@pytest.mark.parametrize("text", ["CE", "AGCE(a=1, q=0.5)", "NCE", "NFL"])
def test_what_an_ignored_row_holds_does_not_matter(text):
    z = torch.randn(3, 4)
    z[0] = torch.nan
    y = torch.tensor([-100, 1, 2])
    torch.testing.assert_close(nf.loss(text)(z, y), nf.loss(text)(z[1:], y[1:]))


def test_probabilities_cannot_be_ignored_by_index():
    with pytest.raises(nf.errors.ParameterError, match="ignore_index"):
        nf.CE(ignore_index=1)(torch.randn(3, 4), torch.full((3, 4), 0.25))
