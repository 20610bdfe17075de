"""Models that were changed with care, manifest and all: refused in one line, at no great cost."""

import errno
import io
import json
import os
import shutil
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from noisy_tables import QUICK, blobs
from scipy import sparse

from noiseproof.errors import DataError
from noiseproof.files.manifest import write_manifest
from noiseproof.fitting.fit import fit
from noiseproof.fitting.model import load
from noiseproof.learn.arrays import read_arrays, write_arrays
from noiseproof.learn.learners import registry
from noiseproof.learn.learners.booster_text import rewritten
from noiseproof.prepare.classes import Classes, encode
from noiseproof.prepare.table_features import TableFeatures

FRAME, _, _ = blobs(60, classes=(300, 299))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return fit(FRAME, "kind", **QUICK).save(tmp_path_factory.mktemp("models") / "out")


@pytest.fixture
def model(saved, tmp_path):
    shutil.copytree(saved, tmp_path / "model")
    return tmp_path / "model"


def refused(folder):
    with pytest.raises(DataError) as caught:
        load(folder)
    (line,) = str(caught.value).splitlines()
    return line


@pytest.mark.parametrize(
    "change",
    [
        *({"dtype": t} for t in ("int8", "bool", "complex64", "O", "S1", "V8", "i4,i4")),
        *({"dtype": t} for t in ("(2,)i4", 5, ["a"], "no such")),
        *({"kind": "text", "dtype": t} for t in ("<U1", "S1", "<M8[ns]", "i8")),
        *({"kind": k} for k in ("weird", None, [], "boolean", "text")),
        *({"names": n} for n in (["299", "299"], [299, 300], ["1e3", "3"], [" 299", "3_00"])),
        *({"names": n} for n in ([], ["1"], "ab", {"a": 1, "b": 2}, [None, "b"], ["9" * 5000, ""])),
        {"names": ["2049", "2051"], "dtype": "float16"},
        {"names": ["-1", "2"], "dtype": "uint8"},
        {"names": ["2020-05", "2021-06"], "kind": "text", "dtype": "<M8[Y]"},
        {"more": 1},
    ],
    ids=str,
)  # fmt: skip
def test_classes_are_what_their_type_holds(model, change):
    path = model / "model" / "recipe.json"
    recipe = json.loads(path.read_text())
    recipe["classes"] |= change
    path.write_text(json.dumps(recipe))
    write_manifest(model)
    if change in ({"kind": "text"}, {"kind": "text", "dtype": ""}):
        assert load(model).classes.tolist() == ["299", "300"]  # other types, but whole
    else:
        assert "damaged" in refused(model) or "not of one model" in refused(model)


@pytest.mark.parametrize(
    "labels",
    [
        ["b", "a"], [300, -1], [True, False], ["a\0", "a"], [3.0, 1.0],
        np.array([300, 2], np.uint16), np.array(["2020-01-01", "2021-05-05"], "M8[D]"),
        np.array(["2020-01-01T10:20:30.5", "2021-05-05"], "M8[ms]"), [2**63, -(2**70)],
    ],
    ids=str,
)  # fmt: skip
def test_all_classes_that_a_fit_writes_are_read_again(labels):
    classes = encode([*labels, *labels], "here")[1]
    described = json.loads(json.dumps(vars(classes)))
    assert Classes.load(described) == classes


@pytest.mark.parametrize("field", [{"label": [1]}, {"embeddings": "x"}, {"schema": "\x1b[2J\n3"}])
def test_other_fields_are_checked_and_shown_escaped(model, field):
    path = model / "model" / "recipe.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | field))
    write_manifest(model)
    assert refused(model).isprintable()


@pytest.mark.parametrize("order", [-1, "x", [], {}, 0.5])
def test_the_order_of_days_and_months_is_a_truth_value(order):
    date = {"kind": "date", "name": "on", "mean": 0.0, "std": 1.0, "day_first": order}
    with pytest.raises(ValueError, match="day_first: expected a truth value"):
        TableFeatures.load({"columns": [date], "left_out": [], "commas": []}, {})


