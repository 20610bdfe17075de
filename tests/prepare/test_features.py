"""Columns become numbers, the same way each time, and from a JSON too."""

import datetime
import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

from noiseproof.errors import DataError, DataWarning, ParameterError
from noiseproof.parallel import one_thread
from noiseproof.prepare.columns.column import Category
from noiseproof.prepare.features import learn_features, load_features
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.matrix_features import MatrixFeatures
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.samples import Samples

N = 200
RNG = np.random.default_rng(0)
WORDS = ["good", "bad", "film", "plot", "the", "a", "very", "actor"]


def table(**columns):
    return Samples("t.csv", pd.DataFrame(columns))


def prepare(samples, text=(), notes=None):
    notes = Notes() if notes is None else notes
    with one_thread():  # as fits do: k-means would spin on a busy machine
        features = learn_features(samples, text, 0, notes)
        return features, features.transform(samples, Notes())


MIXED = {
    "id": np.arange(N),
    "age": np.where(np.arange(N) % 7 == 0, np.nan, RNG.normal(40, 10, N)),
    "income": np.exp(RNG.normal(0, 3, N)),
    "colour": RNG.choice(["red", "green", "blue"], N).astype(object),
    "member": RNG.random(N) < 0.5,
    "when": pd.date_range("2020-01-01", periods=N).astype(str),
    "european": pd.date_range("2020-01-01", periods=N).strftime("%d/%m/%Y"),
    "name": [f"n{i}" for i in range(N)],
    "same": 1,
    "empty": np.nan,
    "written": [f"{x:.2f}" for x in RNG.normal(size=N)],
}


def test_each_column_is_seen_for_what_it_is():
    notes = Notes()
    features, X = prepare(table(**MIXED), notes=notes)
    kinds = {column.name: column.kind for column in features.columns}
    assert kinds == {
        "age": "number", "income": "number", "colour": "category", "member": "number",
        "when": "date", "european": "date", "written": "number",
    }  # fmt: skip
    assert set(features.left_out) == {"id", "name", "same", "empty"}
    assert "left out, a number for each row: id" in notes.lines
    assert "left out, a name for each row: name" in notes.lines
    assert "left out, always the same: same" in notes.lines
    assert "left out, empty: empty" in notes.lines
    assert X.dtype == np.float32
    assert np.isfinite(X).all()


def test_numbers_are_scaled_gaps_filled_and_told_and_huge_ones_squashed():
    features, X = prepare(table(**{k: MIXED[k] for k in ("age", "income")}))
    names = [name for column in features.columns for name in column.features]
    assert names == ["age", "age missing", "income"]
    missing = np.isnan(MIXED["age"])
    assert X[:, 1].tolist() == missing.tolist()
    present = MIXED["age"][~missing]
    assert X[~missing, 0] == pytest.approx((present - present.mean()) / present.std(), abs=1e-4)
    assert np.abs(X[:, 2]).max() < 6  # where (x - mean) / std would be 14 and more
    assert np.abs(MIXED["income"] - MIXED["income"].mean()).max() > 10 * MIXED["income"].std()
    assert (np.argsort(X[:, 2]) == np.argsort(MIXED["income"])).all()


@pytest.mark.parametrize("unit", [1e-310, 1e-200, 1e-30, 1e30])
def test_numbers_of_any_unit_are_scaled(unit):
    values = np.arange(40.0)
    _, X = prepare(table(x=values * unit))
    assert X[:, 0] == pytest.approx((values - values.mean()) / values.std(), rel=1e-3)


def test_numbers_that_float32_cannot_hold_are_gaps():
    values = np.where(np.arange(N) == 3, 1e200, MIXED["income"])
    features, X = prepare(table(income=values))
    assert features.columns[0].missing == 1 / N
    assert np.isfinite(X).all()
    assert X[:, 1].nonzero()[0].tolist() == [3]
    notes = Notes()
    features.transform(table(income=values), notes)
    assert notes.lines == ["income: 1 of 200 values cannot be read as numbers (1e+200)"]


