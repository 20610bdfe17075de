"""Losses as objectives and metrics of LightGBM and XGBoost."""

import pickle

import lightgbm
import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

import noiseproof as nf
from noiseproof.errors import DataWarning, NoiseproofError, ParameterError, TargetError
from noiseproof.integrations import boosting

xgboost = pytest.importorskip("xgboost")

ROBUST = "AGCE(a=1, q=0.5)"
ROUNDS = 15


def table(classes):
    X, y = load_digits(return_X_y=True) if classes > 2 else load_breast_cancer(return_X_y=True)
    return train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)


def by_lightgbm(objective, X, y, rounds=ROUNDS, **settings):
    """A model by lightgbm.train, with the settings of its own objective."""
    classes = len(np.unique(y))
    settings |= {"verbosity": -1, "num_threads": 1, "num_leaves": 7}
    # Its own objective starts from the class frequencies; one that it is given starts from 0.
    settings |= {"boost_from_average": False, "num_class": classes if classes > 2 else 1}
    return lightgbm.train(settings | {"objective": objective}, lightgbm.Dataset(X, y), rounds)


def by_xgboost(objective, X, y, rounds=ROUNDS, **more):
    name = "multi:softprob" if len(np.unique(y)) > 2 else "binary:logistic"
    settings = {"objective": name, "nthread": 1, "max_depth": 3, "base_score": 0.5}
    if len(np.unique(y)) > 2:
        settings["num_class"] = len(np.unique(y))
    rows = xgboost.DMatrix(X, y)
    return xgboost.train(settings, rows, rounds, obj=objective, **more)


@pytest.mark.parametrize("classes", [2, 10])
def test_cross_entropy_is_lightgbms_own_objective(classes):
    X, Xt, y, yt = table(classes)
    own = by_lightgbm("multiclass" if classes > 2 else "binary", X, y)
    ours = by_lightgbm(boosting.lightgbm_objective("CE"), X, y)
    p = own.predict(Xt) if classes > 2 else boosting.probabilities(own.predict(Xt, raw_score=True))
    q = boosting.probabilities(ours.predict(Xt, raw_score=True))
    assert np.abs(p - q).mean() < 2e-3
    assert abs(np.mean(p.argmax(1) == yt) - np.mean(q.argmax(1) == yt)) <= 0.01


@pytest.mark.parametrize("classes", [2, 10])
def test_cross_entropy_is_xgboosts_own_objective(classes):
    X, Xt, y, _ = table(classes)
    own, ours = by_xgboost(None, X, y), by_xgboost(boosting.xgboost_objective("CE"), X, y)
    p, q = (model.predict(xgboost.DMatrix(Xt)) for model in (own, ours))
    # For two classes base_score is a probability to the one, a raw score to the other.
    assert np.abs(p - q).mean() < (2e-3 if classes > 2 else 0.02)


@pytest.mark.parametrize("kind", [boosting.lightgbm_objective, boosting.xgboost_objective])
@pytest.mark.parametrize("classes", [2, 10])
def test_weights_are_in_gradient_and_curvature_however_they_come(kind, classes):
    X, _, y, _ = table(classes)
    rng = np.random.default_rng(0)
    weight = rng.random(len(y)).astype(np.float32)
    scores = rng.normal(size=(len(y), classes) if classes > 2 else len(y))
    objective = kind(ROBUST)
    plain = objective(y, scores)
    by_row = weight.astype(np.float64).reshape(-1, *[1] * (scores.ndim - 1))
    for given in (
        (y, scores, weight),
        (scores, lightgbm.Dataset(X, y, weight=weight).construct()),
        (scores, xgboost.DMatrix(X, y, weight=weight)),
    ):
        for found, expected in zip(objective(*given), plain, strict=True):
            np.testing.assert_allclose(found, expected * by_row, rtol=1e-6)
    for found, expected in zip(objective(scores, xgboost.DMatrix(X, y)), plain, strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.filterwarnings("ignore:The argument 'eval_set'")
def test_the_scikit_learn_classes_take_them():
    X, Xt, y, yt = table(10)
    weight = np.ones(len(y))
    ours = lightgbm.LGBMClassifier(
        n_estimators=ROUNDS, objective=boosting.lightgbm_objective(ROBUST), verbosity=-1, n_jobs=1
    ).fit(
        X,
        y,
        sample_weight=weight,
        eval_set=[(Xt, yt)],
        eval_metric=boosting.lightgbm_metric(ROBUST),
    )
    raw = ours.predict_proba(Xt, raw_score=True)
    assert np.mean(boosting.probabilities(raw).argmax(1) == yt) > 0.9
    (curve,) = (v for k, v in ours.evals_result_["valid_0"].items() if k == ROBUST)
    assert curve[-1] == pytest.approx(boosting.mean_loss(ROBUST)(yt, raw))
    assert curve[-1] < curve[0]
    theirs = xgboost.XGBClassifier(
        n_estimators=ROUNDS, objective=boosting.xgboost_objective(ROBUST), n_jobs=1,
        eval_metric=boosting.mean_loss(ROBUST),
    ).fit(X, y, sample_weight=weight, eval_set=[(Xt, yt)], verbose=False)  # fmt: skip
    p = theirs.predict_proba(Xt)
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-5)
    assert np.mean(theirs.predict(Xt) == yt) > 0.9
    curve = theirs.evals_result()["validation_0"]["mean_loss"]
    margin = theirs.predict(Xt, output_margin=True)
    assert curve[-1] == pytest.approx(boosting.mean_loss(ROBUST)(yt, margin), rel=1e-4)


