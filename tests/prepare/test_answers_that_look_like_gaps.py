"""Answers, annotators and items called NA, None or null: names like any other, in every form."""

import pandas as pd
import pytest

from noiseproof.prepare.answers.frames import of_frame
from noiseproof.prepare.answers.long import read_long
from noiseproof.prepare.answers.wide import read_wide
from noiseproof.tables.gaps import NO_VALUE

WORDS = [word for word in sorted(NO_VALUE) if word]


def told(asked):
    """Return every answer: the item, who gave it, and what it says."""
    names = asked.classes.names
    return sorted(
        (str(asked.rows[i]), asked.names[w], names[c])
        for i, w, c in zip(asked.item, asked.annotator, asked.codes, strict=True)
    )


@pytest.mark.parametrize("word", WORDS)
def test_wide_answers_are_the_same_in_every_form(tmp_path, word):
    frame = pd.DataFrame({"x": [1.5, 2.5, 3.5, 4.5] * 5})
    said = {"w1": ["yes", word, "", "no"], "w2": [word, "yes", "no", ""]}
    wide = frame.assign(**{name: values * 5 for name, values in said.items()})
    wide.to_csv(tmp_path / "wide.csv", index=False)
    wide.to_csv(tmp_path / "semicolons.csv", index=False, sep=";")
    wide.to_parquet(tmp_path / "wide.parquet")
    gaps = wide.replace({"w1": {"": None}, "w2": {"": None}})
    gaps.to_parquet(tmp_path / "gaps.parquet")
    files = ("wide.csv", "semicolons.csv", "wide.parquet", "gaps.parquet")
    found = [read_wide(tmp_path / name, None, "w*") for name in files]
    found += [read_wide(wide, None, "w*"), of_frame(frame, None, gaps[["w1", "w2"]])]
    for asked in found:
        assert told(asked) == told(found[0])
        assert len(asked.item) == 30
        assert word in asked.classes.names
        assert asked.samples.doubts[-1].startswith(f"taken for answers: {word!r}; leave a field")


@pytest.mark.parametrize("word", WORDS)
def test_an_annotator_and_an_item_may_be_called_so(tmp_path, word):
    rows = [
        (item, who, answer, x)
        for x, item in enumerate((word, "b", "c"))
        for who, answer in ((word, "yes"), ("ann", "no"))
    ]
    long = pd.DataFrame(rows, columns=["item", "who", "answer", "x"])
    long.to_csv(tmp_path / "long.csv", index=False)
    found = read_long(tmp_path / "long.csv", "answer", "who", "item")
    assert told(found) == told(read_long(long, "answer", "who", "item"))
    assert set(found.names) == {word, "ann"}
    assert found.rows == (word, "b", "c")


def test_among_numbers_they_are_gaps(tmp_path):
    wide = pd.DataFrame({"x": [1.5, 2.5] * 5, "w1": ["1", "NA"] * 5, "w2": ["1", "2"] * 5})
    wide.to_csv(tmp_path / "wide.csv", index=False)
    found = read_wide(tmp_path / "wide.csv", None, "w*")
    assert found.classes.names == ("1", "2")
    assert len(found.item) == 15
    assert not found.samples.doubts
