"""Cells are counted without being made, and every cell is in exactly one shard."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noiseproof.bench import load_grid
from noiseproof.bench.cells import Remaining
from noiseproof.bench.run import cells_of

DIGITS = load_grid("digits-symmetric")


def test_a_million_seeds_are_counted_and_begun_at_once():
    started = time.process_time()
    grid = DIGITS.select(seeds=DIGITS.first_seeds(1_000_000))
    cells = cells_of([grid])
    left = Remaining.of(cells, [(cells[5].place, cells[5].seed)])
    first = next(iter(left))
    assert (len(cells), len(left)) == (70_000_000, 69_999_999)
    assert first == DIGITS.cells()[0]
    assert cells[-1].seed == 1_000_000
    assert time.process_time() - started < 5


rows = st.lists(st.sampled_from([row.name for row in DIGITS.rows[:4]]), min_size=1, unique=True)
seeds = st.lists(st.integers(1, 6), min_size=1, unique=True)
parts = st.builds(
    lambda rows, noises, seeds: DIGITS.select(rows, noises, seeds),
    rows,
    st.lists(st.sampled_from(DIGITS.noises[:2]), min_size=1, unique=True),
    seeds,
)


@given(st.lists(parts, min_size=1, max_size=3), st.integers(1, 5))
def test_grids_that_overlap_have_each_cell_once_and_in_one_shard(grids, count):
    expected = {cell.key for grid in grids for cell in grid.cells()}
    whole = cells_of(grids)
    assert sorted(cell.key for cell in whole) == sorted(expected)
    assert len(whole) == len(expected)
    shards = [cells_of(grids, (i, count)) for i in range(1, count + 1)]
    assert sorted(cell.key for shard in shards for cell in shard) == sorted(expected)
    assert max(map(len, shards)) - min(map(len, shards)) <= 1
    for shard in shards:
        assert [shard.position(cell.place, cell.seed) for cell in shard] == list(range(len(shard)))


def test_what_is_done_is_left_out():
    cells = DIGITS.cells()
    done = [(cell.place, cell.seed) for cell in cells[::2]]
    elsewhere = [(cells[0].place._replace(data="other"), 1), (cells[0].place, 99)]
    left = Remaining.of(cells, done + elsewhere)
    assert tuple(left) == cells[1::2]
    assert len(left) == len(cells[1::2])
    assert cells[1] in left
    assert cells[0] not in left
    assert "no cell" not in left


def test_positions():
    cells = DIGITS.cells()
    assert cells[-1] == cells[len(cells) - 1]
    assert cells[3:5] == (cells[3], cells[4])
    with pytest.raises(IndexError):
        cells[len(cells)]
