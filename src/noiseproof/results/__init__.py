"""What happened: one record a run, written whole or not at all, and the models that were kept."""

from noiseproof.results.complete import complete
from noiseproof.results.files import RunFiles
from noiseproof.results.key import cell_key
from noiseproof.results.lock import RunningElsewhereError
from noiseproof.results.model import Model, load_model, save_model
from noiseproof.results.record import SCHEMA, Record
from noiseproof.results.store import Store
from noiseproof.results.summary import Summary

__all__ = [
    "SCHEMA",
    "Model",
    "Record",
    "RunFiles",
    "RunningElsewhereError",
    "Store",
    "Summary",
    "cell_key",
    "complete",
    "load_model",
    "save_model",
]
