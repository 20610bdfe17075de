"""The entries by name."""

from noiseproof.errors import ParameterError, did_you_mean
from noiseproof.known.entry import Known

#: Every data set with a name. A program may add entries of its own.
KNOWN: dict[str, Known] = {}


def known(name: str) -> Known:
    """Return the entry of a known data set.

    >>> known("mnist").title
    'MNIST: 60,000 + 10,000 grey images 28x28, 10 classes'
    """
    try:
        return KNOWN[name]
    except (KeyError, TypeError):
        raise ParameterError(f"no data set {name!r}{did_you_mean(name, KNOWN)}") from None


def with_human_labels() -> dict[str, Known]:
    """Return, by the name of a data set, the entry of the labels that people gave to it.

    >>> list(with_human_labels()["cifar10"].layout)
    ['aggregate', 'random1', 'random2', 'random3', 'worst']
    """
    return {entry.labels_of: entry for entry in KNOWN.values() if entry.labels_of}
