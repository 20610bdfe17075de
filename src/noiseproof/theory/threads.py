"""One thread for many small tensors."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch on one thread: waking the others for a few thousand numbers costs far more.

    On a busy machine it costs a hundred times more, for each operation waits for all of them.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