def test_the_metrics_stop_a_training():
    X, Xt, y, yt = table(10)
    y = nf.noise.symmetric(10, 0.4).corrupt(y, seed=1).labels
    found = {}
    by_xgboost(
        boosting.xgboost_objective("CE"), X, y, rounds=200,
        evals=[(xgboost.DMatrix(Xt, yt), "held")], evals_result=found,
 custom_metric=boosting.xgboost_metric("GCE(q=0.7)"), verbose_eval=False, early_stopping_rounds=1,
    )  # fmt: skip
    (curve,) = (v for k, v in found["held"].items() if k == "GCE(q=0.7)")
    assert 3 < len(curve) < 200
    train, held = lightgbm.Dataset(X, y), {}
    lightgbm.train(
        {"objective": boosting.lightgbm_objective("CE"), "num_class": 10, "verbosity": -1,
         "num_threads": 1, "metric": "none", "learning_rate": 0.3},
        train, 200, valid_sets=[lightgbm.Dataset(Xt, yt, reference=train)],
        feval=boosting.lightgbm_metric("GCE(q=0.7)"),
        callbacks=[lightgbm.early_stopping(1, verbose=False), lightgbm.record_evaluation(held)],
    )  # fmt: skip
    assert 3 < len(held["valid_0"]["GCE(q=0.7)"]) < 200


@pytest.mark.filterwarnings("ignore:The argument 'eval_set'")
@pytest.mark.parametrize("classes", [2, 10])
def test_the_metric_of_the_libraries_own_objectives_is_theirs(classes):
    # They give a metric probabilities then, which are no scores.
    X, _, y, _ = table(classes)
    few = {"n_estimators": 5, "n_jobs": 1}
    ours = boosting.lightgbm_metric("CE", probabilities=True)
    model = lightgbm.LGBMClassifier(**few, verbosity=-1)
    model.fit(X, y, eval_set=[(X, y)], eval_metric=ours)
    settings = {"objective": "multiclass" if classes > 2 else "binary", "verbosity": -1}
    settings |= {"num_threads": 1, "num_class": classes if classes > 2 else 1}

    def by_train(metric, found):
        rows = lightgbm.Dataset(X, y)
        called = [lightgbm.record_evaluation(found)]
        lightgbm.train(settings, rows, 5, valid_sets=[rows], feval=metric, callbacks=called)

    by_train(ours, held := {})
    by_xgboost(
        None, X, y, rounds=5, evals=[(xgboost.DMatrix(X, y), "t")], evals_result=(found := {}),
        custom_metric=boosting.xgboost_metric("CE", probabilities=True), verbose_eval=False,
    )  # fmt: skip
    for curve in (model.evals_result_["training"], held["training"], found["t"]):
        (theirs,) = (v[-1] for k, v in curve.items() if k != "CE")
        assert curve["CE"][-1] == pytest.approx(theirs, rel=1e-4)
    mean = boosting.mean_loss("CE", probabilities=True)
    model = xgboost.XGBClassifier(**few, eval_metric=mean)
    model.fit(X, y, eval_set=[(X, y)], verbose=False)
    expected = log_loss(y, model.predict_proba(X))
    curve = model.evals_result()["validation_0"]["mean_loss"]
    assert curve[-1] == pytest.approx(expected, rel=1e-4)
    # Taken for scores they would be another number: it is said where it shows.
    with pytest.raises(ParameterError, match="probabilities=True"):
        by_train(boosting.lightgbm_metric("CE"), {})
    with pytest.raises(ParameterError, match="got raw scores"):
        mean(y, model.predict(X, output_margin=True))
    if classes > 2:
        with pytest.raises(ParameterError, match="probabilities=True"):
            boosting.mean_loss("CE")(y, model.predict_proba(X))
    else:  # raw scores may be between 0 and 1 as well
        with pytest.warns(DataWarning, match="probabilities=True"):
            boosting.mean_loss("CE")(y, model.predict_proba(X)[:, 1])


