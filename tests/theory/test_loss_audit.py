"""The audit: fields, verdict, table, picture, and time."""

import json
import math
import time

import numpy as np
import pytest
import torch
from registered import NAMES, text_of

from noiseproof import noise
from noiseproof.errors import NoiseError, TheoryError
from noiseproof.losses import AGCE, MAE, EpsSoftmax, Loss, Normalized, Pointwise, Spread, loss
from noiseproof.noise import TransitionMatrix
from noiseproof.theory import (
    asymmetry_ratio,
    audit,
    is_asymmetric,
    is_completely_asymmetric,
    minimise_risk,
)


def test_the_papers_setting():
    found = audit("AGCE(a=0.6, q=0.6)", classes=10)
    assert found.verdict == (
        "tolerates symmetric noise up to 0.859 with 10 classes; not completely asymmetric; "
        "calibrated where the bound holds"
    )
    assert found.ratio == pytest.approx(0.375**0.4)
    assert found.strict_ratio == found.ratio
    assert found.max_symmetric_rate == pytest.approx(9 * 0.375**0.4 / (1 + 9 * 0.375**0.4))
    assert (found.pointwise, found.symmetric, found.bounded) == (True, False, True)
    assert (found.completely_asymmetric, found.calibrated) == (False, True)
    assert found.excess_risk_constant == pytest.approx(2 * 0.6 / (1.6**0.6 - 0.6**0.6))
    assert found.noise is found.margin is found.tolerant is None
    assert found.failing == ()


def test_the_rate_is_where_symmetric_noise_meets_the_bound():
    rate = audit("AEL(a=2.5)", classes=7).max_symmetric_rate
    assert audit("AEL(a=2.5)", noise=noise.symmetric(7, rate - 1e-3)).tolerant
    assert not audit("AEL(a=2.5)", noise=noise.symmetric(7, rate + 1e-3)).tolerant


def test_the_extremes_in_words():
    assert audit("CE").verdict == (
        "tolerates no symmetric noise; not completely asymmetric; calibrated in the binary case"
    )
    assert audit("MAE").verdict == (
        "tolerates all symmetric noise below 0.9 with 10 classes; completely asymmetric; calibrated"
    )


def test_the_strict_ratio_is_told_where_it_differs():
    found = audit("AGCE(a=1.8, q=3)")
    assert found.ratio == 1
    assert found.strict_ratio == pytest.approx(0.413, abs=1e-3)
    assert "as Definition 3 is printed" in str(found)
    assert "as Definition 3 is printed" not in str(audit("AGCE(a=1.8, q=0.5)"))


def test_the_failing_class_and_confusion_are_named():
    T = TransitionMatrix(
        [[0.8, 0.1, 0.1], [0.0, 0.55, 0.45], [0.0, 0.0, 1.0]], classes=["cat", "dog", "frog"]
    )
    found = audit("AEL(a=2.5)", noise=T)
    assert found.classes == 3
    assert not found.tolerant
    assert [m.name for m in found.failing] == ["dog"]
    assert found.failing[0].confusion == "frog"
    assert [m.tolerated for m in found.margins] == [True, False, True]
    c = [8, 0.55 / 0.45, math.inf]
    assert [m.clean_level for m in found.margins] == pytest.approx(c)
    assert [m.margin for m in found.margins] == pytest.approx([x * found.ratio for x in c])
    assert found.margin == pytest.approx(found.ratio * 0.55 / 0.45)
    assert (
        "does not tolerate this noise: class dog labelled frog fails (c*r = 0.8193)"
        in found.verdict
    )
    assert "class dog as frog" in str(found)


def test_noise_where_clean_labels_do_not_dominate():
    T = TransitionMatrix([[0.4, 0.6], [0.0, 1.0]])
    found = audit("MAE", noise=T)
    assert not found.tolerant
    assert "no loss can help: class 0 labelled 1" in found.verdict


def test_noise_as_text():
    found = audit("AGCE(a=0.6, q=0.6)", noise="symmetric:0.8")
    assert found.noise == "symmetric:0.8"
    assert found.clean_level == pytest.approx(9 / 4)
    assert found.margin == pytest.approx(9 / 4 * found.ratio)
    assert found.tolerant
    assert found.verdict.endswith("tolerates this noise (c*r = 1.52)")
    assert not audit("AGCE(a=0.6, q=0.6)", noise="symmetric:0.87").tolerant
    clean = audit("CE", noise="none")
    assert clean.tolerant
    assert clean.margin == math.inf


