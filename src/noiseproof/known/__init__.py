"""What is known of published data sets: one entry holds every fact of one, nothing else does.

Plain facts, without torch, at the bottom of the package, because every room above asks for some of
them: ``noise`` for classes and confusions, ``data`` for files and checksums, ``train`` for recipes,
``bench`` for the paper's table. Nobody else asks for a data set by its name.

To add a data set, write an entry into one of these files (or a new one, named below). The reader
it names is in ``noiseproof.data``; a format that is new there is one file more.
"""

from noiseproof.known.cifar import CIFAR10, CIFAR10N, CIFAR100, CIFAR100N
from noiseproof.known.entry import File, Known
from noiseproof.known.handwriting import DIGITS, FASHION_MNIST, MNIST
from noiseproof.known.registry import KNOWN, known, with_human_labels
from noiseproof.known.webvision import WEBVISION_MINI

__all__ = ["KNOWN", "File", "Known", "known", "with_human_labels"]

for _entry in (
    DIGITS, MNIST, FASHION_MNIST, CIFAR10, CIFAR100, CIFAR10N, CIFAR100N, WEBVISION_MINI,
):  # fmt: skip
    KNOWN[_entry.name] = _entry
