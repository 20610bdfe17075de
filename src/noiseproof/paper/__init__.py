"""The paper's own numbers, as data: each with the table it comes from. Nothing here is ours.

Zhou, Liu, Jiang, Gao and Ji: Asymmetric Loss Functions for Learning with Noisy Labels, ICML 2021.
"""

from noiseproof.paper.later import LATER
from noiseproof.paper.parameters import DATASETS, METHODS, PARAMETERS
from noiseproof.paper.tables import PaperNumber, Printed, paper_number, printed

__all__ = [
    "DATASETS",
    "LATER",
    "METHODS",
    "PARAMETERS",
    "PaperNumber",
    "Printed",
    "paper_number",
    "printed",
]
