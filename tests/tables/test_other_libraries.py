"""Tables of other libraries than pandas: read as pandas would have them, or refused in one line."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from noiseproof.errors import DataError
from noiseproof.integrations.sklearn import RobustClassifier
from noiseproof.prepare.inputs import as_samples

NUMBERS = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": NUMBERS.normal(size=40), "b": NUMBERS.integers(0, 9, 40)})
LABELS = np.where(FRAME["a"] > 0, "u", "v")


class Table:
    """What most tables have."""

    def __init__(self, frame):
        self.frame = frame

    columns = property(lambda self: list(self.frame))

    def __len__(self):
        return len(self.frame)


class Converted(Table):
    """As pandas on Spark."""

    def to_pandas(self):
        return self.frame


class Schematic(Converted):
    """As ibis, whose schema is a method."""

    def schema(self):
        return dict(self.frame.dtypes)


class Streamed(Table):
    """As a relation of DuckDB."""

    def __arrow_c_stream__(self, requested_schema=None):
        return pa.Table.from_pandas(self.frame).__arrow_c_stream__(requested_schema)


class Collected(Table):
    """As a table of Spark, which is collected as a list."""

    def collect(self):
        return self.frame.to_dict("records")


@pytest.mark.parametrize("form", [Converted, Schematic, Streamed])
def test_a_table_of_another_library_is_read(form):
    samples = as_samples(form(FRAME.assign(y=LABELS)), "y")
    pd.testing.assert_frame_equal(samples.inputs, FRAME)
    assert list(samples.labels) == list(LABELS)
    model = RobustClassifier("CE").fit(form(FRAME), LABELS)
    assert (model.predict(form(FRAME)) == model.predict(FRAME)).all()


def test_a_stream_of_rows_is_read():
    batch = pa.RecordBatch.from_pandas(FRAME)
    samples = as_samples(pa.RecordBatchReader.from_batches(batch.schema, [batch]), LABELS)
    pd.testing.assert_frame_equal(samples.inputs, FRAME)


@pytest.mark.parametrize(
    "form",
    [
        Table,
        Collected,
        lambda frame: pa.array(frame["a"]),
        lambda frame: pa.chunked_array([frame["a"]]),
    ],
)
def test_what_is_no_table_that_is_read_is_one_line(form):
    for ask in (as_samples, RobustClassifier("CE").fit):
        with pytest.raises(DataError, match=r"^the table: expected a table of pandas, polars or"):
            ask(form(FRAME), LABELS)
