"""Turn a user's noisy data into a saved model, predictions and a report."""

from noiseproof.extras import need

need("fit", "pandas", "pyarrow", "jinja2", "scipy", "markupsafe", "PIL", "sklearn")
