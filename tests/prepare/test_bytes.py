"""Texts that a file or frame holds as bytes are the texts they stand for."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from noiseproof.prepare.features import learn_features, reading
from noiseproof.prepare.formats.reading import Reading
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.read import read_blocks

FRAME = pd.DataFrame({
    "colour": ["grün", "rot", None, "rot"] * 10,
    "points": [f"{value:.2f}" for value in np.linspace(-3, 7, 40)],
    "day": [f"2024-0{1 + at // 10}-1{at % 10}" for at in range(40)],
    "review": [f"a “fine” film\nfor the year {at}" for at in range(40)],
    "kind": ["ja", "nö"] * 20,
})  # fmt: skip


def in_bytes(column):
    return [None if pd.isna(text) else text.encode() for text in column]


OBJECTS = FRAME.apply(in_bytes).astype(object)
TABLE = pa.table({name: pa.array(OBJECTS[name], pa.binary()) for name in OBJECTS})
FORMS = {
    "objects": OBJECTS,
    "categories": OBJECTS.astype("category"),
    "arrow": TABLE.to_pandas(types_mapper=pd.ArrowDtype),
    "table": TABLE,
}


def features(samples):
    learnt = learn_features(samples, (), 0, Notes())
    return learnt, learnt.transform(samples, Notes()).toarray()


@pytest.mark.parametrize("form", FORMS)
def test_bytes_are_the_texts_they_encode(form):
    plain, wanted = features(as_samples(FRAME, "kind"))
    samples, notes = as_samples(FORMS[form], "kind"), Notes()
    np.testing.assert_array_equal(features(samples)[1], wanted)
    np.testing.assert_array_equal(plain.transform(samples, notes).toarray(), wanted)
    assert not notes.warnings
    assert list(samples.labels) == list(FRAME["kind"])


def test_bytes_in_a_file_are_read_in_blocks_as_texts(tmp_path):
    parquet.write_table(TABLE, tmp_path / "rows.parquet")
    learnt, wanted = features(as_samples(FRAME, "kind"))
    blocks = read_blocks(tmp_path / "rows.parquet", "kind", Reading(**reading(learnt)), rows=7)
    found = [learnt.transform(block, Notes()).toarray() for block in blocks]
    np.testing.assert_array_equal(np.concatenate(found), wanted)


def test_bytes_that_are_no_text_are_nothing_to_learn_from():
    pictures = [b"\x89PNG some words to be taken for a text " + bytes([at]) for at in range(40)]
    samples, notes = as_samples(FRAME.assign(picture=pictures), "kind"), Notes()
    learnt = learn_features(samples, (), 0, notes)
    assert "left out, of bytes that are not UTF-8 text: picture" in notes.lines
    assert not any("picture" in name for name in learnt.names)
