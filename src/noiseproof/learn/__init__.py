"""From features and noisy labels to a model; knows no files, no columns and no reports."""

from noiseproof.extras import need

need("fit", "scipy", "sklearn", "threadpoolctl")
