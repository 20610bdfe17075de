"""Reading several answers a row, in every form."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from noiseproof.errors import DataError, DataWarning, NoiseproofError, ParameterError
from noiseproof.prepare.answers.frames import of_frame
from noiseproof.prepare.answers.long import read_long
from noiseproof.prepare.answers.wide import read_wide


def long():
    return pd.DataFrame(
        {
            "size": [1.0, 1.0, 2.0, 3.0, 3.0, 2.0],
            "text": ["a", "a", "b", None, None, "b"],
            "worker": ["x", "y", "x", "x", "y", "y"],
            "id": ["p", "p", "q", "r", "r", "q"],
            "seconds": [3, 9, 4, 1, 2, 2],
            "kind": ["cat", "dog", "cat", "dog", "dog", None],
        }
    )


def told(asked):
    """Return the answers as (row, annotator, label)."""
    parts = zip(asked.item, asked.annotator, asked.codes, strict=True)
    return sorted((str(asked.rows[i]), asked.names[w], asked.classes.names[c]) for i, w, c in parts)


EXPECTED = [
    ("p", "x", "cat"), ("p", "y", "dog"), ("q", "x", "cat"), ("r", "x", "dog"), ("r", "y", "dog"),
]  # fmt: skip


def test_one_row_an_answer():
    asked = read_long(long(), "kind", "worker", "id")
    assert told(asked) == EXPECTED
    assert list(asked.samples.inputs.columns) == ["size", "text"]
    assert asked.samples.notes == ("left out, they differ between answers on an item: seconds",)


def test_rows_with_equal_features_are_one_item():
    asked = read_long(long().drop(columns=["id", "seconds"]), "kind", "worker")
    numbers = {"0": "p", "2": "q", "3": "r"}
    assert [(numbers[row], who, label) for row, who, label in told(asked)] == EXPECTED


@pytest.mark.parametrize("item", ["id", None])
@pytest.mark.parametrize("named", [{}, {"kind": "kind.1"}, {"worker": "worker.1"}, {"id": "id.1"}])
def test_a_column_that_is_there_twice_is_no_feature(named, item):
    frame = long().drop(columns="seconds").sort_values("id")
    if item is None:
        frame, named = frame.drop(columns="id"), {k: v for k, v in named.items() if k != "id"}
    twice = {f"{name}.1": frame[name] for name in ("kind", "worker", "id") if name in frame}
    called = {name: named.get(name, name) for name in ("kind", "worker", "id")}
    whole = frame.assign(**twice)
    asked = read_long(whole, called["kind"], called["worker"], item and called["id"])
    assert told(asked) == told(read_long(frame, "kind", "worker", item))
    assert list(asked.samples.inputs.columns) == ["size", "text"]
    listed = " ".join(asked.samples.notes).replace(",", "").split()
    assert set(whole) - {"size", "text", *called.values()} <= set(listed)


@pytest.mark.parametrize("named", [("y.1", "y"), ("y", "y.1"), ("y.1", "w", "y")])
def test_two_columns_of_one_name_are_not_named_for_different_things(named):
    frame = pd.DataFrame({"y": list("abab"), "y.1": list("abab"), "w": list("uuvv"), "size": 1.5})
    with pytest.raises(ParameterError, match=r"two columns of one name.*rename"):
        read_long(frame, *named)


@pytest.mark.parametrize("kind", ["float", "object"])
def test_sparse_answers_are_as_dense_ones(kind):
    values = [[0, 1, None], [1, None, 1], [0, 0, 1], [1, 1, None]]
    dense = pd.DataFrame(values, columns=list("abc"), dtype=float)
    dense = dense if kind == "float" else dense.astype(object).where(dense.notna(), None)
    rows = pd.DataFrame({"size": range(4)})
    for answers in (dense.astype(pd.SparseDtype(kind)), dense.assign(b=dense.b.astype("Sparse"))):
        for asked in (of_frame(rows, None, answers), read_wide(rows.join(answers), None, "a,b,c")):
            assert told(asked) == told(of_frame(rows, None, dense))
            assert asked.classes.values.tolist() == [0, 1]


@pytest.mark.parametrize("named", ["w1,w2", "w1.1,w2", "w2,w1"])
def test_nor_one_that_repeats_answers(named):
    frame = pd.DataFrame({"w1": list("abab"), "w1.1": list("abab"), "w2": list("abba"), "w": 1.5})
    frame["size"] = range(4)
    asked = read_wide(frame, None, named)
    assert list(asked.samples.inputs.columns) == ["w", "size"]
    (again,) = {"w1", "w1.1"} - set(named.split(","))
    assert asked.samples.notes == (f"left out, answers once more: {again}",)
    assert len(read_wide(frame, None, "w1,w1.1,w2").names) == 3  # each was named
    beside = of_frame(frame, None, frame[named.split(",")])
    assert list(beside.samples.inputs.columns) == ["w", "size"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_one_column_an_annotator(tmp_path, suffix):
    frame = pd.DataFrame(
        {
            "size": [1, 2, 3], "w1": ["01", "1", None], "w2": [None, "01", "1"],
            "old": ["1", "1", "1"],
        }
    )  # fmt: skip
    path = tmp_path / f"wide.{suffix}"
    frame.to_csv(path, index=False) if suffix == "csv" else frame.to_parquet(path)
    asked = read_wide(path, "old", "w1, w*")
    assert told(asked) == [("0", "w1", "01"), ("1", "w1", "1"), ("1", "w2", "01"), ("2", "w2", "1")]
    assert list(asked.samples.inputs.columns) == ["size"]
    assert asked.samples.notes == (
        "columns of answers: w1, w2", "left out, labels beside the answers: old"
    )  # fmt: skip


def test_whole_numbers_stay_numbers_where_answers_are_missing(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("size,a,b\n1,0,\n2,1,1\n3,,0\n4,,\n")
    asked = read_wide(path, None, ["a", "b"])
    assert asked.classes.values.tolist() == [0, 1]
    assert asked.unlabelled == 1
    assert len(asked.samples) == 3


@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
def test_columns_with_gaps_and_without_have_the_same_classes(tmp_path, form):
    """pandas writes 1.0 in columns with gaps, and 1 in others."""
    frame = pd.DataFrame({"x": np.arange(6.0), "w1": [0, 1, 0, 1, 0, 1]})
    frame = frame.assign(w2=[0, 1, None, 1, None, 1])
    given = frame if form == "frame" else tmp_path / f"wide.{form}"
    if form == "csv":
        frame.to_csv(given, index=False)
    elif form == "parquet":
        frame.to_parquet(given)
    asked = read_wide(given, None, "w*")
    assert asked.classes.names == ("0", "1")
    assert asked.codes.tolist() == [0, 1, 0, 1, 0, 1, 0, 1, 1, 1]


@pytest.mark.parametrize("form", ["parquet", "frame", "beside"])
def test_answers_that_are_texts_stay_texts(tmp_path, form):
    frame = pd.DataFrame({"x": np.arange(6.0), "w1": list("010101"), "w2": ["0", None, *"1NA1"]})
    frame.loc[3, "w2"], frame.loc[4, "w2"] = "NA", ""
    if form == "beside":
        asked = of_frame(frame[["x"]], None, frame[["w1", "w2"]])
    else:
        given = frame if form == "frame" else tmp_path / "wide.parquet"
        frame.to_parquet(tmp_path / "wide.parquet")
        asked = read_wide(given, None, "w*")
    assert asked.classes.values.tolist() == ["0", "1"]
    assert asked.codes.tolist() == [0, 1, 0, 1, 0, 1, 0, 1, 1]
    assert asked.samples.doubts == ()


def test_answers_written_otherwise_stay_as_they_are(tmp_path):
    (tmp_path / "wide.csv").write_text("x,w1,w2\n1,1.0,1\n2,1,1\n3,2,2\n4,1.0,2\n")
    assert read_wide(tmp_path / "wide.csv", None, "w*").classes.names == ("1", "1.0", "2")


def test_a_frame_of_answers_beside_the_rows():
    X = np.arange(8.0).reshape(4, 2)
    rows = pd.DataFrame(
        {"item": [0, 0, 2, 3], "annotator": ["x", "y", "x", "y"], "label": [1, 2, 2, 1]}
    )
    wide = pd.DataFrame({"x": [1, None, 2, None], "y": [2, None, None, 1]})
    one, other = (of_frame(X, None, answers) for answers in (rows, wide))
    assert told(one) == told(other)
    assert one.rows == other.rows == (0, 2, 3)
    assert one.unlabelled == 1


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda f: read_long(f, "kind", "wroker"), "no column 'wroker'"),
        (lambda f: read_long(f, "kind", "worker", "uid"), "no column 'uid'"),
        (lambda f: read_long(f, None, "worker"), "the column of answers"),
        (lambda f: read_long(f[["kind", "worker", "id"]], "kind", "worker", "id"), "to learn from"),
        (lambda f: read_long(f[["kind", "worker"]], "kind", "worker"), "--item"),
        (lambda f: read_long(f.assign(id=[None] * 6), "kind", "worker", "id"), "empty in 6 rows"),
        (lambda f: read_long(f.assign(worker=None), "kind", "worker"), "without an annotator"),
        (lambda f: read_wide(f, None, "w9*"), "no column 'w9*'"),
        (lambda f: read_wide(f, None, " , "), "such as"),
        (lambda f: read_wide(np.zeros((3, 2)), None, "w*"), "for a table"),
        (lambda f: of_frame(np.zeros((5, 2)), None, f[["kind"]]), "6 rows for 5 rows"),
        (
            lambda f: of_frame(np.zeros((5, 2)), None, f.rename(
                columns={"id": "item", "worker": "annotator", "kind": "label"})),
            "item 'p' is no row",
        ),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(read, message):
    with pytest.raises((DataError, ParameterError), match=r".") as error:
        read(long())
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_an_answer_given_twice_counts_once_and_a_contradiction_counts_as_both():
    rows = [(0, "a", "x"), (0, "a", "x"), (0, "b", "y"), (1, "a", "x"), (1, "a", "y")]
    answers = pd.DataFrame(rows, columns=["item", "annotator", "label"])
    found = of_frame(np.arange(4.0).reshape(2, 2), None, answers)
    kept = sorted(
        zip(found.item.tolist(), found.annotator.tolist(), found.codes.tolist(), strict=True)
    )
    assert kept == [(0, 0, 0), (0, 1, 1), (1, 0, 0), (1, 0, 1)]
    assert any("1 answers were given twice" in note for note in found.samples.notes)


@pytest.mark.parametrize(
    "read",
    [
        lambda f: read_long(f.assign(worker="x"), "kind", "worker", "id"),
        lambda f: read_wide(f.rename(columns={"kind": "x"}), None, "x"),
        lambda f: read_wide(f.rename(columns={"kind": "x"}).assign(xx=None), None, "x*"),
        lambda f: of_frame(f[["size"]], None, f[["kind"]].set_axis(["x"], axis=1)),
    ],
)
def test_one_annotator_is_said_to_be_no_crowd(read):
    note = "all answers are from one annotator, x: taken as plain labels"
    assert note in read(long()).samples.notes


@pytest.mark.parametrize("name", ["ok?", "w[1]", "a*", "w[!a]", "a.b", "+"])
def test_a_column_is_meant_by_its_name_whatever_is_in_it(name):
    near = ["okx", "w1", "ax", "wb", "aXb", "++"]
    frame = pd.DataFrame({"x": [1, 2, 3, 4], name: list("abab"), **dict.fromkeys(near, "a")})
    assert read_wide(frame, None, name).names == (name,)
    both = read_wide(frame.assign(**{f"{name}2": "a"}), None, f"{name}, {name}2").names
    assert both == (name, f"{name}2")


@pytest.mark.parametrize("form", ["int64", "float64", "Int64", "int64[pyarrow]", "double[pyarrow]"])
def test_items_are_numbers_of_any_type(form):
    answers = pd.DataFrame({"item": [0, 1, 2, 0], "annotator": list("abab"), "label": list("xyxy")})
    answers = answers.astype({"item": form})
    assert of_frame(np.eye(3), None, answers).item.tolist() == [0, 1, 2, 0]
    answers["item"] += 1
    with pytest.raises(DataError, match=r"item '3(\.0)?' is no row of the data, 0 to 2"):
        of_frame(np.eye(3), None, answers)


def test_an_unreadable_picture_does_not_move_the_answers_to_others(tmp_path):
    for name in "abc":
        Image.new("L", (8, 8), ord(name)).save(tmp_path / f"{name}.png")
    answers = pd.DataFrame({"item": [1, 2] * 2, "annotator": list("aabb"), "label": list("xyxy")})
    assert of_frame(tmp_path, None, answers).rows == ("b.png", "c.png")
    (tmp_path / "a.png").write_bytes(b"nothing")
    with pytest.raises(
        DataError, match=r"a\.png .*: beside answers every picture must be readable"
    ):
        of_frame(tmp_path, None, answers)


def test_answers_that_are_left_in_the_table_are_no_features():
    frame = pd.DataFrame({"size": [1, 2, 3], "w1": ["a", "b", None], "w2": ["a", None, "b"]})
    alone, both = (of_frame(X, None, frame[["w1", "w2"]]) for X in (frame[["size"]], frame))
    assert told(alone) == told(both)
    assert list(both.samples.inputs) == list(both.seen.inputs) == ["size"]
    assert both.samples.notes == ("left out, answers once more: w1, w2",)
    (doubt,) = of_frame(frame, None, frame[["w1", "w2"]].replace("a", "c")).samples.doubts
    assert doubt.startswith("called as annotators are, and learnt from: w1, w2")
    with pytest.raises(DataError, match="no column beside"):
        of_frame(frame[["w1"]], None, frame[["w1", "w2"]])


def test_a_table_of_answers_is_no_table_of_items():
    answers = pd.DataFrame({"item": [1, 1, 0], "annotator": list("xyx"), "label": list("aba")})
    with pytest.raises(DataError, match="name their columns instead"):
        of_frame(answers.assign(size=[2, 2, 1]), None, answers)


def test_an_index_that_says_otherwise_is_a_warning():
    frame = pd.DataFrame({"size": [1, 2, 3]}, index=[2, 0, 1])
    wide = pd.DataFrame({"w1": ["a", "b", "a"], "w2": ["a", "b", "b"]})
    with pytest.warns(DataWarning, match="same index in different orders"):
        of_frame(frame, None, wide)
    rows = pd.DataFrame({"item": [0, 1, 2, 2], "annotator": list("xyxy"), "label": list("abab")})
    with pytest.warns(DataWarning, match="counted from 0"):
        of_frame(frame, None, rows)
    of_frame(frame, None, wide.set_axis(frame.index))  # no warning
    of_frame(frame.reset_index(drop=True), None, rows.set_axis([7, 7, 7, 7]))


def test_a_number_of_each_answer_hides_the_items():
    frame = pd.concat([long().drop(columns=["id", "seconds"])] * 4, ignore_index=True)
    N = len(frame)
    assert read_long(frame, "kind", "worker").samples.doubts == ()
    times = pd.date_range("2020", periods=N, freq="min")
    written = times.astype(str).tolist()
    codes = [f"3LEP{7919 * i}X" for i in range(N)]
    for numbers in (range(N), times, written, [*written[1:], written[1]], codes):
        (doubt,) = read_long(frame.assign(n=numbers), "kind", "worker").samples.doubts
        assert "the rows differ in n;" in doubt
    (doubt,) = read_long(frame.assign(n=codes, at=written), "kind", "worker").samples.doubts
    assert "the rows differ in n, at;" in doubt
    sizes = np.arange(N) + 0.5  # one answer an item
    for size in (sizes, sizes.astype(str), [f"words of row {i}" for i in range(N)]):
        once = frame.assign(size=size, n=range(N), at=written)
        assert read_long(once, "kind", "worker").samples.doubts == ()


@pytest.mark.parametrize("by", ["text", "numbers", "seconds that repeat", "how sure they were"])
def test_what_was_measured_of_each_answer_hides_the_items(by):
    numbers = np.random.default_rng(0)
    item = np.repeat(np.arange(60), 3)
    told = {"words": [f"this is text {i}" for i in item]}
    if by == "numbers":
        told = {"size": numbers.normal(size=60)[item], "width": numbers.normal(size=60)[item]}
    seconds = numbers.exponential(9, 180) if by != "seconds that repeat" else np.arange(180) % 50
    code = [f"A{i}X" for i in range(180)]
    if by == "how sure they were":  # now and then two are as sure of an item
        seconds, code = numbers.integers(1, 6, (2, 180)) // np.array([[1], [4]])
    frame = pd.DataFrame({
        **told, "seconds": seconds, "code": code,
        "worker": np.concatenate([numbers.choice(5, 3, replace=False) for _ in range(60)]),
        "kind": numbers.choice(["cat", "dog"], 180),
    })  # fmt: skip
    for part in (frame, frame.sample(frac=1, random_state=0)):
        (doubt,) = read_long(part, "kind", "worker").samples.doubts
        name = next(iter(told))
        assert doubt.startswith(
            f"most answers are taken for items of their own, as rows of the same {name} "
        )
        assert "differ in seconds, code;" in doubt
    bare = frame.drop(columns=["seconds", "code"])
    assert read_long(bare, "kind", "worker").samples.doubts == ()


@pytest.mark.parametrize("seed", range(5))
def test_a_few_items_with_further_answers_are_no_doubt(seed):
    numbers = np.random.default_rng(seed)
    times = numbers.choice([1, 2], 150, p=[0.9, 0.1])
    item = pd.DataFrame({
        "when": pd.Timestamp("2020") + pd.to_timedelta(numbers.integers(0, 10**7, 150), unit="s"),
        "size": numbers.normal(size=150), "colour": numbers.choice(["red", "blue"], 150),
    })  # fmt: skip
    frame = item.loc[np.repeat(np.arange(150), times)].reset_index(drop=True)
    frame["worker"] = np.concatenate([numbers.choice(20, n, replace=False) for n in times])
    frame["kind"] = numbers.choice(["cat", "dog"], len(frame))
    for part in (frame, frame.drop(columns="size")):
        assert read_long(part, "kind", "worker").samples.doubts == ()


@pytest.mark.parametrize("people", [5, 100, 200])
def test_one_answer_an_item_is_no_doubt(people):
    numbers = np.random.default_rng(1)
    frame = pd.DataFrame({
        "worker": np.arange(200) % people, "age": numbers.integers(20, 90, 200),
        "trial": np.arange(200) // people,
        "day": pd.Timestamp("2020") + pd.to_timedelta(np.arange(200) // people, unit="D"),
        "size": numbers.normal(size=200), "kind": numbers.choice(["cat", "dog"], 200),
        "colour": numbers.choice(["red", "blue", "green"], 200),
    })  # fmt: skip
    assert read_long(frame, "kind", "worker").samples.doubts == ()


ANSWERS = pd.DataFrame({"w1": list("abab" * 5), "w2": list("abbb" * 5), "w3": list("aaab" * 5)})
FOREIGN = {
    "numbers": np.linspace(0.5, 3.5, 20),
    "whole numbers": np.arange(20) % 7 + 2,
    "words": [f"word {at % 9}" for at in range(20)],
    "dates": [f"2020-01-{at + 1:02d}" for at in range(20)],
    "with gaps": [None, *np.linspace(0.5, 3.5, 19)],
    "now and then an answer": ["a", *[f"word {at}" for at in range(19)]],
}


@pytest.mark.parametrize("kind", FOREIGN)
@pytest.mark.parametrize("form", ["csv", "parquet", "frame"])
def test_a_pattern_that_takes_what_is_no_answer_is_refused(tmp_path, kind, form):
    frame = ANSWERS.assign(width=FOREIGN[kind], size=np.arange(20.0))
    path = tmp_path / f"wide.{form}"
    if form != "frame":
        frame.to_csv(path, index=False) if form == "csv" else frame.to_parquet(path)
    given = frame if form == "frame" else path
    with pytest.raises(DataError, match=r"--answers 'w\*' also takes 'width'.*'w1,w2,w3'"):
        read_wide(given, None, "w*")
    asked = read_wide(given, None, "w1,w2,w3")
    assert not asked.samples.doubts
    if kind == "whole numbers":
        named = read_wide(given, None, "w1,w2,w3,width")  # as told, and doubted
        assert len(named.names) == 4
        assert "no other annotator gives its values" in named.samples.doubts[0]
    assert list(read_wide(given, "width", "w*").samples.inputs) == ["size"]  # width is named else


@pytest.mark.parametrize(
    "answers",
    [
        {"w1": ["spam"] * 20, "w2": ["ham", None] * 10},  # rules know one answer each
        {"w1": [0, 1] * 10, "w2": [1.0, None] * 10},
        {"w1": ["a", "b"] * 10, "w2": ["c", "a"] * 10},
        {"w1": ["a", "b"] * 10, "w2": [None] * 20},
        {"w1": [1, 2] * 10},
    ],
)
def test_what_may_be_answers_is_taken_and_the_columns_are_noted(answers):
    asked = read_wide(pd.DataFrame(answers).assign(size=np.arange(20.0)), None, "w*")
    assert f"columns of answers: {', '.join(answers)}" in asked.samples.notes
    assert not asked.samples.doubts


def test_several_columns_that_are_no_answers_are_named_though_they_share_values():
    frame = ANSWERS.assign(week=np.arange(20) % 16, ward=np.arange(20) % 15, size=np.arange(20.0))
    with pytest.raises(DataError, match=r"takes 'week', 'ward'.*such as 'w1,w2,w3'"):
        read_wide(frame, None, "w*")
    coded = frame.replace({"a": 0, "b": 1})
    with pytest.raises(DataError, match=r"takes 'week', 'ward'.*such as 'w1,w2,w3'"):
        read_wide(coded, None, "w*")


def test_annotators_with_few_answers_of_many_classes_are_taken():
    rng = np.random.default_rng(0)
    true = rng.integers(0, 30, size=300)
    said = [np.where(rng.random(300) < 0.7, true, 3) for _ in range(5)]
    columns = {
        f"w{at}": np.where(rng.random(300) < share, said[at], np.nan)
        for at, share in enumerate([1, 0.5, 0.1, 0.05, 0.03])
    }
    columns |= {"worst": true % 2, "wrong": true % 3}  # who know a few classes only
    frame = pd.DataFrame(columns).assign(size=np.arange(300.0))
    assert len(read_wide(frame, None, "w*").names) == 7


THREE = pd.DataFrame({"item": [0, 1, 2], "annotator": ["x"] * 3, "label": ["a", "b", "a"]})


@pytest.mark.parametrize(
    ("label", "answers", "match"),
    [
        (None, pd.concat([THREE, THREE], axis=1), "two columns are called 'item'"),
        (None, pd.concat([THREE[["label"]]] * 2, axis=1), "two columns are called 'label'"),
        (["a", "b", "a"], THREE, "give one of the two"),
    ],
)
def test_answers_that_say_two_things_are_one_line(label, answers, match):
    with pytest.raises(NoiseproofError, match=match):
        of_frame(np.eye(3), label, answers)
