"""``loss.derivatives``: what boosting asks of a loss, checked against autograd and by itself."""

import math

import numpy as np
import pytest
import torch
from loss_examples import CENTRAL, SUMS
from torch.nn.functional import cross_entropy

import noiseproof as nf
from noiseproof.errors import ParameterError, ShapeError, TargetError

FIXED = [loss for loss in [*CENTRAL, *SUMS] if not loss.random]


def scores(rows=9, classes=4, seed=0):
    rng = np.random.default_rng(seed)
    return 2 * rng.standard_normal((rows, classes)), rng.integers(classes, size=rows)


def by_autograd(rows, z):
    return torch.autograd.grad(rows.sum(), z)[0].numpy()


@pytest.mark.parametrize("loss", FIXED, ids=str)
def test_value_and_gradient_are_those_of_the_loss(loss):
    s, y = scores()
    z = torch.tensor(s, requires_grad=True)
    rows = nf.loss(str(loss), reduction="none")(z, torch.tensor(y))
    found = loss.derivatives(s, y)
    np.testing.assert_allclose(found.value, rows.detach(), rtol=1e-10)
    np.testing.assert_allclose(found.gradient, by_autograd(rows, z), rtol=1e-8, atol=1e-12)
    assert (found.curvature >= 0).all()
    assert isinstance(found.curvature, np.ndarray)
    assert found.curvature.shape == s.shape


@pytest.mark.parametrize("loss", FIXED, ids=str)
def test_soft_targets_are_mixtures(loss):
    s, _ = scores()
    t = np.random.default_rng(1).dirichlet(np.ones(s.shape[1]), size=len(s))
    by_class = [loss.derivatives(s, np.full(len(s), k)) for k in range(s.shape[1])]
    found = loss.derivatives(s, t)
    value = sum(t[:, k] * d.value for k, d in enumerate(by_class))
    gradient = sum(t[:, k, None] * d.gradient for k, d in enumerate(by_class))
    np.testing.assert_allclose(found.value, value, rtol=1e-10)
    np.testing.assert_allclose(found.gradient, gradient, rtol=1e-8, atol=1e-12)
    one_hot = np.eye(s.shape[1])[np.arange(len(s)) % s.shape[1]]
    hard = loss.derivatives(s, np.arange(len(s)) % s.shape[1])
    for soft, label in zip(loss.derivatives(s, one_hot), hard, strict=True):
        np.testing.assert_allclose(soft, label, rtol=1e-8, atol=1e-12)


def test_cross_entropy_has_its_own_hessian():
    s, y = scores(3)
    found = nf.CE().derivatives(s, y)
    p = np.exp(s) / np.exp(s).sum(1, keepdims=True)
    np.testing.assert_allclose(found.curvature, p * (1 - p), rtol=1e-12)
    np.testing.assert_allclose(found.gradient, p - np.eye(4)[y], rtol=1e-10, atol=1e-15)


CONCAVE = ["CE", "GCE(q=0.7)", "MAE", "RCE", "SCE(alpha=1, beta=2)", "AGCE(a=0.6, q=0.6)"]
CONCAVE += ["AGCE(a=6, q=1.5)", "AUL(a=5.5, p=3)", "AUL(a=3, p=0.1)", "AEL(a=2.5)"]


@pytest.mark.parametrize("text", CONCAVE)
def test_what_the_docstring_says_it_bounds(text):
    """w * CE lies above L; the curvature above the Hessian's diagonal, twice it above all of it."""
    loss, (s, y) = nf.loss(text, reduction="sum"), scores(40, 5)
    found = loss.derivatives(s, y)
    for i in range(len(s)):
        target = torch.tensor(y[i : i + 1])
        hessian = torch.autograd.functional.hessian(
            lambda z, target=target: loss(z[None], target), torch.tensor(s[i])
        ).numpy()
        assert (np.diag(hessian) <= found.curvature[i] + 1e-12).all()
        assert np.linalg.eigvalsh(2 * np.diag(found.curvature[i]) - hessian).min() >= -1e-12
    p = np.exp(s) / np.exp(s).sum(1, keepdims=True)
    w = found.curvature[:, 0] / (p[:, 0] * (1 - p[:, 0]))
    elsewhere = torch.tensor(s + 3 * np.random.default_rng(5).standard_normal(s.shape))
    labels = torch.tensor(y)

    def ce(z):
        return cross_entropy(z, labels, reduction="none").numpy()

    above = found.value + w * (ce(elsewhere) - ce(torch.tensor(s)))
    there = nf.loss(text, reduction="none")(elsewhere, labels).numpy()
    assert (there <= above + 1e-12).all()