@pytest.mark.filterwarnings("ignore:The argument 'eval_set'")
@pytest.mark.parametrize("classes", [2, 10])
def test_without_a_metric_of_its_own_lightgbm_stops_by_ours(classes):
    # As the docs say it: its own, of raw scores, would stop after a few trees.
    X, Xt, y, yt = table(classes)
    model = lightgbm.LGBMClassifier(
        n_estimators=60, objective=boosting.lightgbm_objective(ROBUST), metric="None", verbosity=-1,
        n_jobs=1, reg_lambda=1.0, num_leaves=7,
    )  # fmt: skip
    metric = boosting.lightgbm_metric(ROBUST)
    stop = lightgbm.early_stopping(3, verbose=False)
    model.fit(X, y, eval_set=[(Xt, yt)], eval_metric=metric, callbacks=[stop])
    assert list(model.evals_result_["valid_0"]) == [ROBUST]
    curve = model.evals_result_["valid_0"][ROBUST]
    assert model.best_iteration_ == 1 + int(np.argmin(curve)) > 20


@pytest.mark.filterwarnings("ignore:Cannot compute class probabilities")
@pytest.mark.parametrize("classes", [2, 10])
def test_a_model_is_pickled_with_its_objective_and_metric(classes):
    X, Xt, y, _ = table(classes)
    few = {"n_estimators": 3, "n_jobs": 1}
    models = [
        lightgbm.LGBMClassifier(objective=boosting.lightgbm_objective(ROBUST), verbosity=-1, **few),
        xgboost.XGBClassifier(
            objective=boosting.xgboost_objective(ROBUST), eval_metric=boosting.mean_loss(ROBUST),
            **few,
        ),
    ]  # fmt: skip
    for model in models:
        model = clone(model)
        model.fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(Xt), model.predict(Xt))
        np.testing.assert_array_equal(again.fit(X, y).predict(Xt), model.predict(Xt))
    for made in (boosting.lightgbm_metric, boosting.xgboost_metric):
        again = pickle.loads(pickle.dumps(made("CE")))
        scores = np.zeros((len(y), classes))
        rows = xgboost.DMatrix(X, y)
        assert again(scores, rows) == made("CE")(scores, rows)


def test_the_metric_of_cross_entropy_is_scikit_learns():
    rng = np.random.default_rng(0)
    y, w = rng.integers(4, size=50), rng.random(50)
    raw = rng.normal(size=(50, 4))
    expected = log_loss(y, boosting.probabilities(raw), sample_weight=w, labels=range(4))
    assert boosting.mean_loss("CE")(y, raw, sample_weight=w) == pytest.approx(expected)
    name, value, higher = boosting.lightgbm_metric("CE")(y, raw, w)
    assert (name, higher) == ("CE", False)
    assert value == pytest.approx(expected)


