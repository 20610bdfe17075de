"""predict: files of any length, to CSV or Parquet, with doubts said aloud."""

import gc
import json
import os
import signal
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest
from noisy_tables import blobs

from noiseproof.cli import main
from noiseproof.errors import DataError, DataWarning, ParameterError
from noiseproof.files.spreadsheet import unescape
from noiseproof.fitting.fit import fit
from noiseproof.fitting.model import Model, load
from noiseproof.fitting.predict import check_out, predict_file
from noiseproof.prepare.classes import Classes
from noiseproof.prepare.columns.column import Number
from noiseproof.prepare.features import learn_features
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.samples import Samples

#: So few that nothing is compared, which is quick.
FRAME, TRUE, _ = blobs(90)
ODD = ("=cmd|' /C calc'!A0", "-1", "+x", "@y", "'=z", "\tb", "a,b", 'a"b', "a\r\nb", "é ")


class Stub:
    """Predicts class 0, 1, 2, ... by a column of numbers, as a learner would."""

    def __init__(self, classes):
        self.classes = classes

    def probabilities(self, X):
        share = np.full((len(X), self.classes), 0.1 / self.classes, np.float32)
        share[np.arange(len(X)), (np.abs(X[:, 0]) * 1000).astype(int) % self.classes] += 0.9
        return share


def stub(names, frame, kind="text", label=""):
    features = learn_features(Samples("t", frame), (), 0, Notes())
    return Model(Classes(tuple(names), kind), features, Stub(len(names)), label)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a table and what fit made of it."""
    home = tmp_path_factory.mktemp("home")
    frame = FRAME.assign(day=pd.date_range("2020-01-01", periods=90).strftime("%Y-%m-%d"))
    frame.to_csv(home / "pets.csv", index=False)
    fit(home / "pets.csv", "kind").save(home / "pets-fit")
    return home


def run(capsys, *arguments):
    code = main([str(a) for a in arguments])
    return code, *capsys.readouterr()


def test_a_file_is_predicted_as_its_rows_are(home, tmp_path):
    model = load(home / "pets-fit")
    frame = pd.read_csv(home / "pets.csv")
    expected = model.predict_proba(frame.drop(columns="kind"))
    assert (model.predict_proba(home / "pets.csv") == expected).all()
    (tmp_path / "parts").mkdir()
    frame[:40].to_parquet(tmp_path / "parts" / "a.parquet")
    frame[40:].to_parquet(tmp_path / "parts" / "b.parquet")
    for path in (home / "pets.csv", tmp_path / "parts"):
        for out in ("out.csv", "out.parquet"):
            found = predict_file(model, path, tmp_path / out)
            table = (pd.read_parquet if "par" in out else pd.read_csv)(tmp_path / out)
            assert table["row"].tolist() == list(range(90))
            assert list(table.columns) == ["row", "prediction", "p(cat)", "p(dog)", "p(eel)"]
            assert table.filter(like="p(").to_numpy() == pytest.approx(expected, abs=2e-6)
            assert table["prediction"].value_counts().to_dict() == found.counts
            assert (found.rows, found.warnings) == (90, [])


@pytest.mark.parametrize("columns", [1, 3])
def test_a_model_of_a_matrix_reads_every_column_of_a_table(columns, tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(90, columns)) * 1500
    model = fit(X, np.where(X[:, -1] > 0, "up", "down")).model
    names = [f"c{i}" for i in range(columns)]
    frame = pd.DataFrame(X, columns=names)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_csv(tmp_path / "commas.csv", index=False, sep=";", decimal=",")
    frame.to_parquet(tmp_path / "a.parquet")
    (tmp_path / "many").mkdir()
    frame[:40].to_parquet(tmp_path / "many" / "1.parquet")
    frame[names[::-1]][40:].to_parquet(tmp_path / "many" / "2.parquet")
    monkeypatch.setattr("noiseproof.fitting.predict.BLOCK", 7)
    for name in ("a.csv", "commas.csv", "a.parquet", "many"):
        predict_file(model, tmp_path / name, tmp_path / "out.parquet")
        found = pd.read_parquet(tmp_path / "out.parquet")[["p(down)", "p(up)"]]
        np.testing.assert_allclose(found, model.predict_proba(X), atol=1e-5)
    for more in (frame.assign(more=1), frame.assign(more="x")):
        more.insert(0, "id", range(90))
        more.to_csv(tmp_path / "more.csv", index=False)
        with pytest.raises(DataError, match="the model reads"):
            predict_file(model, tmp_path / "more.csv", tmp_path / "out.parquet")
    frame.assign(more=1).to_parquet(tmp_path / "many" / "3.parquet")
    with pytest.raises(DataError, match="different columns"):
        predict_file(model, tmp_path / "many", tmp_path / "out.parquet")


@pytest.mark.parametrize("integers", [False, True])
def test_a_first_row_without_a_header_is_not_lost_in_silence(integers, tmp_path):
    X, y = FRAME.iloc[:60, :4].to_numpy(), FRAME["kind"][:60]
    X = np.rint(10 * X).astype(int) if integers else X.round(2)
    X[0] = 3  # pandas tells what repeats apart by a number behind it
    model = fit(X, y, learners="linear").model
    path, out = tmp_path / "a.csv", tmp_path / "out.csv"
    pd.DataFrame(X).to_csv(path, index=False, header=False)
    with pytest.raises(DataError, match="looks like a row"):
        predict_file(model, path, out)
    with pytest.warns(DataWarning, match="looks like a row"):
        model.predict(path)
    for first in (0, 1, 1990):
        pd.DataFrame(X).rename(columns=lambda at, n=first: at + n).to_csv(path, index=False)
        assert predict_file(model, path, out).rows == len(model.predict(path)) == 60
    pd.DataFrame(X).assign(y=np.where(y == y[0], "no", "yes")).to_csv(
        path, index=False, header=False
    )
    with pytest.warns(DataWarning, match="looks like a row"):
        fit(path, "no", learners="linear")


def test_every_name_of_a_class_is_safe_in_a_spreadsheet_and_comes_back(tmp_path):
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=400)})
    frame.to_csv(tmp_path / "a.csv", index=False)
    model = stub(ODD, frame)
    found = predict_file(model, tmp_path / "a.csv", tmp_path / "out.csv")
    written = pd.read_csv(tmp_path / "out.csv", keep_default_na=False, dtype=str)["prediction"]
    assert set(found.counts) == set(ODD)
    assert {unescape(text) for text in written} == set(ODD)
    assert not any(t[:1] in set("=+-@\t\r") for t in set(written) - {"-1"})
    predict_file(model, tmp_path / "a.csv", tmp_path / "out.parquet")
    exact = pd.read_parquet(tmp_path / "out.parquet")["prediction"]
    assert exact.tolist() == [unescape(text) for text in written]


@pytest.mark.parametrize(
    ("kind", "names"), [("integer", ("-1", "5")), ("boolean", ("False", "True"))]
)
def test_numbers_and_booleans_are_written_as_they_are(tmp_path, kind, names):
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=50)})
    frame.to_csv(tmp_path / "a.csv", index=False)
    predict_file(stub(names, frame, kind), tmp_path / "a.csv", tmp_path / "out.csv")
    assert set(pd.read_csv(tmp_path / "out.csv")["prediction"].astype(str)) == set(names)


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="asks Linux")
def test_memory_does_not_grow_with_the_file(tmp_path):
    code = """
