"""A column that is alone is read alike, whatever its quotes, line ends and marks."""

import itertools

import pytest

from noiseproof.fitting.review.edit_text import edited
from noiseproof.tables.delimited import Delimited

VALUES = ["b", "q", "x{mark}y", "plain text"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["\t", ";", ","])
@pytest.mark.parametrize("head", ["y", '"y"'])
def test_the_values_come_back(tmp_path, end, mark, head):
    path = tmp_path / "t.csv"
    values = [value.format(mark=mark) for value in VALUES]
    for order, quoted in itertools.product(itertools.permutations(values), [True, False]):
        fields = [f'"{v}"' if quoted and mark in v else v for v in order]
        path.write_bytes(end.join([head, *fields, ""]).encode())
        assert list(Delimited.look(path, ".csv").frame(label="y")["y"]) == list(order)
    row = order.index("b")
    path.write_bytes(edited(path, "y", {row: f"x{mark}y"}, None))
    expected = [f"x{mark}y" if at == row else value for at, value in enumerate(order)]
    assert list(Delimited.look(path, ".csv").frame(label="y")["y"]) == expected
