"""Marks such as ? for no value, in columns of numbers and of dates."""

import numpy as np
import pandas as pd
import pytest

from noiseproof.prepare.features import learn_features, reading
from noiseproof.prepare.formats.reading import Reading
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.read import read, read_blocks
from noiseproof.tables.gaps import NO_NUMBER, NO_VALUE

PLAIN = [f"{value:.2f}" for value in np.linspace(-3, 7, 40)]
COLUMNS = {
    "points": PLAIN,
    "commas": [text.replace(".", ",") for text in PLAIN],
    "dates": [f"2024-0{1 + at // 10}-1{at % 10}" for at in range(40)],
}


def features(path):
    """Return what is learnt from a file, its features, and the notes."""
    samples, notes = read(path, labelled=False), Notes()
    learnt = learn_features(samples, (), 0, notes)
    return learnt, learnt.transform(samples, notes), notes


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("mark", sorted(NO_NUMBER - {""}))
def test_a_mark_is_a_gap(tmp_path, kind, mark):
    gaps = np.arange(40) % 4 == 1
    answers = {}
    for name, text in (("marked", f" {mark.upper()}"), ("empty", "")):
        path = tmp_path / f"{name}.csv"
        column = np.where(gaps, text, COLUMNS[kind])
        pd.DataFrame({"x": column, "z": COLUMNS[kind]}).to_csv(path, sep=";", index=False)
        learnt, answers[name], notes = features(path)
        assert not notes.warnings
        how = Reading(**reading(learnt))
        blocks = [learnt.transform(b, notes) for b in read_blocks(path, how=how, rows=13)]
        np.testing.assert_array_equal(np.concatenate(blocks), answers[name])
        assert not notes.warnings
    np.testing.assert_array_equal(answers["marked"], answers["empty"])
    assert (answers["marked"][:, learnt.names.index("x missing")] == gaps).all()


def test_the_marks_are_named_and_words_stay_categories():
    frame = pd.DataFrame({"a": ["1", "?", "3", "4"] * 5, "b": ["x", "?", "y", "x"] * 5})
    notes = Notes()
    learnt = learn_features(as_samples(frame, labelled=False), (), 0, notes)
    assert "marks that are taken as missing: a ('?')" in notes.lines
    assert [column.kind for column in learnt.columns] == ["number", "category"]
    assert "b = ?" in learnt.names


@pytest.mark.parametrize("dtype", [object, "str", "string", "category", "string[pyarrow]"])
def test_marks_in_texts_of_every_type_are_gaps(dtype):
    column = pd.Series(np.where(np.arange(40) % 4 == 1, "?", PLAIN)).astype(dtype)
    samples, notes = as_samples(pd.DataFrame({"x": column}), labelled=False), Notes()
    learnt = learn_features(samples, (), 0, notes)
    found = learnt.transform(samples, notes)
    assert learnt.names == ("x", "x missing")
    assert (found[:, 1] == (np.arange(40) % 4 == 1)).all()
    assert notes.lines == ["marks that are taken as missing: x ('?')"]


@pytest.mark.parametrize("dtype", [object, "string", "category", "string[pyarrow]"])
@pytest.mark.parametrize("word", [*sorted(NO_VALUE), "  "])
def test_words_for_no_value_are_gaps_in_every_form_of_a_table(tmp_path, word, dtype):
    colours = np.where(np.arange(40) % 4 == 1, word, np.where(np.arange(40) % 3, "red", "blue"))
    text = np.where(np.arange(40) % 5 == 1, word, [f"a fine film of {n} days" for n in range(40)])
    frame = pd.DataFrame({"colour": colours, "text": text, "x": PLAIN})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    learnt, expected, _ = features(tmp_path / "rows.csv")
    frame = frame.astype({"colour": dtype, "text": dtype})
    frame.to_parquet(tmp_path / "rows.parquet")
    ours, found, _ = features(tmp_path / "rows.parquet")
    assert ours.describe()["columns"] == learnt.describe()["columns"]
    np.testing.assert_array_equal(found.toarray(), expected.toarray())
    for samples in (
        read(tmp_path / "rows.parquet", labelled=False),
        as_samples(frame, labelled=False),
    ):
        notes = Notes()
        answers = learnt.transform(samples, notes)
        np.testing.assert_array_equal(answers.toarray(), expected.toarray())
        assert not notes.lines


