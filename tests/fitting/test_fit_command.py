"""noiseproof fit and predict, as a user types them."""

import json
import os
import signal
import subprocess
import sys
import time
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from noisy_tables import blobs
from PIL import Image

import noiseproof as nf
from noiseproof.cli import main

#: So few that nothing is compared, which is quick.
FRAME, TRUE, _ = blobs(90)


def run(capsys, *arguments):
    code = main([str(a) for a in arguments])
    return code, *capsys.readouterr()


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a table and what fit made of it."""
    home = tmp_path_factory.mktemp("home")
    FRAME.to_csv(home / "pets.csv", index=False)
    command = ["fit", "pets.csv", "--label", "kind", "--test", "pets.csv"]
    before = os.getcwd()
    os.chdir(home)
    try:
        assert main(command) == 0
    finally:
        os.chdir(before)
    return home


def test_fit_writes_a_folder_beside_the_user_and_nothing_else(home):
    assert sorted(p.name for p in home.iterdir()) == ["pets-fit", "pets.csv"]
    assert sorted(p.name for p in (home / "pets-fit").iterdir()) == [
        "manifest.json", "model", "report.html", "summary.json", "suspect_rows.csv",
    ]  # fmt: skip
    rows = pd.read_csv(home / "pets-fit" / "suspect_rows.csv")
    assert list(rows.columns) == ["row", "given_label", "proposed_label", "confidence"]


def test_each_step_has_a_line(capsys, home, tmp_path):
    out = tmp_path / "out"
    code, text, err = run(capsys, "fit", home / "pets.csv", "--label", "kind", "--out", out)
    assert (code, err) == (0, "")
    steps = [line[:9].strip() for line in text.splitlines() if line[:1] != " "]
    assert steps == ["load", "estimate", "choose", "train", "evaluate", f"wrote {out}"[:9].strip()]
    assert "of the labels are wrong" in text
    assert "held-out noisy labels" in text
    assert "true labels, estimated" in text


def test_strict_is_about_every_doubt_of_a_test_file(capsys, home, tmp_path):
    (tmp_path / "new" / "year=2020").mkdir(parents=True)
    FRAME.to_parquet(tmp_path / "new" / "year=2020" / "part.parquet")
    command = ("fit", home / "pets.csv", "--label", "kind", "--test", tmp_path / "new")
    code, _, err = run(capsys, *command, "--out", tmp_path / "out", "--strict")
    assert (code, len(err.splitlines()), (tmp_path / "out").exists()) == (2, 1, False)
    assert err.rstrip().endswith("names of folders are not read: year (--strict)")


def test_a_test_file_whose_columns_differ_is_said_even_quietly(capsys, home, tmp_path):
    FRAME.assign(age=None).to_csv(tmp_path / "new.csv", index=False)
    command = ("fit", home / "pets.csv", "--label", "kind", "--test", tmp_path / "new.csv")
    warning = "new.csv (test): columns that were filled at the fit are empty: age"
    out = tmp_path / "out"
    code, text, err = run(capsys, *command, "--out", out, "--strict")
    assert (code, len(err.splitlines()), out.exists()) == (2, 1, False)
    assert err.rstrip().endswith(f"{warning} (--strict)")
    code, text, err = run(capsys, *command, "--out", out, "--quiet")
    assert (code, len(text.splitlines())) == (0, 1)
    undecided, differs = err.splitlines()
    assert undecided.startswith("warning: cannot tell noise from difficulty")
    assert differs.startswith("warning: ")
    assert differs.endswith(warning)
    assert warning in (out / "report.html").read_text()
    assert json.loads((out / "summary.json").read_text())["accuracy"]["test_warnings"][0].endswith(
        warning
    )
    code, text, err = run(capsys, *command, "--out", out, "--force")
    assert (code, err, text.count(warning)) == (0, "", 1)


def test_json_and_force(capsys, home, tmp_path):
    out = tmp_path / "out"
    command = ("fit", home / "pets.csv", "--label", "kind", "--out", out, "--json")
    code, text, err = run(capsys, *command)
    assert code == 0
    assert err.startswith("warning: cannot tell noise from difficulty")
    assert len(err.splitlines()) == 1
    assert json.loads(text)["data"]["rows"] == 90
    assert json.loads(text)["folder"] == str(out)
    before = (out / "report.html").read_bytes()
    code, text, err = run(capsys, *command)
    assert (code, text) == (2, "")
    assert "exists; nothing is overwritten without --force" in err
    assert (out / "report.html").read_bytes() == before


def test_predict(capsys, home, tmp_path):
    new = FRAME.drop(columns=["speed", "kind"]).assign(extra=1)
    new.to_csv(tmp_path / "new.csv", index=False)
    out = tmp_path / "predictions.csv"
    command = ("predict", home / "pets-fit", tmp_path / "new.csv", "--out", out)
    code, text, err = run(capsys, *command)
    assert code == 0
    assert text.startswith(f"wrote {out}: 90 rows (")
    assert err.splitlines() == [
        "warning: columns not there, taken as empty: speed",
        "note: columns the model does not use: extra",
    ]
    table = pd.read_csv(out)
    assert (table["prediction"] == TRUE).mean() > 0.9
    assert table.filter(like="p(").sum(axis=1).to_numpy() == pytest.approx(1, abs=1e-4)
    code, _, err = run(capsys, *command)
    assert code == 2
    assert "nothing is overwritten" in err
    found = json.loads(run(capsys, *command, "--force", "--json")[1])
    assert found["rows"] == 90
    new[:1].to_csv(tmp_path / "new.csv", index=False)
    assert run(capsys, *command, "--force")[1].startswith(f"wrote {out}: 1 row (")


def test_predict_mistakes_are_one_line(capsys, home, tmp_path):
    out = tmp_path / "p.csv"
    for arguments, message in (
        ((tmp_path, home / "pets.csv"), "no model of noiseproof's here"),
        ((home / "pets-fit", home / "none.csv"), "no such file"),
        ((home / "pets-fit", home), "no images in this folder"),
    ):
        code, text, err = run(capsys, "predict", *arguments, "--out", out)
        assert (code, text) == (2, "")
        assert len(err.splitlines()) == 1
        assert message in err
    assert not out.exists()
    for name in ("p.txt", "p.tsv", "p"):
        command = ("predict", home / "pets-fit", home / "pets.csv", "--out", tmp_path / name)
        code, text, err = run(capsys, *command)
        assert (code, text, list(tmp_path.iterdir())) == (2, "", [])
        assert err.endswith(f"{name}: expected a name that ends in .csv or .parquet\n")


def test_predictions_never_replace_what_they_are_made_from(capsys, home, tmp_path):
    FRAME.to_csv(tmp_path / "new.csv", index=False)
    before = (tmp_path / "new.csv").read_bytes()
    folder = home / "pets-fit"
    for out in (tmp_path / "new.csv", folder / "summary.json", folder / "model" / "recipe.json"):
        command = ("predict", folder, tmp_path / "new.csv", "--out", out, "--force")
        code, text, err = run(capsys, *command)
        assert (code, text, len(err.splitlines())) == (2, "", 1)
        assert "is an input; it is left as it is" in err
    assert (tmp_path / "new.csv").read_bytes() == before


def test_only_a_plain_file_is_ever_replaced_by_predictions(capsys, home, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "target.csv").write_text("mine")
    (tmp_path / "link.csv").symlink_to(tmp_path / "target.csv")
    (tmp_path / "folder").mkdir()
    before = {p.name: p.lstat().st_mode for p in tmp_path.iterdir()}
    for name in ("pipe", "link.csv", "folder"):
        command = ("predict", home / "pets-fit", home / "pets.csv", "--out", tmp_path / name)
        code, text, err = run(capsys, *command, "--force")
        assert (code, text, len(err.splitlines())) == (2, "", 1)
        assert "is not a plain file; it is left as it is" in err
    assert {p.name: p.lstat().st_mode for p in tmp_path.iterdir()} == before
    assert (tmp_path / "target.csv").read_text() == "mine"


def test_too_little_memory_is_one_line(capsys, monkeypatch):
    module = import_module("noiseproof.advise.recommend")
    monkeypatch.setattr(module, "recommend", lambda *_, **__: np.empty(10**15))
    code, text, err = run(capsys, "recommend", "--noise", "symmetric:0.2", "--classes", 10)
    assert (code, text, len(err.splitlines())) == (2, "", 1)
    assert "not enough memory" in err


def test_a_search_without_optuna_says_what_to_install(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "optuna", None)
    blobs(100)[0].to_csv("pets.csv", index=False)
    code, text, err = run(capsys, "fit", "pets.csv", "--label", "kind", "--search", 2)
    assert (code, text, len(err.splitlines())) == (2, "", 1)  # before anything is done
    assert "optuna is missing: pip install 'noiseproof[search]'" in err
    assert [p.name for p in tmp_path.iterdir()] == ["pets.csv"]


def test_embeddings_are_asked_for_wherever_they_were_fitted_to(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME[["kind"]].to_csv("pets.csv", index=False)
    np.save("e.npy", FRAME.drop(columns="kind").to_numpy())
    fit = ("fit", "pets.csv", "--label", "kind", "--quiet")
    test, own, its = (
        ("--test", "pets.csv"),
        ("--embeddings", "e.npy"),
        ("--test-embeddings", "e.npy"),
    )
    for options, message in (
        ((*own, *test), "--test: beside --embeddings it needs --test-embeddings"),
        ((*own, *its), "--test-embeddings: expected both --test and --embeddings"),
        ((*test, *its), "--test-embeddings: expected both --test and --embeddings"),
    ):
        code, text, err = run(capsys, *fit, *options)
        assert (code, text, len(err.splitlines())) == (2, "", 1)
        assert message in err
    assert run(capsys, *fit, *own, *test, *its)[0] == 0
    code, text, err = run(capsys, "predict", "pets-fit", "pets.csv")
    assert (code, text, len(err.splitlines())) == (2, "", 1)
    assert "fitted to embeddings; give those of these rows: --embeddings" in err
    assert run(capsys, "predict", "pets-fit", "pets.csv", *own)[0] == 0


def csv(frame, **changes):
    return lambda path: frame.assign(**changes).to_csv(path, index=False)


def raw(content):
    return lambda path: path.write_bytes(content)


def sparse_file(path):
    with open(path, "wb") as file:
        file.truncate(10 * 10**12)  # ten times what no machine here has


def arrays(path):
    np.savez(path, X=FRAME[["age"]].to_numpy(), y=FRAME["kind"].to_numpy(str), z=np.arange(90) % 2)


def folder(path):
    """Two pictures by class, in a folder whose name does not say so."""
    for kind in ("cat", "dog"):
        (path / kind).mkdir(parents=True)
        Image.fromarray(np.zeros((8, 8), dtype=np.uint8)).save(path / kind / "0.png")


@pytest.mark.parametrize(
    ("name", "make", "options", "message"),
    [
        ("a.csv", csv(FRAME), ["--label", "knid"], "no column 'knid'; did you mean 'kind'?"),
        ("a.csv", csv(FRAME), [], "which column has the labels?"),
        ("a.csv", csv(FRAME, kind="cat"), ["--label", "kind"], "one class only, 'cat'"),
        ("a.csv", csv(FRAME[["kind"]], a=np.nan, b=None), ["--label", "kind"], "no column to"),
        ("a.csv", csv(FRAME), ["--label", "age"], "are a quantity, not classes"),
        ("a.csv", csv(FRAME, kind=None), ["--label", "kind"], "every label is missing"),
        ("a.csv", csv(FRAME), ["--label", "kind", "--text", "age"], "is of type float64, not text"),
        ("a.csv", csv(FRAME), ["--label", "kind", "--text", "agee"], "did you mean 'age'?"),
        ("a.csv", csv(FRAME), ["--label", "kind", "--test", "no.csv"], "no.csv: no such file"),
        ("a.csv", csv(FRAME), ["--label", "kind", "--search", "-1"], "Invalid value"),
        ("a.csv", sparse_file, ["--label", "kind"], "GB of memory"),
        ("a.csv", raw("x,y\n1,\xe9\n".encode("latin-1")), ["--label", "y"], "save it as UTF-8"),
        ("a.csv", raw(b""), ["--label", "y"], "cannot be read as csv"),
        ("a.parquet", raw(b"PAR1 broken"), ["--label", "y"], "cannot be read as parquet"),
        ("a.npz", raw(b"PK broken"), [], "cannot be read as .npz"),
        ("a.npz", arrays, ["--label", "z"], "has no columns, its labels are in the array y"),
        (
            "a",
            folder,
            ["--label", "z"],
            "has no columns, its labels are in the names of its folders",
        ),
        ("a.csv", csv(FRAME), ["--label", "kind", "--strict"], "expected --test beside it"),
        ("a.docx", raw(b"PK"), ["--label", "y"], "expected .csv, .tsv"),
        ("none.csv", lambda path: None, ["--label", "y"], "no such file or folder"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    capsys, tmp_path, monkeypatch, name, make, options, message
):
    monkeypatch.chdir(tmp_path)
    make(tmp_path / name)
    before = sorted(tmp_path.iterdir())
    code, out, err = run(capsys, "fit", name, *options)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert message in err
    assert sorted(tmp_path.iterdir()) == before


def test_interrupted_it_leaves_nothing(tmp_path):
    frame, _, _ = blobs(6000)
    frame.to_csv(tmp_path / "pets.csv", index=False)
    command = [sys.executable, "-m", "noiseproof", "fit", "pets.csv", "--label", "kind"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as child:
        assert child.stdout.readline().startswith("load")
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert err.strip() == "noiseproof: interrupted"
    assert [p.name for p in tmp_path.iterdir()] == ["pets.csv"]


def broken(*_, **__):
    raise KeyError("something odd")


@pytest.mark.parametrize(
    ("part", "file"),
    [
        ("noiseproof.fitting.page.fit_page.fit_page", "report.html"),
        ("noiseproof.fitting.fitted.summarise", "summary.json"),
        ("noiseproof.fitting.output.write_csv", "suspect_rows.csv"),
    ],
)
def test_a_mistake_in_what_is_told_does_not_lose_the_model(
    home, tmp_path, capsys, monkeypatch, part, file
):
    monkeypatch.setattr(part, broken)
    made = tmp_path / "fitted"
    code, _, err = run(capsys, "fit", home / "pets.csv", "--label", "kind", "--out", made)
    assert code == 1
    lines = err.splitlines()
    assert [file in lines[0], "'something odd'" in lines[0], str(made) in lines[1]] == [True] * 3
    assert len(lines) == 2
    expected = {"manifest.json", "model", "report.html", "summary.json", "suspect_rows.csv"}
    assert {p.name for p in made.iterdir()} == expected - {file}
    monkeypatch.undo()
    told = tmp_path / "told.csv"
    assert run(capsys, "predict", made, home / "pets.csv", "--out", told)[0] == 0
    again = ["fit", home / "pets.csv", "--label", "kind", "--out", made, "--force"]
    assert run(capsys, *again)[0] == 0
    assert {p.name for p in made.iterdir()} == expected


def test_a_python_user_is_warned_of_what_could_not_be_made(tmp_path, monkeypatch):
    monkeypatch.setattr("noiseproof.fitting.page.fit_page.fit_page", broken)
    fitted = nf.fit(FRAME, "kind")
    with pytest.warns(RuntimeWarning, match="report.html could not be made"):
        made = fitted.save(tmp_path / "fitted")
    assert nf.load(made).predict(FRAME).tolist() == fitted.predict(FRAME).tolist()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (MemoryError(), "report.html could not be made: not enough memory"),
        (nf.errors.DataError("a picture is gone"), "report.html could not be made: a picture"),
    ],
)
def test_why_a_report_is_missing_is_told_in_the_users_words(
    home, tmp_path, capsys, monkeypatch, error, told
):
    def fails(*_):
        raise error

    monkeypatch.setattr("noiseproof.fitting.page.fit_page.fit_page", fails)
    given = ["--label", "kind", "--out", tmp_path / "made"]
    code, _, err = run(capsys, "fit", home / "pets.csv", *given)
    assert code == 1
    assert told in err
    assert "please report" not in err
