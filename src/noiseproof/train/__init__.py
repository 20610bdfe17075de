"""One experiment, end to end: a frozen recipe, a loop of one page, checkpoints, several processes.

>>> from noiseproof import data, train
>>> recipe = train.recipe("digits").override(epochs=2)
>>> experiment = train.prepare(data.load("digits"), recipe, "AGCE(a=4, q=0.2)", "symmetric:0.4")
>>> outcome, network = experiment.run()
>>> outcome.status, len(outcome.history)
('done', 2)
"""

from noiseproof.train.experiment import Experiment, prepare
from noiseproof.train.machine import Machine, default_threads, pick_device
from noiseproof.train.outcome import Epoch, Outcome
from noiseproof.train.parallel import World, joined
from noiseproof.train.recipe import Recipe
from noiseproof.train.recipes import describe, recipe

__all__ = [
    "Epoch",
    "Experiment",
    "Machine",
    "Outcome",
    "Recipe",
    "World",
    "default_threads",
    "describe",
    "joined",
    "pick_device",
    "prepare",
    "recipe",
]
