"""Labels of every kind through all that is written: byte for byte in each file, and back."""

import csv
import decimal
import enum
import json
import re
from contextlib import nullcontext

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from noisy_tables import QUICK
from sklearn.base import clone

from noiseproof.errors import DataError, DataWarning
from noiseproof.files.spreadsheet import escape, unescape, write_csv
from noiseproof.fitting.fit import fit
from noiseproof.fitting.model import load
from noiseproof.fitting.predict import predict_file
from noiseproof.fitting.review.clean import clean
from noiseproof.integrations.sklearn import RobustClassifier

WORDS = [
    "900000000000207008", "1E5", "007", " 7", "caf\u00e9", "cafe\u0301", "NA", "None", "=1+1",
    "'=1+1", "a\rb", "a\r\nb", 'a"b', "a,b;c", "\x1b[31m", "\u202eabc", "<b>&amp;",
]  # fmt: skip
NUMBERS = ["900000000000207008", "900000000000207009", "-1", "0"]
SETS = {"words": WORDS, "numbers": NUMBERS}
EACH = 5


@pytest.fixture(scope="module", params=SETS)
def home(request, tmp_path_factory):
    """A folder with a table of odd labels, one of them missing, and its fit; the labels."""
    home, names = tmp_path_factory.mktemp("home"), SETS[request.param]
    rng = np.random.default_rng(0)
    labels = [name for name in names for _ in range(EACH)]
    labels[2], labels[EACH + 2] = labels[EACH + 2], labels[2]  # two labels are wrong
    with (home / "t.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "y"])
        for at, label in enumerate(labels):
            angle = 2 * np.pi * (at // EACH) / len(names)
            point = 9 * np.array([np.cos(angle), np.sin(angle)]) + rng.normal(scale=0.3, size=2)
            writer.writerow([*point.round(3).tolist(), label])
        writer.writerow([0, 0, ""])
    fitted = fit(home / "t.csv", "y", **QUICK)
    fitted.save(home / "t-fit")
    return home, fitted, labels, set(names)


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_model_knows_them(home):
    folder, fitted, _, names = home
    for model in (fitted, load(folder / "t-fit")):
        assert {str(value) for value in model.classes} == names
        assert {str(value) for value in model.predict(folder / "t.csv")} <= names


def test_predictions_have_them(home, tmp_path):
    folder = home[0]
    model = load(folder / "t-fit")
    expected = [str(value) for value in model.predict(folder / "t.csv")]
    predict_file(model, folder / "t.csv", tmp_path / "p.csv")
    predict_file(model, folder / "t.csv", tmp_path / "p.parquet")
    found = [unescape(row["prediction"]) for row in rows_of(tmp_path / "p.csv")]
    assert found == expected
    assert pd.read_parquet(tmp_path / "p.parquet")["prediction"].astype(str).tolist() == expected


def test_the_page_has_them_and_none_turns_what_is_beside_it(home):
    folder, _, _, names = home
    text = (folder / "t-fit" / "report.html").read_text(encoding="utf-8")
    assert not re.search("[\0-\b\v-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)
    data = re.search(r'id="review-data">(.*?)</script>', text, re.DOTALL)[1]
    assert set(json.loads(data)["classes"]) == names


def test_a_review_finds_them_and_clean_writes_them(home, tmp_path):
    folder, fitted, labels, _ = home
    new = {2: labels[EACH + 2], EACH + 2: labels[2]}
    with (tmp_path / "reviewed.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["row", "given_label", "decision", "label", "list", "fingerprint"])
        for row, label in new.items():
            given, decided = escape(labels[row]), escape(label)
            writer.writerow([row, given, "other", decided, "doubtful", fitted.fingerprint])
    made = clean(
        folder / "t.csv", tmp_path / "c.csv", reviewed=tmp_path / "reviewed.csv",
        fit=folder / "t-fit",
    )  # fmt: skip
    assert [row["y"] for row in rows_of(tmp_path / "c.csv")] == [
        *(new.get(at, label) for at, label in enumerate(labels)), ""
    ]  # fmt: skip
    assert [unescape(row["new_label"]) for row in rows_of(made.changes_file)] == [*new.values()]


def test_suspect_rows_and_other_tables_are_read_back_as_they_were_written(tmp_path):
    frame = pd.DataFrame({"row": range(len(WORDS)), "label": WORDS})
    write_csv(frame, tmp_path / "a.csv")
    assert [unescape(row["label"]) for row in rows_of(tmp_path / "a.csv")] == WORDS
    write_csv(pd.DataFrame({"row": ["plain"]}), tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_bytes() == b"row\nplain\n"


def test_half_a_character_is_no_label():
    with pytest.raises(DataError, match=r"label '\\udc80' is not valid Unicode"):
        fit(np.eye(4), ["\udc80", "b", "\udc80", "b"])


@pytest.mark.parametrize("start", [1, 2**53, 2**63, 2**70, 10**29])
@pytest.mark.parametrize("form", ["list", "decimals", "Arrow decimals"])
def test_whole_numbers_of_any_size_are_two_classes(form, start):
    labels = [start] * 15 + [start + 1] * 15
    if form != "list":
        labels = [decimal.Decimal(label) for label in labels]
    if form == "Arrow decimals":
        labels = pd.Series(labels, dtype=pd.ArrowDtype(pa.decimal128(38, 0)))
    X = np.random.default_rng(0).normal(size=(30, 2)) + np.repeat([0, 9], 15)[:, None]
    predicted = fit(X, labels, folds=2).predict(X)
    assert [int(label) for label in predicted] == [start] * 15 + [start + 1] * 15


class Mood(str, enum.Enum):  # noqa: UP042 - a StrEnum writes its value
    GLAD = "glad, or thankful"
    SAD = "sad"


class Grade(int, enum.Enum):
    GOOD = 10
    BAD = 2


@pytest.mark.parametrize("kind", [Mood, Grade])
@pytest.mark.parametrize(
    "form", [list, tuple, lambda y: np.array(y, dtype=object), lambda y: pd.Series(y, dtype=object)]
)
def test_an_enumeration_is_the_values_it_has(kind, form):
    first, second = kind
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = [first if x > 0 else second for x in X[:, 0]]
    plain = [member.value for member in y]
    estimator = RobustClassifier(learner="linear", minutes=0)
    expected = clone(estimator).fit(X, plain)
    found = estimator.fit(X, form(y))
    assert found.classes_.tolist() == expected.classes_.tolist() == sorted({*plain})
    assert found.predict(X).tolist() == expected.predict(X).tolist()
    assert found.score(X, form(y)) == expected.score(X, plain) > 0.9
    predicted = fit(X, form(y), **QUICK).predict(X).tolist()
    assert predicted == fit(X, plain, **QUICK).predict(X).tolist()
    assert np.mean([one == other for one, other in zip(predicted, plain, strict=True)]) > 0.9


def test_an_enumeration_among_the_inputs_is_its_texts():
    y = np.arange(60) % 2
    y[:2] = 1 - y[:2]
    moods = [Mood.GLAD if at % 2 else Mood.SAD for at in range(60)]
    fitted = fit(pd.DataFrame({"mood": moods, "k": np.arange(60) % 7, "y": y}), "y", **QUICK)
    texts = pd.DataFrame({"mood": [mood.value for mood in moods], "k": np.arange(60) % 7})
    assert (fitted.predict(texts) == np.arange(60) % 2).all()


@pytest.mark.parametrize("gap", ["NA", "None", "nan", "n/a"])
def test_a_class_is_no_gap_in_a_test_file_whose_other_labels_are_numbers(tmp_path, gap):
    """The words among the classes, by which a fit knows that NA is one, need not occur there."""
    names = np.array(["0", "1", gap, "other"])
    numbers = np.random.default_rng(0)

    def rows(count, classes):
        codes = np.arange(count) % classes
        return pd.DataFrame({"x": numbers.normal(size=count) + 3 * codes, "y": names[codes]})

    train, test = rows(60, 4), rows(30, 3)
    test.loc[29, "y"] = ""  # a gap as ever
    train.to_csv(tmp_path / "train.csv", index=False)
    test.to_csv(tmp_path / "test.csv", index=False)
    found = fit(tmp_path / "train.csv", "y", test=tmp_path / "test.csv").test
    beside = fit(train, "y", test=(test, "y")).test
    assert found.rows == beside.rows == 29
    assert found.accuracy == beside.accuracy


@pytest.mark.parametrize("grouped", [False, True])
def test_the_label_of_a_class_of_one_row_is_doubted_but_never_called_wrong(grouped):
    """No model knew it while its row was held out, nor one whose rows are all of one group."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.array(["a", "b", "c"], dtype=object), [60, 60, 5])
    X = rng.normal(size=(125, 2))
    X[:, 0] += np.select([y == "a", y == "b"], [0, 9], 0)
    y[3:6] = ["once", "twice", "lone"]
    alone = ["once", "twice", "lone", *(["c"] if grouped else [])]
    groups = np.where(y == "c", -1, np.arange(125)) if grouped else None
    with pytest.warns(DataWarning) if grouped else nullcontext():
        fitted = fit(pd.DataFrame(X, columns=["u", "v"]), y, group=groups, **QUICK)
    assert set(fitted.classes) == set(y)
    assert any("one row" in line and "lone, once" in line for line in fitted.checked.warnings)
    assert fitted.estimate.rate_interval[0] == 0
    assert fitted.estimate.rate_interval[1] > np.isin(y, alone).mean()  # they may all be wrong
    told = [line for line in fitted.estimate.warnings if "'lone'" in line]
    assert told == ["class 'lone' is too small to tell: no row of it can be judged"]
    found = fitted.suspects
    assert (found.confidence[found.given_label.isin(alone)] < 0.5).all()
