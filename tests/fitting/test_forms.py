"""Equal data, equal answers: the form that rows come in changes nothing."""

import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from noisy_tables import QUICK, blobs
from scipy import sparse

from noiseproof.cli import main
from noiseproof.errors import DataError, DataWarning
from noiseproof.fitting.fit import fit
from noiseproof.fitting.model import load
from noiseproof.integrations.sklearn import RobustClassifier
from noiseproof.prepare.checks import hashes
from noiseproof.prepare.classes import MISSING, encode
from noiseproof.prepare.features import learn_features
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.notes import Notes

RNG = np.random.default_rng(0)
#: So few that nothing is compared, which is quick.
FRAME, _, _ = blobs(90)
#: Small multiples of 1/4, which bfloat16 holds, far from 0: a mean that is not subtracted shows.
X = np.round(4 * FRAME.drop(columns="kind").to_numpy() + 40).astype(np.float32) / 4
Y = FRAME["kind"].to_numpy()
TENSOR = torch.from_numpy(X)


def twice(X):
    """Return a sparse matrix in which each value is stored as two halves, in no order."""
    rows, columns = np.nonzero(X)
    halves = np.tile(X[rows, columns] / 2, 2)[::-1]
    where = (np.tile(rows, 2)[::-1], np.tile(columns, 2)[::-1])
    return sparse.coo_matrix((halves, where), shape=X.shape)


#: Such numbers in 4 of 1,200 columns, which are treated as sparse in every form.
WIDE = np.zeros((len(X), 1200), np.float32)
WIDE[:, ::300] = X - 10
DATA = {"dense": X, "sparse": WIDE}


def forms(X):
    """Return the same rows in every form."""
    tensor = torch.from_numpy(X.copy())
    return {
        "float64": X.astype(np.float64),
        "big endian": X.astype(">f4"),
        "Fortran order": np.asfortranarray(X),
        "strides": np.repeat(X, 2, axis=1)[:, ::2],
        "read only": np.frombuffer(X.tobytes(), np.float32).reshape(X.shape),
        "minus 0": np.where(X == 0, np.float32(-0.0), X),
        "lists": X.tolist(),
        "list of arrays": list(X),
        "objects": X.astype(object),
        "frame": pd.DataFrame(X),
        "nullable frame": pd.DataFrame(X).convert_dtypes(),
        "Arrow frame": pd.DataFrame(X).astype("float[pyarrow]"),
        "sparse frame": pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X)),
        "frame of texts": pd.DataFrame(X.astype(str)),
        "tensor": tensor,
        "tensor with gradient": tensor.clone().requires_grad_(),
        "bfloat16": tensor.bfloat16(),
        "half": tensor.half(),
        "list of bfloat16": list(tensor.bfloat16()),
        "sparse tensor": tensor.to_sparse(),
        "sparse rows": tensor.to_sparse(1),
        "negative view": torch.complex(tensor, -tensor).conj().imag,
        "masked": np.ma.array(X, mask=False),
        "list of masked": list(np.ma.array(X, mask=False)),
        "csr": sparse.csr_matrix(X),
        "csc array": sparse.csc_array(X),
        "coo, twice": twice(X),
    }


FORMS = {kind: forms(rows) for kind, rows in DATA.items()}
NAMES = list(FORMS["dense"])


@pytest.fixture(scope="module", params=DATA)
def fitted(request, tmp_path_factory):
    """The kind of data, the model fitted to them, and the same saved and loaded."""
    model = fit(DATA[request.param], Y, learners="linear")
    loaded = load(model.save(tmp_path_factory.mktemp("forms") / "out"))
    return request.param, model, loaded


@pytest.mark.parametrize("form", NAMES)
def test_a_fitted_model_answers_every_form_alike(fitted, form):
    kind, model, loaded = fitted
    expected = model.predict_proba(DATA[kind])
    assert loaded.classes.tolist() == model.classes.tolist()
    for each in (model, loaded):
        assert (each.predict_proba(FORMS[kind][form]) == expected).all()
        assert (each.predict(FORMS[kind][form]) == model.predict(DATA[kind])).all()


@pytest.mark.parametrize("kind", DATA)
def test_every_form_is_learnt_from_alike(kind):
    given = as_samples(DATA[kind], Y)
    first = learn_features(given, (), 0, Notes())
    expected = first.transform(given, Notes())
    assert sparse.issparse(expected) == (kind == "sparse")
    for form in NAMES:
        if "frame" in form:
            continue  # has columns with names, and features of another kind
        rows = as_samples(FORMS[kind][form], Y)
        assert (hashes(rows) == hashes(given)).all(), form
        learnt = learn_features(rows, (), 0, Notes())
        assert (learnt.fill == first.fill).all(), form
        found = learnt.transform(rows, Notes())
        if kind == "sparse":
            assert (found != expected).nnz == 0, form
        else:
            assert (found + 0).tobytes() == expected.tobytes(), form
            assert found.flags.c_contiguous, form


