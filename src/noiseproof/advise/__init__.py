"""Recommend losses for a noise."""

from noiseproof.advise.recommend import Advice, Recommendation, recommend

__all__ = ["Advice", "Recommendation", "recommend"]
