"""The same numbers, faster: one pass over blocks of rows that stay in cache.

A *block function* takes a block of logits and writes the gradient of the scaled row losses::

    rows = block(z, target, scale, out)

    z       (n, K) logits, float32 or float64, never changed unless ``out`` is ``z``
    target  (n,)   class indices, all in 0..K-1
    scale   (n,) or a float: what each row counts in the final sum
    out     (n, K) receives scale[i] * dL_i/dz; may be ``z`` itself
    rows    (n,)   the unscaled losses L_i

:func:`row_block` also takes (n, K, d) with targets (n, d), as segmentation has them. A block
function needs no loss, only the loss's functions, so this room imports nothing of the package.
"""

from noiseproof.kernels.attach import attach
from noiseproof.kernels.blocked import Block, Scale, by_blocks, least_divisor, lowest
from noiseproof.kernels.linear import linear_pass
from noiseproof.kernels.rows import Classes, Summand, Sums, row_block
from noiseproof.kernels.small import (
    FLOATS,
    SMALL,
    TINY,
    is_near,
    is_small,
    pick,
    scaled_expm1,
    sum_of_classes,
    sum_of_labels,
    sum_of_rows,
)
from noiseproof.kernels.state import (
    gradient_of,
    is_plain,
    is_traced,
    is_trained,
    leaf_of,
    made_on_cpu,
    recordable,
    recording,
    undetached,
)
from noiseproof.kernels.statistics import LogSum, PowerSum, Statistic

__all__ = [
    "FLOATS",
    "SMALL",
    "TINY",
    "Block",
    "Classes",
    "LogSum",
    "PowerSum",
    "Scale",
    "Statistic",
    "Summand",
    "Sums",
    "attach",
    "by_blocks",
    "gradient_of",
    "is_near",
    "is_plain",
    "is_small",
    "is_traced",
    "is_trained",
    "leaf_of",
    "least_divisor",
    "linear_pass",
    "lowest",
    "made_on_cpu",
    "pick",
    "recordable",
    "recording",
    "row_block",
    "scaled_expm1",
    "sum_of_classes",
    "sum_of_labels",
    "sum_of_rows",
    "undetached",
]
