"""fit: from noisy labels to a model, the rows that are wrong, and honest numbers."""

import json
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from noisy_tables import QUICK, blobs
from PIL import Image
from scipy import sparse

from noiseproof.errors import DataError, DataWarning, ParameterError
from noiseproof.files import write_manifest
from noiseproof.fitting.evaluate import estimated, gain_on_true
from noiseproof.fitting.fit import fit
from noiseproof.fitting.model import load
from noiseproof.fitting.predict import predict_file
from noiseproof.fitting.summary import against_cross_entropy, lines
from noiseproof.learn.decide import may_mislead
from noiseproof.learn.learn import CHECKED
from noiseproof.learn.why import SAME, points
from noiseproof.noise import TransitionMatrix, estimate, symmetric
from noiseproof.prepare.read import read

FRAME, TRUE, WRONG = blobs()
TEST, TEST_TRUE, _ = blobs(90, rate=0, seed=5)


@pytest.fixture(scope="module")
def fitted():
    return fit(FRAME, "kind", **QUICK, test=(TEST.drop(columns="kind"), TEST_TRUE), seed=3)


def test_predictions_are_right_where_labels_were_wrong(fitted):
    predicted = fitted.predict(FRAME.drop(columns="kind"))
    assert predicted.dtype.kind == "U"
    assert (predicted == TRUE).mean() > 0.95
    probabilities = fitted.predict_proba(TEST)
    assert probabilities.shape == (90, 3)
    assert probabilities.sum(axis=1) == pytest.approx(1, abs=1e-4)
    assert fitted.classes.tolist() == ["cat", "dog", "eel"]


def test_suspect_rows_are_the_wrong_ones(fitted):
    found = fitted.suspects
    assert list(found.columns) == ["row", "given_label", "proposed_label", "confidence"]
    truth = np.flatnonzero(WRONG)
    assert len(set(found["row"]) & set(truth)) > 0.85 * len(truth)
    assert len(set(found["row"]) - set(truth)) < 0.1 * len(found)
    assert (found["given_label"] == FRAME["kind"].to_numpy()[found["row"]]).all()
    right = found["proposed_label"].to_numpy() == TRUE[found["row"]]
    assert right.mean() > 0.85
    assert found["confidence"].is_monotonic_decreasing


def test_numbers_are_called_what_they_are(fitted):
    assert fitted.noisy.value == pytest.approx(1 - WRONG.mean(), abs=0.05)
    assert fitted.true.low <= 0.97 <= fitted.true.high + 0.03
    assert fitted.test.accuracy.value > 0.95
    assert (fitted.test.rows, fitted.test.seen, fitted.test.warnings) == (90, 0, ())
    assert 0.1 < fitted.estimate.rate < 0.3
    summary = json.loads(json.dumps(fitted.summary))
    assert summary["data"]["rows"] == 240
    assert summary["accuracy"]["noisy"]["value"] == fitted.noisy.value
    assert "hard rows" in summary["accuracy"]["true_estimated"]["method"]
    assert summary["choice"]["chosen"] == fitted.recipe
    assert sum(member["weight"] for member in summary["choice"]["members"]) == pytest.approx(1)
    assert np.shape(summary["noise"]["matrix"]) == (3, 3)


def test_the_same_seed_gives_the_same_model():
    one, two = (fit(FRAME[:90], "kind", seed=3).predict_proba(TEST) for _ in range(2))
    assert (one == two).all()


