"""What we say: figures, and later tables and the page."""

from noiseproof.extras import need

need("fit", "jinja2", "markupsafe", "tqdm")
