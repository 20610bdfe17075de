"""What makes the steps of a run: one network's, or those of a stack."""

from collections.abc import Iterable

import torch
from torch import nn

from noiseproof.train.recipe import Recipe


def make_optimiser(parameters: Iterable[nn.Parameter], recipe: Recipe) -> torch.optim.SGD:
    """Return the SGD of a recipe, before its first step."""
    optimiser = torch.optim.SGD(
        parameters,
        lr=recipe.lr,
        momentum=recipe.momentum,
        weight_decay=recipe.weight_decay,
        nesterov=recipe.nesterov,
        fused=True,
    )
    if recipe.momentum:
        # torch would make them in the first step, of whatever the memory held before. In float16
        # the first steps are often skipped, and then that would be the momentum.
        for group in optimiser.param_groups:
            for weight in group["params"]:
                optimiser.state[weight]["momentum_buffer"] = torch.zeros_like(weight)
    return optimiser