def test_questions_that_cannot_be_asked():
    with pytest.raises(NoiseError, match="did you mean 'symmetric'"):
        audit("CE", noise="symetric:0.4")
    with pytest.raises(TheoryError, match="noise of 3 classes, but `classes` is 10"):
        audit("CE", classes=10, noise=noise.symmetric(3, 0.1))
    with pytest.raises(TheoryError, match="no transition matrix"):
        audit("CE", noise="instance:0.4")
    with pytest.raises(TheoryError, match="`classes` >= 2"):
        audit("CE", classes=1)


@pytest.mark.parametrize("name", NAMES)
def test_every_registered_loss(name):
    found = audit(text_of(name), noise="symmetric:0.6")
    read = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert read["text"] == str(loss(read["text"]))
    assert read["verdict"] == found.verdict
    assert found.bounded == found.loss.bounded
    assert found.symmetric == found.loss.symmetric
    if found.completely_asymmetric:
        assert found.tolerant
    if not found.pointwise:
        assert found.strict_ratio is found.calibrated is found.excess_risk_constant is None
    lines = str(found).splitlines()
    assert lines[0].split() == ["loss", *found.text.split()]
    assert max(map(len, lines)) <= 120


def test_infinity_and_the_unknown_as_json():
    plain = audit("CE", noise="none", classes=3).to_dict()
    assert plain["excess_risk_constant"] == plain["margin"] == "inf"
    assert plain["margins"][0]["clean_level"] == "inf"
    assert audit("NGCE(q=0.7)").to_dict()["ratio"] is None


def test_symmetric_losses_that_are_not_pointwise():
    nce = audit("NCE", noise=noise.asymmetric("cifar10", 0.4))
    assert (nce.ratio, nce.completely_asymmetric, nce.tolerant) == (1, True, True)
    assert nce.max_symmetric_rate == pytest.approx(0.9)
    # NGCE has no ratio; what it tolerates is measured row by row.
    ngce = audit("NGCE(q=0.7)", noise=noise.asymmetric("cifar10", 0.4))
    assert (ngce.ratio, ngce.margin, ngce.completely_asymmetric) == (None, None, False)
    assert ngce.max_symmetric_rate == pytest.approx(0.9)
    assert not ngce.tolerant
    assert {m.name for m in ngce.failing} == {"truck", "bird", "deer", "cat", "dog"}
    assert audit("NGCE(q=0.7)", noise="symmetric:0.8").tolerant


def test_a_sum_has_the_bound_of_theorem_5():
    found = audit("NCE + 4*AGCE(a=0.6, q=0.6)", noise="symmetric:0.8")
    assert found.ratio == AGCE(a=0.6, q=0.6).asymmetry_ratio()
    assert round(found.max_symmetric_rate, 3) == 0.859
    assert found.tolerant
    assert "0.6755, or more" in str(found)


class AMSE(Loss, register=False):
    """Neither pointwise nor symmetric: asymmetric iff w_m/w_n >= (a + sum w_i/w_n) / (a - 1)."""

    def per_class(self, log_p):
        p = log_p.exp()
        return p.square().sum(-1, keepdim=True) - 6 * p + 9  # a = 3


class Humped(Pointwise, register=False):
    def value(self, log_u):
        return -((log_u.exp() - 0.2) ** 2)


def test_what_is_completely_asymmetric_tolerates_all_symmetric_noise():
    """The ratio of this sum is a bound below 1; on two classes it tolerates more."""
    found = audit("AGCE(a=1, q=3) + AUL(a=1.2, p=3)", 2, "symmetric:0.499")
    assert found.completely_asymmetric
    assert found.tolerant
    assert found.max_symmetric_rate == 0.5
    assert found.verdict.startswith("tolerates all symmetric noise below 0.5 with 2 classes")


def test_a_users_losses():
    found = audit(AMSE())
    assert found.ratio is None
    assert found.max_symmetric_rate == pytest.approx(0.6, abs=1e-3)  # c = 9 (1 - e) / e >= 12 / 2
    humped = audit(Humped())
    assert (humped.ratio, humped.strict_ratio) == (None, None)
    assert humped.pointwise


