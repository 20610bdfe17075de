"""Train classifiers that stay right when the labels are wrong."""

from noiseproof.losses import *  # noqa: F403
