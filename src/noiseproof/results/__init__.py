"""What happened: one record per run, stores of records, and the networks that were kept."""

from noiseproof.results.complete import complete, complete_together
from noiseproof.results.key import Place
from noiseproof.results.model import Model, load_model, save_model
from noiseproof.results.record import SCHEMA, Record
from noiseproof.results.run_files import RunFiles
from noiseproof.results.store import Dispute, Store
from noiseproof.results.summary import Summary

__all__ = [
    "SCHEMA",
    "Dispute",
    "Model",
    "Place",
    "Record",
    "RunFiles",
    "Store",
    "Summary",
    "complete",
    "complete_together",
    "load_model",
    "save_model",
]
