"""``--group``: rows of one patient are held out together, in every form in which rows come."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import noiseproof as nf
from noiseproof.cli import main
from noiseproof.errors import DataError, DataWarning, ParameterError
from noiseproof.fitting import evaluate
from noiseproof.fitting.page.to_review import review_data
from noiseproof.integrations.sklearn import RobustClassifier

EACH = 6
LEARNER: dict[str, Any] = {"learners": "neighbours"}


def photos(patients: int = 60) -> tuple[pd.DataFrame, np.ndarray]:
    """Return nearly equal photos of each patient under one label, and whether it is wrong."""
    numbers = np.random.default_rng(0)
    base = numbers.normal(size=(patients, 4))
    base[:, 0] += 2 * np.sign(base[:, 0])  # two classes that are easy to tell
    true, wrong = base[:, 0] > 0, np.arange(patients) % 5 == 0
    of = np.repeat(np.arange(patients), EACH)[numbers.permutation(patients * EACH)]
    frame = pd.DataFrame(base[of] + 0.001 * numbers.normal(size=(len(of), 4)), columns=list("abcd"))
    frame["patient"] = [f"p{at}" for at in of]
    frame["y"] = np.where(true ^ wrong, "ill", "well")[of]
    return frame, wrong[of]


def agreed(fitted: Any) -> float:
    """Return how many of the labels as given are predicted: nearly all where groups leak."""
    return float(fitted.noisy.value)


FRAME, WRONG = photos()
INPUTS, LABELS, PATIENTS = FRAME[list("abcd")], FRAME["y"], FRAME["patient"]


def test_without_groups_labels_are_copied_and_with_them_wrong_ones_are_found() -> None:
    without = nf.fit(INPUTS, LABELS, **LEARNER)
    assert agreed(without) > 0.97
    assert WRONG[without.suspects["row"].to_numpy()].sum() < 5  # none is no error either
    fitted = nf.fit(FRAME, "y", group="patient", **LEARNER)
    assert agreed(fitted) < 0.9
    found = fitted.suspects["row"].to_numpy()
    assert WRONG[found].mean() > 0.8
    assert len(found) > WRONG.sum() / 2
    assert "rows of the same patient are held out together: 60 groups" in fitted.notes
    assert any("held out together" in note for note in fitted.summary["data"]["notes"])
    assert "rows of the same patient are held out together" in fitted.report


def test_intervals_of_checked_rows_are_of_patients(tmp_path: Path) -> None:
    some = np.flatnonzero(PATIENTS.isin([f"p{n}" for n in range(12)]))
    true = np.where(WRONG, np.where(LABELS == "ill", "well", "ill"), LABELS)[some]
    options: dict[str, Any] = {"trusted": (some, true), **LEARNER}
    grouped = nf.fit(FRAME, "y", group="patient", **options)
    checked = grouped.learned.checked
    assert checked is not None
    narrow = evaluate.exact(checked, "")
    assert grouped.checked_rows is not None
    assert grouped.checked_rows.high - grouped.checked_rows.low > 2 * (narrow.high - narrow.low)

    first = nf.fit(FRAME, "y", group="patient", **LEARNER)
    told = review_data(first)
    decided = [
        [int(row), LABELS[row], "keep" if LABELS[row] == label else "other", label, "random"]
        for row, label in zip(some, true, strict=True)
    ]
    table = pd.DataFrame(decided, columns=["row", "given_label", "decision", "label", "list"])
    table.assign(fingerprint=told["fingerprint"]).to_csv(tmp_path / "r.csv", index=False)
    reviewed = nf.fit(FRAME, "y", group="patient", reviewed=tmp_path / "r.csv", **LEARNER)
    assert reviewed.reviewed is not None
    rate = reviewed.reviewed.rate
    assert rate is not None
    narrow = evaluate.exact(WRONG[some], "")
    assert rate.value == narrow.value
    assert rate.high - rate.low > 1.8 * (narrow.high - narrow.low)
    assert reviewed.change is not None
    after = reviewed.change.after.random
    assert after is not None
    assert (after.low, after.high) == (reviewed.checked_rows.low, reviewed.checked_rows.high)
    units = [row["u"] for row in told["rows"]]  # by which the page tells rows that belong together
    assert len(set(units)) < len(units)


def _file(folder: Path) -> Any:
    FRAME.to_csv(folder / "photos.csv", index=False)
    return nf.fit(folder / "photos.csv", "y", group="patient", **LEARNER)


def _parquet(folder: Path) -> Any:
    FRAME.to_parquet(folder / "photos.parquet")
    return nf.fit(folder / "photos.parquet", "y", group="patient", **LEARNER)


def _embedded(folder: Path) -> Any:
    FRAME[["patient", "y"]].to_csv(folder / "photos.csv", index=False)
    np.save(folder / "e.npy", INPUTS.to_numpy())
    embeddings = folder / "e.npy"
    path = folder / "photos.csv"
    return nf.fit(path, "y", group="patient", embeddings=embeddings, **LEARNER)


def _beside_a_file(folder: Path) -> Any:
    FRAME.drop(columns="patient").to_csv(folder / "photos.csv", index=False)
    return nf.fit(folder / "photos.csv", "y", group=PATIENTS, **LEARNER)


def _answers(column: pd.Series) -> pd.DataFrame:
    return pd.DataFrame({"w1": column, "w2": column, "w3": column})


def _long() -> pd.DataFrame:
    rows = pd.concat([FRAME.assign(who=who) for who in ("ann", "bob")], ignore_index=True)
    return rows.assign(photo=np.tile(np.arange(len(FRAME)), 2))


FORMS: dict[str, Any] = {
    "csv": _file,
    "parquet": _parquet,
    "embeddings": _embedded,
    "an array beside a file": _beside_a_file,
    "array": lambda _: nf.fit(INPUTS.to_numpy(), LABELS, group=PATIENTS.to_numpy(), **LEARNER),
    "list": lambda _: nf.fit(INPUTS, LABELS, group=list(PATIENTS), **LEARNER),
    "wide answers": lambda _: nf.fit(
        pd.concat([INPUTS, PATIENTS, _answers(LABELS)], axis=1), answers="w*", group="patient",
        **LEARNER,
    ),
    "answers beside rows": lambda _: nf.fit(
        FRAME.drop(columns="y"), answers=_answers(LABELS), group="patient", **LEARNER
    ),
    "long answers": lambda _: nf.fit(
        _long(), "y", annotator="who", item="photo", group="patient", **LEARNER
    ),
    "long answers without items": lambda _: nf.fit(
        _long().drop(columns="photo"), "y", annotator="who", group="patient", **LEARNER
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", ["wide answers", "answers beside rows", "long answers"])
def test_a_review_of_a_fit_without_groups_is_of_the_same_rows(form: str) -> None:
    wide, beside = pd.concat([INPUTS, PATIENTS, _answers(LABELS)], axis=1), FRAME.drop(columns="y")
    given: dict[str, Any] = {
        "wide answers": {"X": wide, "answers": "w*"},
        "answers beside rows": {"X": beside, "answers": _answers(LABELS)},
        "long answers": {"X": _long(), "y": "y", "annotator": "who", "item": "photo"},
    }[form]
    without, grouped = (nf.fit(**given, group=group, **LEARNER) for group in (None, "patient"))
    assert grouped.fingerprint == without.fingerprint


@pytest.mark.parametrize("form", FORMS)
def test_groups_come_in_every_form(form: str, tmp_path: Path) -> None:
    fitted = FORMS[form](tmp_path)
    assert agreed(fitted) < 0.9, form
    assert any("held out together: 60 groups" in note for note in fitted.notes)
    assert "patient" not in " ".join(fitted.model.features.names)


def test_predict_takes_rows_with_the_column_and_without_it(tmp_path: Path) -> None:
    fitted = nf.fit(FRAME, "y", group="patient", **LEARNER)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = fitted.predict_proba(INPUTS)
        assert np.array_equal(fitted.predict_proba(FRAME), expected)
    fitted.save(tmp_path / "out")
    loaded = nf.load(tmp_path / "out")
    assert np.array_equal(loaded.predict_proba(FRAME.drop(columns="y")), expected)


def test_test_rows_of_a_group_that_was_trained_on_are_counted(tmp_path: Path) -> None:
    train, rest = FRAME[PATIENTS != "p7"], FRAME[PATIENTS == "p7"].copy()
    other = FRAME.iloc[:4].copy()
    other[list("abcd")] += 1  # new rows of known patients
    both = pd.concat([rest, other]).drop(columns="y"), [*rest["y"], *other["y"]]
    fitted = nf.fit(train, "y", group="patient", test=both, **LEARNER)
    assert fitted.test is not None
    assert fitted.test.seen == (other["patient"] != "p7").sum()
    assert "same features or patient" in fitted.test.warnings[0]
    without = both[0].drop(columns="patient"), both[1]
    fitted = nf.fit(train, "y", group="patient", test=without, **LEARNER)
    assert fitted.test is not None
    assert fitted.test.seen == 0
    assert any("without column 'patient'" in note for note in fitted.notes)


def test_rows_without_a_group_belong_to_no_other() -> None:
    gaps = PATIENTS.where(np.arange(len(FRAME)) % 3 > 0)
    fitted = nf.fit(INPUTS, LABELS, group=gaps, **LEARNER)
    count = len(FRAME[gaps.isna()]) + gaps.nunique()
    assert any(f"held out together: {count:,} groups" in note for note in fitted.notes)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"group": "patiemt"}, "no column 'patiemt'; did you mean 'patient'"),
        ({"group": "y"}, "is the column of labels"),
        ({"group": ["one"] * len(FRAME)}, "all rows are of one group"),
        ({"group": [1, 2]}, "groups: 2 for 360 rows"),
        ({"group": 3}, "groups: expected one for each row"),
        ({"group": np.array(3)}, "groups: expected one for each row"),
        ({"group": pd.DataFrame({"g": range(360)})}, "groups: .* got a table; give its column"),
        ({"group": pa.table({"g": range(360)})}, "groups: .* got a table; give its column"),
        ({"group": set(range(360))}, "groups: expected one for each row, got a set"),
        ({"group": {at: at for at in range(360)}}, "groups: expected one for each row, got a dict"),
        ({"group": LABELS.to_numpy()}, "each class is in one group only"),
        ({"group": LABELS}, "'y' is the column of labels"),
    ],
)
def test_mistakes_are_one_line(given: dict[str, Any], line: str) -> None:
    with pytest.raises((DataError, ParameterError), match=line):
        nf.fit(FRAME, "y", **given, **LEARNER)


def test_other_mistakes_are_one_line_too() -> None:
    with pytest.raises(DataError, match="these rows have none"):
        nf.fit(INPUTS.to_numpy(), LABELS, group="patient", **LEARNER)
    with pytest.raises(ParameterError, match="is the column of labels"):
        nf.fit(_long(), "y", annotator="who", group="y", **LEARNER)
    with pytest.raises(DataError, match="no column beside 'patient'"):
        nf.fit(FRAME[["patient", "y"]], "y", group="patient", **LEARNER)
    with pytest.raises(ParameterError, match="is the column of --annotator or --item"):
        nf.fit(_long(), "y", annotator="who", group="who", **LEARNER)
    moved = _long().assign(patient=np.arange(2 * len(FRAME)))
    with pytest.raises(DataError, match="some items are in several groups, by column 'patient'"):
        nf.fit(moved, "y", annotator="who", item="photo", group="patient", **LEARNER)
    groups = list(range(2 * len(FRAME)))
    with pytest.raises(DataError, match=r"some items are in several groups$"):
        nf.fit(_long(), "y", annotator="who", item="photo", group=groups, **LEARNER)


def test_a_column_that_is_handed_over_is_named_and_no_feature() -> None:
    named, handed = (
        nf.fit(FRAME, "y", group=group, test=(FRAME, LABELS), **LEARNER)
        for group in ("patient", PATIENTS.reset_index(drop=True))
    )
    assert handed.notes == named.notes
    assert handed.test == named.test
    np.testing.assert_array_equal(handed.learned.probabilities, named.learned.probabilities)
    other = nf.fit(FRAME, "y", group=PATIENTS.str.upper(), **LEARNER)  # no column of the table
    assert "rows of the same group are held out together: 60 groups" in other.notes


def test_the_classifier_says_what_fit_says_of_groups() -> None:
    X, lone = INPUTS.to_numpy(), LABELS.mask(PATIENTS == "p3", "odd").to_numpy(str)
    with pytest.warns(DataWarning, match="classes in one group only.*: odd"):
        RobustClassifier(learner="linear", minutes=0).fit(X, lone, groups=PATIENTS)
    with pytest.raises(DataError, match="each class is in one group only"):
        RobustClassifier(learner="linear").fit(X, LABELS, groups=LABELS)


def test_a_class_of_one_group_is_named_in_a_warning() -> None:
    labels = LABELS.where(PATIENTS != "p3", "rare")
    with pytest.warns(DataWarning, match="classes in one group only.*rare"):
        nf.fit(INPUTS, labels, group=PATIENTS, **LEARNER)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    FRAME.to_csv(tmp_path / "photos.csv", index=False)
    out = tmp_path / "out"
    base = ["fit", str(tmp_path / "photos.csv"), "--label", "y", "--learner", "neighbours"]
    assert main([*base, "--group", "patient", "--out", str(out), "--quiet"]) == 0
    summary = json.loads((out / "summary.json").read_text())
    assert summary["accuracy"]["noisy"]["value"] < 0.9
    assert main([*base, "--group", "nobody", "--out", str(out), "--force"]) == 2
    assert "no column 'nobody'" in capsys.readouterr().err


def test_the_classifier_takes_groups_as_scikit_learn_does() -> None:
    X = INPUTS.to_numpy()
    plain = RobustClassifier(learner="neighbours").fit(X, LABELS)
    grouped = RobustClassifier(learner="neighbours").fit(X, LABELS, groups=PATIENTS)
    assert plain.learned_ is not None
    assert grouped.learned_ is not None
    codes = grouped.learned_.labels
    assert (plain.learned_.probabilities.argmax(1) == codes).mean() > 0.97
    assert (grouped.learned_.probabilities.argmax(1) == codes).mean() < 0.9
    weights = np.arange(len(X)) % 4 > 0
    RobustClassifier(learner="neighbours").fit(X, LABELS, sample_weight=weights, groups=PATIENTS)
    with pytest.raises(DataError, match="groups: 3 for 360 rows"):
        RobustClassifier().fit(X, LABELS, groups=[1, 2, 3])
