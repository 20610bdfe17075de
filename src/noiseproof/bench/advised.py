"""The loss that ``recommend`` gives for a noise: a row that nobody sets parameters for."""

from noiseproof.advise import recommend
from noiseproof.errors import NoiseError
from noiseproof.known import KNOWN
from noiseproof.noise import Noise, parse
from noiseproof.noise.spec import HumanNoise, InstanceNoise

#: What stands in the place of a loss in such a row.
RECOMMEND = "recommend"

#: The shares of wrong labels that CIFAR-10N's authors publish (Wei et al., ICLR 2022).
HUMAN_RATES = {
    "aggregate": 0.0903, "random1": 0.1723, "random2": 0.1812, "random3": 0.1764, "worst": 0.4021,
}  # fmt: skip


def advised_loss(noise: Noise, dataset: str) -> str:
    """Return the first loss of the recommendation.

    A noise without a matrix is known by its rate alone, and taken for symmetric.

    >>> worst = advised_loss(parse("human:worst", dataset="cifar10"), "cifar10")
    >>> worst == advised_loss(parse("symmetric:0.4021", 10), "cifar10")
    True
    """
    if noise.transition is None:
        noise = parse(f"symmetric:{_rate(noise)}", noise.classes or 10)
    return str(recommend(noise, dataset=dataset if dataset in KNOWN else None)[0].loss)


def _rate(noise: Noise) -> float:
    if isinstance(noise, InstanceNoise):
        return noise.rate
    if isinstance(noise, HumanNoise) and noise.which in HUMAN_RATES:
        return HUMAN_RATES[noise.which]
    raise NoiseError(f"nothing to recommend a loss by: the rate of {noise} is not known")
