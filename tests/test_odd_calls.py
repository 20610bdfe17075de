"""Whatever is handed to a public function: an answer, or one line of ours about what is wrong."""

import copy
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import noiseproof as nf
from noiseproof.integrations import boosting
from noiseproof.integrations.transformers import compute_loss

ODD = {
    "None": None, "text": "x", "empty text": "", "five": 5, "minus one": -1, "half": 2.5,
    "nan": float("nan"), "inf": float("inf"), "huge": 10**30, "true": True, "bytes": b"x",
    "empty list": [], "ragged": [[1], [2, 3]], "dict": {1: 2}, "set": {1}, "object": object(),
    "array": np.array([1, 2]), "matrix": np.eye(3), "no numbers": np.array(["a", "b"]),
    "tensor": torch.ones(2), "scalar tensor": torch.tensor(1), "type": int, "pair": (1, 2),
    "beyond floats": 10**400, "lists of one": [[1], [2], [3]], "module": torch.nn.Identity(),
    "module type": torch.nn.Module, "parameter": torch.nn.Parameter(torch.ones(2)),
    "big-endian": np.eye(3, dtype=">f8"), "big-endian labels": np.array([0, 1], dtype=">i8"),
    "long": np.eye(3, dtype=np.longdouble), "complex": 1j, "long text": "x" * 5000,
    "loss": nf.CE(), "loss text": "MAE", "losses": [nf.CE(), nf.MAE()],
    "parts": torch.nn.ModuleList(), "sparse": torch.eye(3).to_sparse(),
    "meta": torch.ones(3, device="meta"), "no classes": torch.zeros(4, 0),
    "no rows": np.ones((0, 3)),
    "long long": np.ones((4, 3), dtype=np.longlong), "unsigned": np.full(4, 2**63, np.ulonglong),
    "masked": np.ma.array(["a", "b", "c"], mask=[True, False, False]), "zero byte": "a\0b",
}  # fmt: skip

