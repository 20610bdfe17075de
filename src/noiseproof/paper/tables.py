"""The paper's benchmark tables: all numbers of the main text and of the supplement.

``benchmarks.csv`` was written by ``scripts/read_paper_tables.py`` from the paper's LaTeX.
"""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class PaperNumber:
    """One cell of the paper's tables, in per cent.

    Args:
        mean: the test accuracy, the mean of three runs.
        std: its standard deviation; None for WebVision, which was run once.
        bold: whether the paper prints it in bold, as one of the three best.
    """

    mean: float
    std: float | None
    bold: bool


@dataclass(frozen=True)
class Printed(PaperNumber):
    """A number and where it stands.

    Args:
        part: ``"main"`` or ``"supplement"``.
        table: the label of the table in the LaTeX source.
        dataset: ``"mnist"``, ``"cifar10"``, ``"cifar100"`` or ``"webvision"``.
        method: the name of the row.
        noise: ``"none"``, ``"symmetric:0.2"`` ...
    """

    part: str
    table: str
    dataset: str
    method: str
    noise: str


def paper_number(table: str, method: str, noise: str) -> PaperNumber | None:
    """Return what the paper prints for a method under a noise, None where it prints nothing.

    The numbers are the supplement's: its tables have every method, and its bold is chosen among
    them all. The main text repeats 303 of them, and differs in one: for CE on CIFAR-10 with
    asymmetric noise of 0.3 it has 79.32, the supplement 79.316. Its bold differs in 11 cells,
    because fewer rows compete. :func:`printed` has both.

    Args:
        table: ``"mnist"``, ``"cifar10"``, ``"cifar100"`` or ``"webvision"``.
        method: such as ``"AGCE"`` or ``"NCE+AGCE"``.
        noise: ``"none"``, ``"symmetric:0.2"``, ``"asymmetric:0.1"`` ...; also
            ``"asymmetric:0.1:released"``, which is what the paper's numbers were made with.
            WebVision's noise is its own: ``"none"``.

    >>> paper_number("mnist", "AGCE", "symmetric:0.8")
    PaperNumber(mean=96.59, std=0.12, bold=True)
    >>> paper_number("webvision", "AGCE", "none")
    PaperNumber(mean=69.4, std=None, bold=True)
    >>> paper_number("cifar100", "AGCE", "none")
    """
    found = _supplement().get((table, method, noise.removesuffix(":released")))
    return None if found is None else PaperNumber(found.mean, found.std, found.bold)


@cache
def printed() -> tuple[Printed, ...]:
    """Return every number of the benchmark tables, in the order of the paper."""
    text = files("noiseproof.paper").joinpath("benchmarks.csv").read_text("utf-8")
    return tuple(
        Printed(
            mean=float(row["mean"]),
            std=float(row["std"]) if row["std"] else None,
            bold=row["bold"] == "yes",
            part=row["part"],
            table=row["table"],
            dataset=row["dataset"],
            method=row["method"],
            noise=row["noise"],
        )
        for row in csv.DictReader(text.splitlines())
    )


@cache
def _supplement() -> dict[tuple[str, str, str], Printed]:
    return {
        (number.dataset, number.method, number.noise): number
        for number in printed()
        if number.part == "supplement"
    }
