"""One seed of a cell of a table: everything that decides a run, known before any data is read."""

from dataclasses import dataclass, replace
from functools import cached_property

from noiseproof.bench.source import LABEL
from noiseproof.results.key import Place, find_place
from noiseproof.train import Recipe

#: How a noise that comes from the user's own file begins.
MATRIX = "matrix:"


@dataclass(frozen=True)
class Cell:
    """What to train. It travels to other processes and machines.

    Args:
        dataset: a name, or the path of the user's own data.
        recipe: how to train.
        loss: as ``str(loss)`` spells it.
        noise: as ``str(noise)`` spells it.
        seed: one for everything that is drawn.
        row: the name of the row in the table.
        fingerprint: of the user's own data.
        matrix: the hash of a matrix that was read from a file.
        label: the column of labels, where the data is the user's own table.
        encoder: what makes features of the pictures, as the grid names it; empty for none.
        encoded: the text that decides the features.
    """

    dataset: str
    recipe: Recipe
    loss: str
    noise: str
    seed: int
    row: str = ""
    fingerprint: str = ""
    matrix: str = ""
    label: str = LABEL
    encoder: str = ""
    encoded: str = ""

    @cached_property
    def place(self) -> Place:
        """Its place in a table, which its other seeds share."""
        return find_place(
            dataset=self.dataset,
            fingerprint=self.fingerprint,
            recipe_hash=self.recipe.hash,
            loss=self.loss,
            noise=self.noise,
            matrix=self.matrix,
            encoded=self.encoded,
        )

    @cached_property
    def key(self) -> str:
        """The key of its record."""
        return self.place.key(self.seed)

    def with_seed(self, seed: int) -> "Cell":
        """Return the cell with another seed."""
        other = replace(self, seed=seed)
        other.__dict__["place"] = self.place  # hashing the recipe takes longer than all the rest
        return other

    def __str__(self) -> str:
        """Return what a line of progress calls it."""
        return f"{self.row or self.loss} {self.noise} seed {self.seed}"