def test_it_takes_seconds_with_many_classes_too():
    T = np.full((100, 100), 0.002) + np.random.default_rng(0).random((100, 100)) / 500
    np.fill_diagonal(T, 0)
    np.fill_diagonal(T, 1 - T.sum(1))
    start = time.process_time()  # of this process: others may be busy
    for text in ("NCE + AGCE(a=1e-3, q=0.5)", "NGCE(q=0.7)"):
        audit(text, noise=TransitionMatrix(T))
    assert (time.process_time() - start) / 2 < 10


def test_the_picture(tmp_path):
    many = noise.symmetric(30, 0.4)
    for text, given, panels in (("CE", None, 4), ("AEL(a=1)", "none", 4), ("NGCE(q=0.7)", many, 2)):
        figure = audit(text, noise=given).plot()
        assert len(figure.axes) == panels
        figure.savefig(tmp_path / "audit.svg")
    assert (tmp_path / "audit.svg").stat().st_size > 1000


def test_it_leaves_the_random_state_alone():
    before = torch.get_rng_state()
    audit("AGCE(a=0.6, q=0.6)", noise="symmetric:0.87")
    assert torch.equal(before, torch.get_rng_state())


@pytest.mark.parametrize(
    ("per_class", "says"),
    [
        (lambda log_p: -log_p * log_p.exp().mean(0, keepdim=True), "the other rows of the batch"),
        (lambda log_p: -log_p[:, 0], "has to be a tensor of the shape of log_p"),
    ],
    ids=["batch mean", "one class"],
)
def test_a_loss_of_the_batch_is_none_of_a_row(per_class, says):
    class OfBatch(Loss, register=False):
        def per_class(self, log_p):
            return per_class(log_p)

    with pytest.raises(TheoryError, match=says):
        audit(OfBatch(), classes=3, noise="symmetric:0.4")


class Level(Pointwise, register=False):
    def value(self, log_u):
        return 0 * log_u + 1


@pytest.mark.parametrize(
    "blind",
    [Level(), Spread(0.5), Spread(0.5) + Level(), Normalized(Level()), EpsSoftmax(Spread(0.1))],
    ids=str,
)
def test_a_loss_that_sees_no_label_tolerates_nothing(blind):
    # Its risk is least at the vertex of the right class, and as low at the others.
    found = audit(blind, noise="symmetric:0.4", classes=3)
    assert (found.sees_labels, found.tolerant, found.completely_asymmetric) == (False, False, False)
    assert found.max_symmetric_rate == 0
    assert found.ratio is found.margin is None
    assert found.verdict.startswith("the same whatever the label")
    assert audit(blind + AGCE(a=1, q=2), noise="symmetric:0.4", classes=3).tolerant


@pytest.mark.parametrize("rate", [5e-324, 1e-320, 1e-300])
def test_noise_of_next_to_nothing_is_tolerated_without_a_warning(rate):
    found = audit("MAE", classes=10, noise=f"symmetric:{rate}")
    assert found.tolerant
    assert all(row.margin > 1e299 for row in found.margins)


def costs(log_p):
    heavy = torch.ones(log_p.shape[-1], dtype=log_p.dtype)
    heavy[0] = 20
    return (1 - log_p.exp()) * heavy


def of_three(log_p):
    return (1 - log_p.exp()) * torch.tensor([20, 1, 1], dtype=log_p.dtype)


@pytest.mark.parametrize("formula", [costs, of_three])
def test_a_loss_to_which_classes_are_not_alike(formula):
    class Costly(Loss, register=False):
        def per_class(self, log_p):
            return formula(log_p)

    # What class 0 withstands says nothing of the others.
    for rows, tolerated in (([0.6, 0.2, 0.2], True), ([0.2, 0.6, 0.2], False)):
        assert is_asymmetric(Costly(), rows) == tolerated
        assert minimise_risk(Costly(), rows).minimiser.argmax() == 0
    for ask in (
        lambda: audit(Costly(), classes=3, noise="symmetric:0.4"),
        lambda: audit(Costly() + MAE(), classes=3),
        lambda: is_completely_asymmetric(Costly(), classes=3),
    ):
        with pytest.raises(TheoryError, match="not treat all classes alike"):
            ask()
    with pytest.raises(TheoryError, match=r"not treat all classes alike|fails on 5 classes"):
        asymmetry_ratio(Costly())
