"""A process computes with one thread, whatever its caller has set: no waiting, the same bits."""

import numpy as np
import pandas as pd
import pytest
import torch
from threadpoolctl import threadpool_info, threadpool_limits

import noiseproof as nf
from noiseproof.fitting.page import map as flat
from noiseproof.integrations.sklearn import RobustClassifier
from noiseproof.learn.ensemble import Ensemble
from noiseproof.prepare.patches import Patches
from noiseproof.prepare.table_features import TableFeatures

numbers = np.random.default_rng(0)
LABELS = numbers.permutation(np.repeat(["dark", "light"], 30))
PIXELS = numbers.integers(0, 128, (60, 3, 16, 16), dtype=np.uint8)
PIXELS[LABELS == "light"] += 100
DATA = {
    "matrix": numbers.normal(size=(60, 4)) + (LABELS == "light")[:, None],
    "table": pd.DataFrame({
        "size": numbers.normal(size=60) + (LABELS == "light"),
        "said": [f"{label} it was, and {n} others too" for n, label in enumerate(LABELS)],
    }),
    "images": PIXELS,
}  # fmt: skip


@pytest.fixture
def two_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    with threadpool_limits(2):
        yield
    torch.set_num_threads(before)


def threads() -> set[int]:
    return {torch.get_num_threads(), *(pool["num_threads"] for pool in threadpool_info())}


@pytest.mark.parametrize("kind", DATA)
def test_every_step_of_a_fit_and_of_predictions(kind, two_threads, monkeypatch, tmp_path):
    seen, before = {}, threads()

    def watched(owner, name):
        method = getattr(owner, name)

        def watching(*args, **kwargs):
            seen.setdefault(name, set()).update(threads())
            return method(*args, **kwargs)

        monkeypatch.setattr(owner, name, watching)

    watched(Patches, "features")
    watched(TableFeatures, "transform")
    watched(Ensemble, "probabilities")
    watched(flat, "_flattened")
    fitted = nf.fit(DATA[kind], LABELS, folds=2, learners="linear")
    fitted.save(tmp_path / "fit")
    fitted.predict(DATA[kind])
    assert {number for found in seen.values() for number in found} == {1}
    assert {"probabilities", "_flattened"} <= seen.keys()
    assert threads() == before


def test_the_classifier(two_threads):
    model = RobustClassifier(learner="linear").fit(DATA["matrix"], LABELS)
    before = threads()
    assert (model.predict(DATA["matrix"]) == LABELS).mean() > 0.7
    assert threads() == before


@pytest.mark.parametrize("kind", DATA)
def test_the_same_bits(kind):
    answers = []
    for limit in (1, 2):
        with threadpool_limits(limit):
            fitted = nf.fit(DATA[kind], LABELS, folds=2, learners="linear")
            answers.append(fitted.predict_proba(DATA[kind]))
    np.testing.assert_array_equal(*answers)