def test_a_saved_model_predicts_the_same_in_another_process(fitted, tmp_path):
    folder = fitted.save(tmp_path / "out")
    assert sorted(p.name for p in folder.iterdir()) == [
        "manifest.json", "model", "report.html", "summary.json", "suspect_rows.csv",
    ]  # fmt: skip
    assert pd.read_csv(folder / "suspect_rows.csv").shape == fitted.suspects.shape
    for file in folder.rglob("*.npz"):
        for array in np.load(file, allow_pickle=False).values():
            assert array.dtype.kind in "fi"
    TEST.to_csv(tmp_path / "test.csv", index=False)
    code = (
        "import sys; from noiseproof import load; "
        "from noiseproof.fitting.predict import predict_file; "
        "predict_file(load(sys.argv[1]), *sys.argv[2:])"
    )
    files = [str(tmp_path / name) for name in ("test.csv", "out.csv")]
    subprocess.run([sys.executable, "-c", code, str(folder), *files], check=True)
    table = pd.read_csv(tmp_path / "out.csv")
    assert list(table.columns) == ["row", "prediction", "p(cat)", "p(dog)", "p(eel)"]
    assert table.iloc[:, 2:].to_numpy() == pytest.approx(fitted.predict_proba(TEST), abs=1e-5)


def test_nothing_is_overwritten(fitted, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("all of it")
    for force, message in ((False, "mine exists"), (True, "noiseproof did not write.*thesis.txt")):
        with pytest.raises(ParameterError, match=message):
            fitted.save(mine, force=force)
    assert (mine / "thesis.txt").read_text() == "all of it"
    fitted.save(tmp_path / "out")
    with pytest.raises(ParameterError, match="nothing is overwritten without --force"):
        fitted.save(tmp_path / "out")
    (tmp_path / "out" / "report.html").write_text("with my notes")
    with pytest.raises(ParameterError, match=r"changed since: report.html"):
        fitted.save(tmp_path / "out", force=True)
    (tmp_path / "out" / "report.html").unlink()
    fitted.save(tmp_path / "out", force=True)
    assert (tmp_path / "out" / "report.html").exists()
    with pytest.raises(ParameterError, match="no directory"):
        fitted.save(tmp_path / "not" / "there")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine", "out"]


def test_a_write_that_fails_leaves_nothing(fitted, tmp_path, monkeypatch):
    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(fitted.model), "save", fail)
    with pytest.raises(KeyboardInterrupt):
        fitted.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


MODEL_FILES = ["recipe.json", "features.json", "features.npz", "ensemble/members.json",
               "ensemble/member0/arrays.npz"]  # fmt: skip


@pytest.mark.parametrize("damage", MODEL_FILES)
def test_a_damaged_model_is_one_line(fitted, tmp_path, damage):
    folder = fitted.save(tmp_path / "out")
    whole = (folder / "model" / damage).read_bytes()
    (folder / "model" / damage).write_bytes(whole + b" ")
    with pytest.raises(DataError, match=rf"model/{damage} has changed since the fit; fit again"):
        load(folder)
    (folder / "model" / damage).write_bytes(b"{")
    write_manifest(folder)  # somebody made it look as if the fit had written it
    with pytest.raises(DataError, match="the model is damaged"):
        load(folder)
    (folder / "model" / damage).unlink()
    with pytest.raises(DataError, match=r"no model of noiseproof.s|damaged"):
        load(folder)


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("recipe.json", lambda recipe: recipe["classes"]["names"].pop()),
        ("features.json", lambda features: features["columns"].pop()),
        ("ensemble/members.json", lambda content: content["members"].clear()),
        ("ensemble/members.json", lambda content: content["members"][0].update(settings="x")),
        ("ensemble/members.json", lambda content: content["members"][0].update(weight=-1)),
        ("ensemble/members.json", lambda content: content.update(sharpness=float("nan"))),
        (MODEL_FILES[-1], lambda arrays: arrays.update(bias=arrays["bias"][1:])),
        (MODEL_FILES[-1], lambda arrays: arrays.update(mean=arrays["mean"][1:])),
        (MODEL_FILES[-1], lambda arrays: arrays.update(bias=arrays["bias"] * np.nan)),
        (MODEL_FILES[-1], lambda arrays: arrays.pop("weight")),
    ],
)
def test_files_of_different_models_are_told(fitted, tmp_path, file, change):
    path = fitted.save(tmp_path / "out") / "model" / file
    if path.suffix == ".npz":
        arrays = dict(np.load(path))
        change(arrays)
        np.savez(path, **arrays)
    else:
        content = json.loads(path.read_text())
        change(content)
        path.write_text(json.dumps(content))
    write_manifest(tmp_path / "out")
    with pytest.raises(DataError, match=r"not of one model|the model is damaged"):
        load(tmp_path / "out")


