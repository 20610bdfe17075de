"""Equal data, equal answers, whatever holds them; and what is no number is none anywhere."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import torch

import noiseproof as nf
from noiseproof.integrations import boosting
from noiseproof.integrations.transformers import compute_loss
from noiseproof.learn import options
from noiseproof.theory import numeric_asymmetry_ratio

T = nf.noise.symmetric(4, 0.4)
LABELS = np.arange(24) % 4
P = np.full((24, 4), 0.125) + 0.5 * np.eye(4)[LABELS]
FEATURES = np.arange(48).reshape(24, 2) % 7 / 4
#: Numbers that every type of float holds, and what is asked of them.
CALLS = {
    "corrupt": (lambda x: np.asarray(T.corrupt(x, seed=1)), LABELS),
    "clean labels": (lambda x: nf.noise.human_corruption(x, LABELS[::-1]).counts, LABELS),
    "human labels": (lambda x: nf.noise.human_corruption(LABELS[::-1], x).counts, LABELS),
    "labels with features": (lambda x: nf.noise.instance_dependent(FEATURES, x, 0.4, 1).counts,
                             LABELS),
    "features": (lambda x: nf.noise.instance_dependent(x, LABELS, 0.4, 1).counts, FEATURES),
    "nearest": (lambda x: nf.noise.nearest(x, 3), FEATURES),
    "matrix": (lambda x: nf.noise.TransitionMatrix(x).clean_level,
               np.full((4, 4), 0.125) + 0.5 * np.eye(4)),
    "rate_under": (T.rate_under, np.array([1.0, 2.0, 4.0, 0.5])),
    "superclass": (lambda x: nf.noise.superclass(x, 0.2).matrix, np.array([0, 1, 0, 1])),
    "estimated labels": (lambda x: nf.noise.estimate(x, P).rate, LABELS),
    "probabilities": (lambda x: nf.noise.estimate(LABELS, x).rate, P),
    "minimise_risk": (lambda x: nf.minimise_risk("MAE", x).risk, np.array([0.5, 0.25, 0.125])),
    "is_asymmetric": (lambda x: nf.is_asymmetric("AEL(a=2.5)", x), np.array([0.5, 0.25, 0.125])),
    "asymmetric_on": (nf.AMSE(a=5).asymmetric_on, np.array([0.5, 0.25, 0.125])),
    "boosted labels": (lambda x: boosting.lightgbm_objective("MAE")(x, P)[0], LABELS),
    "boosted scores": (lambda x: boosting.mean_loss("MAE")(LABELS, x), 4 * P),
    "boosted weights": (lambda x: boosting.mean_loss("MAE")(LABELS, 4 * P, x), LABELS + 0.5),
    "boosted probabilities": (boosting.probabilities, 4 * P),
}  # fmt: skip


def forms(data):
    """Yield the same numbers in other forms."""
    whole = data.dtype.kind == "i"
    yield from (data.tolist(), data.astype(object), np.asfortranarray(data), data[::-1][::-1])
    yield np.repeat(data, 2, axis=0)[::2]
    yield data.astype(data.dtype.newbyteorder(">"))
    yield np.ma.array(data)
    yield pd.Series(data) if data.ndim == 1 else pd.DataFrame(data)
    tensor = torch.from_numpy(data)
    yield from (tensor, tensor.clone().t().contiguous().t() if data.ndim == 2 else tensor[None][0])
    if whole:
        yield from (data.astype(np.uint8), tensor.to(torch.uint16), pd.Series(data, dtype="Int64"))
        return
    yield from (data.astype(np.float16), data.astype(np.longdouble), tensor.bfloat16())
    yield from (tensor.requires_grad_(), tensor.detach().to(torch.float8_e4m3fn))
    yield torch._neg_view(-tensor.detach())  # as the imaginary part of a conjugate is


def answer(call, given):
    try:
        return np.asarray(call(given))
    except nf.errors.NoiseproofError as error:
        return str(error)


@pytest.mark.filterwarnings("ignore::noiseproof.errors.DataWarning")
@pytest.mark.parametrize("name", CALLS)
def test_equal_data_have_equal_answers_or_one_line(name):
    call, data = CALLS[name]
    expected = call(data)
    for form in forms(data):
        found = answer(call, form)
        if isinstance(found, str):
            assert np.asarray(form).dtype.kind == "O", found
            assert len(found.splitlines()) == 1
        else:
            np.testing.assert_allclose(found, np.asarray(expected), rtol=1e-3)


@pytest.mark.parametrize("name", CALLS)
def test_a_mask_is_honoured(name):
    call, data = CALLS[name]
    masked = np.ma.array(data, mask=np.zeros(data.shape, dtype=bool))
    masked[1] = np.ma.masked
    with pytest.raises(nf.errors.NoiseproofError, match=r"\A.*masked.*\Z"):
        call(masked)


NUMBERS = {
    "loss": lambda x: nf.AGCE(a=x, q=0.5),
    "label_smoothing": lambda x: nf.CE(label_smoothing=x),
    "rate": lambda x: nf.noise.symmetric(3, x),
    "K": lambda x: nf.noise.identity(x),
    "classes": lambda x: nf.noise.parse("symmetric:0.2", classes=x),
    "seed": lambda x: T.corrupt(LABELS, seed=x) if not is_true(x) else nf.noise.stream("x", "a"),
    "k": lambda x: nf.noise.nearest(FEATURES, k=x),
    "confusions": T.confusions,
    "strongest_confusion": T.strongest_confusion,
    "margin": lambda x: nf.recommend("symmetric:0.2", 3, margin=x),
    "accuracy": lambda x: nf.recommend("symmetric:0.2", 3, accuracy=x),
    "difficult": lambda x: nf.noise.estimate(LABELS, P, difficult=x),
    "minutes": lambda x: options.check(None, None, 0, x, 5),
    "search": lambda x: options.check(None, None, x, 5, 5),
    "folds": lambda x: options.check(None, None, 0, 5, x),
    "problems": lambda x: nf.check_excess_risk("MAE", problems=x),
    "a_for": lambda x: nf.AMSE.a_for(gap=x),
    "items": lambda x: compute_loss("CE")(
        SimpleNamespace(logits=torch.zeros(2, 3)), torch.tensor([0, 1]), x
    ) if not isinstance(x, torch.Tensor) else nf.AMSE.a_for(gap=x),
}  # fmt: skip


def is_true(x):
    return x.dtype in (torch.bool, np.bool_)


@pytest.mark.parametrize("name", NUMBERS)
def test_truths_times_and_complex_numbers_are_no_numbers(name):
    odd = [
        np.bool_(True), np.array(True), torch.tensor(True), np.timedelta64(1, "ns"),
        np.datetime64(1, "ns"), np.complex64(1 + 2j), np.array(1j), torch.tensor(1j), np.array("1"),
    ]  # fmt: skip
    for given in odd:
        with pytest.raises(nf.errors.NoiseproofError, match=r"\A.{10,200}\Z"):
            NUMBERS[name](given)


@pytest.mark.parametrize(
    "ask",
    [
        lambda x: nf.asymmetry_ratio("MAE", strict=x),
        lambda x: numeric_asymmetry_ratio("MAE", strict=x),
        lambda x: nf.FL(detach=x),
        lambda x: compute_loss("CE", shift=x),
        lambda x: boosting.mean_loss("CE", probabilities=x),
        lambda x: boosting.lightgbm_metric("CE", probabilities=x),
        lambda x: boosting.xgboost_metric("CE", probabilities=x),
    ],
)
def test_a_flag_is_true_or_false(ask):
    ask(np.bool_(True))
    for given in ("False", "no", 0, 1, [], np.ones(2), torch.tensor(True)):
        with pytest.raises(nf.errors.ParameterError, match="to be True or False"):
            ask(given)