def array(shape, dtype="<f8"):
    """Return the head of an .npy file without its numbers."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": dtype, "fortran_order": False, "shape": shape}
    )
    return stream.getvalue()


@pytest.mark.parametrize("shape", [(10**11,), (10**7, 10**7), (2**62, 2**62), (-1,), (1,)])
def test_arrays_are_as_large_as_they_say(model, shape):
    for path in sorted((model / "model").rglob("*.npz")):
        kept = path.read_bytes()
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.npy", array(shape))
        write_manifest(model)
        assert "damaged (ValueError)" in refused(model)
        path.write_bytes(kept)


def test_every_bit_of_the_head_of_an_archive(tmp_path):
    """Flags of encryption and of unknown versions of zip were tracebacks."""
    path, arrays = tmp_path / "arrays.npz", {"a": np.arange(3.0)}
    write_arrays(path, arrays)
    whole = path.read_bytes()
    for head in (0, whole.index(b"PK\1\2"), whole.index(b"PK\5\6")):
        for at in range(head, min(head + 46, len(whole))):
            for bit in range(8):
                flipped = bytes([whole[at] ^ 1 << bit])
                path.write_bytes(whole[:at] + flipped + whole[at + 1 :])
                with suppress(ValueError):
                    assert read_arrays(path).keys() <= {"a"} or at >= head + 30  # in its name


@pytest.mark.parametrize("leaves", [0, -1, 2, 10**12])
def test_a_tree_has_the_leaves_that_it_says(leaves):
    """LightGBM ends the process over a tree without any."""
    values = "0.5" if leaves else ""
    tree = f"\nTree=0\nnum_leaves={leaves}\nnum_cat=0\nleaf_value={values}\n\nend of trees\n"
    with pytest.raises((ValueError, KeyError)):
        rewritten(f"tree\n{tree}", 1, 1)
    rewritten(f"tree\n{tree}".replace(f"leaves={leaves}", "leaves=1").replace("=\n", "=1\n"), 1, 1)


def test_a_model_larger_than_the_memory_is_not_read(model, monkeypatch):
    monkeypatch.setattr("noiseproof.memory.available", lambda: 1000)
    assert "use a machine with more memory" in refused(model)


@pytest.mark.parametrize("kind", ["pipe", "link", "link to a folder", "more"])
def test_only_the_plain_files_of_the_manifest_are_opened(model, kind):
    path = model / "model" / "features.json"
    if kind == "pipe":
        path.unlink()
        os.mkfifo(path)
    elif kind == "link":
        path.rename(model / "moved.json")
        path.symlink_to(model / "moved.json")
    elif kind == "link to a folder":
        (model / "model").rename(model / "moved")
        (model / "model").symlink_to("moved")
    else:
        (model / "model" / "more.npz").write_bytes(b"")
    assert "has changed since the fit" in refused(model)


@pytest.mark.parametrize("name", ["manifest.json", "model/recipe.json", "model/features.json"])
def test_what_may_not_be_read_is_not_called_damaged(model, monkeypatch, name):
    read = Path.read_text

    def closed(path, *arguments, **options):
        if path == model / name:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return read(path, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", closed)
    assert refused(model) == f"{model / name}: cannot be read (Permission denied)"


@pytest.mark.parametrize("value", [np.nan, np.inf, 1j, "text"], ids=str)
def test_every_array_of_a_model_holds_finite_numbers(tmp_path, value):
    """Those of the features too: pictures had a model whose patches were NaN."""
    pictures = np.random.default_rng(0).integers(0, 99, (40, 1, 14, 14)).astype(np.uint8)
    pictures[:20] += 150
    saved = fit(pictures, np.arange(40) < 20, **QUICK).save(tmp_path / "out")
    files = [path for path in saved.rglob("*.npz") if np.load(path).files]
    assert "features.npz" in [path.name for path in files]
    for path in files:
        whole, arrays = path.read_bytes(), dict(np.load(path))
        for name, array in arrays.items():
            if array.dtype.kind == "f":
                np.savez(path, **{**arrays, name: np.full_like(array, value, dtype=type(value))})
                write_manifest(saved)
                assert "damaged" in refused(saved)
        path.write_bytes(whole)
    write_manifest(saved)
    load(saved)


def inputs_for(name):
    rng, y = np.random.default_rng(0), np.arange(40) % 2
    if name == "pictures":
        return (rng.integers(0, 99, (14, 14, 40)) + 150 * y).T.astype(np.uint8), y
    if name in ("texts", "bayes"):
        return pd.DataFrame({"t": [" ".join(rng.choice(["no", "yes", "so"], 5)) for _ in y]}), y
    return rng.normal(size=(40, 3)) + y[:, None], y


@pytest.mark.parametrize("name", registry)
def test_features_in_a_form_that_the_learner_cannot_read_are_refused(tmp_path, name):
    """Sparse rows for a learner of dense ones were a traceback when the model predicted."""
    rng, y = np.random.default_rng(0), np.arange(60) % 2
    inputs = rng.normal(size=(60, 3)) + y[:, None]
    if name == "bayes":  # for sparse rows
        inputs = sparse.random(60, 1500, 0.02, random_state=0, format="csr")
    saved = fit(inputs, y, learners=name, minutes=0).save(tmp_path / "out")
    path = saved / "model" / "features.json"
    described = json.loads(path.read_text())
    for form in (True, False, "object", 1, 0, None, []):
        path.write_text(json.dumps(described | {"sparse": form}))
        write_manifest(saved)
        if not isinstance(form, bool) or (form and name in ("quadratic", "neighbours")):
            assert "the model is damaged" in refused(saved)
        else:
            p = load(saved).predict_proba(inputs)
            np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-3)


@pytest.mark.filterwarnings("ignore::noiseproof.errors.DataWarning")  # of other ranges
@pytest.mark.parametrize("name", [*registry, "pictures", "texts"])
def test_arrays_of_another_type_are_refused_or_predict(tmp_path, name):
    """Patches in double precision and weights in another byte order were tracebacks."""
    inputs, y = inputs_for(name)
    options = {"learners": name, "minutes": 0} if name in registry else QUICK
    saved = fit(inputs, y, **options).save(tmp_path / "out")
    for path in [path for path in saved.rglob("*.npz") if np.load(path).files][:2]:
        whole, arrays = path.read_bytes(), dict(np.load(path))
        for key, array in arrays.items():
            for dtype in ("<f2", "<f4", ">f4", "<f8", "g", "<i8", ">i4", "u1", "?"):
                with np.errstate(all="ignore"):
                    np.savez(path, **{**arrays, key: array.astype(dtype)})
                write_manifest(saved)
                with suppress(DataError):
                    assert np.isfinite(load(saved).predict_proba(inputs)).all()
        path.write_bytes(whole)


def test_a_model_whose_numbers_overflow_predicts_nothing(model):
    for path in model.rglob("arrays.npz"):
        arrays = dict(np.load(path))
        signs = np.where(np.arange(arrays["weight"].size) % 2, 1, -1)
        weight = (3e38 * signs).astype(np.float32).reshape(arrays["weight"].shape)
        np.savez(path, **{**arrays, "weight": weight})
    write_manifest(model)
    with pytest.raises(DataError, match="no probabilities"):
        load(model).predict_proba(FRAME)


@pytest.mark.parametrize("name", ["trees", "neighbours"])
def test_shares_below_0_are_no_probabilities(tmp_path, name):
    inputs, y = inputs_for(name)
    saved = fit(inputs, y, learners=name, minutes=0).save(tmp_path / "out")
    for path in saved.rglob("arrays.npz"):
        arrays = dict(np.load(path))
        key = "shares" if name == "trees" else "labels"
        arrays[key][:] = [-1, 3]
        np.savez(path, **arrays)
    members = saved / "model" / "ensemble" / "members.json"
    members.write_text(json.dumps(json.loads(members.read_text()) | {"sharpness": 1.0}))
    write_manifest(saved)
    with pytest.raises(DataError, match="no probabilities"):
        load(saved).predict_proba(inputs)


@pytest.mark.parametrize("name", ["recipe.json", "features.npz", "../report.html"])
def test_sizes_are_looked_at_before_anything_is_read(model, name, monkeypatch):
    """A file of terabytes takes no room on a disk, and hours to read."""
    path = model / "model" / name
    os.truncate(path, 1 << 40)
    monkeypatch.setattr("noiseproof.memory.available", lambda: 10**9)
    listed = json.loads((model / "manifest.json").read_text())
    listed["files"][os.path.normpath(f"model/{name}")]["bytes"] = 1 << 40
    (model / "manifest.json").write_text(json.dumps(listed))
    if name == "../report.html":
        load(model)  # a page is not read
    else:
        assert "use a machine with more memory" in refused(model)


def test_a_text_takes_more_room_than_an_array(model, monkeypatch):
    """Python makes 32 bytes and more of each of some texts' bytes."""
    path = model / "model" / "recipe.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"label": [{}] * 10**6}))
    write_manifest(model)
    monkeypatch.setattr("noiseproof.memory.available", lambda: 60_000_000)
    assert "use a machine with more memory" in refused(model)