def test_arrays_that_unpack_to_any_size_are_not_unpacked(fitted, tmp_path):
    folder = fitted.save(tmp_path / "out")
    np.savez_compressed(folder / "model" / MODEL_FILES[-1], weight=np.zeros(10**6))
    write_manifest(folder)
    with pytest.raises(DataError, match="the model is damaged"):
        load(folder)


def test_what_does_not_fit_is_noted():
    frame = FRAME[:90].assign(age=FRAME["age"].astype(object))
    frame.loc[0, "age"] = "old"
    test = TEST.drop(columns="speed").assign(extra=1), TEST_TRUE
    with pytest.warns(DataWarning, match="columns not there, taken as empty: speed"):
        found = fit(frame, "kind", test=test, **QUICK)
    assert found.notes == (
        "age: 1 of 90 values cannot be read as numbers (old)",
        "the table (test): columns not there, taken as empty: speed",
        "the table (test): columns the model does not use: kind, extra",
    )
    gaps = FRAME[:90].drop(columns="kind").to_numpy(copy=True)
    gaps[0] = np.nan
    found = fit(gaps, FRAME["kind"][:90], **QUICK)
    assert found.notes == ("missing values, taken as the column's mean: 4",)


def test_one_text_and_one_loss_need_no_list(monkeypatch):
    def seen(*_, losses, **__):
        raise ZeroDivisionError(losses)

    monkeypatch.setattr("noiseproof.fitting.fit.learn", seen)
    frame = FRAME.assign(review=["good", "bad film"] * 120)
    with pytest.raises(ZeroDivisionError) as error:
        fit(frame, "kind", text="review", losses="CE")
    assert error.value.args == (["CE"],)


def test_rows_without_a_label_are_set_aside():
    frame = FRAME[:90].copy()
    frame.loc[:9, "kind"] = None
    found = fit(frame, "kind", **QUICK)
    assert (found.checked.rows, found.checked.unlabelled) == (80, 10)
    assert found.suspects["row"].min() >= 10


def test_classes_keep_their_type():
    X, codes = FRAME[:90].drop(columns="kind").to_numpy(), np.arange(90) % 3
    for labels, dtype in (
        (codes + 7, np.int64),
        (codes.astype(np.uint8), np.uint8),
        (codes.astype(float), float),
        (pd.Series(codes + 7, dtype="category"), np.int64),
        (codes == 0, bool),
        (np.array(["2020-01-01", "2020-01-02", "2020-01-03"], "datetime64[s]")[codes], "M8[s]"),
    ):
        found = fit(X, labels, **QUICK)
        assert found.predict(X[:4]).dtype == dtype
        assert set(found.predict(X)) == set(labels)


def test_a_saved_model_knows_the_type_of_its_classes(tmp_path):
    X, labels = FRAME[:90].drop(columns="kind").to_numpy(), (np.arange(90) % 3).astype(np.uint8)
    folder = fit(X, labels, **QUICK).save(tmp_path / "out")
    assert load(folder).classes.dtype == np.uint8


def test_test_rows_that_were_trained_on_are_counted_and_said(tmp_path):
    train, test = FRAME[:90], pd.concat([FRAME[80:90], TEST[:20]])
    found = fit(train, "kind", test=(test.drop(columns="kind"), test["kind"]), **QUICK)
    line = "10 of 30 test rows also occur among the training rows"
    assert (found.test.seen, found.test.rows) == (10, 30)
    assert found.test.warnings[0].startswith(line)
    assert line in found.report
    assert found.summary["accuracy"]["test_rows_seen_in_training"] == 10
    words = sparse.csr_matrix(train.drop(columns="kind").clip(lower=0))
    found = fit(words, train["kind"], test=(words[:7], train["kind"][:7]), **QUICK)
    assert found.test.seen == 7


