"""noiseproof clean: labels change, and nothing else does."""

import contextlib
import csv
import gzip
import io
import json
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noisy_tables import QUICK, blobs
from PIL import Image
from pyarrow import parquet

from noiseproof.cli import main
from noiseproof.errors import DataError, ParameterError
from noiseproof.files.manifest import write_manifest
from noiseproof.fitting.fit import fit
from noiseproof.fitting.review.clean import clean
from noiseproof.fitting.review.edit_text import edited

WORDS = st.text(st.sampled_from("ab é,;\t\"'\n\r=-"), max_size=6)
LABELS = ["cat", "=dog", 'e"el', "a,b;c", "two\nlines", " spaced ", "é"]


@st.composite
def tables(draw):
    """A text table as somebody's program may have written it, and its pieces."""
    separator = draw(st.sampled_from([",", ";", "\t"]))
    ends = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]))

    def field(text, always):
        must = any(c in text for c in f'{separator}"\r\n') or text != text.strip() or not text
        return '"' + text.replace('"', '""') + '"' if must or always else text

    columns = draw(st.integers(1, 3))
    at = draw(st.integers(0, columns))
    names = [f"c{i}" for i in range(columns)]
    names.insert(at, "y")
    rows = []
    for _ in range(draw(st.integers(1, 6))):
        values = [draw(WORDS) for _ in range(columns)]
        values.insert(at, draw(st.sampled_from(LABELS)))
        rows.append([(v, field(v, draw(st.booleans()))) for v in values])
    blank = draw(st.sampled_from(["", ends, ends * 2]))
    last = draw(st.sampled_from(["", ends]))

    def written(rows):
        lines = [separator.join(names), *(separator.join(f for _, f in row) for row in rows)]
        return (blank.join(line + ends for line in lines[:-1]) + lines[-1] + last).encode(encoding)

    changes = {i: draw(st.sampled_from(LABELS)) for i in range(len(rows)) if draw(st.booleans())}
    return written, rows, at, changes, separator, encoding


@settings(max_examples=150)
@given(tables())
def test_only_the_fields_of_changed_labels_differ(tmp_path_factory, table):
    written, rows, at, changes, separator, encoding = table
    path = tmp_path_factory.getbasetemp() / ("made.tsv" if separator == "\t" else "made.csv")
    path.write_bytes(written(rows))
    expected = []
    for i, row in enumerate(rows):
        row = list(row)
        if i in changes:
            old, new = row[at][1], changes[i]
            quote = old[:1] == '"' or any(c in new for c in f'{separator}"\r\n')
            row[at] = (new, '"' + new.replace('"', '""') + '"' if quote else new)
        expected.append(row)
    assert edited(path, "y", changes, encoding) == written(expected)


# Ninety rows are too few to tell; one test below is about what clean says then.
pytestmark = pytest.mark.filterwarnings("ignore:.*cannot tell noise:noiseproof.errors.DataWarning")