@pytest.mark.filterwarnings("ignore::noiseproof.errors.DataWarning")
def test_constants_of_columns_that_no_data_have_are_refused_or_predict(tmp_path):
    frame, numbers = pd.DataFrame(), np.random.default_rng(0)
    frame["number"] = numbers.normal(size=60)
    frame["truth"] = numbers.integers(0, 2, 60)
    frame["day"] = pd.date_range("2020-01-01", periods=60, freq="9D").astype(str)
    frame["colour"] = numbers.choice(["red", "blue", "green"], 60)
    frame["text"] = [" ".join(numbers.choice(list("abcdefgh"), 7)) + f" {n}" for n in range(60)]
    frame.loc[::7, ["number", "day", "colour"]] = None
    folder = fit(frame.assign(y=frame["truth"]), "y", **QUICK).save(tmp_path / "model")
    path = folder / "model" / "features.json"
    described = json.loads(path.read_text())
    for at, column in enumerate(described["columns"]):
        for name, known in column.items():
            if not isinstance(known, float):
                continue
            for value in (1e200, 1e308, -1e308, -1.0, 5e-324):
                columns = list(described["columns"])
                columns[at] = column | {name: value}
                path.write_text(json.dumps(described | {"columns": columns}))
                write_manifest(folder)
                with suppress(DataError):
                    p = load(folder).predict_proba(frame)
                    assert ((p >= 0) & (p <= 1)).all()
    path.write_text(json.dumps(described))
    path = folder / "model" / "features.npz"
    arrays = read_arrays(path)
    assert arrays
    for name, array in arrays.items():
        for value in (3e38, -3e38, -1.0, 0.0, 1e-45):
            write_arrays(path, arrays | {name: np.full_like(array, value)})
            write_manifest(folder)
            with suppress(DataError):
                p = load(folder).predict_proba(frame)
                assert ((p >= 0) & (p <= 1)).all()