def test_text_images_embeddings_and_sparse_matrices(tmp_path):
    numbers = np.random.default_rng(1)
    words = {"good": ["fine", "great", "lovely"], "bad": ["awful", "dull", "poor"]}
    texts = [
        " ".join([*numbers.choice(words[k], 2), *numbers.choice(["a", "the", "film", "plot"], 5)])
        for k in ["good", "bad"] * 40
    ]
    frame = pd.DataFrame({"review": texts, "y": ["good", "bad"] * 40})
    found = fit(frame, "y", **QUICK)
    assert found.predict(pd.DataFrame({"review": ["a great and lovely film"]})).tolist() == ["good"]

    frame.to_csv(tmp_path / "t.csv", index=False)
    np.save(tmp_path / "e.npy", np.eye(2)[np.arange(80) % 2] + numbers.normal(0, 0.01, (80, 2)))
    found = fit(tmp_path / "t.csv", "y", embeddings=tmp_path / "e.npy", **QUICK)
    assert found.predict(np.eye(2)).tolist() == ["good", "bad"]

    X = sparse.random(80, 6, density=0.3, random_state=0, format="csr")
    found = fit(X, np.asarray(X[:, 0].todense() > 0).ravel(), **QUICK)
    assert found.predict(X).shape == (80,)


def test_decimal_commas_are_read_at_fit_and_predict(tmp_path):
    FRAME[:90].to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=",")
    found = fit(tmp_path / "t.csv", "kind", **QUICK)
    note = "numbers read with decimal commas (and points between thousands): "
    note += "length, weight, age, speed"
    assert found.notes == (note,)
    assert found.predict_proba(FRAME[:90]) == pytest.approx(
        fit(FRAME[:90], "kind", **QUICK).predict_proba(FRAME[:90]), abs=1e-4
    )
    text = "length;weight;age;speed\n4,5;0,1;?;1\n"  # one in two is none, and still a number
    new, out = tmp_path / "new.csv", tmp_path / "predictions.csv"
    new.write_text(text)
    assert predict_file(found.model, new, out).notes[0] == note
    new.write_text("length;weight;age;speed\n4,5;0;?;1\n4;0;-1,5;1\n")
    assert predict_file(found.model, new, out).notes[0] == note
    assert pd.read_csv(out)["prediction"].tolist() == ["cat", "cat"]
    found.save(tmp_path / "out")
    model = load(tmp_path / "out")
    predicted = []
    for row in ("4000,0;0;0;0", "4.000;0;0;0"):  # the point is that of thousands in both
        new.write_text(f"length;weight;age;speed\n{row}\n")
        predict_file(model, new, out)
        predicted.append(out.read_bytes())
    assert predicted[0] == predicted[1]