@pytest.mark.parametrize("form", ["lists", "csr"])
def test_every_form_gives_the_same_fit(fitted, form):
    kind, model, _ = fitted
    other = fit(FORMS[kind][form], Y, learners="linear", test=(FORMS[kind][form], Y))
    assert (other.predict_proba(DATA[kind]) == model.predict_proba(DATA[kind])).all()
    assert other.suspects.equals(model.suspects)
    assert other.summary["data"] == model.summary["data"]
    assert other.test.seen == len(X)


def test_files_give_the_same_fit(fitted, tmp_path):
    kind, model, _ = fitted
    rows, expected = DATA[kind], model.predict_proba(DATA[kind])
    np.savez(tmp_path / "a.npz", X=rows, y=Y.astype(str))
    np.save(tmp_path / "a.npy", rows)
    assert (fit(tmp_path / "a.npz", learners="linear").predict_proba(rows) == expected).all()
    assert (model.predict_proba(tmp_path / "a.npz") == expected).all()
    assert (model.predict_proba(tmp_path / "a.npy") == expected).all()
    table = pd.DataFrame(rows[:, :4] if kind == "dense" else X).rename(columns=str).assign(y=Y)
    table.to_csv(tmp_path / "a.csv", index=False)
    table.to_parquet(tmp_path / "a.parquet")
    one = fit(table, "y", learners="linear")
    for name in ("a.csv", "a.parquet"):
        assert (one.predict(tmp_path / name) == one.predict(table)).all()
        again = fit(tmp_path / name, "y", learners="linear")
        assert again.predict_proba(table) == pytest.approx(one.predict_proba(table), abs=1e-6)


@pytest.mark.parametrize("kind", DATA)
def test_a_test_set_may_come_in_another_form(kind):
    given = DATA[kind]
    found = [
        fit(given, Y, test=(form, Y), learners="linear").test
        for form in (given, *(FORMS[kind][name] for name in ("csr", "frame")))
    ]
    assert all(one == found[0] for one in found)
    assert found[0].seen == len(X)


@pytest.mark.parametrize("kind", DATA)
def test_the_classifier_answers_every_form_alike(kind):
    given = DATA[kind]
    model = RobustClassifier(learner="linear").fit(given, Y)
    expected = model.predict_proba(given)
    for form, rows in FORMS[kind].items():
        assert model.predict_proba(rows) == pytest.approx(expected, abs=1e-5), form
        assert (model.predict(rows) == model.predict(given)).all(), form
    for form in ("csr", "lists"):
        again = RobustClassifier(learner="linear").fit(FORMS[kind][form], Y)
        assert again.sparse_ == (kind == "sparse")
        assert again.predict_proba(given) == pytest.approx(expected, abs=1e-5), form


@pytest.mark.parametrize(
    "form",
    ["dates", "times", "nested tensor", "meta tensor", "masked tensor", "texts", "complex", "dict"],
)
@pytest.mark.filterwarnings("ignore:The PyTorch API of MaskedTensors")
def test_other_forms_are_one_line(form):
    rows = {
        "dates": X.astype(np.int64).astype("M8[s]"),
        "times": X.astype(np.int64).astype("m8[s]"),
        "nested tensor": torch.nested.nested_tensor(list(TENSOR), layout=torch.jagged),
        "meta tensor": TENSOR.to("meta"),
        "masked tensor": torch.masked.masked_tensor(TENSOR, TENSOR > 0),
        "texts": X.astype(str),
        "complex": X.astype(complex),
        "dict": {"a": X[:, 0]},
    }[form]
    with pytest.raises(DataError, match=r"^X: expected numbers"):
        fit(rows, Y)


@pytest.mark.parametrize("one", [torch.ones(2), np.ma.array([1.0, 2.0], mask=[0, 1]), [1.0, 2.0]])
@pytest.mark.parametrize("other", [torch.ones(3), np.ma.array([1.0] * 3), np.ones(3)])
def test_rows_of_different_lengths_are_one_line_in_any_form(one, other):
    with pytest.raises(DataError, match="row 0 has 2 values, row 1 has 3; expected as many"):
        as_samples([one, other], labelled=False)


