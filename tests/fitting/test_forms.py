"""Equal data, equal answers: the form that rows come in changes nothing."""

import numpy as np
import pandas as pd
import pytest
import torch
from noisy_tables import blobs
from scipy import sparse

from noiseproof.errors import DataError
from noiseproof.fitting.fit import fit
from noiseproof.fitting.model import load
from noiseproof.integrations.sklearn import RobustClassifier
from noiseproof.prepare.classes import MISSING, encode
from noiseproof.prepare.features import learn_features
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.notes import Notes

#: So few that nothing is compared, which is quick.
FRAME, _, _ = blobs(90)
#: Small multiples of 1/4, which bfloat16 holds, far from 0: a mean that is not subtracted shows.
X = np.round(4 * FRAME.drop(columns="kind").to_numpy() + 40).astype(np.float32) / 4
Y = FRAME["kind"].to_numpy()
TENSOR = torch.from_numpy(X.copy())


def twice(X):
    """Return a sparse matrix in which each value is stored as two halves, in no order."""
    rows, columns = np.nonzero(X)
    halves = np.tile(X[rows, columns] / 2, 2)[::-1]
    where = (np.tile(rows, 2)[::-1], np.tile(columns, 2)[::-1])
    return sparse.coo_matrix((halves, where), shape=X.shape)


FORMS = {
    "float64": X.astype(np.float64),
    "Fortran order": np.asfortranarray(X),
    "strides": np.repeat(X, 2, axis=1)[:, ::2],
    "read only": np.frombuffer(X.tobytes(), np.float32).reshape(X.shape),
    "lists": X.tolist(),
    "list of arrays": list(X),
    "objects": X.astype(object),
    "frame": pd.DataFrame(X),
    "nullable frame": pd.DataFrame(X).convert_dtypes(),
    "tensor": TENSOR,
    "tensor with gradient": TENSOR.clone().requires_grad_(),
    "bfloat16": TENSOR.bfloat16(),
    "half": TENSOR.half(),
    "list of bfloat16": list(TENSOR.bfloat16()),
    "sparse tensor": TENSOR.to_sparse(),
    "masked": np.ma.array(X, mask=False),
    "list of masked": list(np.ma.array(X, mask=False)),
    "csr": sparse.csr_matrix(X),
    "csc array": sparse.csc_array(X),
    "coo, twice": twice(X),
}  # fmt: skip


@pytest.fixture(scope="module", params=["dense", "sparse"])
def fitted(request, tmp_path_factory):
    """The form that was fitted to, the fitted model, and the same saved and loaded."""
    given = X if request.param == "dense" else sparse.csr_matrix(X)
    model = fit(given, Y, learners="linear")
    return given, model, load(model.save(tmp_path_factory.mktemp("forms") / "out"))


@pytest.mark.parametrize("form", FORMS)
def test_a_fitted_model_answers_every_form_alike(fitted, form):
    given, model, loaded = fitted
    expected = model.predict_proba(given)
    assert loaded.classes.tolist() == model.classes.tolist()
    for each in (model, loaded):
        assert (each.predict_proba(FORMS[form]) == expected).all()
        assert (each.predict(FORMS[form]) == model.predict(given)).all()


def test_a_test_set_may_come_in_another_form():
    for given, other in ((X, sparse.csr_matrix(X)), (sparse.csr_matrix(X), X)):
        found = [fit(given, Y, test=(form, Y), learners="linear").test for form in (given, other)]
        assert found[0] == found[1]
        assert found[0].seen == len(X)


@pytest.mark.parametrize("given", [X, sparse.csr_matrix(X)], ids=["dense", "sparse"])
def test_the_classifier_answers_every_form_alike(given):
    model = RobustClassifier(learner="linear").fit(given, Y)
    expected = model.predict_proba(given)
    for form, rows in FORMS.items():
        assert model.predict_proba(rows) == pytest.approx(expected, abs=1e-5), form
        assert (model.predict(rows) == model.predict(given)).all(), form
        assert model.score(rows, Y) == model.score(given, Y), form


@pytest.mark.parametrize("form", [name for name in FORMS if "frame" not in name])
def test_every_form_is_learnt_from_alike(form):
    rows = as_samples(FORMS[form], Y)
    is_sparse = sparse.issparse(rows.inputs)
    given = as_samples(sparse.csr_matrix(X) if is_sparse else X, Y)
    one, two = (learn_features(s, (), 0, Notes()).transform(s, Notes()) for s in (given, rows))
    if is_sparse:
        for part in ("data", "indices", "indptr"):
            assert (getattr(one, part) == getattr(two, part)).all()
    else:
        assert one.tobytes("A") == two.tobytes("A")
        assert one.flags.c_contiguous
        assert two.flags.c_contiguous


def test_a_mask_means_missing():
    holes = X.copy()
    holes[::7, 1] = np.nan
    masked = np.ma.array(np.where(np.isnan(holes), 999, holes), mask=np.isnan(holes))
    one, two = fit(holes, Y), fit(masked, Y)
    assert (one.predict_proba(holes) == two.predict_proba(masked)).all()
    rows = list(masked)
    assert (one.predict_proba(holes) == one.predict_proba(rows)).all()
    whole = np.ma.array((4 * X).astype(np.int64), mask=np.isnan(holes))
    assert (fit(whole, Y).predict_proba(whole) == fit(4 * holes, Y).predict_proba(4 * holes)).all()
    with pytest.raises(ValueError, match="NaN"):
        RobustClassifier("CE").fit(masked, Y)
    with pytest.raises(DataError, match="expected a mask on numbers"):
        as_samples(np.ma.array(np.zeros((2, 3, 3), np.uint8), mask=True), labelled=False)


def test_labels_in_every_form_are_the_same_classes():
    codes = np.arange(len(X)) % 3
    hidden = np.arange(len(X)) % 10 == 0
    expected, classes = encode(np.where(hidden, np.nan, codes), "here")
    assert (expected == np.where(hidden, MISSING, codes)).all()
    for labels in (
        np.ma.array(codes, mask=hidden),
        [None if h else int(c) for c, h in zip(codes, hidden, strict=True)],
        pd.Series(codes, dtype="Int64").mask(pd.Series(hidden)),
        torch.where(torch.from_numpy(hidden), torch.nan, torch.from_numpy(codes)).bfloat16(),
    ):
        assert (encode(labels, "here")[0] == expected).all()
        assert encode(labels, "here")[1].names == classes.names


def test_a_table_is_asked_with_a_table_or_told_so():
    model = fit(FRAME, "kind")
    expected = model.predict_proba(FRAME)
    assert (model.predict_proba(FRAME.convert_dtypes()) == expected).all()
    assert (model.predict_proba(FRAME[FRAME.columns[::-1]]) == expected).all()
    for rows in (X, sparse.csr_matrix(X), TENSOR):
        with pytest.raises(DataError, match="the model reads a table with columns"):
            model.predict(rows)


def test_a_large_sparse_matrix_is_never_dense_whole():
    wide = sparse.random(40_000, 5_000, density=1e-4, format="csr", random_state=0)
    rows = np.zeros((60, 5_000), np.float32)
    rows[:, 0] = np.arange(60) % 2
    model = RobustClassifier("CE").fit(rows, np.arange(60) % 2)
    import tracemalloc

    tracemalloc.start()
    model.predict_proba(wide)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * 8 * wide.shape[0] * wide.shape[1]