def test_a_folder_of_images(tmp_path):
    numbers = np.random.default_rng(1)
    for name, level in (("dark", 60), ("light", 180)):
        (tmp_path / "train" / name).mkdir(parents=True)
        for i in range(12):
            pixels = numbers.normal(level, 20, (8, 8)).clip(0, 255).astype(np.uint8)
            Image.fromarray(pixels).save(tmp_path / "train" / name / f"{i}.png")
    (tmp_path / "train" / "light" / "12.png").write_bytes(
        (tmp_path / "train" / "dark" / "0.png").read_bytes()
    )
    found = fit(tmp_path / "train", **QUICK)
    assert found.checked.conflicting == 2
    assert found.suspects["row"][0] in ("light/12.png", "dark/0.png")
    assert found.predict(read(tmp_path / "train").inputs[:3]).tolist() == ["dark"] * 3


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (FRAME, "knd", {}, "no column 'knd'; did you mean 'kind'"),
        (FRAME, "age", {}, "is a quantity, not a class"),
        (FRAME.assign(kind="cat"), "kind", {}, "one class only, 'cat'"),
        (FRAME, "kind", {"text": ["age"]}, "'age' is of type float64, not text"),
        (FRAME[["kind"]].assign(a=np.nan), "kind", {}, "no column to learn from"),
        (np.full((240, 2), np.nan), FRAME["kind"], {}, "every value is missing"),
        (FRAME, "kind", {"test": (TEST, ["cow"] * 90)}, "label 'cow' is no class"),
        (FRAME, "kind", {"test": (TEST, [None] * 90)}, "the table .test.: every label is missing"),
        (np.eye(4), list("aabb"), {"embeddings": "e.npy"}, "beside a path alone"),
        ([[1, 2], [1]], list("ab"), {}, "X: row 0 has 2 values, row 1 has 1; expected as many in"),
        (np.eye(4) * 1e200, list("aabb"), {}, "X: 1e.200 in row 0, column 0 is beyond what float"),
        (np.ones((4, 2)), list("aabb"), {}, "every row is the same"),
        (np.eye(4) * 1j, list("aabb"), {}, "expected numbers .* got complex128"),
        (np.eye(4), [1j, 1j, 2, 2], {}, "labels are complex numbers, not classes"),
        (sparse.eye(4) * np.nan, list("aabb"), {}, "X: 4 values are missing or infinite"),
        (FRAME[["kind"]].assign(z=np.arange(240) * 1j), "kind", {}, "of complex numbers: z"),
        ("a", "y", {"embeddings": "e", "test": (TEST, "k"), "test_embeddings": "e"}, "is a path"),
        (FRAME, "kind", {"text": "agee"}, "no column 'agee'; did you mean 'age'"),
        (FRAME, "kind", {"losses": []}, "losses: expected at least one"),
        (FRAME, "kind", {"search": -1}, "search: expected 0 or more further settings, got -1"),
    ],
)
def test_what_cannot_be_fitted_is_one_line(X, y, options, message):
    with pytest.raises((DataError, ParameterError), match=message) as error:
        fit(X, y, **options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("rate", [0.2, 0.5])
def test_accuracy_on_true_labels_is_estimated_without_them(rate):
    numbers = np.random.default_rng(0)
    true = numbers.integers(4, size=20_000)
    scores = numbers.normal(size=(20_000, 4)) + 3 * np.eye(4)[true]
    p = np.exp(3 * scores) / np.exp(3 * scores).sum(axis=1, keepdims=True)
    noise = symmetric(4, rate)
    noisy = noise.corrupt(true, seed=1).labels
    predicted = p.argmax(axis=1)
    worse = np.where(numbers.random(20_000) < 0.1, (predicted + 1) % 4, predicted)
    for made in (predicted, worse):
        found, right = estimated(made, noisy, estimate(noisy, p)), (made == true).mean()
        assert found.value == pytest.approx(right, abs=0.3 * rate**2 + 0.02)
        assert found.low < right < found.high
    gain = float((predicted == noisy).mean() - (worse == noisy).mean())
    assert gain_on_true(gain, noise, np.ones(4)) == pytest.approx(
        (predicted == true).mean() - (worse == true).mean(), abs=0.01
    )


def test_a_gain_is_left_alone_where_labels_say_nothing():
    assert gain_on_true(0.1, TransitionMatrix([[0.5, 0.5], [0.5, 0.5]]), [0.5, 0.5]) == 0.1


def test_a_class_that_is_never_predicted_is_said():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    labels = np.where(X[:, 0] > 0, "up", "down")
    labels[:12] = "lost"  # at random: nothing tells it from the others
    found = fit(X, labels, **QUICK)
    assert found.never_predicted == ("lost",)
    assert found.recalls["lost"] == 0
    assert found.balanced_accuracy == pytest.approx(np.mean(list(found.recalls.values())))
    assert any(line == "never predicted: lost" for _, line in lines(found))
    assert "Never predicted: lost." in found.report


@pytest.mark.parametrize("least", [0.5, 1.1, 3.0])
def test_noisy_labels_that_may_mislead_say_nothing_of_true_ones(least):
    found = SimpleNamespace(
        compared=True, is_cross_entropy=False, test=None, gain=-0.1, true_gain=-0.14,
        learned=SimpleNamespace(compared_by="held-out noisy labels"),
        crowd=None,
        estimate=SimpleNamespace(decisive=True),
        misled=may_mislead(SimpleNamespace(clean_level_interval=(least, 4.0))),
    )  # fmt: skip
    line = against_cross_entropy(found)
    assert line.startswith("10.0 points worse than cross entropy on held-out noisy labels")
    assert (", about 14.0 points on true ones" in line) == (least > 1.2)
    assert ("may mislead" in line) == (least <= 1.2)
    found.estimate.decisive = False  # the rate that a gain is scaled by cannot be told either
    assert "on true ones" not in against_cross_entropy(found)
    found.gain = -0.0004
    assert against_cross_entropy(found) == "as good as cross entropy on held-out noisy labels"


def test_where_noise_looks_like_difficulty_no_label_is_called_probably_wrong():
    """A chessboard, no label wrong: a quarter of the labels is not predicted."""
    X = np.random.default_rng(1).random((600, 2))
    found = fit(X, (8 * X).astype(int).sum(axis=1) % 2, learners=["neighbours"])
    assert not found.estimate.decisive
    assert (found.suspects["confidence"] >= 0.5).any()
    assert found.probably_wrong == 0
    assert "probably labelled wrong" not in " ".join(line for _, line in lines(found))
    assert "a perfect model misses the wrong ones." in found.report  # no rate beside it


def test_where_nothing_is_learnt_no_label_is_probably_wrong():
    """Parity of four signs, no label wrong: what a fit cannot tell, it does not claim."""
    holds = []
    for rows, seed in ((24, 3), (30, 0), (40, 1), (80, 1)):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rows, 4))
        found = fit(X, (np.sign(X).prod(axis=1) > 0).astype(int))
        assert not found.estimate.decisive
        assert found.estimate.rate_interval[0] == 0
        assert found.probably_wrong == 0
        told = {line.split(":")[0]: line for _, line in lines(found)}
        true = found.true
        assert told["accuracy on true labels, estimated"].endswith(
            f": {true.low:.0%} to {true.high:.0%}"
        )
        holds.append(true.low <= 0.5 <= true.high)
    assert sum(holds) >= 3  # of 95 % intervals


