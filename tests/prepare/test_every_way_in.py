"""One column, in every form a table comes in and in every part it may play: always read alike."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from noiseproof.data.table import read_table
from noiseproof.errors import DataError
from noiseproof.integrations.sklearn import RobustClassifier
from noiseproof.prepare.answers.frames import of_frame
from noiseproof.prepare.answers.items import items, varies
from noiseproof.prepare.answers.long import read_long
from noiseproof.prepare.checks import hashes
from noiseproof.prepare.classes import MISSING, encode
from noiseproof.prepare.features import learn_features, reading
from noiseproof.prepare.formats.reading import Reading
from noiseproof.prepare.groups import Groups, grouped
from noiseproof.prepare.inputs import as_samples
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.read import read_blocks

ROWS = 24
NUMBERS = np.random.default_rng(0)
#: Places 0 to 3, each in every part of the rows.
PLACE = NUMBERS.permutation(np.arange(ROWS) % 4)
NULLABLE = {
    pa.float64(): pd.Float64Dtype(),
    pa.int64(): pd.Int64Dtype(),
    pa.uint64(): pd.UInt64Dtype(),
    pa.bool_(): pd.BooleanDtype(),
}
ZONE = datetime.timezone(datetime.timedelta(hours=2))
START = datetime.datetime(2020, 1, 31, 3, 4, 5, tzinfo=ZONE)
KINDS = {
    "integers": [-3, 0, 7, 10],
    "long integers": [900000000000207008 + at for at in range(4)],
    "very long integers": [2**63 + 4096 + at for at in range(4)],
    "fractions": [-0.5, 0.0, 7.25, 10.0],
    "whole floats": [-3.0, -0.0, 7.0, 10.0],
    "booleans": [True, False, True, False],
    "words": ["red", "green", "navy ", "blue"],
    "digits": ["007", "7", "1E5", "A7"],
    "gaps": ["red", "NA", "1.#QNAN", "#N/A N/A"],
    "dates": [datetime.date(2020, 1, 31 - at) for at in range(4)],
    "far dates": [datetime.date(year, 12, 31) for year in (2019, 2020, 2021, 9999)],
    "times": [START.replace(tzinfo=None, hour=at) for at in range(4)],
    "zoned times": [START.replace(hour=at) for at in range(4)],
    "times of day": [datetime.time(at, 30) for at in range(4)],
    "decimals": [decimal.Decimal(text) for text in ("-0.50", "0.00", "7.25", "10.00")],
    "whole decimals": [decimal.Decimal(text) for text in ("-3.00", "0.00", "7.00", "10.00")],
}


def column(kind, gaps):
    values = [KINDS[kind][at] for at in PLACE]
    return [None if gaps and at in (5, 11) else value for at, value in enumerate(values)]


def array(values):
    large = any(isinstance(v, int) and v >= 2**63 for v in values if v is not None)
    return pa.array(values, pa.uint64() if large else None)


def swapped(values):
    """Return an array with its bytes in another order, as of FITS, netCDF and Java."""
    values = np.array(values)
    return values.astype(values.dtype.newbyteorder(">"))


def with_floats(table, change):
    """Return a table with its fractions changed."""
    floats = pa.types.is_floating(table["c"].type)
    return table.set_column(1, "c", change(table["c"])) if floats else table


def with_nans(column):
    """Return NaN instead of gaps, as numpy and DuckDB write it."""
    return pa.array(column.to_numpy())


def short(column):
    return column.cast(pa.float16())


def forms(values, folder):
    """Return a table with these values as column c, in every form."""
    others = {"x": NUMBERS.normal(size=ROWS), "y": ["no", "yes"] * (ROWS // 2)}
    table = pa.table({"x": others["x"], "c": array(values), "y": others["y"]})
    dictionary = table.set_column(1, "c", table["c"].dictionary_encode())
    texts = [None if value is None else str(value) for value in values]
    coded = [None if text is None else text.encode() for text in texts]
    frames = {
        "objects": pd.DataFrame({"x": others["x"], "c": pd.Series(values, dtype=object)}),
        "Arrow": table.to_pandas(types_mapper=pd.ArrowDtype),
        "NaN": with_floats(table, with_nans).to_pandas(types_mapper=pd.ArrowDtype),
        "short": with_floats(table, short).to_pandas(types_mapper=pd.ArrowDtype),
        "nullable": table.to_pandas(types_mapper=NULLABLE.get),
        "Arrow dictionary": dictionary.to_pandas(types_mapper=pd.ArrowDtype),
        "categories": dictionary.to_pandas(),
        "texts": pd.DataFrame({"x": others["x"], "c": pd.Series(texts, dtype="str")}),
        "bytes": pd.DataFrame({"x": others["x"], "c": pd.Series(coded, dtype=object)}),
        "swapped": pd.DataFrame({"x": swapped(others["x"]), "c": swapped(values)}),
    }
    frames = {name: frame.assign(y=others["y"]) for name, frame in frames.items()}
    stored = {"table": table, "dictionary": dictionary} | {
        name: pa.Table.from_pandas(frames[name]) for name in ("Arrow dictionary", "bytes")
    }
    files = {f"{name}.parquet": folder / f"{name}.parquet" for name in stored}
    for name, content in stored.items():
        parquet.write_table(content, files[f"{name}.parquet"])
    for name, separator in (("a.csv", ","), ("b.csv", ";"), ("a.tsv", "\t")):
        files[name] = folder / name
        frames["objects"].to_csv(files[name], index=False, sep=separator)
    return frames | {"pyarrow": table, "batch": table.to_batches()[0]} | files


def is_file(form):
    return hasattr(form, "suffix")


def written(name):
    """Return whether a form has texts, in which numbers have no type."""
    return name.startswith(("texts", "bytes")) or name.endswith(("csv", "tsv"))


#: Without gaps, these have other types.
CASES = [(kind, True) for kind in KINDS] + [
    (kind, False) for kind in ("integers", "long integers", "very long integers", "booleans")
]


@pytest.fixture(
    scope="module", params=CASES, ids=lambda case: f"{case[0]}{', gaps' if case[1] else ''}"
)
def case(request, tmp_path_factory):
    """The values, and the forms they come in."""
    values = column(*request.param)
    return request.param[0], values, forms(values, tmp_path_factory.mktemp("forms"))


def test_as_a_feature(case):
    _, _, ways = case
    file = as_samples(ways["a.csv"], "y")
    features = learn_features(file, (), 0, Notes())
    expected = features.transform(file, Notes())
    for name, form in ways.items():
        samples, notes = as_samples(form, "y"), Notes()
        learnt = learn_features(samples, (), 0, Notes())
        found = [features.transform(samples, notes), learnt.transform(file, notes)]
        if is_file(form):
            how = reading(features)
            found.append(features.transform(as_samples(form, "y", **how), notes))
            blocks = read_blocks(form, "y", Reading(**how), rows=7)
            found.append(np.concatenate([features.transform(part, notes) for part in blocks]))
        for matrix in found:
            assert np.allclose(matrix, expected, atol=1e-5), name
        assert notes.warnings == [], name


def told(codes, classes):
    """Return the class of each row, whole numbers always written the same way."""
    return [None if code == MISSING else classes.names[code] for code in codes]


def test_as_labels_in_the_table_and_beside_it(case):
    kind, values, ways = case
    if kind in ("gaps", "far dates", "times", "zoned times", "dates", "booleans"):
        return  # not always classes, or written in other words in a text file
    found = {}
    for name, form in ways.items():
        beside = {} if is_file(form) else {f"{name}, beside": form["c"]}
        labels = {name: lambda form=form: as_samples(form, "c").labels} | {
            key: lambda y=y: as_samples(np.zeros((ROWS, 1)), y).labels for key, y in beside.items()
        }
        for key, read in labels.items():
            try:
                found[key] = told(*encode(read(), "here"))
            except DataError as error:
                found[key] = str(error)
    for is_text in (False, True):
        alike = {
            key: value for key, value in found.items() if written(key.split(",")[0]) == is_text
        }
        first = next(iter(alike.values()))
        assert all(value == first for value in alike.values()), (kind, alike)
        if isinstance(first, list):
            assert [value is None for value in first] == [value is None for value in values]


def test_as_groups(case):
    kind, _, ways = case
    columns = {name: grouped(as_samples(form, "y"), "c").groups for name, form in ways.items()}
    arrays = {
        f"{name}, beside": Groups.of_array(form["c"], ROWS)
        for name, form in ways.items()
        if not is_file(form) and name != "bytes"
    }
    expected = columns["a.csv"]
    for name, groups in (columns | arrays).items():
        assert groups.numbers.tolist() == expected.numbers.tolist(), name
        known, of = groups.known_to(expected), expected.known_to(groups)
        if kind == "zoned times" and name.startswith(("Arrow dictionary", "categories", "dict")):
            continue  # pyarrow loses the zone of a dictionary
        assert known.tolist() == of.tolist() == (expected.codes >= 0).tolist(), name


def test_a_time_is_one_group_however_it_is_written():
    zoned = ["2020-01-31 01:30:00+02:00", "2020-01-30T23:30:00.000Z", "2020-01-30 18:30-0500"]
    days = ["2020-01-30", "2020-01-30 00:00:00", "2020-01-30T00:00"]
    assert Groups.of(pd.Series(["true", "True", True, "FALSE"])).texts == ("true", "false")
    parts = ["2020-01-30 00:00:00.123456789", "2020-01-30 00:00:00.123456"]
    texts = [*zoned, *days, *parts, "2020-13-30", "0001-01-01 00:00+05:00"]
    assert Groups.of(pd.Series(texts)).numbers.tolist() == [0, 0, 0, 1, 1, 1, 2, 3, 4, 5]
    column = pd.Series(pd.to_datetime(days[:1] * 2))
    assert Groups.of(column).known_to(Groups.of(pd.Series(days))).all()


def test_a_moment_is_one_group_whatever_offset_and_program_wrote_it():
    moment = pd.Timestamp("2020-01-30 23:30:00", tz="UTC")
    here = [moment.tz_convert(zone) for zone in ("UTC", "Asia/Kolkata", "Asia/Tokyo")]
    texts = [str(time) for time in here]
    ways = ["%Y-%m-%d %H:%M:%S{}", "%Y-%m-%dT%H:%M:%S.000{}", "%Y-%m-%d %H:%M:%S.000000000 {}"]
    ways += ["%d/%b/%Y:%H:%M:%S {}", "%a, %d %b %Y %H:%M:%S {}", "%a %b %d %H:%M:%S {} %Y"]
    for way in ways:
        texts += [time.strftime(way.format("%z")) for time in here]
        texts += [moment.strftime(way.format(zone)) for zone in ("UTC", "GMT", "+00:00")]
    texts += ["2020-01-31 01:30:00+02", "2020-01-31 01:30+02", "20200130T233000Z"]
    texts += ["2020-01-31 01:30:00 GMT+0200", "2020-01-30 23:30Z", "2020-01-30T23:30:00z"]
    assert Groups.of(pd.Series(texts, dtype=object)).texts == ("2020-01-30 23:30:00+00:00",)
    near = [pd.Timestamp(at, tz=zone) for at in (1, 2, 1000) for zone in ("UTC", "Asia/Tokyo")]
    assert Groups.of(pd.Series(near, dtype=object)).numbers.tolist() == [0, 0, 1, 1, 2, 2]
    others = ["2020-01-30 23:30", "2020-01-30 23:30 CET", "2020-01-30 23:30 EST", "2020-01-30"]
    assert Groups.of(pd.Series(others)).numbers.tolist() == [0, 1, 2, 3]


def test_a_column_without_a_name_tells_items_beside_groups():
    frame = pd.DataFrame({
        "": [1, 2, 1, 2], "x": 0.5, "who": ["a", "a", "b", "b"], "g": [0, 0, 0, 0],
        "y": ["no", "yes"] * 2,
    })  # fmt: skip
    assert read_long(frame, "y", "who", group="g").item.tolist() == [0, 1, 0, 1]


def test_long_numbers_are_groups_of_their_own():
    texts = ["9" * 5000, "8" * 5000, "1." + "0" * 30 + "1", "1." + "0" * 30 + "2"]
    assert Groups.of(pd.Series(texts)).numbers.tolist() == [0, 1, 2, 3]


def test_equal_rows_of_an_array_are_one_group():
    wide = np.zeros((3, 2000))
    wide[1, 1000] = 1e-12
    assert Groups.of_array(wide, 3).numbers.tolist() == [0, 1, 0]
    assert Groups.of_array([[7], [8], [7]], 3).numbers.tolist() == [0, 1, 0]


def test_as_annotators_and_items(case):
    kind, values, ways = case
    gaps = None in values
    found = {}
    for name, form in ways.items():
        try:
            asked = read_long(form, "y", "c")
            found[name] = asked.annotator.tolist(), len(asked.names)
            asked = read_long(form, "y", "x", "c", embeddings=None)
            found[name] += (asked.item.tolist(),)
        except DataError as error:
            found[name] = "no column beside" in str(error) or str(error).rpartition(": ")[2]
    first = next(iter(found.values()))
    if kind not in ("far dates", "times", "zoned times", "dates", "whole floats", "fractions"):
        assert all(value == first for value in found.values()), (kind, found)
    assert (first == "2 answers") == gaps


@pytest.mark.filterwarnings("ignore:.*not numeric, and left out")
def test_as_a_column_to_train_on(case):
    kind, values, ways = case
    if kind == "booleans" and None in values:
        return  # which a text file has as words, and those are left out
    found = {}
    for name, form in ways.items():
        if not is_file(form) or name.startswith(("texts", "bytes")):
            continue
        try:
            data = read_table(form, "y")
            found[name] = data.features, data.inputs.tolist()
        except DataError as error:
            found[name] = str(error).partition(": ")[2]
    first = next(iter(found.values()))
    assert all(value == first for value in found.values()), (kind, found)


def test_what_is_missing_among_labels_of_pyarrow_is_no_class():
    labels = ["no", None, "yes", "no", None, "yes"]
    for made in (pa.array(labels), pa.chunked_array([labels])):
        for y in (made, made.dictionary_encode()):
            codes, classes = encode(y, "here")
            assert told(codes, classes) == labels
            with pytest.raises(DataError, match="missing"):
                RobustClassifier("CE").fit(np.eye(6), y)


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]", "float64", "object"])
def test_a_gap_differs_from_a_value_whatever_the_type(dtype):
    of, first = np.array([0, 0, 1, 1]), np.array([0, 2])
    gap = pd.Series([None, 5, 6, 6], dtype=dtype)
    assert varies(gap, of, first)
    assert not varies(pd.Series([None, None, 6, 6], dtype=dtype), of, first)


def test_rows_of_an_item_may_have_lists():
    of, first = np.array([0, 0]), np.array([0])
    lists = pd.Series([np.array([1, 2]), np.array([1, 3])])
    assert varies(lists, of, first)
    assert not varies(lists.iloc[[0, 0]].reset_index(drop=True), of, first)


@pytest.mark.parametrize("blank", ["", " ", None])
def test_a_blank_name_is_none_in_every_form(tmp_path, blank):
    frame = pd.DataFrame({
        "x": [1.5, 1.5, 2.5, 2.5], "who": ["ann", "bob", "ann", blank], "y": ["a", "b", "b", "a"],
    })  # fmt: skip
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    for form in (frame, tmp_path / "a.csv", tmp_path / "a.parquet"):
        with pytest.raises(DataError, match="without an annotator: 1 answer"):
            read_long(form, "y", "who")
    answers = frame.rename(columns={"who": "annotator", "y": "label"}).assign(item=[0, 0, 1, 1])
    with pytest.raises(DataError, match="without an annotator: 1 answer"):
        of_frame(np.eye(2), None, answers)


@pytest.mark.parametrize("form", ["frame", "nullable", "arrow", "one column"])
def test_labels_with_gaps_that_are_left_in_the_table_are_no_feature(form):
    table = pd.DataFrame({"x": np.arange(6.0) ** 2, "y": [1, None, 2, 1, 2, None]})
    X = table.convert_dtypes() if form == "nullable" else table
    y = {
        "frame": table["y"], "nullable": table["y"], "one column": table[["y"]],
        "arrow": pd.Series([1, None, 2, 1, 2, None], dtype="int64[pyarrow]", name="y"),
    }[form]  # fmt: skip
    assert list(as_samples(X, y).inputs) == ["x"]


def test_names_with_a_comma_are_no_numbers_between_semicolons(tmp_path):
    frame = pd.DataFrame({
        "x": [1.5, 1.5, 2.5, 2.5], "who": ["1,5", "2,5"] * 2, "what": ["1,001"] * 2 + ["1,002"] * 2,
        "y": ["a", "b", "b", "a"],
    })  # fmt: skip
    frame.to_csv(tmp_path / "a.csv", index=False, sep=";")
    for form in (frame, tmp_path / "a.csv"):
        asked = read_long(form, "y", "who", "what")
        assert (asked.names, asked.rows) == (("1,5", "2,5"), ("1,001", "1,002"))


@pytest.mark.parametrize("dtype", ["float16", "float32", "longdouble", "object", "str"])
def test_numbers_of_every_type_are_features_and_tell_items(tmp_path, dtype):
    values = np.array([0.5, 0.5, 1.75, 1.75, np.inf, np.inf, -2.5, -2.5])
    frame = pd.DataFrame({"x": values, "who": ["ann", "bob"] * 4, "y": ["a", "b", "b", "a"] * 2})
    frame.to_csv(tmp_path / "a.csv", index=False)
    expected = as_samples(tmp_path / "a.csv", "y")
    features = learn_features(expected, (), 0, Notes())
    matrix = features.transform(expected, Notes())
    samples = as_samples(frame.astype({"x": dtype}), "y")
    learnt = learn_features(samples, (), 0, Notes())
    assert np.allclose(learnt.transform(samples, Notes()), matrix)
    assert np.allclose(features.transform(samples, Notes()), matrix)
    assert len(hashes(samples)) == len(frame)
    asked = read_long(frame.astype({"x": dtype}), "y", "who")
    assert asked.item.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_long_lists_that_differ_in_the_middle_differ():
    one, other = np.zeros(2000), np.zeros(2000)
    other[1000] = 1e-12
    for values in ([one, other, one], [one.tolist(), other.tolist(), one.tolist()]):
        column = pd.Series(values)
        assert items(pd.DataFrame({"e": column, "x": 0.5}))[0].tolist() == [0, 1, 0]
        assert Groups.of(column).numbers.tolist() == [0, 1, 0]
        assert varies(column, np.zeros(3, np.int64), np.zeros(1, np.int64))


def test_half_characters_in_a_column_are_read_and_in_labels_refused():
    """As json.loads leaves them of an emoji that was cut in two."""
    texts = pd.Series(["good \ud83d", "bad", "good"] * 8, dtype=object)
    frame = pd.DataFrame({"x": np.arange(24.0) % 5, "c": texts})
    samples = as_samples(frame, ["no", "yes"] * 12)
    features = learn_features(samples, (), 0, Notes())
    assert "c = good \ufffd" in features.names
    assert len(hashes(samples)) == len(features.transform(samples, Notes())) == 24
    with pytest.raises(DataError, match="is not valid Unicode text"):
        encode(as_samples(frame, "c").labels, "here")