def test_categories_have_a_column_each_and_rare_or_new_ones_none():
    values = ["red"] * 100 + ["green"] * 98 + [None] * 2
    features, X = prepare(table(colour=values, one=RNG.normal(size=N)))
    assert features.columns[0].values == ("green", "red")
    assert X[[0, 150, 199], :3].tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    notes = Notes()
    new = table(colour=["blue", "red"], one=[0, 0])
    assert features.transform(new, notes)[:, :3].tolist() == [[0, 0, 0], [0, 1, 0]]
    assert notes.lines == ["colour: 1 of 2 values were unseen or rare at the fit (blue)"]


def test_dates_know_which_number_is_the_day():
    both = {name: MIXED[name] for name in ("when", "european")}
    _, X = prepare(table(**both))
    assert (X[:, :8] == X[:, 8:]).all()
    assert (np.diff(X[:, 0]) > 0).all()
    assert X[7:, 3] == pytest.approx(X[:-7, 3], abs=1e-3)  # the week returns
    typed = table(when=pd.to_datetime(MIXED["when"]), european=MIXED["european"])
    assert prepare(typed)[1] == pytest.approx(X)


@pytest.mark.parametrize("written", ["%Y/%m/%d", "%Y.%m.%d", "%d-%m-%Y", "%d.%m.%y", "%m-%d-%Y"])
def test_dates_are_the_same_in_every_writing_that_tells_them(written):
    days = pd.date_range("2020-01-01", periods=N)
    _, X = prepare(table(when=days))
    assert (prepare(table(when=days.strftime(written)))[1] == X).all()


@pytest.mark.parametrize("none", ["9999-12-31", "0001-01-01"])
def test_a_date_that_stands_for_none_does_not_blur_the_others(none):
    days = pd.Series(pd.date_range("2020-01-01", periods=N).astype(str))
    features, X = prepare(table(when=days.where(days.index % 10 > 0, none)))
    real = X[days.index % 10 > 0, 0]
    assert np.diff(real).min() > 1e-3
    assert real.std() > 0.1 * X[:, 0].std()
    again = load_features(json.loads(json.dumps(features.describe())), features.arrays())
    assert (again.transform(table(when=days[1:3]), Notes())[:, 0] == real[:2]).all()


@pytest.mark.parametrize("space", [" ", "\u00a0", "\u2009", "\u3000"])
def test_spaces_around_numbers_are_nothing(space):
    numbers = RNG.normal(size=N)
    plain = prepare(table(x=numbers))[1]
    assert (prepare(table(x=[f"{space}{x!r}{space}" for x in numbers.tolist()]))[1] == plain).all()


