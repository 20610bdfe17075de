"""Whatever is handed to fit, predict, save and load: an answer, or one line about what is wrong."""

import io
import warnings

import numpy as np
import pandas as pd
import pytest
import torch

import noiseproof as nf

ODD = {
    "None": None, "text": "x", "empty text": "", "five": 5, "minus one": -1, "half": 2.5,
    "nan": float("nan"), "beyond floats": 10**400, "true": True, "bytes": b"x", "empty list": [],
    "ragged": [[1], [2, 3]], "dict": {1: 2}, "set": {1}, "object": object(), "complex": 1j,
    "array": np.array([1, 2]), "words": np.array(["a", "b"]), "tensor": torch.ones(2),
    "scalar tensor": torch.tensor(1), "type": int, "module": torch.nn.Identity(),
    "long text": "x" * 5000, "zero byte": "a\0b", "index": pd.Index(["a", "b"]),
    "masked": np.ma.array([1, 2], mask=[True, False]), "frame": pd.DataFrame({"a": [1]}),
    "open file": io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n")), "bytes in memory": io.BytesIO(b"a"),
}  # fmt: skip
X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.where(X[:, 0] > 0, "a", "b")
GIVEN = {"X": X, "y": Y, "learners": "linear", "minutes": 0, "folds": 2}
ARGUMENTS = (
    "X", "y", "text", "test", "trusted", "reviewed", "answers", "annotator", "item", "group",
    "aggregation", "embeddings", "test_embeddings", "encoder", "learners", "losses", "search",
    "minutes", "folds", "seed", "encoding", "strict", "progress",
)  # fmt: skip


def complaint(call, *given, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", nf.errors.DataWarning)
        try:
            call(*given, **named)
        except nf.errors.NoiseproofError as error:
            return str(error)
    return ""


def in_one_line(call, *given, **named):
    assert "\n" not in complaint(call, *given, **named)


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_fit(argument):
    for odd in ODD.values():
        in_one_line(nf.fit, **GIVEN | {argument: odd})


def test_every_argument_is_tried():
    with pytest.raises(TypeError, match="'nonsense'"):
        nf.fit(X, Y, nonsense=1)
    assert set(ARGUMENTS) == set(nf.fit.__wrapped__.__kwdefaults__) | {"X", "y"}


def test_columns_may_be_called_as_anything_that_tables_have():
    called = ["name", "read", "detach", "columns", "dtype", "index", "values", "shape"]
    frame = pd.DataFrame({name: np.arange(40) // 2 + k for k, name in enumerate(called)})
    given = GIVEN | {"X": frame.assign(x=X[:, 0])}
    assert not complaint(nf.fit, **given)
    assert not complaint(nf.fit, **given | {"group": "name"})
    assert not complaint(nf.fit, **given | {"group": frame["name"]})
    for name in called:
        assert "one for each row" in complaint(nf.fit, **given | {"group": frame[[name]]})


def test_an_open_file_is_no_table():
    file = io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n"))
    assert "give its path" in complaint(nf.fit, file, "b")


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_predict(method):
    fitted = nf.fit(**GIVEN)
    for odd in ODD.values():
        in_one_line(getattr(fitted, method), odd)


@pytest.mark.parametrize("path", ["", "x", "x" * 5000, "a\0b", ".", "/", "x" * 300 + "/y"])
def test_paths(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    in_one_line(nf.load, path)
    in_one_line(nf.fit(**GIVEN).save, path)


def test_names_come_in_any_list():
    frame = pd.DataFrame(X, columns=["p", "q", "r"]).assign(t="good film", y=Y)
    frame.loc[::2, "t"] = "a bad one"
    expected = nf.fit(frame, "y", text=["t"], learners=["linear"], minutes=0).predict_proba(frame)
    for text in (pd.Index(["t"]), np.array(["t"]), ("t",), "t"):
        found = nf.fit(frame, "y", text=text, learners=np.array(["linear"]), minutes=0)
        np.testing.assert_array_equal(found.predict_proba(frame), expected)


def test_losses_come_as_losses_too():
    fitted = nf.fit(X, Y, learners="linear", losses=[nf.GCE(q=0.7), "MAE"], minutes=0)
    assert fitted.predict(X).shape == (40,)
