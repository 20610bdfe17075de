"""What happened: one record a run, written whole or not at all, and the models that were kept."""

from noiseproof.results.complete import complete
from noiseproof.results.folder import RunFolder
from noiseproof.results.model import Model, load_model, save_model
from noiseproof.results.record import SCHEMA, Record

__all__ = ["SCHEMA", "Model", "Record", "RunFolder", "complete", "load_model", "save_model"]
