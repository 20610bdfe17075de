"""The paper's benchmark: grids of cells, the engines that run them, what was found.

>>> from noiseproof import bench
>>> grid = bench.load_grid("digits-symmetric").select(rows=["CE", "AGCE"], seeds=[1])
>>> len(grid.cells())
10
"""

# ruff: noqa: E402 - before its modules are imported: a second import would find those it has

from noiseproof.extras import need

need("bench", "markupsafe", "matplotlib", "pooch")

from noiseproof.bench.cell import Cell
from noiseproof.bench.collect import Collected, collect
from noiseproof.bench.grid import Grid, Row
from noiseproof.bench.grid_file import grid_names, load_grid

__all__ = ["Cell", "Collected", "Grid", "Row", "collect", "grid_names", "load_grid"]