FRAME, TRUE, WRONG = blobs(90, classes=("cat", "=dog", "e,el"))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A table with decimal commas, quotes and Windows line ends, and its fit."""
    home = tmp_path_factory.mktemp("home")
    with (home / "pets.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=";", quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(["note", "kind", *FRAME.columns[:4]])
        for i, row in FRAME.iterrows():
            numbers = [f"{x:.6f}".replace(".", ",") for x in row[:4]]
            writer.writerow([f'number "{i}"', row["kind"], *numbers])
    fitted = fit(home / "pets.csv", "kind", **QUICK)
    fitted.save(home / "pets-fit")
    return home, fitted


def decided(path, fitted, rows, **changes):
    """Write a reviewed.csv that corrects some rows to the truth."""
    lines = [
        {"row": i, "given_label": FRAME["kind"][i],
         "decision": "keep" if FRAME["kind"][i] == TRUE[i] else "other", "label": TRUE[i],
         "list": "doubtful", "fingerprint": fitted.fingerprint} | changes
        for i in rows
    ]  # fmt: skip
    frame = pd.DataFrame(lines)
    frame["given_label"] = frame["given_label"].str.replace("=", "'=")
    frame["label"] = frame["label"].str.replace("=", "'=")
    frame.to_csv(path, index=False)
    return path


def labels(content):
    return [row["kind"] for row in csv.DictReader(io.StringIO(content.decode()), delimiter=";")]


def test_clean_writes_what_was_reviewed(home, tmp_path):
    folder, fitted = home
    reviewed = decided(tmp_path / "reviewed.csv", fitted, range(0, 90, 2))
    made = clean(folder / "pets.csv", tmp_path / "clean.1.csv", label="kind", reviewed=reviewed)
    before, after = (folder / "pets.csv").read_bytes(), made.out.read_bytes()
    expected = [TRUE[i] if i % 2 == 0 else FRAME["kind"][i] for i in range(90)]
    assert labels(after) == expected
    changed = [i for i in range(0, 90, 2) if FRAME["kind"][i] != TRUE[i]]
    lines = zip(before.split(b"\r\n"), after.split(b"\r\n"), strict=True)
    assert [at - 1 for at, (a, b) in enumerate(lines) if a != b] == changed
    assert made.changes_file.name == "clean.1-changes.csv"  # clean.2.csv has its own
    listed = pd.read_csv(made.changes_file)
    assert listed["row"].tolist() == changed
    assert set(listed["why"]) == {"reviewed: another class"}
    assert listed["new_label"].str.removeprefix("'").tolist() == [TRUE[i] for i in changed]
    # The corrected file may be cleaned again: there is nothing left to do.
    again = clean(made.out, tmp_path / "again.csv", label="kind", reviewed=reviewed)
    assert again.changes == ()
    assert again.out.read_bytes() == after


def test_proposals_are_for_rows_that_nobody_looked_at(home, tmp_path, monkeypatch):
    folder, fitted = home
    monkeypatch.chdir(folder)  # the folder of the fit and the label column are found
    suspects = fitted.suspects
    first, sure = int(suspects["row"][0]), suspects[suspects["confidence"] >= 0.4]
    reviewed = decided(tmp_path / "r.csv", fitted, [first], decision="skip", label="")
    made = clean("pets.csv", tmp_path / "clean.csv", reviewed=reviewed, proposals=0.4)
    assert len(sure) > 1
    assert {c.row for c in made.changes} == set(sure["row"]) - {first}
    assert {c.row: c.new for c in made.changes} == {
        row: new
        for row, new in zip(sure["row"], sure["proposed_label"], strict=True)
        if row != first
    }
    assert all(c.why.startswith("proposed by the fit, ") for c in made.changes)


def test_proposals_of_a_fit_that_cannot_tell_are_never_sure_nor_taken_silently(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    numbers = np.random.default_rng(0)
    X = numbers.normal(size=(300, 4))
    hard = np.where(X[:, 0] > 0.7, X[:, 1] > 0, X.prod(axis=1) > 0)  # and no label is wrong
    file, folder = tmp_path / "signs.csv", tmp_path / "signs-fit"
    pd.DataFrame(X).assign(y=np.where(hard, "yes", "no")).to_csv(file, index=False)
    command = ["fit", file, "--label", "y", "--learner", "linear", "--quiet"]
    assert main([str(word) for word in command]) == 0
    assert "warning: cannot tell noise from difficulty" in capsys.readouterr().err
    listed = pd.read_csv(folder / "suspect_rows.csv")
    assert len(listed)
    assert listed["confidence"].between(0.25, 0.5).all()
    assert listed["confidence"].is_monotonic_decreasing
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["noise"]["decisive"], summary["probably_wrong"]) == (False, 0)
    for least, changed in ((0.7, 0), (0.25, len(listed))):
        out = tmp_path / f"{least}.csv"
        command = ["clean", file, "--proposals", least, "--out", out, "--quiet"]
        assert main([str(word) for word in command]) == 0
        said = capsys.readouterr().err
        assert said.startswith("warning: ")
        assert "the fit cannot tell noise from difficulty" in said
        assert len(pd.read_csv(tmp_path / f"{least}-changes.csv")) == changed


def test_gzip_and_parquet(home, tmp_path):
    folder, fitted = home
    reviewed = decided(tmp_path / "r.csv", fitted, range(90))
    packed = tmp_path / "pets.csv.gz"
    packed.write_bytes(gzip.compress((folder / "pets.csv").read_bytes()))
    made = clean(packed, tmp_path / "clean.csv.gz", label="kind", reviewed=reviewed)
    assert labels(gzip.decompress(made.out.read_bytes())) == list(TRUE)
    kinds = pa.array(FRAME["kind"]).dictionary_encode()
    table = pa.table({"when": pa.array(range(90), pa.timestamp("us")), "kind": kinds,
                      "few": pa.array([None, 2.5] * 45, pa.float32())})  # fmt: skip
    parquet.write_table(table, tmp_path / "pets.parquet")
    own = fit(tmp_path / "pets.parquet", "kind", **QUICK)
    reviewed = decided(tmp_path / "r.csv", own, range(90))
    made = clean(tmp_path / "pets.parquet", tmp_path / "c.parquet", label="kind", reviewed=reviewed)
    table, after = (parquet.read_table(p) for p in (tmp_path / "pets.parquet", made.out))
    assert after.schema == table.schema
    assert after.drop(["kind"]).equals(table.drop(["kind"]))
    assert after["kind"].to_pylist() == list(TRUE)


@pytest.mark.parametrize(
    "typed",
    [
        lambda k: k.astype(np.float32) + 1,
        lambda k: pd.to_datetime(np.array(["2020-01-01", "2021-05-06", "2022-01-01"])[k]),
        lambda k: k * -5,
        lambda k: pd.Categorical(np.array(["=a", "-b", "c"])[k]),
        lambda k: np.array([b"a", b"b", b"c"], dtype=object)[k],
        lambda k: pd.array(np.array(list("abc"))[k], dtype=pd.ArrowDtype(pa.large_string())),
    ],
    ids=["float", "date", "negative", "category", "bytes", "large"],
)
def test_proposals_for_labels_of_any_type(tmp_path, typed):
    codes = pd.factorize(FRAME["kind"])[0]
    path, out, folder = (tmp_path / name for name in ("a.parquet", "b.parquet", "a-fit"))
    FRAME.assign(kind=typed(codes)).to_parquet(path)
    fitted = fit(path, "kind", **QUICK)
    fitted.save(folder)
    made = clean(path, out, fit=folder, proposals=0.25)
    assert len(made.changes) == len(fitted.suspects) > 0
    found = pd.read_parquet(out)["kind"].to_numpy()[fitted.suspects["row"]]
    wanted = fitted.suspects["proposed_label"]
    assert [str(v.decode() if isinstance(v, bytes) else v) for v in found] == [
        str(v) for v in wanted.to_numpy()
    ]


def test_labels_that_are_views_of_texts(tmp_path):
    path, out, folder = (tmp_path / name for name in ("a.parquet", "b.parquet", "a-fit"))
    table = pa.Table.from_pandas(FRAME)
    at, views = table.column_names.index("kind"), pa.array(FRAME["kind"], pa.string_view())
    parquet.write_table(table.set_column(at, "kind", views), path)
    fit(path, "kind", **QUICK).save(folder)
    made = clean(path, out, fit=folder, proposals=0.25)
    before, after = (parquet.read_table(p)["kind"] for p in (path, out))
    assert before.type == after.type
    pairs = zip(before.to_pylist(), after.to_pylist(), strict=True)
    assert sum(one != other for one, other in pairs) == len(made.changes) > 0


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("parts", [1, 3])
def test_categories_keep_their_order_and_those_without_a_row(tmp_path, ordered, parts):
    names = ["unused", *sorted(set(FRAME["kind"]), reverse=True)]
    kinds = pd.Categorical(FRAME["kind"], categories=names, ordered=ordered)
    path, out, folder = (tmp_path / name for name in ("a.parquet", "b.parquet", "a-fit"))
    table = pa.Table.from_pandas(FRAME.assign(kind=kinds))
    with parquet.ParquetWriter(path, table.schema) as writer:
        for part in np.array_split(np.arange(90), parts):
            writer.write_table(table.take(part))
    fit(path, "kind", **QUICK).save(folder)
    made = clean(path, out, fit=folder, proposals=0.25)
    before, after = (pd.read_parquet(p)["kind"] for p in (path, out))
    assert after.dtype == before.dtype
    assert (after.astype(str) != before.astype(str)).sum() == len(made.changes) > 0
    assert (after.cat.codes != before.cat.codes).sum() == len(made.changes)


@pytest.mark.parametrize("unit", ["us", "ns"])
def test_times_as_spark_writes_them_stay_what_they_are(tmp_path, unit):
    """In 96 bits: nanoseconds, or dates such as 9999-12-31, which nanoseconds do not reach."""
    last = {"us": "9999-12-31", "ns": "2020-01-01T00:00:00.123456789"}[unit]
    until = np.full(len(FRAME), np.datetime64("2021-01-01", unit))
    until[::3] = np.datetime64(last, unit)
    table = pa.Table.from_pandas(FRAME.assign(until=until))
    parquet.write_table(table, tmp_path / "a.parquet", use_deprecated_int96_timestamps=True)
    frame = FRAME.assign(until=until)
    expected = fit(frame, "kind", **QUICK).predict_proba(frame)
    fitted = fit(tmp_path / "a.parquet", "kind", **QUICK)
    assert (fitted.predict_proba(tmp_path / "a.parquet") == expected).all()
    fitted.save(tmp_path / "a-fit")
    made = clean(
        tmp_path / "a.parquet", tmp_path / "b.parquet", fit=tmp_path / "a-fit", proposals=0.25
    )
    assert made.changes
    with (tmp_path / "b.parquet").open("rb") as file:
        found = parquet.ParquetFile(file, coerce_int96_timestamp_unit=unit)
        assert (found.read()["until"].to_numpy() == until).all()
        assert found.schema.column(found.schema.names.index("until")).physical_type == "INT96"


def test_times_to_the_nanosecond_stay_what_they_are_beside_far_ones(tmp_path):
    days = np.arange(len(FRAME)) % 28
    near = np.datetime64("2020-01-01T00:00:00.123456789") + days.astype("timedelta64[D]")
    far = np.full(len(FRAME), np.datetime64("9999-12-31", "us"))
    table = pa.Table.from_pandas(FRAME.assign(far=far, near=near, again=near))
    parquet.write_table(table, tmp_path / "a.parquet", use_deprecated_int96_timestamps=True)
    fit(tmp_path / "a.parquet", "kind", **QUICK).save(tmp_path / "a-fit")
    out = tmp_path / "b.parquet"
    assert clean(tmp_path / "a.parquet", out, fit=tmp_path / "a-fit", proposals=0.25).changes
    for unit, columns in (("ns", {"near": near, "again": near}), ("us", {"far": far})):
        found = parquet.read_table(out, coerce_int96_timestamp_unit=unit)
        for name, values in columns.items():
            assert (found[name].to_numpy() == values).all()


def test_times_inside_others_stay_what_they_are(tmp_path):
    until = pa.array([[np.datetime64("9999-12-31", "us").item()]] * len(FRAME))
    table = pa.Table.from_pandas(FRAME).append_column("visits", until)
    parquet.write_table(table, tmp_path / "a.parquet")
    fit(tmp_path / "a.parquet", "kind", **QUICK).save(tmp_path / "a-fit")
    out = tmp_path / "b.parquet"
    assert clean(tmp_path / "a.parquet", out, fit=tmp_path / "a-fit", proposals=0.25).changes
    assert parquet.read_table(out)["visits"].combine_chunks() == until


def test_names_of_columns_that_only_pandas_knows_are_one_line(tmp_path):
    levels = [(name, "") for name in FRAME]
    FRAME.set_axis(pd.MultiIndex.from_tuples(levels), axis=1).to_parquet(tmp_path / "a.parquet")
    fit(tmp_path / "a.parquet", "kind", **QUICK).save(tmp_path / "a-fit")
    with pytest.raises(DataError, match="names of one level"):
        clean(
            tmp_path / "a.parquet", tmp_path / "b.parquet", label="kind", fit=tmp_path / "a-fit",
            proposals=0.25,
        )  # fmt: skip
    assert not (tmp_path / "b.parquet").exists()


def test_a_class_that_a_review_left_no_row_of_is_said_to_be_gone(tmp_path):
    kind = FRAME["kind"].astype(str).to_list()
    true, kind[:2] = kind[:2], ["tpyo", "tpyo"]
    FRAME.assign(kind=kind).to_csv(tmp_path / "a.csv", index=False)
    own = fit(tmp_path / "a.csv", "kind", **QUICK).fingerprint
    lines = [f"{row},tpyo,other,{true[row]},doubtful,{own}\n" for row in (0, 1)]
    reviewed = tmp_path / "reviewed.csv"
    reviewed.write_text("row,given_label,decision,label,list,fingerprint\n" + "".join(lines))
    made = clean(tmp_path / "a.csv", tmp_path / "b.csv", label="kind", reviewed=reviewed)
    assert [change.old for change in made.changes] == ["tpyo", "tpyo"]
    with pytest.raises(DataError, match=r"'tpyo', and b\.csv has no such class any more"):
        fit(made.out, "kind", reviewed=reviewed)


def test_a_label_that_was_emptied_since_the_fit_stays_empty(home, tmp_path):
    folder, fitted = home
    with (folder / "pets.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file, delimiter=";")
    for at in fitted.suspects["row"]:
        rows[at][1] = ""
    with (tmp_path / "emptied.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=";").writerows([header, *rows])
    made = clean(
        tmp_path / "emptied.csv", tmp_path / "out.csv", fit=folder / "pets-fit", proposals=0.25
    )
    assert not made.changes


@pytest.mark.parametrize(
    "content", ["", "row\n1\n", "row,given_label,proposed_label,confidence\n1\n",
                "row,given_label,proposed_label,confidence\n1,a,b,c\n", "row\n" + "1" * 200_000],
    ids=len,
)  # fmt: skip
def test_proposals_that_a_fit_does_not_write_are_never_a_traceback(home, tmp_path, content):
    folder, _ = home
    shutil.copytree(folder / "pets-fit", tmp_path / "fit")
    (tmp_path / "fit" / "suspect_rows.csv").write_text(content)
    write_manifest(tmp_path / "fit")
    out = tmp_path / "clean.csv"
    with contextlib.suppress(DataError):
        assert not clean(folder / "pets.csv", out, fit=tmp_path / "fit", proposals=0.5).changes


def test_mistakes_are_one_line_and_write_nothing(home, tmp_path, capsys, monkeypatch):
    folder, fitted = home
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "pets.csv"
    mine.write_bytes((folder / "pets.csv").read_bytes())
    good = decided(tmp_path / "good.csv", fitted, [0, 1])
    blobs(90, seed=5)[0].to_csv("other.csv", index=False)
    (tmp_path / "broken.csv").write_text("row,label\n1,cat\n")
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x81")
    strange = decided(tmp_path / "strange.csv", fitted, [0], decision="other", label="hamster")
    gone = decided(tmp_path / "gone.csv", fitted, [0], row=900)
    moved = decided(tmp_path / "moved.csv", fitted, [0], given_label="e,el", label="e,el")
    maybe = decided(tmp_path / "maybe.csv", fitted, [0], decision="maybe")
    blank = decided(tmp_path / "blank.csv", fitted, [0], given_label="")
    (tmp_path / "none_decided.csv").write_text(good.read_text().partition("\n")[0] + "\n")
    kind = ("--label", "kind")
    (tmp_path / "notes.txt").write_text("kind")
    (tmp_path / "parts").mkdir()
    blobs(90)[0].to_parquet("parts/0.parquet")
    for arguments, message in (
        (("other.csv", *kind, "--reviewed", good), "was made from other data than other.csv"),
        (("pets.csv", *kind, "--reviewed", "broken.csv"), "expected the columns row, given_label"),
        (("pets.csv", *kind, "--reviewed", "empty.csv"), "expected the columns row, given_label"),
        (("pets.csv", *kind, "--reviewed", "binary.csv"), "cannot be read as a UTF-8 CSV"),
        (("pets.csv", *kind, "--reviewed", "none.csv"), "no such file"),
        (("pets.csv", *kind, "--reviewed", strange), "label 'hamster' is no class"),
        (("pets.csv", *kind, "--reviewed", gone), "has no labelled row '900'"),
        (("pets.csv", *kind, "--reviewed", moved), "row 0 was labelled"),
        (("pets.csv", *kind, "--reviewed", maybe), "'maybe' is not known"),
        (("pets.csv", *kind, "--reviewed", blank), "given_label is empty"),
        (("pets.csv", *kind, "--reviewed", "none_decided.csv"), "no row has been decided"),
        (("pets.csv", *kind), "give --reviewed, --proposals or both"),
        (("pets.csv", "--reviewed", good), "which column has the labels?"),
        (("pets.csv", *kind, "--proposals", 0.9), "no fit of this noiseproof's here"),
        (("pets.csv", *kind, "--proposals", 2), "expected more than 0 and at most 1"),
        (("none.csv", *kind, "--reviewed", good), "no such file"),
        ((folder, *kind, "--reviewed", good), "expected the name of a folder"),
        (("parts", *kind, "--reviewed", good), "parts: a folder of Parquet files cannot be"),
        (("notes.txt", *kind, "--reviewed", good), "expected a .csv, .tsv or .parquet file"),
    ):
        code = main(["clean", *map(str, arguments), "--out", "out.csv"])
        out, err = capsys.readouterr()
        assert (code, out, len(err.splitlines())) == (2, "", 1), arguments
        assert message in err
    assert not (tmp_path / "out.csv").exists()
    shutil.copytree(folder / "pets-fit", tmp_path / "pets-fit")
    for out, message in (
        ("pets.csv", "is an input"),
        ("good.csv", "is an input"),
        ("out.parquet", "expected a name"),
        ("pets-fit/suspect_rows.csv", "inside the folder of the fit"),
    ):
        command = ["clean", "pets.csv", *kind, "--reviewed", "good.csv", "--out", out, "--force"]
        assert main(command) == 2
        assert message in capsys.readouterr().err
    assert mine.read_bytes() == (folder / "pets.csv").read_bytes()


def test_the_command_says_what_it_wrote(home, tmp_path, capsys, monkeypatch):
    folder, fitted = home
    monkeypatch.chdir(folder)
    decided(tmp_path / "r.csv", fitted, range(10))
    command = ["clean", "pets.csv", "--reviewed", str(tmp_path / "r.csv"), "--out",
               str(tmp_path / "clean.csv")]  # fmt: skip
    assert main(command) == 0
    count = int(np.sum(FRAME["kind"][:10] != TRUE[:10]))
    assert f"(labels changed in {count} of 90 rows)" in capsys.readouterr().out
    assert main([*command, "--force", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["changed"] == count


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    """A folder of pictures with hostile names, some of them under a wrong class, and its fit."""
    home = tmp_path_factory.mktemp("photos")
    rng = np.random.default_rng(0)
    for at in range(60):
        kind, true = ("cat", "<b>dog")[at % 2], ("cat", "<b>dog")[(at % 2) ^ (at < 4)]
        level = 60 if true == "cat" else 190
        pixels = np.clip(rng.normal(level, 20, (8, 8, 3)), 0, 255).astype(np.uint8)
        (home / "pets" / kind).mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(home / "pets" / kind / f"{at // 2}.png")
    (home / "pets" / "cat" / "notes.txt").write_text("mine")
    (home / "pets" / "cat" / "broken.png").write_bytes(b"no picture")
    fitted = fit(home / "pets", encoder="patches", **QUICK)
    fitted.save(home / "pets-fit")
    return home, fitted


def decided_photos(path, fitted, lines):
    rows = [f"{row},{given},other,{new},doubtful,{fitted.fingerprint}" for row, given, new in lines]
    path.write_text("\n".join(["row,given_label,decision,label,list,fingerprint", *rows]))


def contents(folder):
    found = (f for f in folder.rglob("*") if f.is_file())
    return {f.relative_to(folder).as_posix(): f.read_bytes() for f in found}


def test_a_folder_of_pictures_is_copied_with_each_in_its_class(photos, tmp_path, capsys):
    home, fitted = photos
    before = contents(home / "pets")
    reviewed = tmp_path / "r.csv"
    wrong = [("cat/0.png", "cat", "<b>dog"), ("<b>dog/1.png", "<b>dog", "cat")]
    decided_photos(reviewed, fitted, wrong)
    command = ["clean", str(home / "pets"), "--reviewed", str(reviewed)]
    assert main([*command, "--out", str(tmp_path / "clean")]) == 0
    assert "(labels changed in 2 of 60 rows)" in capsys.readouterr().out
    after = contents(tmp_path / "clean")
    manifest = {name for name in after if "/" not in name}
    moved = {"cat/0.png": "<b>dog/0-from-cat.png", "<b>dog/1.png": "cat/1-from-<b>dog.png"}
    assert {moved.get(name, name): bytes_ for name, bytes_ in before.items()} == {
        name: bytes_ for name, bytes_ in after.items() if name not in manifest
    }
    assert contents(home / "pets") == before
    listed = pd.read_csv(tmp_path / "clean-changes.csv")
    assert listed[["row", "old_label", "new_label"]].to_numpy().tolist() == [
        ["<b>dog/1.png", "<b>dog", "cat"], ["cat/0.png", "cat", "<b>dog"],
    ]  # fmt: skip
    again = fit(tmp_path / "clean", encoder="patches", **QUICK)
    assert len(again.rows) == 60


def test_a_picture_never_goes_where_a_folder_is(photos, tmp_path):
    home, _ = photos
    shutil.copytree(home / "pets", tmp_path / "pets")
    dogs = tmp_path / "pets" / "<b>dog"
    (dogs / "0.png").rename(dogs / "0-from-cat-2.png")
    for name in ("0.png", "0-from-cat.png"):
        (dogs / name).mkdir()
        (dogs / name / "notes.txt").write_text("mine")
    wrong = [("cat/0.png", "cat", "<b>dog")]
    decided_photos(tmp_path / "r.csv", fit(tmp_path / "pets", encoder="patches", **QUICK), wrong)
    before = contents(tmp_path / "pets")
    clean(tmp_path / "pets", tmp_path / "clean", reviewed=tmp_path / "r.csv")
    after = contents(tmp_path / "clean")
    after.pop("manifest.json")
    assert after.pop("<b>dog/0-from-cat-3.png") == before.pop("cat/0.png")
    assert after == before


def test_proposals_are_written_in_the_encoding_that_was_fitted_alone(tmp_path):
    frame = blobs(90)[0]
    path = tmp_path / "pets.csv"
    frame.assign(kind=frame["kind"].replace({"cat": "félin"})).to_csv(path, index=False)
    folder = fit(path, "kind").save(tmp_path / "fit")
    assert (pd.read_csv(folder / "suspect_rows.csv")["proposed_label"] == "félin").any()
    with pytest.raises(DataError, match="has no such class; give the file that was fitted"):
        clean(path, tmp_path / "out.csv", fit=folder, proposals=0.25, encoding="cp1252")
    assert not (tmp_path / "out.csv").exists()


def test_a_folder_takes_proposals_too(photos, tmp_path):
    home, fitted = photos
    with pytest.raises(ParameterError, match="its labels are in the names of its folders"):
        clean(home / "pets", tmp_path / "out", fit=home / "pets-fit", proposals=0.4, label="kind")
    made = clean(home / "pets", tmp_path / "clean.v2", fit=home / "pets-fit", proposals=0.4)
    assert made.changes_file.name == "clean.v2-changes.csv"
    assert {one.row for one in made.changes} == {
        row for row, sure in zip(fitted.suspects["row"], fitted.suspects["confidence"], strict=True)
        if sure >= 0.4
    }  # fmt: skip
    assert made.changes


def test_mistakes_about_a_folder_are_one_line(photos, tmp_path, capsys):
    home, fitted = photos
    reviewed = tmp_path / "r.csv"
    decided_photos(reviewed, fitted, [("cat/0.png", "cat", "<b>dog")])
    other = tmp_path / "other.csv"
    other.write_text(reviewed.read_text().replace(fitted.fingerprint, "pictures-0"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("mine")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "cat").symlink_to(home / "pets" / "cat")
    for path, decisions, out, message in (
        (tmp_path / "linked", reviewed, tmp_path / "clean", "cat is a link to a folder"),
        (home / "pets", other, tmp_path / "clean", "was made from other data than pets"),
        (home / "pets", reviewed, home / "pets" / "in", "neither inside"),
        (home / "pets", reviewed, home / "pets", "neither inside"),
        (home / "pets", reviewed, tmp_path / "mine", "exists"),
        (home / "pets", reviewed, tmp_path / "c.csv", "expected the name of a folder"),
        (tmp_path / "mine", reviewed, tmp_path / "clean", "expected a sub-folder of images"),
    ):
        command = ["clean", str(path), "--reviewed", str(decisions), "--out", str(out)]
        assert main(command) == 2
        err = capsys.readouterr().err
        assert message in err
        assert err.count("\n") == 1
    assert not (tmp_path / "clean").exists()
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "mine"


def test_a_manifest_of_somebody_elses_is_not_lost(photos, tmp_path, capsys):
    home, fitted = photos
    reviewed = tmp_path / "r.csv"
    decided_photos(reviewed, fitted, [("cat/0.png", "cat", "<b>dog")])
    shutil.copytree(home / "pets", tmp_path / "pets")
    (tmp_path / "pets" / "manifest.json").write_text('{"files": {"cat/0.png": "by Ann"}}')
    command = ["clean", str(tmp_path / "pets"), "--reviewed", str(reviewed)]
    assert main([*command, "--out", str(tmp_path / "clean")]) == 2
    assert "manifest.json" in capsys.readouterr().err
    assert not (tmp_path / "clean").exists()


def test_what_a_link_leads_to_is_copied_only_if_it_is_a_picture(photos, tmp_path):
    home, fitted = photos
    reviewed = tmp_path / "r.csv"
    decided_photos(reviewed, fitted, [("cat/0.png", "cat", "<b>dog")])
    shutil.copytree(home / "pets", tmp_path / "pets")
    (tmp_path / "secret.txt").write_text("mine")
    for name in ("key.txt", "cat/key.txt", "cat/key.png"):
        (tmp_path / "pets" / name).symlink_to(tmp_path / "secret.txt")
    (tmp_path / "pets" / "cat" / "0.png").unlink()
    (tmp_path / "pets" / "cat" / "0.png").symlink_to(home / "pets" / "cat" / "0.png")
    clean(tmp_path / "pets", tmp_path / "clean", reviewed=reviewed)
    after = contents(tmp_path / "clean")
    assert not [name for name in after if "key" in name]
    assert after["<b>dog/0-from-cat.png"] == (home / "pets" / "cat" / "0.png").read_bytes()
    assert after["cat/notes.txt"] == b"mine"


def test_blank_lines_are_rows_of_a_column_that_is_alone(tmp_path):
    (tmp_path / "a.csv").write_text("\ny\ncat\n\ndog\n\n\n")
    found = edited(tmp_path / "a.csv", "y", {0: "dog", 2: "cat"}, None)
    assert found == b"\ny\ndog\n\ncat\n\n\n"
