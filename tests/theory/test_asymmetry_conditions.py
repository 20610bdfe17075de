"""Symmetric and asymmetric: the paper's conditions against the minimum of the weighted risk."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from registered import NAMES, text_of

from noiseproof.errors import NoiseproofError, TheoryError
from noiseproof.losses import AEL, AGCE, AUL, NCE, NGCE, Loss, loss, parameter
from noiseproof.theory import (
    is_asymmetric,
    is_completely_asymmetric,
    is_symmetric,
    minimise_risk,
)

SYMMETRIC = ["MAE", "RCE", "NCE", "NFL(gamma=0.5)", "NGCE(q=0.7)", "GCE(q=1)", "NCE + 2*MAE"]
NOT_SYMMETRIC = ["CE", "FL", "GCE(q=0.99)", "SCE(alpha=1, beta=1)", "NLNL", "AGCE(a=1, q=2)"]


@pytest.mark.parametrize("text", SYMMETRIC)
def test_symmetric(text):
    assert is_symmetric(text)


@pytest.mark.parametrize("text", NOT_SYMMETRIC)
def test_not_symmetric(text):
    assert not is_symmetric(text)


def test_what_a_loss_declares_is_true():
    for name in NAMES:
        made = loss(text_of(name))
        assert is_symmetric(made) == made.symmetric, name


def weights_with_ratio(ratio, seed, classes=10):
    w = np.random.default_rng(seed).random(classes)
    order = np.argsort(w)
    w[order[-1]] = w[order[-2]] * ratio
    return w


@settings(max_examples=20)
@given(
    family=st.sampled_from(["AGCE", "AUL", "AEL"]),
    scale=st.floats(-1, 1),
    power=st.floats(0.05, 0.95),
    seed=st.integers(0, 10**6),
)
def test_the_corollaries_on_both_sides_of_the_threshold(family, scale, power, seed):
    made = {
        "AGCE": lambda: AGCE(a=10 ** (3 * scale - 2), q=power),
        "AUL": lambda: AUL(a=1 + 10**scale, p=1 + 3 * power),
        "AEL": lambda: AEL(a=10 ** (scale / 2 + 0.2)),
    }[family]()
    threshold = 1 / made.asymmetry_ratio()
    assert is_asymmetric(made, weights_with_ratio(threshold * 1.001, seed))
    if threshold * 0.999 > 1:
        assert not is_asymmetric(made, weights_with_ratio(threshold * 0.999, seed))


@pytest.mark.parametrize(
    ("family", "power", "exact"),
    [
        (AGCE, {"q": 0.5}, 16 / 65),
        (AUL, {"p": 2}, 9 / 5),
        (AEL, {}, 1 / math.log(9 / 4)),
    ],
)
def test_the_papers_worked_examples(family, power, exact):
    a = family.a_for(**power, clean_level=9 / 4)
    assert a == pytest.approx(exact)
    noise = [0.2, *[0.8 / 9] * 9]  # symmetric 0.8, 10 classes: c = 9/4
    assert is_asymmetric(family(a=a * 1.001, **power), noise)
    assert not is_asymmetric(family(a=a * 0.99, **power), noise)


@pytest.mark.parametrize("seed", range(3))
def test_cross_entropy_copies_the_weights(seed):
    w = np.random.default_rng(seed).random(6)
    found = minimise_risk("CE", w)
    np.testing.assert_allclose(found.minimiser, w / w.sum(), atol=1e-8)
    assert found.vertex_risk == found.gap == math.inf
    assert not found.attained


@pytest.mark.parametrize("q", [0.3, 0.7])
def test_gce_sharpens_the_weights(q):
    w = np.array([0.2, 0.5, 0.25, 0.05])
    u = w ** (1 / (1 - q))  # stationary: w u^(q - 1) is the same for all
    found = minimise_risk(f"GCE(q={q})", w)
    np.testing.assert_allclose(found.minimiser, u / u.sum(), atol=1e-6)
    assert found.vertex == 1
    assert found.gap == pytest.approx(found.vertex_risk - found.risk)


def test_agce_below_its_bound_leaves_the_vertex_for_one_other_class():
    # a = 0.1, q = 0.5: stationary where w (a + u)^(q - 1) is the same for both classes.
    a, w = 0.1, (0.5, 0.4, 0.01)
    ratio = (w[0] / w[1]) ** 2
    u2 = (1 + a - ratio * a) / (1 + ratio)
    found = minimise_risk(AGCE(a=a, q=0.5), w)
    np.testing.assert_allclose(found.minimiser, [1 - u2, u2, 0], atol=1e-6)


def test_nce_attains_its_infimum_at_the_vertex_but_not_only_there():
    w = torch.tensor([0.5, 0.3, 0.15, 0.05], dtype=torch.float64)
    found = minimise_risk(NCE(), w)
    assert found.attained
    assert not found.unique
    assert found.risk == pytest.approx(0.05)  # the least weight
    elsewhere = torch.tensor([1 / 3, 1 / 3, 1 / 3, 0.0], dtype=torch.float64).log()
    elsewhere[3] = -1e12
    assert float((w * NCE().per_class(elsewhere)).sum()) == pytest.approx(0.05)
    # From the side on which all wrong classes vanish alike, the vertex is worse.
    evenly = torch.tensor([0.0, -1e12, -1e12, -1e12], dtype=torch.float64)
    assert float((w * NCE().per_class(evenly)).sum()) == pytest.approx(w[1:].mean().item())


def test_nce_with_a_pointwise_loss_has_one_minimum():
    found = minimise_risk("NCE + AGCE(a=6, q=1.5)", [0.5, 0.3, 0.15, 0.05])
    assert found.attained
    assert found.unique


def test_theorem_3_needs_more_than_symmetry():
    w = torch.tensor([1.01, 1.0, 0.0], dtype=torch.float64)
    half = torch.tensor([0.5, 0.5, 1e-300], dtype=torch.float64).log()
    vertex = torch.tensor([1.0, 1e-300, 1e-300], dtype=torch.float64).log()
    risk = [float((w * NGCE(q=0.7).per_class(u)).sum()) for u in (half, vertex)]
    assert risk[0] < 0.44 < 0.5 <= risk[1]
    assert not is_asymmetric(NGCE(q=0.7), w)
    assert not is_completely_asymmetric(NGCE(q=0.7))
    # With all the other weights alike Theorem 3 holds for every symmetric loss.
    assert minimise_risk(NGCE(q=0.7), [0.11, *[0.89 / 9] * 9]).unique


@pytest.mark.parametrize(
    "text", ["MAE", "RCE", "AGCE(a=6, q=1.5)", "AUL(a=3, p=0.1)", "NCE", "NCE + MAE", "NFL + RCE"]
)
def test_completely_asymmetric(text):
    assert is_completely_asymmetric(text)
    assert is_asymmetric(text, [1.0, 1.001, 0.9, 0.0])


@pytest.mark.parametrize("text", ["CE", "GCE(q=0.9)", "AEL(a=100)", "AGCE(a=6, q=0.9)", "NLNL"])
def test_not_completely_asymmetric(text):
    assert not is_completely_asymmetric(text)


def test_mae_has_one_minimum_however_near_the_tie():
    found = minimise_risk("MAE", [1, 1 - 1e-6, 0.5])
    assert found.unique
    assert found.minimiser.tolist() == [1, 0, 0]


class AMSE(Loss, register=False):
    """The mean of (a e_y - p)^2, with the condition a later paper proves."""

    a: float = parameter(above=1)

    def per_class(self, log_p):
        p = log_p.exp()
        return (p.square().sum(-1, keepdim=True) - 2 * self.a * p + self.a**2) / p.shape[-1]


@pytest.mark.parametrize("a", [2.0, 5.0, 30.0])
@pytest.mark.parametrize("seed", range(2))
def test_a_loss_of_another_paper_at_its_threshold(a, seed):
    others = np.sort(np.random.default_rng(seed).random(5))
    needed = (a * others[-1] + others.sum()) / (a - 1)
    assert is_asymmetric(AMSE(a=a), [*others, needed * 1.001])
    assert not is_asymmetric(AMSE(a=a), [*others, needed * 0.999])


def test_clean_labels_suit_any_loss_and_two_classes_are_enough():
    for text in ("CE", "NLNL", "NCE", "AGCE(a=0.01, q=0.1)"):
        assert is_asymmetric(text, [0, 1, 0])
    assert is_asymmetric("AEL(a=1)", [3, 1])
    assert not is_asymmetric("AEL(a=1)", [2, 1])
    assert is_completely_asymmetric("NGCE(q=0.7)", classes=2)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "two classes"),
        ([1.0, -1.0], ">= 0"),
        ([1.0, math.nan], "finite"),
        ([0.4, 0.4, 0.2], "tie"),
    ],
)
def test_weights_that_are_not(weights, message):
    with pytest.raises(TheoryError, match=message):
        is_asymmetric("CE", weights)


def test_too_few_classes():
    with pytest.raises(TheoryError, match="`classes` >= 2"):
        is_symmetric("CE", classes=1)


@pytest.mark.parametrize("m", [0.05, 0.5, 1, 10, 1e5])
@pytest.mark.parametrize("w", [[0.6, 0.4], [0.2, 0.45, 0.35], [0.18, 0.21, 0.11, 0.2, 0.13, 0.17]])
def test_a_minimum_where_probabilities_tie(w, m):
    # -log p' jumps where another probability becomes the largest. With the heaviest class largest,
    # the risk falls towards u_i = w_i (m + 1), until some of them tie with it: those have one v.
    first, *others = sorted(w, reverse=True)
    v = np.linspace(1 / len(w), 1, 200_001)[:-1]
    risks = []
    for tied in range(len(w)):
        free = np.array(others[tied:])
        risk = -first * np.log((v + m) / (m + 1)) - sum(others[:tied]) * np.log(v / (m + 1))
        if len(free):
            left = np.maximum(1 - (tied + 1) * v, 1e-300)
            u = left * (free / free.sum())[:, None]
            risk = risk - free @ np.log(u / (m + 1))
            risk[(u > v).any(axis=0) | (left < 1e-9)] = np.inf
        else:
            risk[1:] = np.inf  # all alike
        risks.append(risk.min())
    found = minimise_risk(f"EpsSoftmax(CE, m={m})", w)
    assert found.risk == pytest.approx(min(risks), abs=1e-7)
    assert not found.attained


def test_a_series_of_weights_is_read_by_its_classes():
    """value_counts has the most frequent class first."""
    pd = pytest.importorskip("pandas")
    counted = pd.Series(np.repeat([2, 0, 1], [5, 3, 2])).value_counts()
    heavy = AGCE(a=0.6, q=0.6, weight=torch.tensor([1.0, 20.0, 1.0]))
    by_place = counted.sort_index().tolist()
    for formula in (AEL(a=2), heavy):
        found, wanted = minimise_risk(formula, counted), minimise_risk(formula, by_place)
        assert found.vertex == wanted.vertex == 2
        assert torch.equal(found.minimiser, wanted.minimiser)
        assert is_asymmetric(formula, counted) == is_asymmetric(formula, by_place)
        reversed_ = pd.Series(by_place)[::-1]
        assert minimise_risk(formula, reversed_).vertex == 2
    with pytest.raises(NoiseproofError, match=r"of \['ham', 'spam'\], but the classes are 0 to 1"):
        minimise_risk("MAE", pd.Series({"ham": 0.6, "spam": 0.4}))
