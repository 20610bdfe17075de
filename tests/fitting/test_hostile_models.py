"""A model folder that somebody changed, manifest and all: one line, or a model that predicts."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import noiseproof as nf
from noiseproof.errors import DataError
from noiseproof.files.manifest import write_manifest
from noiseproof.fitting.model import load
from noiseproof.learn.learners import registry
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.notes import Notes

rng = np.random.default_rng(0)
TABLE = pd.DataFrame({
    "a": rng.normal(size=240).round(3), "b": rng.choice(["x", "y", "z"], 240),
    "c": rng.normal(size=240).round(3),
})  # fmt: skip
NUMBER = re.compile(rb"-?\d+(\.\d+)?(e-?\d+)?")
VALUES = [b"-1", b"0", b"999999999", b"2147483648", b"18446744073709551616", b"1e308", b"NaN",
          b"Infinity", b"null", b"[]", b'"x"']  # fmt: skip


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    y = np.where(TABLE["a"] > 0, "up", "down")
    suited = [name for name in registry if name != "bayes"]  # bayes is for sparse data
    for name in suited:
        nf.fit(TABLE, y, learners=name, minutes=0).save(folder / name)
    return [folder / name for name in suited]


def changed(draw, content: bytes) -> bytes:
    """Return a file with a bit flipped, a part cut out or put in, or a number replaced."""
    at = draw(st.integers(0, max(0, len(content) - 1)))
    how = draw(st.sampled_from(["bit", "cut", "put", "number", "end"]))
    if how == "bit" and content:
        flipped = content[at] ^ (1 << draw(st.integers(0, 7)))
        return content[:at] + bytes([flipped]) + content[at + 1 :]
    if how == "cut":
        return content[:at] + content[at + draw(st.integers(1, 40)) :]
    if how == "put":
        return content[:at] + draw(st.binary(min_size=1, max_size=12)) + content[at:]
    if how == "end":
        return content[:at]
    found = list(NUMBER.finditer(content))
    if not found:
        return b""
    one = draw(st.sampled_from(found))
    return content[: one.start()] + draw(st.sampled_from(VALUES)) + content[one.end() :]


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_changed_model_is_refused_in_one_line_or_predicts(saved, tmp_path, data):
    source = data.draw(st.sampled_from(saved))
    names = sorted(p.relative_to(source) for p in (source / "model").rglob("*") if p.is_file())
    name = data.draw(st.sampled_from(names))
    folder = tmp_path / "model"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    (folder / name).write_bytes(changed(data.draw, (source / name).read_bytes()))
    write_manifest(folder)  # as whoever means harm would
    refused = None
    try:
        model = load(folder)
    except DataError as error:
        refused = str(error)
    if refused is not None:
        assert "\n" not in refused
        return
    p = model.probabilities(as_samples(TABLE, labelled=False), Notes())
    assert p.shape == (240, len(model.classes))
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-3)