def test_a_mask_means_missing():
    holes = X.copy()
    holes[::7, 1] = np.nan
    masked = np.ma.array(np.where(np.isnan(holes), 999, holes), mask=np.isnan(holes))
    one, two = fit(holes, Y, **QUICK), fit(masked, Y, **QUICK)
    assert (one.predict_proba(holes) == two.predict_proba(masked)).all()
    rows = list(masked)
    assert (one.predict_proba(holes) == one.predict_proba(rows)).all()
    plainly = [TENSOR[0], X[1].tolist(), tuple(X[2]), *X[3:7]]  # the first masked row is not first
    given = [*plainly, *masked[7:]]
    assert (one.predict_proba([X[0], *holes[1:7], *holes[7:]]) == one.predict_proba(given)).all()
    whole = np.ma.array((4 * X).astype(np.int64), mask=np.isnan(holes))
    one, other = (fit(form, Y, **QUICK).predict_proba(form) for form in (whole, 4 * holes))
    assert (one == other).all()
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


DAYS = pd.date_range("2020-01-01", periods=90, freq="5D")
COLUMNS = pd.DataFrame(
    {
        "size": X[:, 0],
        "count": np.arange(90) % 17,
        "flag": np.arange(90) % 3 == 0,
        "colour": [("red", "blue")[i % 2] for i in range(90)],
        "day": DAYS.strftime("%Y-%m-%d"),
        "time": DAYS,
        "span": pd.to_timedelta(np.arange(90) % 13, unit="h"),
    }
)
#: Each the same table to a person.
ALIKE = {
    "objects": COLUMNS.astype(object),
    "nullable": COLUMNS.convert_dtypes(),
    "Arrow": COLUMNS.convert_dtypes(dtype_backend="pyarrow"),
    "categories": COLUMNS.astype({"colour": "category", "day": "category"}),
    "numbers as texts": COLUMNS.astype({"size": str, "count": str, "flag": str}),
    "truth as numbers": COLUMNS.astype({"flag": int, "count": float}),
    "spaces": COLUMNS.assign(colour=COLUMNS["colour"] + " "),
    "days as dates": COLUMNS.assign(day=DAYS.date, time=DAYS.strftime("%Y-%m-%dT%H:%M:%S")),
    "time zone": COLUMNS.assign(time=DAYS.tz_localize("UTC").as_unit("s")),
    "spans as texts": COLUMNS.assign(span=COLUMNS["span"].astype(str)),
    "index": COLUMNS.set_index(np.zeros(90)),
    "more columns, in another order": COLUMNS.assign(more=1)[[*COLUMNS.columns[::-1], "more"]],
}


@pytest.fixture(scope="module")
def of_columns():
    return fit(COLUMNS, Y, learners="linear")


@pytest.mark.parametrize("form", ALIKE)
def test_columns_of_other_types_are_the_same_to_a_model(of_columns, form):
    expected = of_columns.predict_proba(COLUMNS)
    assert (of_columns.predict_proba(ALIKE[form]) == expected).all()
    if form in ("objects", "Arrow"):
        again = fit(ALIKE[form], Y, learners="linear")
        assert again.predict_proba(COLUMNS) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", COLUMNS.columns)
@pytest.mark.parametrize("value", [["a list"], 1j, "no such value", None])
def test_values_that_no_column_has_are_warned_of(of_columns, name, value):
    column = pd.Series([value] * 90, dtype=object if value is None else None)
    with pytest.warns(DataWarning, match=name):
        of_columns.predict(COLUMNS.assign(**{name: column}))


def test_no_rows_are_one_line(of_columns):
    with pytest.raises(DataError, match="the table: there are no rows"):
        of_columns.predict(COLUMNS[:0])


