"""Every loss, theory and noise, with torch and numpy alone; run by the tests, not by pytest."""

import dataclasses
import io
import pydoc
from contextlib import redirect_stdout, suppress

import numpy as np
import torch

import noiseproof as nf
from noiseproof import *  # noqa: F403
from noiseproof.errors import MissingExtraError, TheoryError


def build(kind):
    """A loss of a class: numbers without a default are 1.5, which all of them allow."""
    declared = kind.parameters_declared()
    required = [f.name for f in declared if f.default is dataclasses.MISSING]
    return kind(**{name: nf.GCE() if name == "base" else 1.5 for name in required})


def says(extra, call):
    """Whether a call says the line of pip for an extra."""
    try:
        call()
    except MissingExtraError as error:
        return str(error).endswith(f"pip install 'noiseproof[{extra}]'") and "\n" not in str(error)
    return False


def quietly(call, *arguments):
    """Call, though theory may have no answer for this loss."""
    with suppress(TheoryError):
        call(*arguments)


T = nf.noise.symmetric(4, 0.3)
target = torch.arange(8) % 4
for kind in nf.registry.values():
    loss = build(kind)
    logits = torch.linspace(-2, 2, 32).sin().view(8, 4).requires_grad_()
    loss(logits, target).backward()
    assert logits.grad.isfinite().all(), kind
    assert str(nf.loss(str(loss))) == str(loss)
    nf.linear_loss(torch.ones(8, 3), torch.ones(4, 3), target, loss)
    quietly(nf.audit, loss, 4, T)
    for question in (nf.asymmetry_ratio, nf.is_symmetric, nf.is_completely_asymmetric):
        quietly(question, loss)
    for question in (nf.calibration, nf.excess_risk_constant):
        quietly(question, loss)
    for question in (nf.minimise_risk, nf.is_asymmetric):
        quietly(question, loss, [0.5, 0.3, 0.2])
quietly(nf.check_excess_risk, nf.MAE(), 10)
nf.paper_loss("NCE+AGCE", "cifar10")

labels = np.arange(400) % 10
for noise in (
    nf.noise.symmetric(10, 0.4),
    nf.noise.asymmetric("mnist", 0.3),
    nf.noise.pair_flip(10, 0.2),
    nf.noise.superclass("cifar100", 0.2),
    nf.noise.identity(10),
):
    noise.corrupt(np.arange(400) % len(noise), seed=1)
right = np.eye(10)[labels] * 0.9 + 0.01
nf.noise.estimate(labels, right)
nf.noise.instance_dependent(torch.zeros(400, 3), labels, 0.3, seed=1)
assert nf.noise.parse("symmetric:0.4")
assert str(nf.recommend(T))

assert says("fit", lambda: nf.fit)
assert says("fit", lambda: nf.load)
assert says("fit", lambda: __import__("noiseproof.integrations.sklearn"))
assert says("fit", lambda: __import__("noiseproof.data").data.load("digits"))
assert says("bench", T.plot)
assert says("bench", nf.audit("MAE", classes=4).plot)
with redirect_stdout(io.StringIO()):
    pydoc.help(nf)
assert not {"fit", "load"} & {*dir(nf)}
assert "recommend" in dir(nf)
print("bare: all right")
