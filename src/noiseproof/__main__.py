"""``python -m noiseproof``."""

from noiseproof.cli import command

command()
