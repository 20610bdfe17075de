"""Labels and probabilities come in many forms, and each is read the same way everywhere."""

import enum

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from noiseproof import noise
from noiseproof.errors import NoiseproofError


class Animal(str, enum.Enum):  # noqa: UP042 - a StrEnum writes its value
    CAT = "cat"
    DOG = "dog"
    FROG = "frog"


NAMES = np.array(["cat", "dog", "frog"])
RNG = np.random.default_rng(0)
TRUE = RNG.integers(0, 3, 600)
SCORES = RNG.normal(size=(600, 3)) + 4 * np.eye(3)[TRUE]
P = np.exp(SCORES) / np.exp(SCORES).sum(axis=1, keepdims=True)
GIVEN = np.where(RNG.random(600) < 0.1, 0, TRUE)
LABELS = {
    "numbers": GIVEN,
    "a list": GIVEN.tolist(),
    "a tensor": torch.from_numpy(GIVEN),
    "names": NAMES[GIVEN],
    "names in a series": pd.Series(NAMES[GIVEN]),
    "an enumeration": [Animal(NAMES[label]) for label in GIVEN],
    "an array of one": np.array([Animal(NAMES[label]) for label in GIVEN], dtype=object),
    "bytes": np.char.encode(NAMES[GIVEN], "utf-8"),
    "categories": pd.Series(NAMES[GIVEN]).astype("category"),
}
PROBABILITIES = {
    "an array": P,
    "a list": P.tolist(),
    "a tensor": torch.from_numpy(P),
    "a frame": pd.DataFrame(P),
    "a frame of names": pd.DataFrame(P, columns=NAMES),
    "a frame in another order": pd.DataFrame(P, columns=NAMES)[["frog", "cat", "dog"]],
    "a frame of numbers in another order": pd.DataFrame(P)[[2, 0, 1]],
    "a frame as a file has it": pd.DataFrame(P, columns=["0", "1", "2"])[["2", "0", "1"]],
    "a frame of floats in another order": pd.DataFrame(P, columns=[0.0, 1.0, 2.0])[[2.0, 0.0, 1.0]],
    "a table of Arrow's in another order": pa.table({NAMES[k]: P[:, k] for k in (2, 0, 1)}),
    "a frame of nullable numbers": pd.DataFrame(P).astype("Float64"),
    "a frame of other names": pd.DataFrame(P, columns=["p_cat", "p_dog", "p_frog"]),
    "a frame of mixed names": pd.DataFrame(P, columns=["a", 0, None]),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("probabilities", PROBABILITIES.values(), ids=PROBABILITIES)
def test_every_form_is_the_same(labels, probabilities):
    expected = noise.estimate(GIVEN, P, NAMES)
    found = noise.estimate(labels, probabilities, NAMES)
    np.testing.assert_allclose(found.matrix, expected.matrix, atol=1e-12)
    doubts = np.array(found.doubt(labels, probabilities))
    np.testing.assert_allclose(doubts, expected.doubt(GIVEN, P), atol=1e-12)
    likely = found.true_class(labels, probabilities)
    np.testing.assert_allclose(likely, expected.true_class(GIVEN, P), atol=1e-12)


def test_without_names_labels_say_what_columns_are():
    expected = noise.estimate(GIVEN, P).matrix
    for frame in (
        pd.DataFrame(P),
        pd.DataFrame(P)[[2, 0, 1]],
        pd.DataFrame(P, columns=["0", "1", "2"])[["2", "0", "1"]],
        pd.DataFrame(P, columns=["p0", "p1", "p2"]),
    ):
        np.testing.assert_allclose(noise.estimate(GIVEN, frame).matrix, expected, atol=1e-12)
    for columns in (["p_cat", "p_dog", "p_frog"], NAMES):
        found = noise.estimate(NAMES[GIVEN], pd.DataFrame(P, columns=columns))
        np.testing.assert_allclose(found.matrix, expected, atol=1e-12)
        assert found.classes == tuple(NAMES)


def test_names_are_those_of_a_mapping_in_its_order():
    classes = dict.fromkeys(NAMES.tolist(), 0)
    assert noise.estimate(NAMES[GIVEN], P, classes.keys()).classes == tuple(NAMES)


def test_no_rows_have_no_doubts():
    wrong, proposed = noise.estimate(GIVEN, P).doubt(GIVEN[:0], P[:0])
    assert len(wrong) == len(proposed) == 0


def test_columns_name_the_classes():
    frame = pd.DataFrame(P, columns=NAMES)[["frog", "cat", "dog"]]
    found, expected = noise.estimate(NAMES[GIVEN], frame), noise.estimate(GIVEN, P, NAMES)
    assert found.classes == ("frog", "cat", "dog")
    assert found.rate == pytest.approx(expected.rate)


@pytest.mark.parametrize(
    ("labels", "probabilities", "classes"),
    [
        (NAMES[GIVEN], P, set(NAMES)),
        (NAMES[GIVEN], pd.DataFrame(P, columns=["cat", "dog", "bird"]), NAMES),
        (NAMES[GIVEN], pd.DataFrame(P, columns=["cat", "dog", "bird"]), None),
    ],
)
def test_names_that_do_not_fit_are_one_line(labels, probabilities, classes):
    with pytest.raises(NoiseproofError) as error:
        noise.estimate(labels, probabilities, classes)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("labels", "probabilities"),
    [
        (GIVEN[:5], P),
        (GIVEN, P[:, :2] / P[:, :2].sum(axis=1, keepdims=True)),
        (np.where(GIVEN == 2, -1, GIVEN), P),
        (GIVEN, np.full_like(P, np.nan)),
        (GIVEN, SCORES),
        (np.where(GIVEN == 2, "bird", NAMES[GIVEN]), P),
    ],
)
@pytest.mark.parametrize("method", ["doubt", "true_class"])
def test_other_rows_are_checked_like_those_of_the_estimate(labels, probabilities, method):
    found = noise.estimate(NAMES[GIVEN], P)
    with pytest.raises(NoiseproofError):
        getattr(found, method)(labels, probabilities)


