"""The example for skorch, and that predict_proba gives probabilities."""

import pickle

import numpy as np
import pytest
import torch
from shipped import LOSS, example, rows
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from noiseproof.errors import ExpressionError
from noiseproof.integrations.skorch import settings

skorch = pytest.importorskip("skorch")


def trained():
    x, y = rows()
    net = example("skorch_classifier").classifier(LOSS, epochs=20)
    net.set_params(module__features=4, module__classes=3)
    torch.manual_seed(0)
    return net.fit(x.numpy(), y.numpy())


def test_predict_proba_gives_probabilities():
    x, y = rows()
    net = trained()
    p = net.predict_proba(x.numpy())
    np.testing.assert_allclose(p.sum(1), 1, rtol=1e-5)
    assert (p >= 0).all()
    assert (net.predict(x.numpy()) == y.numpy()).mean() > 0.9
    # What the settings are for: without them skorch returns the logits.
    bare = clone(net).set_params(predict_nonlinearity="auto").initialize()
    assert abs(bare.predict_proba(x.numpy()).sum(1) - 1).max() > 0.01


def test_the_loss_is_a_parameter_that_a_search_can_vary():
    x, y = rows()
    search = GridSearchCV(trained(), {"criterion__text": ["CE", "MAE"]}, cv=2)
    found = search.fit(x.numpy(), y.numpy()).best_estimator_
    assert str(found.criterion_) == search.best_params_["criterion__text"]


def test_options_and_mistakes():
    net = skorch.NeuralNetClassifier(
        torch.nn.Linear(4, 3), **settings(LOSS, label_smoothing=0.1, weight=torch.ones(3))
    ).initialize()
    assert net.criterion_.label_smoothing == 0.1
    assert net.criterion_.weight.tolist() == [1, 1, 1]
    assert pickle.loads(pickle.dumps(settings(LOSS))) == settings(LOSS)
    with pytest.raises(ExpressionError, match="did you mean 'MAE'"):
        settings("MEA")