def test_weights_smoothing_and_ignored_rows():
    s, y = scores(6)
    w = np.array([1.0, 2.0, 0.0, 3.0, 1.0, 0.5])
    loss, plain = nf.AGCE(a=1, q=0.5), nf.AGCE(a=1, q=0.5).derivatives(s, y)
    for weighted, bare in zip(loss.derivatives(s, y, weight=w), plain, strict=True):
        np.testing.assert_allclose(weighted, w.reshape(-1, *[1] * (bare.ndim - 1)) * bare)
    options = {"weight": torch.rand(4, dtype=torch.float64), "label_smoothing": 0.2}
    z = torch.tensor(s, requires_grad=True)
    ignored = y.copy()
    ignored[2] = -100
    for smoothing in (0.0, 0.2):
        loss = nf.AGCE(1, 0.5, reduction="none", **(options | {"label_smoothing": smoothing}))
        rows = loss(z, torch.tensor(ignored))
        found = loss.derivatives(s, ignored)
        np.testing.assert_allclose(found.value, rows.detach())
        np.testing.assert_allclose(found.gradient, by_autograd(rows, z), rtol=1e-8, atol=1e-14)
        assert found.value[2] == 0
        assert (found.curvature[2] == 0).all()


def test_tensors_lists_and_layouts():
    s, y = scores(5000, 7)
    loss = nf.NCE() + 4 * nf.AGCE(a=6, q=1.5)
    found = loss.derivatives(s, y)
    for given in (np.asfortranarray(s), s[::-1][::-1], s.tolist()):
        for one, other in zip(found, loss.derivatives(given, y.tolist()), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-15)
    in_torch = loss.derivatives(torch.tensor(s, dtype=torch.float32), torch.tensor(y))
    assert in_torch.gradient.dtype == torch.float32
    np.testing.assert_allclose(in_torch.gradient, found.gradient, atol=1e-5)


@pytest.mark.parametrize("loss", FIXED, ids=str)
def test_extreme_scores_are_finite(loss):
    s = np.array([[1e4, -1e4, 0.0], [1e300, -1e300, 0.0], [0.0, 0.0, 0.0], [-1e-300, 1e9, 1e9]])
    for y in range(3):
        assert all(np.isfinite(d).all() for d in loss.derivatives(s, np.full(4, y)))


def test_mistakes_are_one_line():
    s, y = scores()
    with pytest.raises(ParameterError, match="NLNL draws at random"):
        nf.NLNL().derivatives(s, y)
    with pytest.raises(ShapeError, match=r"expected scores \(N, K\)"):
        nf.CE().derivatives(s[0], y)
    with pytest.raises(ShapeError, match="expected 9 class indices"):
        nf.CE().derivatives(s, y[:3])
    with pytest.raises(ShapeError, match="a weight for each of 9 rows"):
        nf.CE().derivatives(s, y, weight=np.ones(3))
    with pytest.raises(ShapeError, match="array of numbers"):
        nf.CE().derivatives(s, ["a"] * 9)
    with pytest.raises(TargetError, match="target 4 is outside"):
        nf.CE().derivatives(s, np.full(9, 4))
    assert math.isfinite(nf.CE().derivatives(s, y).value.sum())


@pytest.mark.parametrize("kind", [">f4", ">f8", np.longdouble])
def test_numbers_that_torch_does_not_have_are_those_it_has(kind):
    scores, labels = np.random.default_rng(0).normal(size=(5, 3)).astype("f4"), np.arange(5) % 3
    plain = nf.CE().derivatives(scores, labels)
    found = nf.CE().derivatives(scores.astype(kind), labels.astype(">i8"))
    for one, other in zip(plain, found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