def test_a_large_sparse_matrix_is_never_dense_whole():
    wide = sparse.random(40_000, 500, density=1e-3, format="csr", random_state=0)
    rows = np.zeros((60, 500), np.float32)
    rows[:, 0] = np.arange(60) % 2 + 0.1 * (np.arange(60) % 3)
    model = RobustClassifier("CE").fit(rows, np.arange(60) % 2)
    import tracemalloc

    tracemalloc.start()
    model.predict_proba(wide)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * 8 * wide.shape[0] * wide.shape[1]


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, lambda X: X.astype(np.int64)])
def test_columns_that_float32_cannot_tell_apart_are_said(form):
    """Equal data would give another answer as a table: one line says so, and how to mend it."""
    near = 1.7e9 + 300 * RNG.normal(size=(60, 2)) + 400 * (np.arange(60) % 2)[:, None]
    with pytest.warns(DataWarning, match="too small for single precision: columns 0, 1; subtract"):
        fit(form(near), np.arange(60) % 2, learners="linear", minutes=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(form(near - 1.7e9), np.arange(60) % 2, learners="linear", minutes=0)


@pytest.mark.parametrize(
    "column",
    [
        (1e-35 * np.arange(60)).astype(np.float32),
        1e-300 * np.arange(60),
        2**60 + np.arange(60),
        np.uint64(2**63) + np.arange(60, dtype=np.uint64),
        np.where(np.arange(60) == 0, np.nan, 1e9 + 0.1 * np.arange(60)),
    ],
)
def test_columns_that_float32_takes_for_constants_are_said(column):
    X = np.stack([column, np.arange(60).astype(column.dtype)], axis=1)
    with pytest.warns(DataWarning, match="too small for single precision: columns 0; subtract"):
        fit(X, np.arange(60) % 2, learners="linear", minutes=0)


def test_columns_that_float32_cannot_tell_apart_are_said_beside_answers_and_of_embeddings(tmp_path):
    near = 1.7e9 + 300 * RNG.normal(size=(60, 2)) + 400 * (np.arange(60) % 2)[:, None]
    labels = np.array(["a", "b"])[np.arange(60) % 2]
    answers = pd.DataFrame({"ann": labels, "bob": labels, "cem": labels})
    answers.to_csv(tmp_path / "answers.csv", index=False)
    np.save(tmp_path / "near.npy", near)
    few = {"learners": "linear", "minutes": 0}
    beside = few | {"embeddings": tmp_path / "near.npy"}
    for X, label, options in (
        (near, None, few | {"answers": answers}),
        (tmp_path / "answers.csv", "ann", beside),
        (tmp_path / "answers.csv", None, beside | {"answers": "ann,bob,cem"}),
    ):
        with pytest.warns(DataWarning, match="too small for single precision: columns 0, 1"):
            fit(X, label, **options)


def test_columns_that_float32_cannot_tell_apart_are_said_of_files(tmp_path, capsys):
    near = 1.7e9 + 300 * RNG.normal(size=(60, 2)) + 400 * (np.arange(60) % 2)[:, None]
    np.savez(tmp_path / "d.npz", X=near, y=np.arange(60) % 2)
    out = str(tmp_path / "out")
    assert main(["fit", str(tmp_path / "d.npz"), "--out", out, "--quiet", "--minutes", "0"]) == 0
    assert "warning: differences too small for single precision" in capsys.readouterr().err


@pytest.mark.parametrize(
    "labels",
    [
        np.ma.array([0, 1] * 30, mask=[True] + [False] * 59),
        pd.Series(["a", None] + ["a", "b"] * 29, dtype="string"),
        pd.Series([1, None] + [1, 2] * 29, dtype="Int64"),
    ],
)
def test_the_classifier_honours_masks_of_labels(labels):
    with pytest.raises(DataError, match="some labels are missing"):
        RobustClassifier("CE").fit(RNG.normal(size=(60, 2)), labels)


def test_the_classifier_takes_labels_of_bfloat16():
    X, y = RNG.normal(size=(60, 2)), torch.arange(60) % 2
    assert RobustClassifier("CE").fit(X, y.bfloat16()).classes_.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("channels", [1, 3])
def test_images_of_every_form_get_the_same_answer(channels):
    numbers = np.random.default_rng(0)
    images = numbers.integers(0, 128, (60, channels, 16, 16), np.uint8)
    images[30:] += 100
    model = fit(images, np.repeat(["dark", "light"], 30), learners="linear", folds=2)
    expected = model.predict_proba(images)
    read_only = images.copy()
    read_only.flags.writeable = False
    forms = {
        "read only": read_only,
        "Fortran order": np.asfortranarray(images),
        "strides": np.repeat(images, 2, axis=3)[..., ::2],
        "tensor": torch.from_numpy(images),
        "channels last": np.ascontiguousarray(images.transpose(0, 2, 3, 1)),
        "tensor, channels last": torch.from_numpy(images).to(memory_format=torch.channels_last),
        "list": list(images),
        "masked": np.ma.array(images, mask=False),
    }
    if channels == 1:
        forms["grey"] = images[:, 0]
    for form, pictures in forms.items():
        assert (model.predict_proba(pictures) == expected).all(), form
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.predict(images[:3, 0])
    # One coloured image has this shape, too.
    assert len(caught) == (channels == 3)


def test_the_classifier_tells_close_numbers_of_every_type_apart():
    """Dates as seconds: float32 would round them, and integers and Arrow's types became float32."""
    y = np.arange(60) % 2
    close = (1.7e9 + 5 * RNG.normal(size=(60, 2)) + 60 * y[:, None]).round()
    frame = pd.DataFrame(close, columns=["a", "b"])
    forms = {
        "floats": close,
        "integers": close.astype(np.int64),
        "big endian": close.astype(">f8"),
        "objects": close.astype(object),
        "frame": frame,
        "frame of integers": frame.astype(np.int64),
        "nullable frame": frame.convert_dtypes(),
        "Arrow frame": frame.astype("float64[pyarrow]"),
        "csr": sparse.csr_matrix(close),
    }
    for form, rows in forms.items():
        with pytest.warns(DataWarning, match="too small for single .* put a StandardScaler before"):
            model = RobustClassifier("CE").fit(rows, y)
        assert (model.predict(rows) == y).all(), form


def test_labels_that_floats_would_round_are_refused_by_the_classifier():
    labels = [900000000000207008, 900000000000207009, 1.0] * 20
    with pytest.raises(DataError, match="floats would round some"):
        RobustClassifier("CE").fit(RNG.normal(size=(60, 2)), labels)


def test_columns_whose_names_differ_in_case_are_pointed_out():
    model = fit(FRAME, "kind", learners="linear", minutes=0)
    first = FRAME.columns[0]
    with pytest.warns(DataWarning, match=rf"taken as empty: {first} \(there is '{first.upper()} '"):
        model.predict(FRAME.rename(columns={first: f"{first.upper()} "}))
    with pytest.raises(DataError, match=rf"has none of .* {first} \(there is '{first.upper()}'\)"):
        model.predict(FRAME.rename(columns=str.upper))


@pytest.mark.parametrize("lazy", [False, True])
def test_a_frame_of_polars_is_read_as_its_parquet_file(tmp_path, lazy):
    polars = pytest.importorskip("polars")
    frame = polars.from_pandas(COLUMNS.assign(day=DAYS.date, y=Y))
    frame.write_parquet(tmp_path / "a.parquet")
    given = as_samples(frame.lazy() if lazy else frame, "y")
    assert (hashes(given) == hashes(as_samples(tmp_path / "a.parquet", "y"))).all()
    long = frame.with_columns(
        polars.Series("long", [10**20 + at % 2 for at in range(90)], dtype=polars.Int128),
        polars.Series("mixed", [("a", b"b")[at % 2] for at in range(90)], dtype=polars.Object),
    )
    long = long.lazy() if lazy else long
    assert encode(as_samples(long, "long").labels, "here")[1].names == (
        str(10**20),
        f"{10**20 + 1}",
    )
    assert encode(as_samples(long, "mixed").labels, "here")[1].names == ("a", "b")


def test_columns_that_are_always_empty_change_nothing(tmp_path):
    """Hashed words are a million columns, nearly all of them empty: those are no features."""
    words = sparse.random(len(X), 1200, density=0.02, format="csr", random_state=0)
    words = sparse.csr_matrix(words + sparse.csr_matrix(WIDE))
    places = np.sort(RNG.choice(2**20, 1200, replace=False))
    inside = (words.data, places[words.indices], words.indptr)
    hashed = sparse.csr_matrix(inside, shape=(len(X), 2**20))
    expected = fit(words, Y, **QUICK).predict_proba(words)
    fitted = fit(hashed, Y, **QUICK)
    np.testing.assert_array_equal(fitted.predict_proba(hashed), expected)
    empty = np.setdiff1d(np.arange(100), places)
    new = hashed.tolil()
    new[:, empty] = 5.0  # what no row of the fit had says nothing
    np.testing.assert_array_equal(fitted.predict_proba(new.tocsr()), expected)
    fitted.save(tmp_path / "fit")
    np.testing.assert_array_equal(load(tmp_path / "fit").predict_proba(hashed), expected)


@pytest.mark.parametrize("odd", ["codes", "tiny"])
def test_what_single_precision_loses_is_lost_in_every_form(odd):
    rows = WIDE.astype(np.float64)
    rows[:, 1] = 123456789 + np.arange(len(rows)) % 4 if odd == "codes" else 0
    if odd == "tiny":
        rows[rows == 0] = 1e-60
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        dense, few = (fit(form, Y, **QUICK) for form in (rows, sparse.csr_matrix(rows)))
    assert dense.model.features.sparse == few.model.features.sparse
    np.testing.assert_array_equal(dense.predict_proba(rows), few.predict_proba(rows))


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("fits", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("asks", [np.asarray, sparse.csr_matrix])
def test_another_unit_is_seen_in_every_form(kind, fits, asks):
    rows = DATA[kind]
    model = fit(fits(rows), Y, **QUICK)
    model.predict(asks(rows))
    with pytest.warns(DataWarning, match="far out of the range of the fit: column 0"):
        model.predict(asks(rows * np.float32(1000)))
