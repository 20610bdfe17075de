"""Wires the rooms below for a user's own data: recommend, learn, fit, predict."""

from noiseproof.advise.recommend import Advice, Recommendation, recommend

__all__ = ["Advice", "Recommendation", "recommend"]
