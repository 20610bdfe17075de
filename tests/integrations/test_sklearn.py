"""RobustClassifier is a scikit-learn classifier in every way that scikit-learn checks."""

import pickle
import time
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from noiseproof import losses, noise
from noiseproof.errors import DataError, DataWarning, NoiseproofError, ParameterError
from noiseproof.integrations.sklearn import RobustClassifier
from noiseproof.learn.learners import registry

IRIS = load_iris(return_X_y=True)


#: Settings are compared on folds: a row that is there twice is in one of them, and the others are
#: dealt otherwise than with one row of twice the weight. So it is with LogisticRegressionCV.
FOLDS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "other folds, other settings"
    for kind in ("dense", "sparse")
}


@parametrize_with_checks(
    [RobustClassifier(minutes=0), RobustClassifier("GCE(q=0.7)", learner="linear")],
    expected_failed_checks=lambda _: FOLDS,
)
def test_scikit_learn_agrees(estimator, check):
    if check.func.__name__ == "check_array_api_input":
        pytest.skip("needs SCIPY_ARRAY_API")
    check(estimator)


@pytest.mark.parametrize(
    "options", [{"label_smoothing": 0.5}, {"weight": torch.ones(3)}, {"ignore_index": 1}]
)
def test_options_that_a_learner_cannot_honour_are_refused(options):
    with pytest.raises(ParameterError, match="without class weights, label smoothing and ignore"):
        RobustClassifier(losses.CE(**options)).fit(*IRIS)


def test_a_robust_loss_beats_cross_entropy_on_wrong_labels():
    X, y = load_digits(return_X_y=True)
    given = noise.symmetric(10, 0.4).corrupt(y[:800], seed=1).labels
    plain, robust = (
        RobustClassifier(loss).fit(X[:800], given).score(X[800:], y[800:])
        for loss in ("CE", "AGCE(a=1, q=0.5)")
    )
    assert robust > plain + 0.05


def test_labels_with_the_index_in_another_order_are_a_warning():
    X, y = pd.DataFrame(IRIS[0]), pd.Series(IRIS[1])
    with pytest.warns(DataWarning, match="same index in different orders"):
        RobustClassifier("CE").fit(X, y.sample(frac=1, random_state=0))


def test_labels_of_any_type_come_back():
    X, y = IRIS
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = RobustClassifier("CE").fit(X, names)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert (model.predict(X) == names).mean() > 0.9
    assert model.predict_proba(X).shape == (150, 3)


@pytest.mark.parametrize(
    ("dtype", "back"),
    [("int8", "int8"), ("category", "int64"), ("Int16", "int16"), ("object", "int64"),
     ("boolean", "bool"), ("float64", "float64")],
)  # fmt: skip
def test_labels_come_back_as_the_type_they_had(dtype, back):
    X, y = IRIS
    labels = pd.Series(y > 0) if back == "bool" else pd.Series(y)
    model = RobustClassifier("CE").fit(X, labels.astype(dtype))
    assert model.predict(X).dtype == back


def test_inputs_that_cannot_be_learnt_from_are_one_line():
    X, y = IRIS
    mixed = np.array([1, "a", 2.5], dtype=object)[y]
    for inputs, labels, message in (
        ([[1, 2], [1]], [0, 1], "row 0 has 2 values, row 1 has 1"),
        (X * 1e200, y, "X: 5.1e.200 in row 0, column 0 is beyond what float32 holds"),
        (X, mixed, "labels of types float and int and str: make them all text"),
        (X, [[1, "1", "2"][k] for k in y], "labels of types int and str: make them all text"),
        (X, [[np.int8(1), "1", "2"][k] for k in y], "labels of types int and str: make them all"),
        (X, [["a", "b", None][k] for k in y], "some labels are missing"),
        (X, [["a", "b", np.nan][k] for k in y], "some labels are missing"),
        (X, np.array([1, 2, None], dtype=object)[y], "some labels are missing"),
    ):
        with pytest.raises(DataError, match=message):
            RobustClassifier("CE").fit(inputs, labels)


@pytest.mark.parametrize("kind", [list, tuple, pd.Series, lambda y: np.array(y, dtype=object)])
def test_labels_that_differ_only_where_numpy_cuts_text_stay_apart(kind):
    X, y = IRIS
    given = [["a", "a\0", "b"][k] for k in y]
    model = RobustClassifier("CE").fit(X, kind(given))
    assert model.classes_.tolist() == ["a", "a\0", "b"]
    assert model.score(X, np.array(given, dtype=object)) > 0.9


def test_columns_of_several_levels():
    X, y = IRIS
    frame = pd.DataFrame(X, columns=pd.MultiIndex.from_product([["sepal", "petal"], ["l", "w"]]))
    assert RobustClassifier("CE").fit(frame, y).score(frame, y) > 0.9


