"""What we say: figures, tables and pages."""

from noiseproof.extras import need

need("fit", "jinja2", "markupsafe")