T = nf.noise.symmetric(3, 0.4)
LABELS = np.arange(60) % 3
P = np.full((60, 3), 0.1) + 0.7 * np.eye(3)[LABELS]
ESTIMATED = nf.noise.estimate(LABELS, P)
LOGITS, TARGET = torch.randn(4, 3), torch.tensor([0, 1, 2, 0])
SCORES = 5 * P
BOOSTED = {"a": LABELS, "b": SCORES, "sample_weight": np.ones(60)}
CALLS = {
    "loss": (nf.loss, {"text": "AGCE(a=1, q=0.5)", "reduction": "mean", "weight": None,
                       "ignore_index": 0, "label_smoothing": 0.0}),
    "AGCE": (nf.AGCE, {"a": 1, "q": 0.5, "reduction": "mean", "weight": None, "ignore_index": 0,
                       "label_smoothing": 0.0}),
    "SCE": (nf.SCE, {"alpha": 1, "beta": 1, "A": -4}),
    "Normalized": (nf.Normalized, {"base": nf.CE()}),
    "called": (nf.CE(), {"input": LOGITS, "target": TARGET, "sample_weight": torch.ones(4)}),
    "called, not pointwise": (nf.NCE(), {"input": LOGITS, "target": TARGET}),
    "derivatives": (nf.CE().derivatives, {"scores": LOGITS, "target": TARGET,
                                          "weight": torch.ones(4)}),
    "derivatives of arrays": (nf.CE().derivatives, {"scores": P, "target": LABELS,
                                                    "weight": np.ones(60)}),
    "linear_loss": (nf.linear_loss, {"hidden": torch.randn(4, 2), "weight": torch.randn(3, 2),
                                     "target": TARGET, "loss": nf.CE(), "bias": None}),
    "asymmetric_on": (nf.AMSE(a=5).asymmetric_on, {"weights": [0.6, 0.4]}),
    "a_for of AMSE": (nf.AMSE.a_for, {"gap": 0.2}),
    "a_for of AGCE": (nf.AGCE.a_for, {"q": 0.5, "clean_level": 2.0}),
    "a_for of AUL": (nf.AUL.a_for, {"p": 2.0, "clean_level": 2.0}),
    "a_for of AEL": (nf.AEL.a_for, {"clean_level": 2.0}),
    "eps_for": (nf.Biased.eps_for, {"classes": 10}),
    "l1_penalty": (nf.losses.l1_penalty, {"module": torch.nn.Linear(2, 2)}),
    "paper_loss": (nf.paper_loss, {"method": "GCE", "dataset": "mnist"}),
    "asymmetry_ratio": (nf.asymmetry_ratio, {"loss": "CE", "strict": False}),
    "is_symmetric": (nf.is_symmetric, {"loss": "CE", "classes": 3}),
    "is_asymmetric": (nf.is_asymmetric, {"loss": "MAE", "weights": [0.6, 0.4]}),
    "minimise_risk": (nf.minimise_risk, {"loss": "MAE", "weights": [0.6, 0.4]}),
    "calibration": (nf.calibration, {"loss": "MAE"}),
    "check_excess_risk": (nf.check_excess_risk, {"loss": "MAE", "problems": 10, "seed": 0}),
    "audit": (nf.audit, {"loss": "CE", "classes": 3, "noise": T}),
    "recommend": (nf.recommend, {"noise": "symmetric:0.4", "classes": 3, "margin": 1.5,
                                 "dataset": None, "accuracy": None}),
    "symmetric": (nf.noise.symmetric, {"K": 3, "rate": 0.2, "classes": None}),
    "pair_flip": (nf.noise.pair_flip, {"K": 3, "rate": 0.2}),
    "superclass": (nf.noise.superclass, {"groups": [0, 0, 1], "rate": 0.2, "classes": None}),
    "asymmetric": (nf.noise.asymmetric, {"which": "mnist", "rate": 0.2, "classes": None,
                                         "variant": "corrected"}),
    "asymmetric, a map": (nf.noise.asymmetric, {"which": {0: 1}, "rate": 0.2, "classes": 3}),
    "parse": (nf.noise.parse, {"text": "symmetric:0.2", "classes": 3, "dataset": None}),
    "identity": (nf.noise.identity, {"K": 3, "classes": None}),
    "instance_dependent": (nf.noise.instance_dependent, {"features": P, "labels": LABELS,
                                                         "rate": 0.2, "seed": 0}),
    "human_corruption": (nf.noise.human_corruption, {"clean": LABELS, "given": LABELS,
                                                     "classes": None}),
    "stream": (nf.noise.stream, {"seed": 1, "name": "noise"}),
    "nearest": (nf.noise.nearest, {"features": P, "k": 2, "metric": "cosine"}),
    "TransitionMatrix": (nf.noise.TransitionMatrix, {"matrix": np.eye(3), "classes": None}),
    "rate_under": (T.rate_under, {"prior": [1, 1, 1]}),
    "strongest_confusion": (T.strongest_confusion, {"i": 0}),
    "confusions": (T.confusions, {"at_most": 1.0}),
    "corrupt": (T.corrupt, {"labels": LABELS, "seed": 1, "exact": False}),
    "estimate": (nf.noise.estimate, {"labels": LABELS, "probabilities": P, "classes": None,
                                     "neighbours": None, "trusted": None, "groups": None,
                                     "difficult": 0.0}),
    "doubt": (ESTIMATED.doubt, {"labels": LABELS, "probabilities": P, "neighbours": None}),
    "objective of LightGBM": (boosting.lightgbm_objective("CE"), BOOSTED),
    "objective of XGBoost": (boosting.xgboost_objective("CE"), BOOSTED),
    "metric of LightGBM": (boosting.lightgbm_metric("CE"), BOOSTED),
    "metric of XGBoost": (boosting.xgboost_metric("CE"), {
        "scores": SCORES,
        "rows": SimpleNamespace(get_label=lambda: LABELS, get_weight=lambda: np.ones(60))}),
    "mean_loss": (boosting.mean_loss("CE"), BOOSTED),
    "mean_loss of probabilities": (boosting.mean_loss("CE", probabilities=True),
                                   BOOSTED | {"b": P}),
    "boosted probabilities": (boosting.probabilities, {"scores": SCORES}),
    "compute_loss": (compute_loss, {"loss": "CE", "shift": None, "linear": None}),
    "loss for a Trainer": (compute_loss("CE"), {"outputs": SimpleNamespace(logits=LOGITS),
                                                "labels": TARGET, "num_items_in_batch": 4}),
    "loss for a Trainer, shifted": (compute_loss("CE", shift=True), {
        "outputs": SimpleNamespace(logits=torch.zeros(2, 4, 3)),
        "labels": torch.zeros(2, 4, dtype=torch.int64), "num_items_in_batch": 6}),
    "loss for a Trainer, logits": (lambda logits: compute_loss("CE")({"logits": logits}, TARGET),
                                   {"logits": LOGITS}),
    "true_class": (ESTIMATED.true_class, {"labels": LABELS, "probabilities": P}),
}  # fmt: skip
# Every kind of parameter: numbers, flags, losses, weights and terms.
LOSSES = [
    nf.AGCE(1, 0.5), nf.FL(), nf.NFL(), nf.Normalized(nf.CE()), nf.Normalized(nf.NCE()),
    nf.Biased(nf.MAE()), nf.EpsSoftmax(nf.CE()), nf.UnitLogits(nf.NCE()), nf.CE() + nf.MAE(),
    nf.NCE() + nf.MAE(), nf.NCE() + nf.EpsSoftmax(nf.CE()),
]  # fmt: skip
CASES = [(name, argument) for name, (_, given) in CALLS.items() for argument in given]


def complaint(call, given):
    try:
        call(**given)
    except nf.errors.NoiseproofError as error:
        return str(error)
    return "none at all"


@pytest.mark.filterwarnings("ignore::noiseproof.errors.DataWarning")
@pytest.mark.parametrize(("name", "argument"), CASES, ids=[" ".join(case) for case in CASES])
def test_an_answer_or_one_line(name, argument):
    call, given = CALLS[name]
    call(**given)
    for what, odd in ODD.items():
        assert re.fullmatch(".{6,2100}", complaint(call, given | {argument: odd})), what


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_what_a_loss_is_built_with_or_set_to(loss):
    parameters = {name: getattr(loss, name) for name in loss.parameter_types()}
    given = parameters | loss.options
    for name in given:
        for what, odd in ODD.items():
            said = complaint(type(loss), given | {name: odd})
            assert re.fullmatch(".{6,2100}", said), (name, what)
            changed = copy.deepcopy(loss)
            said = complaint(lambda value, to=(changed, name): setattr(*to, value), {"value": odd})
            assert re.fullmatch(".{6,2100}", said), (name, what)
            assert said == "none at all" or str(changed) == str(loss), (name, what)
