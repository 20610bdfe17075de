"""Recipes by name: ``paper``, as its authors trained, and ``quick``, for a CPU."""

from noiseproof.errors import ParameterError, did_you_mean
from noiseproof.known import KNOWN
from noiseproof.train.recipe import Recipe

#: A start for the user's own data, which has no recipe in the paper.
VECTORS = Recipe(name="quick", network="mlp", epochs=50, weight_decay=1e-3)
IMAGES = Recipe(name="quick", network="cnn8", epochs=30, weight_decay=1e-4)

#: By head: how to train it on features of pictures, which an encoder made before. Chosen with CE
#: alone on CIFAR-10's training images, a fifth of them held out: the learning rate that is best on
#: clean labels and, for ``mlp``, lets CE learn wrong labels by heart (97 % of them at symmetric
#: 0.4). No learning rate lets a linear head do that: see docs/results.
FROZEN = {
    "linear": Recipe(name="frozen", network="linear", epochs=30, batch=512, lr=0.01),
    "mlp": Recipe(name="frozen", network="mlp", hidden=(64,), epochs=30, batch=512, lr=0.05),
}

NAMES = ("paper", "quick")


def known_recipe(dataset: str, name: str) -> Recipe | None:
    """Return the recipe of a known data set by its name; None where it has none.

    >>> known_recipe("mnist", "paper").mean, known_recipe("digits", "paper")
    ((0.1307,), None)
    """
    entry = KNOWN.get(dataset)
    if entry is None or name not in entry.recipes:
        return None
    return Recipe(name=name, mean=entry.mean, std=entry.std, **entry.recipes[name])


def recipe(dataset: str, name: str | None = None, shape: tuple[int, ...] = ()) -> Recipe:
    """Return a recipe by name; without one ``paper``, or ``quick`` where there is no ``paper``.

    Args:
        dataset: a known data set, or anything else for the user's own.
        name: ``"paper"`` or ``"quick"``.
        shape: of one input, which decides the network for the user's own data.

    >>> recipe("mnist").epochs, recipe("digits").name
    (50, 'quick')
    >>> recipe("digits", "paper")
    Traceback (most recent call last):
    noiseproof.errors.ParameterError: the paper has no recipe for 'digits': use quick
    """
    if name is not None and name not in NAMES:
        raise ParameterError(f"unknown recipe {name!r}{did_you_mean(name, NAMES)}")
    papers, quick = known_recipe(dataset, "paper"), known_recipe(dataset, "quick")
    if name != "quick" and papers:
        return papers
    if name == "paper":
        raise ParameterError(f"the paper has no recipe for {dataset!r}: use quick")
    if quick:
        return quick
    if papers:
        raise ParameterError(
            f"{dataset} has no quick recipe: use paper, with --epochs and --train-size"
        )
    return IMAGES if len(shape) == 3 and min(shape[1:]) >= 8 else VECTORS


def describe(dataset: str, chosen: Recipe) -> str:
    """Return the text of a recipe, with every deviation from the paper's.

    >>> print(describe("mnist", recipe("mnist").override(epochs=10)).splitlines()[-1])
      epochs 10 (not 50)
    """
    papers = known_recipe(dataset, "paper")
    if papers is None:
        return f"{chosen}\nThe paper has no recipe for {dataset}."
    changes = chosen.changes(papers)
    if not changes:
        return f"{chosen}\nThis is the paper's recipe."
    lines = "\n".join(f"  {change}" for change in changes)
    return f"{chosen}\nDeviations from the paper's recipe:\n{lines}"