@pytest.mark.parametrize("options", [{}, {"label_smoothing": 0.2}, {"ignore_index": 2}], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_metric_is_torchs_mean_class_weights_included(weighted, options):
    rng = np.random.default_rng(1)
    y, raw = rng.integers(4, size=60), rng.normal(size=(60, 4))
    w = rng.random(60) if weighted else None
    classes = torch.tensor([1.0, 5.0, 0.5, 2.0], dtype=torch.float64)
    rows = torch.nn.CrossEntropyLoss(classes, reduction="none", **options)
    z, label = torch.tensor(raw), torch.tensor(y)
    counted = classes[label] * (label != options.get("ignore_index", -100))
    given = torch.ones(60, dtype=torch.float64) if w is None else torch.tensor(w)
    expected = float((rows(z, label) * given).sum() / (counted * given).sum())
    if w is None:
        assert expected == pytest.approx(
            float(torch.nn.CrossEntropyLoss(classes, **options)(z, label))
        )
    loss = nf.CE(classes, **options)
    assert boosting.mean_loss(loss)(y, raw, w) == pytest.approx(expected)
    assert float(loss(z, label, None if w is None else given)) == pytest.approx(expected)


@pytest.mark.parametrize("loss", [nf.AGCE(a=1, q=0.5), nf.loss("NCE + MAE"), nf.CE()], ids=str)
def test_the_gradient_of_one_score_is_that_of_two_classes(loss):
    s = np.linspace(-3, 3, 13)
    y = (np.arange(13) % 2).astype(np.float32)  # as the libraries hold labels
    z = torch.tensor(s, requires_grad=True)
    both = torch.stack([torch.zeros_like(z), z], 1)
    rows = nf.loss(str(loss), reduction="sum")(both, torch.tensor(y).long())
    gradient, curvature = boosting.lightgbm_objective(loss)(y, s)
    np.testing.assert_allclose(gradient, torch.autograd.grad(rows, z)[0].numpy(), rtol=1e-8)
    assert gradient.dtype == curvature.dtype == np.float64
    assert (curvature > 0).all()


@pytest.mark.parametrize("made", [boosting.lightgbm_objective, boosting.mean_loss])
def test_labels_and_losses_that_are_none(made):
    with pytest.raises(TargetError, match=r"got 0.7: these objectives take no probabilities"):
        made("CE")(np.array([0, 1, 0.7]), np.zeros(3))
    with pytest.raises(ParameterError, match=r"a loss or its text, got <class"):
        made(nf.CE)


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_a_robust_objective_withstands_wrong_labels(library):
    X, Xt, y, yt = table(10)
    given = nf.noise.symmetric(10, 0.4).corrupt(y, seed=2).labels
    right = []
    for loss in ("CE", ROBUST):
        if library == "lightgbm":
            model = by_lightgbm(boosting.lightgbm_objective(loss), X, given, rounds=60, lambda_l2=1)
            found = model.predict(Xt, raw_score=True)
        else:
            model = by_xgboost(boosting.xgboost_objective(loss), X, given, rounds=60)
            found = model.predict(xgboost.DMatrix(Xt))
        right.append(np.mean(found.argmax(1) == yt))
    assert right[1] > right[0] + 0.01


def test_a_negative_weight_is_named_by_metrics_too():
    with pytest.raises(ParameterError, match="sample_weight >= 0"):
        boosting.mean_loss("CE")(np.array([0, 1]), np.zeros((2, 3)), np.array([1.0, -1.0]))


@pytest.mark.parametrize(
    ("labels", "scores", "weight"),
    [
        ([0, 1], None, None),
        ([0, 1], "ab", None),
        ([0, 1], [[1.0, 2.0], [3.0]], None),
        ([0, 1], np.zeros((2, 2, 2)), None),
        ([0, 1], np.zeros((2, 0)), None),
        ([0, 0], np.zeros((2, 1)), None),
        (["a", "b"], [2.0, -3.0], None),
        ([0, 1], [2.0, -3.0], 2.0),
        ([0, 1], [2.0, -3.0], ["a", "b"]),
    ],
    ids=str,
)
def test_what_are_no_scores_labels_or_weights_is_one_line(labels, scores, weight):
    calls = [
        lambda: boosting.mean_loss("CE")(labels, scores, weight),
        lambda: boosting.mean_loss("CE", probabilities=True)(labels, scores, weight),
        lambda: boosting.lightgbm_objective("CE")(labels, scores, weight),
    ]
    if weight is None and labels == [0, 1]:
        calls.append(lambda: boosting.probabilities(scores))
    for call in calls:
        with pytest.raises(NoiseproofError) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_whole_numbers_are_scores_and_probabilities_too():
    by_text = boosting.mean_loss("GCE", probabilities=True)
    assert by_text([0, 1], [0, 1]) == by_text([0, 1], [0.0, 1.0]) == 0
    with pytest.raises(ParameterError, match="add up to 1"):
        by_text([0, 1], [[0.9, 0.9], [0.1, 0.1]])


def test_probabilities_are_not_made_of_probabilities():
    p = boosting.probabilities(np.random.default_rng(0).normal(size=(50, 3)))
    for given in (p, p.astype(np.float32), np.eye(3)):  # as XGBClassifier.predict_proba returns
        with pytest.raises(ParameterError, match="expected raw scores, got probabilities"):
            boosting.probabilities(given)
    np.testing.assert_allclose(boosting.probabilities(np.log(p)), p)
    np.testing.assert_allclose(boosting.probabilities(np.zeros((2, 3))), 1 / 3)