@pytest.mark.parametrize("k", [2, 5])
def test_ties_for_the_first_class_do_not_depend_on_its_number(k):
    """Most rows are of one class: predicting another in a tie would make its labels look wrong."""
    rng = np.random.default_rng(2)
    true = rng.choice(5, 500, p=[0.8, 0.05, 0.05, 0.05, 0.05])
    X = 4 * np.eye(5)[true] + rng.normal(size=(500, 5))
    given = np.where(rng.random(500) < 0.1, rng.integers(0, 5, 500), true)
    p = cross_val_predict(KNeighborsClassifier(k), X, given, method="predict_proba")
    expected = noise.estimate(given, p)
    for order in ([4, 3, 2, 1, 0], [3, 0, 4, 1, 2]):
        found = noise.estimate(np.argsort(order)[given], p[:, order])
        np.testing.assert_allclose(found.rate_interval, expected.rate_interval, atol=1e-9)
    assert expected.rate_interval[0] <= (given != true).mean() <= expected.rate_interval[1]


def test_names_of_classes_may_be_bytes_of_any_text():
    names = np.array(["é", "ж", "犬"])
    found = noise.estimate(np.char.encode(names, "utf-8")[GIVEN], P, names)
    np.testing.assert_array_equal(found.matrix, noise.estimate(GIVEN, P, names).matrix)
    with pytest.raises(NoiseproofError, match="not UTF-8"):
        noise.estimate(np.array([b"\xe9", b"a", b"b"])[GIVEN], P)


def test_columns_called_by_versions_keep_their_names():
    names = np.array(["v1.0", "2.0", "10"])
    expected = noise.estimate(GIVEN, P, names)
    frame = pd.DataFrame(P, columns=names)
    for columns in (names, names[::-1]):
        found = noise.estimate(names[GIVEN], frame[columns], names)
        np.testing.assert_allclose(found.matrix, expected.matrix, atol=1e-12)


@pytest.mark.parametrize("k", [1, 5])
def test_no_row_is_a_neighbour_of_its_own(k):
    with_itself = NearestNeighbors(n_neighbors=k + 1).fit(SCORES).kneighbors(SCORES)[1]
    found = noise.estimate(GIVEN, P)
    for ask in (noise.estimate, found.doubt, found.true_class):
        for rows in (with_itself, with_itself[:, ::-1], torch.from_numpy(with_itself)):
            with pytest.raises(NoiseproofError, match="row 0 is among its own neighbours"):
                ask(GIVEN, P, neighbours=rows)
    others = NearestNeighbors(n_neighbors=k).fit(SCORES).kneighbors()[1]
    expected = noise.nearest(SCORES, k=k, metric="euclidean")
    assert (
        noise.estimate(GIVEN, P, neighbours=others).rate_interval
        == noise.estimate(GIVEN, P, neighbours=expected).rate_interval
    )
