"""From a user's noisy data to a model on disk, predictions and a report."""

from noiseproof.extras import need

need("fit", "pandas", "pyarrow", "jinja2")
