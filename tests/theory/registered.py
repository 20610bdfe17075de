"""Every registered loss as text, made from what its class declares."""

import dataclasses
import math

from noiseproof.losses import registry


def text_of(name: str) -> str:
    """The loss with numbers well inside their domains, and GCE where it takes a loss."""
    cls = registry[name]
    domains, given = cls.domains(), []
    for f in cls.parameters_declared():
        if f.default is not dataclasses.MISSING:
            continue
        if f.name not in domains:
            given.append("GCE(q=0.7)")
            continue
        domain = domains[f.name]
        low, high = max(domain.above, domain.at_least), min(domain.below, domain.at_most)
        inside = low + 1.5 if math.isinf(high) else high - 1.5
        given.append(f"{f.name}={inside if math.isinf(low + high) else low + 0.6 * (high - low)}")
    return f"{name}({', '.join(given)})" if given else name


#: A loss of logits that are not determined by the probabilities: the theory has no answer.
NOT_OF_PROBABILITIES = {"UnitLogits"}
NAMES = sorted(set(registry) - NOT_OF_PROBABILITIES)