def test_a_column_of_blank_texts_is_empty():
    frame = pd.DataFrame({"blank": ["", " "] * 20, "x": PLAIN})
    notes = Notes()
    learn_features(as_samples(frame, labelled=False), (), 0, notes)
    assert "left out, empty: blank" in notes.lines


@pytest.mark.parametrize("number", ["12345", "9" * 19, "9" * 20, "-" + "9" * 23, "1e400"])
@pytest.mark.parametrize("gap", ["", "NA"])
def test_words_below_a_number_of_any_length_are_words(tmp_path, number, gap):
    words = [number, gap, *["red", "blue"] * 40]
    path = tmp_path / "a.csv"
    path.write_text("c,n\n" + "".join(f"{word},{at}\n" for at, word in enumerate(words)))
    found = read(path, labelled=False).inputs["c"]
    assert found[2:].tolist() == words[2:]
    assert found.isna().tolist() == [False, True, *[False] * 80]


@pytest.mark.parametrize("kind", [*COLUMNS, "money", "thousands"])
@pytest.mark.parametrize(
    "words", [["not done"], ["<0.1", "ND"], ["*"], ["\\\\N", "pending", "n.b."]]
)
def test_words_in_place_of_numbers_or_dates_are_gaps(tmp_path, kind, words):
    rows = np.arange(40)
    known = COLUMNS | {
        "money": [f"${at}.50" for at in range(40)],
        "thousands": [f"{at}.{at:03},50" for at in range(10, 50)],
    }
    column, answers = np.array(known[kind], dtype=object), {}
    for name, at_gaps in (
        ("words", np.resize(np.repeat(words, 3), 40)),
        ("empty", np.full(40, "")),
    ):
        marked = np.where(rows % 3 == 1, at_gaps, column)
        path = tmp_path / f"{name}.csv"
        pd.DataFrame({"x": marked, "z": column}).to_csv(path, sep=";", index=False)
        learnt, answers[name], notes = features(path)
        assert not notes.warnings
        if name == "words":
            own = [learnt.names.index(f"x = {word}") for word in words]
            assert learnt.indicators[own].all()
            how = Reading(**reading(learnt))
            blocks = [learnt.transform(b, notes) for b in read_blocks(path, how=how, rows=3)]
            np.testing.assert_array_equal(np.concatenate(blocks), answers[name])
            for word, at in zip(words, own, strict=True):  # high is not low, or not done
                assert (answers[name][:, at] == (marked == word)).all()
    np.testing.assert_allclose(np.delete(answers["words"], own, axis=1), answers["empty"])


def test_new_words_in_place_of_numbers_are_told(tmp_path):
    marked = np.where(np.arange(40) % 3 == 1, "not done", PLAIN)
    learnt = learn_features(as_samples(pd.DataFrame({"x": marked}), labelled=False), (), 0, Notes())
    warned = {}
    for word in ("not done", "NOT done", "broken"):
        notes = Notes()
        new = pd.DataFrame({"x": np.where(np.arange(40) % 3 == 1, word, PLAIN)})
        learnt.transform(as_samples(new, labelled=False), notes)
        warned[word] = notes.warnings
    assert [len(lines) for lines in warned.values()] == [0, 1, 1]


@pytest.mark.parametrize(
    "values",
    [
        [f"{at}a" if at % 3 else str(at) for at in range(40)],  # numbers of houses
        ["250.83", "276", "V27", "E909", "428"] * 8,  # codes
        ["1", "2", "3", "many"] * 10,
    ],
)
def test_codes_among_which_are_numbers_stay_categories(values):
    frame = pd.DataFrame({"x": values * 2})
    learnt = learn_features(as_samples(frame, labelled=False), (), 0, Notes())
    assert learnt.columns[0].kind == "category"
