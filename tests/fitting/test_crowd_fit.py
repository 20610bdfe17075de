"""Fitting to the answers of a crowd, in Python and as a command."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from driven_browser import Browser
from noisy_tables import QUICK, blobs

import noiseproof as nf
from noiseproof.cli import main
from noiseproof.errors import DataError, ParameterError

NAMES = ("<b>ann</b>", "bob & co", "=cmd()", "random")
FRAME, TRUE, _ = blobs(150, rate=0, classes=("cat", "dog", "<i>eel"))


def answered(seed=0):
    """Return a long table: two of four annotators about each row, one of them at random."""
    rng = np.random.default_rng(seed)
    kinds = np.array(["cat", "dog", "<i>eel"])
    rows = []
    for i, true in enumerate(TRUE):
        for w in rng.choice(4, 2, replace=False):
            right = rng.random() < (1 / 3 if w == 3 else 0.8)
            said = true if right else rng.choice(kinds[kinds != true])
            rows.append({"item": i, "annotator": NAMES[w], "label": said})
    return pd.DataFrame(rows)


ANSWERS = answered()
X = FRAME.drop(columns="kind")
LONG = X.iloc[ANSWERS["item"]].reset_index(drop=True).assign(
    who=ANSWERS["annotator"], said=ANSWERS["label"], id=ANSWERS["item"]
)  # fmt: skip


@pytest.fixture(scope="module")
def fitted():
    return nf.fit(X, answers=ANSWERS, **QUICK)


def test_the_model_predicts_true_labels_and_knows_the_annotators(fitted):
    assert (fitted.predict(X) == TRUE).mean() > 0.95
    assert (fitted.crowd.soft.argmax(1) == np.searchsorted(fitted.classes, TRUE)).mean() > 0.95
    table = fitted.annotators.set_index("annotator")
    assert table["answers"].sum() == len(ANSWERS)
    assert table.loc["random", "answers_given"] == "at random"
    assert (table.loc[list(NAMES[:3]), "answers_given"] == "").all()
    assert (table["low"] <= table["accuracy"]).all()
    assert list(fitted.ask_again.columns) == [
        "row", "label", "confidence", "answers", "gain", "more_answers",
    ]  # fmt: skip


def test_every_form_of_the_answers_gives_the_same_labels(fitted):
    wide = ANSWERS.pivot(index="item", columns="annotator", values="label")
    forms = [
        nf.fit(X, answers=wide.reset_index(drop=True), **QUICK),
        nf.fit(X.join(wide), answers=list(NAMES), **QUICK),
        nf.fit(LONG.drop(columns="id"), "said", annotator="who", **QUICK),
    ]
    for other in forms:
        assert np.allclose(other.crowd.soft, fitted.crowd.soft, atol=1e-3)
        assert set(other.model.features.names) == set(fitted.model.features.names)


def test_one_annotator_is_a_plain_fit():
    one = nf.fit(X, answers=pd.DataFrame({"only": FRAME["kind"]}), **QUICK)
    plain = nf.fit(X, FRAME["kind"], **QUICK)
    assert one.crowd is None
    assert one.notes[0] == "all answers are from one annotator, only: taken as plain labels"
    assert np.array_equal(one.predict_proba(X), plain.predict_proba(X))


def test_a_class_that_no_row_gets_is_no_nan():
    odd = pd.concat(
        [ANSWERS, pd.DataFrame([[0, "new", "elk"], [1, "new", "elk"]], columns=list(ANSWERS))]
    )
    found = nf.fit(X, answers=odd, **QUICK)
    assert list(found.classes) == ["<i>eel", "cat", "dog", "elk"]
    assert "elk" not in found.recalls
    assert "NaN" not in json.dumps(found.summary)
    assert "nan%" not in found.report


def test_hostile_names_are_text_on_the_page_and_in_files(fitted, tmp_path):
    fitted.save(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<b>ann" not in page
    assert "<i>eel" not in page
    assert "&lt;b&gt;ann&lt;/b&gt;" in page
    assert "bob &amp; co" in page
    assert "at random" in page
    table = (tmp_path / "out" / "annotators.csv").read_text()
    assert "'=cmd()" in table
    assert (tmp_path / "out" / "ask_again.csv").exists()
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert {one["name"] for one in summary["crowd"]["annotators"]} == set(NAMES)
    with Browser(tmp_path / "browser") as browser:
        browser.open(tmp_path / "out" / "report.html")
        browser.screenshot(tmp_path / "phone.png", width=360, height=800)
        assert browser.run("document.documentElement.scrollWidth") == 360  # tables scroll alone


def test_fit_and_predict_as_commands(tmp_path, capsys):
    LONG.to_csv(tmp_path / "long.csv", index=False)
    X.to_csv(tmp_path / "new.csv", index=False)
    FRAME.rename(columns={"kind": "said"}).assign(said=TRUE).to_csv(
        tmp_path / "test.csv", index=False
    )
    out = str(tmp_path / "out")
    command = ["fit", str(tmp_path / "long.csv"), "--label", "said", "--annotator", "who"]
    command += ["--item", "id", "--test", str(tmp_path / "test.csv"), "--out", out]
    assert main([*command, "--learner", "linear"]) == 0
    text = capsys.readouterr().out
    assert "300 answers of 4 annotators, 2.0 an item" in text
    assert "random (at random)" in text
    assert "annotators.csv, ask_again.csv" in text
    assert main(["predict", out, str(tmp_path / "new.csv"), "--out", str(tmp_path / "p.csv")]) == 0
    found = pd.read_csv(tmp_path / "p.csv")
    assert (found["prediction"] == TRUE).mean() > 0.95


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--label", "said", "--item", "id"], "--item: expected --annotator beside it"),
        (["--label", "said", "--annotator", "wo"], "no column 'wo'"),
        (["--annotator", "who"], "the column of answers"),
        (["--annotator", "who", "--answers", "w*"], "--answers: not beside --annotator"),
        (["--label", "said", "--annotator", "said"], "'said' is the column of answers, --label"),
        (["--label", "said", "--annotator", "who", "--item", "who"], "--item: 'who' is the column"),
        (["--answers", "zz*"], "no column 'zz*'"),
        (["--label", "said", "--aggregation", "glad"], "--aggregation: expected --annotator"),
        (["--label", "said", "--annotator", "who", "--aggregation", "gld"], "did you mean 'glad'"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(tmp_path, capsys, options, message):
    LONG.to_csv(tmp_path / "long.csv", index=False)
    code = main(["fit", str(tmp_path / "long.csv"), *options, "--out", str(tmp_path / "out")])
    err = capsys.readouterr().err
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("content", [b"", b"w1,w2\nn\xe4,b\n"], ids=["empty", "latin-1"])
def test_a_file_that_cannot_be_read_is_one_line(tmp_path, capsys, content):
    (tmp_path / "wide.csv").write_bytes(content)
    command = ["fit", str(tmp_path / "wide.csv"), "--answers", "w*"]
    assert main([*command, "--out", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_answers_of_nobody_are_one_line():
    with pytest.raises(DataError, match="expected a column for each annotator"):
        nf.fit(X, answers=pd.DataFrame(index=range(len(X))))


def test_an_item_that_was_checked_is_not_asked_about_again():
    rng = np.random.default_rng(0)
    said = np.where(rng.random(len(ANSWERS)) < 0.5, rng.permutation(ANSWERS["label"]), "dog")
    answers = ANSWERS.assign(label=said)
    rows = [int(row) for row in nf.fit(X, answers=answers, **QUICK).ask_again["row"][:5]]
    assert rows
    again = nf.fit(X, answers=answers, trusted=(rows, np.asarray(TRUE)[rows]), **QUICK)
    assert not set(rows) & set(again.ask_again["row"])


def test_checked_items_measure_the_agreed_labels():
    rows = np.arange(0, 150, 4)
    trusted = (rows.tolist(), np.asarray(TRUE)[rows])
    found = nf.fit(X, answers=ANSWERS, trusted=trusted, **QUICK)
    measured = found.summary["crowd"]["right_labels_measured"]
    codes = np.searchsorted(found.classes, TRUE)
    free = found.crowd.consensus.free.argmax(axis=1)
    assert measured["value"] == pytest.approx((free == codes)[rows].mean())
    assert (found.crowd.soft[rows].argmax(axis=1) == codes[rows]).all()
    assert "agreed labels that are right, measured on 38 checked" in "".join(found.crowd.lines)
    assert "measured.</p>" in found.report


def test_a_review_of_a_crowd_goes_back_into_the_fit(fitted, tmp_path):
    """The labels agreed on after a review may differ from those that were reviewed."""
    names, given = fitted.model.coding.names, fitted.learned.labels
    lines = ["row,given_label,decision,label,list,fingerprint"]
    for row in range(0, 150, 5):
        old, new = names[given[row]], TRUE[row]
        decision = "keep" if old == new else "other"
        lines.append(f"{row},{old},{decision},{new},random,{fitted.fingerprint}")
    path = tmp_path / "reviewed.csv"
    path.write_text("\n".join(lines))
    again = nf.fit(X, answers=ANSWERS, reviewed=path, **QUICK)
    assert len(again.reviewed.rows) == 30
    assert (again.learned.labels[::5] == given[::5]).all()
    assert again.crowd.measured.value >= 0.9
    path.write_text("\n".join(lines).replace(fitted.fingerprint, "table-0"))
    with pytest.raises(DataError, match="was made from other data"):
        nf.fit(X, answers=ANSWERS, reviewed=path, **QUICK)


def test_a_review_is_not_of_items_that_go_by_the_same_numbers(tmp_path):
    """Items may be named by the row of their first answer, and later answers move those."""
    table = LONG.drop(columns="id")
    path = tmp_path / "reviewed.csv"
    more = table.iloc[[6, 60]].assign(who="new")  # about items in the middle
    at = np.argsort([*range(len(table)), 6.5, 60.5])
    appended, between = (pd.concat([table, more], ignore_index=True), pd.concat([table, more]))
    between = between.iloc[at].reset_index(drop=True)
    fitted = nf.fit(table, "said", annotator="who", **QUICK)
    shared = [row for row in fitted.rows if row >= 100][:20:2]
    lines = ["row,given_label,decision,label,list,fingerprint"]
    lines += [f"{row},cat,keep,cat,random,{fitted.fingerprint}" for row in shared]
    path.write_text("\n".join(lines))
    again = nf.fit(appended, "said", annotator="who", reviewed=path, **QUICK)
    assert [again.rows[at] for at in again.reviewed.rows] == shared
    with pytest.raises(DataError, match="was made from other data"):
        nf.fit(between, "said", annotator="who", reviewed=path, **QUICK)


@pytest.mark.parametrize("skills", [[0.95] * 9 + [0.55] * 3, [0.85] * 6, [0.95] * 6, [0.7] * 5])
def test_a_perfect_model_misses_the_wrong_labels_and_no_more(skills):
    """What is called accuracy on held-out noisy labels is a share of labels, for a crowd too."""
    rng = np.random.default_rng(len(skills))
    true = np.arange(200) % 2
    features = 0.3 * rng.normal(size=(200, 3)) + 4 * true[:, None]
    rows = [
        (i, f"w{w}", z if rng.random() < skills[w] else 1 - z)
        for i, z in enumerate(true)
        for w in rng.choice(len(skills), 3, replace=False)
    ]
    answers = pd.DataFrame(rows, columns=["item", "annotator", "label"])
    found = nf.fit(features, answers=answers, **QUICK)
    assert (found.learned.predicted == true).all()
    labels = found.learned.labels
    assert found.noisy.value == found.cross_entropy.value == pytest.approx((labels == true).mean())
    for k, name in enumerate(found.model.coding.names):
        assert found.recalls[name] == pytest.approx((true == k)[labels == k].mean())
    assert found.gain == 0


def test_what_is_not_an_accuracy_is_not_called_one(fitted):
    choice = fitted.summary["choice"]
    assert "mean probability" in choice["compared_as"]
    assert choice["compared_as"] in fitted.report
    assert "This is accuracy on held-out" not in fitted.report
    assert not any("noisy_accuracy" in row for row in choice["comparison"])
    plain = nf.fit(X, FRAME["kind"], **QUICK).summary["choice"]
    assert plain["compared_as"] == "share predicted of held-out noisy labels"
    assert all("noisy_accuracy" in row for row in plain["comparison"])


@pytest.mark.parametrize("now", [0.9, 0.9949, 0.9951, 1.0])
def test_the_gain_of_more_answers_is_told_only_if_there_is_some(fitted, now):
    crowd = fitted.crowd
    right = tuple(min(1.0, now + 0.001 * n) for n in range(6))
    found = replace(fitted, crowd=replace(crowd, asking=replace(crowd.asking, right=right)))
    told = now < 0.995
    assert ("one more answer an item" in found.crowd.more_answers) == told
    assert ("more answers would hardly help" in found.crowd.more_answers) == (not told)
    assert "100.0%" not in found.crowd.more_answers
    assert ("for every item</td>" in found.report) == told


@pytest.mark.parametrize("rows", [60, 120])
def test_single_answers_are_not_believed_by_themselves(rows):
    first = ANSWERS.drop_duplicates("item")
    some = first[first["item"] < rows]
    found = nf.fit(X[:rows], answers=some, **QUICK)
    right = (some["label"].to_numpy() == TRUE[:rows][some["item"]]).mean()
    assert found.crowd is None if rows < 100 else abs(found.crowd.accuracy - right) < 0.15


def test_aggregation_by_crowd_kit():
    pytest.importorskip("crowdkit")
    found = nf.fit(X, answers=ANSWERS, aggregation="majority", **QUICK)
    assert (found.predict(X) == TRUE).mean() > 0.9
    with pytest.raises(ParameterError, match="no aggregation is called"):
        nf.fit(X, answers=ANSWERS, aggregation="votes")


def test_votes_of_rules_about_words_are_not_confirmed_by_a_model_of_the_words():
    words, classes = ("who", "where", "when"), ("person", "place", "time")
    numbers = np.random.default_rng(0)
    true = numbers.integers(3, size=240)
    texts = [f"{words[c]} is item{i % 40}" for i, c in enumerate(true)]
    fired = np.where(numbers.random(240) < 0.1, numbers.integers(3, size=240), true)
    votes = pd.DataFrame(
        {
            "item": range(240),
            "annotator": [f"rule {c}" for c in fired],
            "label": np.take(classes, fired),
        }
    )
    frame = pd.DataFrame({"text": texts})
    found = nf.fit(frame, answers=votes, text=["text"], encoder="tfidf", learners="linear")
    answers = found.crowd.answers
    assert answers.one_sided
    assert np.array_equal(found.crowd.soft, answers.start())
    embedded = nf.fit(np.eye(3)[true] + 0.1, answers=votes, learners="linear")
    assert not np.array_equal(embedded.crowd.soft, answers.start())