@pytest.mark.parametrize("written", ["{:,.0f}", "({:.2f})", "\u2212{:.2f}", "{:_.1f}"])
def test_numbers_that_cannot_be_read_are_told(written):
    texts = [written.format(x) for x in RNG.uniform(1e4, 1e5, N)]
    notes = Notes()
    prepare(table(x=texts, age=MIXED["age"]), notes=notes)
    assert any("not written like 1234.5: x (" in line for line in notes.lines), notes.lines
    notes = Notes()
    prepare(table(x=["10-20", "21-40", "1.2.3", "A1"] * (N // 4), age=MIXED["age"]), notes=notes)
    assert notes.lines == []


def test_labels_with_the_index_in_another_order_are_a_warning():
    frame = pd.DataFrame({"x": RNG.normal(size=4)}, index=[3, 1, 0, 2])
    labels = pd.Series(["a", "b", "a", "b"], index=frame.index)
    for same in (labels, labels.set_axis(list("pqrs")), labels.to_numpy()):
        assert list(as_samples(frame, same).labels) == ["a", "b", "a", "b"]
    with pytest.warns(DataWarning, match="same index in different orders"):
        as_samples(frame, labels.sort_index())


def test_dates_that_are_mostly_none_are_not_read_as_dates():
    """Of days before months, those up to the 12th could be read, and would be other days."""
    days = pd.Series(pd.date_range("2020-01-01", periods=N, freq="3D"))
    for when in (
        days.dt.strftime("%Y-%d-%m"),
        pd.Series([f"{1900 + at}-13-45" for at in range(N)]),
    ):
        notes = Notes()
        features, _ = prepare(table(when=when.tolist(), age=MIXED["age"]), notes=notes)
        assert features.left_out == ("when",)
        told = f"not read as dates, for most are none: when ({when.min()})"
        assert sorted(notes.lines) == ["left out, a name for each row: when", told]
    codes = np.resize(["4000-10-00", "4000-20-15", "5100-30-00", "2019-00-00"], N)
    features, _ = prepare(table(code=codes.tolist(), age=MIXED["age"]), notes=notes)
    assert features.left_out == ()


@pytest.mark.parametrize("vector", [list, np.array])
def test_a_column_of_vectors_is_left_out_and_the_way_to_use_it_named(vector):
    rows, notes = [vector([0.5, float(i)]) for i in range(N)], Notes()
    features, _ = prepare(table(meaning=rows, age=MIXED["age"]), notes=notes)
    assert features.left_out == ("meaning",)
    (line,) = notes.lines
    assert "--embeddings" in line
    assert line.endswith(": meaning")


def test_text_is_the_tf_idf_of_scikit_learn():
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [" ".join(RNG.choice(WORDS, 8)) for _ in range(N)]
    notes = Notes()
    features, X = prepare(table(review=texts), notes=notes)
    reference = TfidfVectorizer(
        ngram_range=(1, 2), sublinear_tf=True, min_df=2, token_pattern=r"(?u)\b\w+\b"
    ).fit_transform(texts)
    assert sparse.issparse(X)
    assert abs(X - reference).max() < 1e-6
    assert notes.lines == [f"read as text: review ({X.shape[1]} words and pairs)"]
    empty = table(review=[None, "unheard of words here"])
    assert features.transform(empty, Notes()).sum() == 0


def test_a_short_column_can_be_called_text():
    values = RNG.choice(["good", "bad", "good film"], N)
    assert not sparse.issparse(prepare(table(review=values))[1])
    assert sparse.issparse(prepare(table(review=values), ["review"])[1])
    for column, message in (("age", "'age' is of type float64, not text"), ("revew", "no column")):
        with pytest.raises(ParameterError, match=message):
            prepare(table(review=values, age=MIXED["age"]), [column])


@pytest.mark.parametrize("kind", ["table", "text", "matrix", "tiny", "images"])
def test_what_is_saved_gives_the_same_features(kind):
    samples = {
        "table": table(**MIXED),
        "text": table(review=[" ".join(RNG.choice(WORDS, 8)) for _ in range(N)], **MIXED),
        "matrix": Samples("m", np.where(RNG.random((N, 5)) < 0.1, np.nan, 1).astype(np.float32)),
        "tiny": Samples("d", RNG.integers(0, 256, (20, 1, 8, 8), np.uint8)),
        "images": Samples("i", RNG.integers(0, 256, (20, 3, 16, 20), np.uint8)),
    }[kind]
    features, X = prepare(samples)
    description = json.loads(json.dumps(features.describe()))
    again = load_features(description, features.arrays()).transform(samples, Notes())
    assert abs(again - X).max() == 0
    assert features.width == X.shape[1]
    assert np.isfinite(X.sum())


def test_missing_and_extra_columns_are_noted_and_no_column_at_all_is_an_error():
    features, X = prepare(table(**MIXED))
    notes = Notes()
    frame = pd.DataFrame(MIXED).drop(columns=["age", "id"]).assign(extra=1)
    assert features.transform(Samples("new.csv", frame), notes).shape == X.shape
    assert notes.lines == [
        "columns not there, taken as empty: age", "columns the model does not use: extra",
    ]  # fmt: skip
    with pytest.raises(DataError, match=r"other.csv: has none of the model's columns, age"):
        features.transform(Samples("other.csv", pd.DataFrame({"x": [1]})), Notes())


def test_a_matrix_stays_as_it_is_where_nothing_is_missing():
    X = RNG.normal(size=(N, 4)).astype(np.float32)
    features, out = prepare(Samples("m", X))
    assert out is X
    with pytest.raises(DataError, match="rows of 3 numbers, the model reads 4"):
        features.transform(Samples("m", X[:, :3]), Notes())
    holes = X.copy()
    holes[0, 1] = np.nan
    filled = features.transform(Samples("m", holes), Notes())
    assert filled[0, 1] == pytest.approx(X[:, 1].mean(), abs=1e-5)
    assert np.isnan(holes[0, 1])


def test_nothing_to_learn_from_is_an_error():
    with pytest.raises(DataError, match=r"no column to learn from .left out, empty: a, b"):
        prepare(table(a=[np.nan] * 5, b=[None] * 5))
    with pytest.raises(DataError, match="every value is missing"):
        prepare(Samples("m", np.full((5, 2), np.nan, np.float32)))


def test_patches_tell_textures_apart_wherever_they_are():
    images = np.zeros((60, 1, 24, 24), np.uint8)
    for i in range(60):
        shift = int(RNG.integers(4))
        stripes = ((np.arange(24) + shift) // 2 % 2 * 255).astype(np.uint8)
        images[i, 0] = stripes[None] if i % 2 else stripes[:, None]
    features, X = prepare(Samples("stripes", images))
    assert features.patches is not None
    near = ((X[:, None] - X[None]) ** 2).sum(-1) + 1e9 * np.eye(60)
    assert (near.argmin(1) % 2 == np.arange(60) % 2).all()
    colour = np.repeat(images, 3, axis=1)
    assert features.transform(Samples("colour", colour), Notes()) == pytest.approx(X)


def test_every_feature_has_a_name_and_says_whether_it_is_0_or_1():
    texts = [" ".join(RNG.choice(WORDS, 8)) for _ in range(N)]
    for samples in (
        table(**MIXED),
        table(review=texts, **MIXED),
        Samples("m", RNG.normal(size=(N, 5)).astype(np.float32)),
        Samples("d", RNG.integers(0, 256, (20, 1, 8, 8), np.uint8)),
        Samples("i", RNG.integers(0, 256, (20, 3, 16, 20), np.uint8)),
    ):
        features, X = prepare(samples)
        assert len(set(features.names)) == len(features.names) == X.shape[1] == features.width
        assert features.indicators.shape == (X.shape[1],)
        for j in np.flatnonzero(features.indicators):
            column = X[:, [j]].toarray() if sparse.issparse(X) else X[:, j]
            assert len(np.unique(column)) <= 2, features.names[j]
    features, _ = prepare(table(age=[1.5, None] * 100, colour=["red", "blue"] * 100))
    assert features.names == (
        "age", "age missing", "colour = blue", "colour = red", "colour missing",
    )  # fmt: skip
    assert features.indicators.tolist() == [False, True, True, True, True]


def matrix(rows=300, seed=0):
    X = np.random.default_rng(seed).normal(size=(rows, 4)).astype(np.float32)
    X[:, 2] = np.nan  # never known
    X[::2, 3] = np.nan  # often missing
    return X


def heard(*blocks):
    """Return the warnings about rows that come in blocks."""
    features, notes = learn_features(Samples("t", matrix()), (), 0, Notes()), Notes()
    for block in blocks:
        features.transform(Samples("t", block), notes)
    return notes.warnings


def test_a_column_of_a_matrix_that_became_empty_is_said():
    X = matrix(50)
    gone = X.copy()
    gone[:, 1] = np.nan
    assert heard(X, X[:1]) == heard(X[:1]) == heard(gone, X) == heard(X, gone) == []
    expected = "columns that were filled at the fit are empty: column 1"
    assert heard(gone) == heard(gone[:20], gone[20:]) == [expected]
    assert heard(X * np.nan) == [expected.replace("column 1", "column 0, column 1, column 3")]


def test_numbers_that_all_but_touch_beside_huge_ones_are_finite():
    near = np.tile([0.0, 5e-324, 1e-323, 1.5e-323], 20)
    near[7] = 1e30
    samples = Samples("it", pd.DataFrame({"x": near}))
    features = learn_features(samples, (), 0, Notes())
    assert np.isfinite(features.transform(samples, Notes())).all()


def test_infinite_values_that_were_there_at_the_fit_are_no_change():
    values = np.where(np.arange(90) % 6 == 0, np.inf, np.arange(90.0) % 7)
    samples = Samples("it", pd.DataFrame({"x": values}))
    features, notes = learn_features(samples, (), 0, Notes()), Notes()
    features.transform(samples, notes)
    assert notes.warnings == []
    features.transform(Samples("it", pd.DataFrame({"x": [np.inf] * 9 + [1.0]})), notes := Notes())
    assert len(notes.warnings) == 1


ARROW = {
    "list": pa.array([[1], [2, 3]] * 20),
    "struct": pa.array([{"a": 1}, {"a": 2}] * 20),
    "map": pa.array([[("k", 1)]] * 40, pa.map_(pa.string(), pa.int64())),
    "date32": pa.array([datetime.date(2020, 1, 1 + i % 20) for i in range(40)]),
    "date64": pa.array([datetime.date(2020, 1, 1 + i % 20) for i in range(40)], pa.date64()),
    "string_view": pa.array(["a", "b"] * 20, pa.string_view()),
    "binary": pa.array([b"\xff", b"b"] * 20),
    "dictionary": pa.array(["a", "b"] * 20).dictionary_encode(),
    "decimal": pa.array([Decimal(i % 7) / 4 for i in range(40)], pa.decimal128(5, 2)),
}


@pytest.mark.parametrize("kind", ARROW)
def test_columns_of_arrows_types_are_those_of_pandas(kind):
    table = pa.table({"c": ARROW[kind], "x": np.arange(40.0) % 9})
    found = []
    for frame in (table.to_pandas(), table.to_pandas(types_mapper=pd.ArrowDtype), table):
        samples = as_samples(frame, labelled=False)
        found.append(learn_features(samples, (), 0, Notes()).transform(samples, Notes()))
    assert all(np.array_equal(found[0], other) for other in found[1:])


@pytest.mark.parametrize("value", [1e300, 2.0**63, -1e19, np.inf, 0.5, 3.0])
@pytest.mark.parametrize("dtype", ["float64", "Float64", "double[pyarrow]"])
def test_any_number_may_stand_where_categories_were(value, dtype):
    column = pd.Series([value, 3.0, None], dtype=dtype)
    out = np.empty((3, 3), np.float32)
    Category("c", ("3", "red")).fill(column, out, Notes())
    assert out[2].tolist() == [0, 0, 1]
    assert out[0].any() == (value == 3)


@pytest.mark.parametrize(
    "column", [pd.to_datetime(["2020"] * 4), pd.to_timedelta([1] * 4), np.ones(4) + 1j]
)
def test_dates_are_no_numbers_of_a_matrix(column):
    features = MatrixFeatures.learn(Samples("x", np.eye(4, 2, dtype=np.float32)))
    frame = pd.DataFrame({"a": np.arange(4.0), "b": column})
    with pytest.raises(DataError, match="reads rows of numbers alone"):
        features.transform(Samples("x", frame), Notes())


@pytest.mark.parametrize(
    ("column", "field", "value"),
    [
        ("text", "vocabulary", ["a"] * 5), ("text", "vocabulary", [1, 2, 3, 4, 5]),
        ("text", "characters", "no"), ("text", "missing", None), ("text", "name", 7),
        ("kind", "values", ["red", "red"]), ("kind", "values", [1, 2]), ("kind", "known", "1"),
        ("size", "std", 0.0), ("size", "std", -1), ("size", "truth", "no"), ("size", "mean", None),
    ],
)  # fmt: skip
def test_constants_that_no_fit_could_give_are_refused(column, field, value):
    made = table(size=np.arange(60) / 7, kind=["red", "blue"] * 30,
                 text=[f"good film number {i} ok" for i in range(60)])  # fmt: skip
    features = learn_features(made, (), 0, Notes())
    described = json.loads(json.dumps(features.describe()))
    entry = next(c for c in described["columns"] if c["name"] == column)
    assert field in entry
    load_features(described, features.arrays())
    entry[field] = value
    with pytest.raises((ValueError, TypeError)):
        load_features(described, features.arrays())