import sys, numpy as np, pandas as pd
sys.path.insert(0, sys.argv[1])
from test_predict import stub
from noiseproof.fitting.predict import predict_file
frame = pd.DataFrame(np.random.default_rng(0).normal(size=(999, 5)), columns=list("abcde"))
for path in sys.argv[3:]:
    found = predict_file(stub("xyz", frame), path, sys.argv[2])
    status = open("/proc/self/status").read()  # getrusage counts what the parent had at the fork
    print(found.rows, int(status.split("VmHWM:")[1].split()[0]) // 1024)
"""
    block = np.random.default_rng(1).normal(size=(10_000, 5))
    for kind in ("csv", "parquet"):
        paths = [tmp_path / f"a{times}.{kind}" for times in (10, 50)]
        for path, times in zip(paths, (10, 50), strict=True):
            whole = pd.DataFrame(np.tile(block, (times, 1)), columns=list("abcde"))
            if kind == "csv":
                pa.csv.write_csv(pa.Table.from_pandas(whole), path)
            else:
                whole.to_parquet(path, index=False, row_group_size=50_000)
        run = [sys.executable, "-c", code, os.path.dirname(__file__), tmp_path / "out.csv", *paths]
        plain = os.environ | {"ARROW_DEFAULT_MEMORY_POOL": "system"}  # gives back what is free
        found = subprocess.run(run, capture_output=True, text=True, check=True, env=plain)
        short, long = (
            [int(number) for number in line.split()] for line in found.stdout.splitlines()
        )
        assert (short[0], long[0]) == (100_000, 500_000)
        # The longer file has 36 MB more, and its predictions 13.
        assert long[1] - short[1] < 20


def test_what_fails_in_mid_file_leaves_the_old_predictions(tmp_path):
    frame = pd.DataFrame({"x": np.arange(50_000.0) % 7, "z": 1.5})
    frame.to_csv(tmp_path / "a.csv", index=False)
    with (tmp_path / "a.csv").open("a") as file:
        file.write("1,2,3,4\n")
    (tmp_path / "out.csv").write_text("old")
    with pytest.raises(DataError, match=r"a.csv: cannot be read as csv .*line 50002"):
        predict_file(stub("ab", frame), tmp_path / "a.csv", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "out.csv"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("out", ["out.csv", "out.parquet"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stopped_in_mid_file_it_says_so_in_one_line(
    home, tmp_path, monkeypatch, capsys, suffix, out, number
):
    new, blocks, probabilities = tmp_path / f"new.{suffix}", [], Model.probabilities
    FRAME.to_csv(new) if suffix == "csv" else FRAME.to_parquet(new)
    (tmp_path / out).write_text("old")

    def stopped(model, block, notes):
        blocks.append(len(block))
        if len(blocks) == 3:
            signal.raise_signal(number)
        return probabilities(model, block, notes)

    monkeypatch.setattr("noiseproof.fitting.predict.BLOCK", 20)
    monkeypatch.setattr(Model, "probabilities", stopped)
    # Background jobs of a shell without job control, and their children, ignore SIGINT.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        code, _, err = run(
            capsys, "predict", home / "pets-fit", new, "--out", tmp_path / out, "--force", "--quiet"
        )
    finally:
        signal.signal(signal.SIGINT, before)
    gc.collect()  # a writer that is still open complains when it is collected
    word = {signal.SIGTERM: "terminated", signal.SIGINT: "interrupted"}[number]
    assert (code, err) == (128 + number, f"noiseproof: {word}\n")
    assert len(blocks) == 3
    assert (tmp_path / out).read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == sorted([new.name, out])


def test_columns_that_changed_are_said_even_quietly_and_fail_where_that_is_wanted(
    capsys, home, tmp_path
):
    frame = pd.read_csv(home / "pets.csv")
    days = pd.to_datetime(frame["day"]).dt.strftime("%d/%m/%Y")
    for changed, warning in (
        (
            frame.assign(day=days),
            "day: 90 of 90 values are not dates like 2020-12-31 (01/01/2020, ",
        ),
        (frame.assign(age=None), "columns that were filled at the fit are empty: age"),
        (frame.assign(age="old"), "age: 90 of 90 values cannot be read as numbers (old)"),
        (frame.drop(columns="age"), "columns not there, taken as empty: age"),
    ):
        changed.to_csv(tmp_path / "new.csv", index=False)
        command = ("predict", home / "pets-fit", tmp_path / "new.csv", "--out", tmp_path / "p.csv")
        code, text, err = run(capsys, *command, "--quiet", "--force")
        assert (code, text) == (0, "")
        assert err.startswith(f"warning: {warning}")
        assert len(err.splitlines()) == 1
        found = run(capsys, *command, "--json", "--force")
        assert json.loads(found[1])["warnings"][0].startswith(warning)
        (tmp_path / "p.csv").unlink()
        code, text, err = run(capsys, *command, "--strict")
        assert (code, text, len(err.splitlines())) == (2, "", 1)
        assert err.startswith(f"noiseproof: {tmp_path / 'new.csv'}: {warning}")
        assert sorted(os.listdir(tmp_path)) == ["new.csv"]


def test_python_hears_warnings_too(home):
    model = stub("ab", pd.DataFrame({"x": np.arange(30.0) ** 2, "z": np.arange(30.0) % 7}))
    with pytest.warns(DataWarning, match="columns not there, taken as empty: z"):
        model.predict(pd.DataFrame({"x": [1.0]}))
    frame = pd.read_csv(home / "pets.csv")
    with pytest.warns(DataWarning, match="are empty: age") as heard:
        fitted = fit(frame, "kind", test=(frame.drop(columns="kind").assign(age=None), TRUE))
    assert [warning.filename for warning in heard] == [__file__]
    assert fitted.test.warnings[0].endswith("are empty: age")


def test_embeddings_go_with_a_model_of_embeddings(home, tmp_path):
    np.save(tmp_path / "e.npy", np.eye(90))
    model = stub("ab", FRAME)
    with pytest.raises(ParameterError, match="--embeddings: the model was not fitted to embedd"):
        predict_file(model, home / "pets.csv", tmp_path / "o.csv", embeddings=tmp_path / "e.npy")


@pytest.mark.skipif(os.name != "posix", reason="file names are bytes here alone")
def test_files_and_folders_of_any_name_fit_and_predict_on_any_terminal(tmp_path):
    odd = os.fsdecode(b"caf\xe9 \x1b[2J")
    path = tmp_path / f"{odd}.csv"
    FRAME.assign(kind=FRAME["kind"].replace("cat", "c\x1b[31mat")).to_csv(path, index=False)
    for locale in ("C", "C.UTF-8"):
        out = tmp_path / f"{odd}-{locale}"
        environment = os.environ | {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONIOENCODING": ""}
        if locale == "C":
            environment["PYTHONIOENCODING"] = "ascii"
        made = tmp_path / f"{odd}-{locale}.csv"
        # In one process: to start is most of the work.
        code = "import sys; from noiseproof.cli import main; at = sys.argv.index('then')\n"
        code += "sys.exit(main(sys.argv[1:at]) or main(sys.argv[at + 1:]))"
        fit = ["fit", path, "--label", "kind", "--learner", "linear", "--out", out]
        commands = [*fit, "then", "predict", out, path, "--out", made]
        found = subprocess.run(
            [sys.executable, "-c", code, *commands], env=environment, capture_output=True
        )
        assert found.returncode == 0, found.stderr
        assert found.stderr == b""
        assert b"\x1b" not in found.stdout
        assert len(pd.read_csv(made)) == 90


@pytest.mark.skipif(os.name != "posix", reason="a working directory can be deleted here alone")
def test_a_deleted_working_directory_is_one_line(home, tmp_path):
    gone = tmp_path / "gone"
    code = (
        f"import os; os.mkdir({str(gone)!r}); os.chdir({str(gone)!r}); os.rmdir({str(gone)!r}); "
        + ("import sys; from noiseproof.cli import main; sys.exit(main(sys.argv[1:]))")
    )
    for command in (
        ["predict", home / "pets-fit", home / "pets.csv"],
        ["predict", "pets-fit", "pets.csv"],
        ["fit", home / "pets.csv", "--label", "kind"],
        ["fit", "pets.csv", "--label", "kind", "--out", tmp_path / "out"],
    ):
        found = subprocess.run(
            [sys.executable, "-c", code, *command], capture_output=True, text=True
        )
        assert found.returncode == 2
        assert len(found.stderr.splitlines()) == 1
        assert "Traceback" not in found.stderr


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("embedded", [False, True])
def test_files_of_spectra_are_read(tmp_path, separator, embedded):
    """Wavelengths above the columns are names, whether a model is of an array or of a table."""
    rng = np.random.default_rng(0)
    names = [f"{400.5 + 0.5 * at:.1f}" for at in range(24)]
    y = np.array(["dry", "wet"])[np.arange(60) % 2]
    X = rng.normal(size=(60, 24)) + 2 * (np.arange(60) % 2)[:, None] * (np.arange(24) > 12)
    frame, path = pd.DataFrame(X.round(3), columns=names), tmp_path / "a.csv"
    decimal = "," if separator == ";" else "."
    frame.assign(y=y).to_csv(path, index=False, sep=separator, decimal=decimal)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = fit(frame.to_numpy(), y, learners="linear") if embedded else fit(
            path, "y", learners="linear"
        )  # fmt: skip
        frame.to_csv(path, index=False, sep=separator, decimal=decimal)
        found = predict_file(fitted.model, path, tmp_path / "out.csv")
        assert found.rows == 60
        assert not found.warnings
        assert np.array_equal(fitted.predict(path), fitted.predict(frame))
        if not embedded:
            assert np.array_equal(fitted.predict(frame[names[::-1]]), fitted.predict(frame))


def test_predictions_are_not_written_among_the_files_of_a_model(tmp_path):
    (tmp_path / "fit" / "model").mkdir(parents=True)
    table = tmp_path / "a.csv"
    for out in ("model/p.csv", "model/../model/p.csv"):
        with pytest.raises(ParameterError, match="among the files of the model"):
            check_out(tmp_path / "fit" / out, True, table, tmp_path / "fit")
    check_out(tmp_path / "fit" / "p.csv", False, table, tmp_path / "fit")


@pytest.mark.parametrize("values", [[0.2, 0.4, 0.9], [0, 1, 1]])
def test_truth_is_a_number_only_where_there_were_zeros_and_ones(values):
    column = Number.learn("x", np.array(values * 20, dtype=float))
    found = column.read(pd.Series([True, False]))
    assert np.isfinite(found).all() == (values == [0, 1, 1])


def test_a_wrong_folder_is_told_before_the_destination(tmp_path, capsys):
    (tmp_path / "out.csv").write_text("kept")
    rows = tmp_path / "rows.csv"
    rows.write_text("a\n1\n")
    command = ["predict", str(tmp_path / "nowhere"), str(rows), "--out", str(tmp_path / "out.csv")]
    assert main(command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "nowhere" in line
    assert "--force" not in line
    assert (tmp_path / "out.csv").read_text() == "kept"
