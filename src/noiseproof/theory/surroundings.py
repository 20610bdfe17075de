"""What the caller's torch is set to makes no difference to an answer of the theory."""

from collections.abc import Iterator
from contextlib import contextmanager

from noiseproof import kernels
from noiseproof.torch_threads import one_torch_thread


@contextmanager
def undisturbed() -> Iterator[None]:
    """Compute on the CPU, with gradients, on one thread; then leave torch as it was.

    Under ``torch.no_grad`` a search that descends would stay where it starts, and call that the
    minimum. Waking other threads for a few thousand numbers costs far more than it saves.
    """
    with one_torch_thread(), kernels.recording(), kernels.made_on_cpu():
        yield