@pytest.mark.parametrize("learner", sorted(registry))
@pytest.mark.parametrize("scale", [1 / 150, 1e-300, 1e300])
def test_weights_count_by_their_ratios_alone(learner, scale):
    X, y = IRIS
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    loss = "CE" if registry[learner]().with_loss("CE") else "auto"
    one, other = (
        RobustClassifier(loss, learner=learner, minutes=0).fit(X, y, weight * s).predict_proba(X)
        for s in (1, scale)
    )
    np.testing.assert_allclose(one, other, atol=2e-3)


def test_sample_weight_silences_rows():
    X, y = IRIS
    wrong = y.copy()
    wrong[::2] = (y[::2] + 1) % 3
    weight = (np.arange(150) % 2).astype(float)
    model = RobustClassifier("GCE(q=0.7)").fit(X, wrong, sample_weight=weight)
    assert model.score(X, y) > 0.9


def test_works_in_pipelines_searches_and_copies():
    X, y = IRIS
    pipeline = make_pipeline(StandardScaler(), RobustClassifier("CE"))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9
    grid = GridSearchCV(
        RobustClassifier(), {"loss": ["CE", losses.AGCE(a=1, q=0.5)]}, cv=2, n_jobs=1
    )
    assert grid.fit(X, y).score(X, y) > 0.9
    model = clone(grid.best_estimator_).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(X) == model.predict_proba(X)).all()


@pytest.mark.parametrize("learner", ["linear", "trees", "bayes", "boosting"])
def test_columns_that_hashing_leaves_empty_change_nothing_and_cost_nothing(learner):
    numbers = np.random.default_rng(0)
    X = sparse.csr_array(numbers.poisson(0.02, (60, 1200)))
    y = X[:, :600].sum(axis=1) > X[:, 600:].sum(axis=1)
    wide = sparse.csr_array((X.data, X.indices * 1000 + 7, X.indptr), shape=(60, 2**21))
    few = RobustClassifier(learner=learner).fit(X, y)
    start = time.process_time()
    many = RobustClassifier(learner=learner).fit(wide, y)
    assert time.process_time() - start < 30
    assert np.array_equal(few.predict_proba(X), many.predict_proba(wide))
    assert many.n_features_in_ == 2**21


def test_sparse_inputs_and_a_hidden_layer():
    X, y = IRIS
    assert RobustClassifier("CE").fit(sparse.csr_matrix(X), y).score(sparse.csr_matrix(X), y) > 0.9
    assert RobustClassifier("CE", learner="hidden").fit(X, y).score(X, y) > 0.9


def test_a_wrong_learner_or_loss_is_one_line():
    with pytest.raises(ParameterError, match="no learner is called 'tree'; did you mean 'trees'"):
        RobustClassifier("CE", learner="tree").fit(*IRIS)
    with pytest.raises(ParameterError, match="trees takes no loss"):
        RobustClassifier("CE", learner="trees").fit(*IRIS)
    for loss in ("CE", "auto"):
        with pytest.raises(ParameterError, match="expected random_state >= 0, got -1"):
            RobustClassifier(loss, random_state=-1).fit(*IRIS)
    with pytest.raises(ValueError, match="AGCE"):
        RobustClassifier("AGEC").fit(*IRIS)
    for wrong in (3, None, losses.CE, torch.nn.CrossEntropyLoss()):
        with pytest.raises(ParameterError, match="expected a loss or its text, got"):
            RobustClassifier(wrong).fit(*IRIS)
    for wrong in (-1, np.nan, "x", None):
        with pytest.raises(ParameterError, match="expected `weight_decay`"):
            RobustClassifier("CE", weight_decay=wrong).fit(*IRIS)


def test_a_loss_with_a_forward_of_its_own_is_refused():
    class Silent(losses.CE, register=False):
        def forward(self, input, target, sample_weight=None):
            return 0 * super().forward(input, target, sample_weight)

    with pytest.raises(ParameterError, match="Silent says its own forward"):
        RobustClassifier(Silent(), learner="linear").fit(np.eye(8), np.arange(8) % 2)


@pytest.mark.parametrize("learner", ["auto", "hidden"])
@pytest.mark.parametrize("loss", ["UnitLogits(CE, tau=0.5)", "MAE + UnitLogits(CE, tau=0.5)"])
def test_a_loss_that_sees_no_length_is_refused(loss, learner):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError, match="the direction of the logits alone"):
        RobustClassifier(loss, learner=learner).fit(X, y)
    assert RobustClassifier("EpsSoftmax(CE)").fit(X, y).score(X, y) > 0.9  # changes logits too


def test_a_loss_that_is_not_what_its_text_says_is_refused():
    class Scaled(losses.Pointwise):
        k = 1.0

        def value(self, log_u):
            return -self.k * log_u

    try:
        changed = Scaled()
        RobustClassifier(changed, learner="linear").fit(np.eye(8), np.arange(8) % 2)
        changed.k = 5.0
        with pytest.raises(ParameterError, match="not what its text 'Scaled' builds"):
            RobustClassifier(changed, learner="linear").fit(np.eye(8), np.arange(8) % 2)
    finally:
        del losses.registry["Scaled"]