def test_intervals_of_few_rows_are_wider(monkeypatch):
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1], size=120)
    labels = (rng.random(120) < p[:, 1]).astype(int)
    for rows in (60, 120):
        given = p[:rows].argmax(axis=1), labels[:rows], estimate(labels[:rows], p[:rows])
        wide = estimated(*given)
        with monkeypatch.context() as patch:
            patch.setattr("noiseproof.fitting.evaluate.WIDER", 0.0)
            bare = estimated(*given)
        more = 0.2 * (bare.high - bare.low) if rows < 100 else 0
        assert wide.value == bare.value
        assert (wide.low, wide.high) == pytest.approx(
            (max(0, bare.low - more), min(1, bare.high + more))
        )


@pytest.mark.parametrize("compared", [160, 100])
def test_the_gain_is_the_one_of_the_reason(compared, monkeypatch):
    monkeypatch.setattr("noiseproof.learn.grow.SAMPLE", 0)
    monkeypatch.setattr("noiseproof.learn.grow.LEAST", compared)
    monkeypatch.setattr("noiseproof.learn.learn.more_rows_help", lambda *_: True)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 6))
    labels = (X[:, 0] + X[:, 1] ** 2 > 0.7).astype(int)
    labels[rng.random(160) < 0.25] ^= 1
    found = fit(X, labels, learners=["neighbours", "linear"])
    assert not found.is_cross_entropy
    told = "is level with" if abs(found.gain) < SAME else points(found.gain)
    assert told in found.learned.why


@pytest.mark.parametrize("trusted", [False, True])
@pytest.mark.parametrize(("compared", "helps"), [(120, False), (120, True), (240, False)])
def test_cross_entropy_is_measured_on_the_same_labels(monkeypatch, compared, helps, trusted):
    """Of many rows some are not compared on, and checked rows weigh more where models compete."""
    for name in ("SAMPLE", "MOST", "LEAST"):
        monkeypatch.setattr(f"noiseproof.learn.grow.{name}", compared)
    monkeypatch.setattr("noiseproof.learn.learn.more_rows_help", lambda *_: helps)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3))
    true = (X[:, 0] > 0).astype(int)
    labels = np.where(rng.random(240) < 0.25, 1 - true, true)
    checked = (np.arange(0, 240, 3), true[::3]) if trusted else None
    found = fit(X, labels, learners=["discriminant", "linear"], trusted=checked)
    learned = found.learned
    assert found.cross_entropy.value == (learned.plainly == labels).mean()
    # The baseline saw most of these rows: what it predicts for them held out differs for few.
    alike = learned.plainly == learned.baseline.probabilities(X.astype(np.float32)).argmax(1)
    assert alike.mean() > 0.95


