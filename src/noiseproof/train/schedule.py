"""The learning rate of each epoch."""

import math

from noiseproof.train.recipe import Recipe


def learning_rate(recipe: Recipe, epoch: int) -> float:
    """Return the learning rate of an epoch, counted from 0.

    >>> cosine = Recipe(network="mlp", epochs=4, lr=0.1)
    >>> [round(learning_rate(cosine, epoch), 4) for epoch in range(4)]
    [0.1, 0.0854, 0.05, 0.0146]
    """
    if recipe.schedule == "cosine":
        return recipe.lr * (1 + math.cos(math.pi * epoch / recipe.epochs)) / 2
    return recipe.lr * (recipe.decay**epoch if recipe.schedule == "exponential" else 1)
