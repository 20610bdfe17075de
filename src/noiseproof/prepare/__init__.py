"""A user's own rows: read them, check them, turn them into features."""

from noiseproof.extras import need

need("fit", "pandas", "PIL", "pyarrow", "scipy", "sklearn")