@pytest.mark.parametrize("compared", [120, 300])
def test_a_gain_on_checked_labels_is_worth_what_it_is(monkeypatch, compared):
    for name in ("SAMPLE", "MOST", "LEAST"):
        monkeypatch.setattr(f"noiseproof.learn.grow.{name}", compared)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    true = (X.prod(axis=1) > 0).astype(int)  # nothing for a linear model
    labels = np.where(rng.random(300) < 0.4, 1 - true, true)
    found = fit(X, labels, learners=["discriminant", "linear"], trusted=(range(200), true[:200]))
    right = [(p == true)[200:].mean() for p in (found.predict(X), found.learned.plainly)]
    assert found.true_gain == pytest.approx(right[0] - right[1], abs=0.15)
    assert found.learned.checked_share > 0.6
    line = against_cross_entropy(found)
    assert f"on {CHECKED}, about {100 * found.true_gain:.1f} points" in line
    assert f"share predicted of {CHECKED}" in found.report


@pytest.mark.parametrize("learners", [["neighbours"], ["discriminant"], ["bayes"]])
def test_only_what_was_trained_by_cross_entropy_is_called_so(learners):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4)) - [9, 0, 0, 0]
    labels = (X[:, 1] > 0).astype(int)
    labels[rng.random(120) < 0.2] ^= 1
    found = fit(X, labels, learners=learners, test=(X + 0.01, labels))
    tried = learners == ["bayes"]
    texts = [found.learned.why, *(line for _, line in lines(found))]
    texts = [text for text in texts if "no learner with cross entropy" not in text]
    told = found.summary["accuracy"]
    assert found.compared == tried == ("cross entropy" in " ".join(texts))
    assert tried == (told["noisy_cross_entropy"] is not None)
    assert tried == (told["test_cross_entropy"] is not None)
    assert ('<td class="wrap">not tried</td>' in found.report) != tried
    assert tried or "Plain cross entropy" not in found.report


@pytest.mark.parametrize("side", [8, 32])
def test_greys_written_as_colours_are_the_same_pictures(side):
    pictures = np.random.default_rng(0).integers(0, 99, (24, side, side)).astype(np.uint8)
    labels = np.arange(24) % 2
    pictures[labels == 1, : side // 2] += 100
    grey, colour = (fit(X, labels, **QUICK) for X in (pictures, np.stack([pictures] * 3, axis=3)))
    assert grey.notes == colour.notes
    assert (grey.learned.probabilities == colour.learned.probabilities).all()
    pixels = np.stack([pictures] * 3, axis=1)
    assert (grey.predict_proba(pixels) == colour.predict_proba(pictures)).all()


def test_labels_that_are_left_in_the_table_are_not_learnt_from_in_silence():
    inputs = FRAME.drop(columns="kind")
    expected = fit(inputs, FRAME["kind"], **QUICK)
    found = fit(FRAME, FRAME["kind"], **QUICK)
    assert "left out, labels once more: kind" in found.notes
    np.testing.assert_array_equal(found.predict_proba(FRAME), expected.predict_proba(inputs))
    corrected = FRAME["kind"].copy()
    corrected[0] = next(kind for kind in corrected if kind != corrected[0])
    with pytest.warns(DataWarning, match="kind has the name of the labels"):
        fit(FRAME, corrected, **QUICK)
    tested = fit(inputs, FRAME["kind"], test=(FRAME, corrected), strict=True, **QUICK)
    assert tested.test.rows == len(FRAME)
