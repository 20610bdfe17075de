"""The paper's networks, and two small networks for vectors.

>>> import torch
>>> from noiseproof import models
>>> net = models.build("cnn4", 10, (1, 28, 28), generator=torch.Generator().manual_seed(1))
>>> sum(p.numel() for p in net.parameters())
422090
>>> net(torch.zeros(2, 1, 28, 28)).shape, net.features(torch.zeros(2, 1, 28, 28)).shape
(torch.Size([2, 10]), torch.Size([2, 128]))
"""

from noiseproof.models.factory import NAMES, build
from noiseproof.models.network import Network

__all__ = ["NAMES", "Network", "build"]