def test_suspects_are_numbered_among_all_rows_where_some_have_no_weight():
    numbers = np.random.default_rng(0)
    y = np.arange(240) % 3
    X = 5 * np.eye(3, 4)[y] + numbers.normal(size=(240, 4))
    wrong = np.arange(120, 240, 12)
    noisy = y.copy()
    noisy[wrong] = (y[wrong] + 1) % 3
    weights = np.where(np.arange(240) < 90, 0.0, 2.0)
    model = RobustClassifier(learner="linear").fit(X, noisy, sample_weight=weights)
    found = model.learned_.suspects()
    assert set(wrong) <= set(found.rows.tolist())
    assert (found.rows >= 90).all()
    sure = found.confidence > 0.9
    assert (model.classes_[found.proposed] == y[found.rows])[sure].all()


@pytest.mark.parametrize("unit", ["s", "ns"])
@pytest.mark.parametrize("backend", ["numpy", "pyarrow"])
def test_dates_are_refused_for_they_may_come_in_any_unit(unit, backend):
    days = pd.DataFrame(
        {"day": pd.date_range("2020", periods=60).as_unit(unit), "x": np.arange(60)}
    )
    days = days.convert_dtypes(dtype_backend="pyarrow") if backend == "pyarrow" else days
    for frame in (days, days[["day"]], days[["day"]] - days["day"][0]):
        with pytest.raises(DataError, match="expected numbers, got dates or times in day"):
            RobustClassifier("CE").fit(frame, np.arange(60) % 2)
    with pytest.raises(DataError, match="got dates or times; give days or seconds"):
        RobustClassifier("CE").fit(days[["day"]].to_numpy().astype("M8[s]"), np.arange(60) % 2)


def test_labels_are_scored_in_every_form_that_is_fitted():
    X = np.random.default_rng(0).normal(size=(60, 2)) + 5 * (np.arange(60) % 2)[:, None]
    y = np.arange(60) % 2
    texts = y.astype(str)
    forms = [
        y, torch.from_numpy(y), torch.from_numpy(y).bfloat16(), pd.Series(y, dtype="Int64"),
        pd.DataFrame({"y": y}), y.astype(float), y.astype(float).astype(object), pa.array(y),
        pa.table({"y": y}), texts, pa.array(texts),
    ]  # fmt: skip
    if hasattr(np.dtypes, "StringDType"):  # of NumPy 2
        forms.append(texts.astype(np.dtypes.StringDType()))
    for labels in forms:
        assert RobustClassifier("CE").fit(X, labels).score(X, labels) == 1


def test_tables_in_every_form_are_asked_of_models_of_every_form():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = X[:, 0] > 0
    columns = {name: X[:, i] for i, name in enumerate("abc")}
    frame = pd.DataFrame(columns)
    table = pa.table(columns)
    forms = [frame, table, table.to_batches()[0], frame.convert_dtypes(dtype_backend="pyarrow")]
    expected = RobustClassifier("CE").fit(X, y).predict_proba(X)
    for fitted in (X, *forms):
        model = RobustClassifier("CE")
        with warnings.catch_warnings(record=True):  # of scikit-learn, where one of two has names
            warnings.simplefilter("always")
            model.fit(fitted, y)
            assert model.columns_ is None
            for asked in (X, pd.DataFrame(X) if fitted is X else frame, *forms):
                assert (model.predict_proba(asked) == expected).all()


@pytest.mark.parametrize("fitted_to", ["the same", "an array"])
def test_two_columns_of_one_name_are_one_line(fitted_to):
    X, y = IRIS
    twice = pd.DataFrame(X, columns=["a", "a", "b", "c"])
    model = RobustClassifier(learner="linear", minutes=0)
    with pytest.raises(DataError, match="two columns are called 'a'"):
        model.fit(twice, y) if fitted_to == "the same" else model.fit(X, y).predict(twice)


WEIGHTS = np.where(np.arange(150) % 3 == 0, 2.0, 1.0)


@pytest.mark.parametrize(
    "form",
    [
        list,
        pd.Series,
        torch.tensor,
        lambda w: torch.tensor(w).bfloat16(),
        lambda w: torch.tensor(w, requires_grad=True),
        lambda w: np.ma.array(w, mask=False),
    ],
)
def test_weights_come_in_every_form(form):
    model = RobustClassifier("GCE(q=0.7)", learner="linear")
    expected = model.fit(*IRIS, sample_weight=WEIGHTS).predict_proba(IRIS[0])
    found = model.fit(*IRIS, sample_weight=form(WEIGHTS)).predict_proba(IRIS[0])
    np.testing.assert_array_equal(found, expected)


def test_masked_weights_are_refused():
    masked = np.ma.array(WEIGHTS, mask=np.arange(150) < 5)
    with pytest.raises(NoiseproofError, match="masked"):
        RobustClassifier("GCE(q=0.7)", learner="linear").fit(*IRIS, sample_weight=masked)
