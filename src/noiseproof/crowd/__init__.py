"""Several answers a row: what they say together, and how far each annotator can be trusted."""

from noiseproof.extras import need

need("fit", "scipy", "pandas")