ODD = (None, True, -5, 1.5, 10**30, "x", ",", "", [], [[]], {}, [1], float("1e308"))


def places(value, path=()):
    """Yield where there is a value in what a JSON file holds, in lists of one kind the first."""
    yield path
    items = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        alike = all(not isinstance(one, dict | list) for one in value)
        items = list(enumerate(value))[: 1 if alike else None]
    for key, part in items:
        yield from places(part, (*path, key))


def replaced(value, path, odd):
    if not path:
        return odd
    made = dict(value) if isinstance(value, dict) else list(value)
    made[path[0]] = replaced(value[path[0]], path[1:], odd)
    return made


def table_of_all_kinds():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"number": rng.normal(size=60), "count": rng.integers(0, 9, 60)})
    frame["day"] = pd.date_range("2020-01-01", periods=60, freq="9D").astype(str)
    frame["colour"] = rng.choice(["red", "blue", "green"], 60)
    frame["price"] = [f"{n}.50 €" for n in range(60)]
    frame["text"] = [" ".join(rng.choice(list("abcdefgh"), 7)) + f" {n}" for n in range(60)]
    frame["same"] = 1
    return frame


DATA = {
    "a table": table_of_all_kinds(),
    "an array": np.random.default_rng(0).normal(size=(60, 3)),
    "words": sparse.random(60, 1500, 0.02, random_state=0, format="csr"),
    "pictures": np.random.default_rng(0).integers(0, 256, (60, 3, 20, 20), dtype=np.uint8),
    "small pictures": np.random.default_rng(0).integers(0, 256, (60, 1, 8, 8), dtype=np.uint8),
}


@pytest.mark.filterwarnings("ignore::noiseproof.errors.DataWarning")
@pytest.mark.parametrize("name", ["recipe.json", "features.json"])
@pytest.mark.parametrize("kind", DATA)
def test_whatever_stands_in_a_description_is_refused_or_predicts(tmp_path, kind, name):
    X, y = DATA[kind], np.where(np.arange(60) % 2, "p", "q")
    folder = fit(X, y, **QUICK).save(tmp_path / "model")
    path = folder / "model" / name
    described = json.loads(path.read_text())
    for place in list(places(described)):
        for odd in ODD:
            path.write_text(json.dumps(replaced(described, place, odd)))
            write_manifest(folder)
            with suppress(DataError):
                p = load(folder).predict_proba(X)
                assert ((p >= 0) & (p <= 1)).all()
