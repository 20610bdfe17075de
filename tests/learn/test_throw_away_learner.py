"""A new learner is one file: comparison, treatments, model files and ensemble take it as it is."""

import sys

import numpy as np
import pytest

from noiseproof.errors import DataError, NoiseproofError
from noiseproof.fitting.fit import fit
from noiseproof.fitting.model import load
from noiseproof.learn.ensemble import Ensemble
from noiseproof.learn.learn import learn
from noiseproof.learn.learner import registry

FILE = """
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from noiseproof.learn.arrays import ArrayModel
from noiseproof.learn.learner import Learner


class Centres(ArrayModel):
    learner = "nearest centre"

    def __init__(self, centres):
        self.centres = centres

    @property
    def sizes(self):
        return self.centres.shape[1], self.centres.shape[0]

    def probabilities(self, X):
        far = ((X[:, None] - self.centres) ** 2).sum(-1)
        p = np.exp(far.min(1, keepdims=True) - far)
        return (p / p.sum(1, keepdims=True)).astype(np.float32)

    def arrays(self):
        return {"centres": self.centres}

    @classmethod
    def of_arrays(cls, arrays):
        return cls(arrays["centres"])


@dataclass(frozen=True)
class NearestCentre(Learner):
    name: ClassVar[str] = "nearest centre"
    trained: ClassVar = Centres
    power: float = 1.0

    @classmethod
    def train(cls, problem, tasks):
        models = []
        for task in tasks:
            soft = task.soft(problem) * task.weights[:, None]
            models.append(Centres((soft.T @ problem.features) / soft.sum(0)[:, None]))
        return models
"""


@pytest.fixture
def centres(tmp_path, monkeypatch):
    (tmp_path / "nearest_centre.py").write_text(FILE)
    monkeypatch.syspath_prepend(tmp_path)
    yield __import__("nearest_centre")
    del registry["nearest centre"], sys.modules["nearest_centre"]


def test_it_is_compared_treated_saved_and_loaded(centres, tmp_path):
    rng = np.random.default_rng(0)
    true = np.arange(300) % 3
    X = (rng.standard_normal((300, 4)) + 2 * np.eye(3, 4)[true]).astype(np.float32)
    given = np.where(rng.random(300) < 0.3, (true + 1) % 3, true)
    learned = learn(X, given, 3, learners=["nearest centre"])
    assert {c.learner for c in learned.comparison} <= {"nearest centre", "ensemble"}
    assert {c.treatment for c in learned.comparison} >= {"none", "em", "drop"}
    p = learned.model.probabilities(X)
    assert (p.argmax(1) == true).mean() > 0.85
    (tmp_path / "saved").mkdir()
    learned.model.save(tmp_path / "saved")
    assert (Ensemble.load(tmp_path / "saved").probabilities(X) == p).all()


def test_a_model_of_a_learner_that_is_not_registered_says_so(centres, tmp_path, monkeypatch):
    X = np.random.default_rng(0).standard_normal((90, 4))
    y = np.array(["a", "b", "c"])[X[:, :3].argmax(1)]
    folder = fit(X, y, learners=["nearest centre"], minutes=0).save(tmp_path / "out")
    with monkeypatch.context() as elsewhere:
        elsewhere.delitem(registry, "nearest centre")
        with pytest.raises(DataError, match=r"out.*no learner is called 'nearest centre'; import"):
            load(folder)


MISTAKES = {
    "too few rows": ("probabilities", lambda model, X: np.full((len(X) - 1, 3), 1 / 3)),
    "too few classes": ("probabilities", lambda model, X: np.full((len(X), 2), 1 / 2)),
    "a list": ("probabilities", lambda model, X: [[1 / 3] * 3] * len(X)),
    "nothing": ("probabilities", lambda model, X: None),
    "labels": ("probabilities", lambda model, X: np.eye(3, dtype=int)[np.zeros(len(X), int)]),
    "not a number": ("probabilities", lambda model, X: np.full((len(X), 3), np.nan)),
    "sums of 2": ("probabilities", lambda model, X: np.full((len(X), 3), 2 / 3)),
    "below 0": ("probabilities", lambda model, X: np.tile([-1.0, 1.0, 1.0], (len(X), 1))),
    "too few models": ("train", classmethod(lambda cls, problem, tasks: [])),
    "no setting": ("first", classmethod(lambda cls, shape: [])),
}


@pytest.mark.parametrize("beside", [[], ["linear"]], ids=["alone", "beside another"])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_it_is_one_line(centres, mistake, beside, monkeypatch):
    if mistake == "no setting" and beside:
        pytest.skip("a learner may have none for a shape, if there is another")
    method, instead = MISTAKES[mistake]
    kind = centres.Centres if method == "probabilities" else centres.NearestCentre
    monkeypatch.setattr(kind, method, instead)
    X = np.random.default_rng(0).standard_normal((120, 4)).astype(np.float32)
    with pytest.raises(NoiseproofError, match=r"\A.{5,300}\Z") as error:
        learn(X, np.arange(120) % 3, 3, learners=["nearest centre", *beside])
    assert "nearest centre" in str(error.value)
