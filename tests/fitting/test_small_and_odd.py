"""Small and odd data of every form: a model whose answers hold, or one line of why not."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

from noiseproof import fit
from noiseproof.errors import DataWarning, NoiseproofError

COLUMNS = {
    "number": lambda rng, n: rng.normal(size=n),
    "few": lambda rng, n: rng.integers(0, 3, n),
    "rare": lambda rng, n: (rng.random(n) < 0.05).astype(float),
    "truth": lambda rng, n: rng.random(n) < 0.5,
    "wide": lambda rng, n: np.exp(20 * rng.normal(size=n)),
    "tiny": lambda rng, n: 1e-200 * rng.normal(size=n),
    "gaps": lambda rng, n: np.where(rng.random(n) < 0.8, np.nan, rng.normal(size=n)),
    "endless": lambda rng, n: np.where(np.arange(n) == 1, np.inf, rng.normal(size=n)),
    "colour": lambda rng, n: rng.choice(np.array(["red", "blue", None], dtype=object), n),
    "words": lambda rng, n: [" ".join(rng.choice(["a", "film", "so"], at % 5)) for at in range(n)],
    "day": lambda rng, n: np.datetime64("2020-01-01") + rng.integers(0, 900, n),
    "same": lambda _, n: np.ones(n),
    "whole": lambda rng, n: pd.array(np.where(rng.random(n) < 0.3, None, 1), dtype="Int64"),
}
FORMS = {
    "table": lambda rng, n: pd.DataFrame(
        {name: COLUMNS[name](rng, n) for name in rng.choice(list(COLUMNS), rng.integers(1, 5))}
    ),
    "matrix": lambda rng, n: rng.normal(size=(n, 3)) * 10.0 ** rng.integers(-3, 4),
    "signs": lambda rng, n: (rng.random((n, 2)) < 0.2).astype(np.float32),
    "sparse": lambda rng, n: sparse.random(n, 9, 0.1, "csr", random_state=int(rng.integers(9))),
    "pictures": lambda rng, n: rng.integers(0, 256, (n, 3, 5, 14)).astype(np.uint8),
}
LEARNERS = ("linear", "trees", "boosting", "neighbours", "discriminant", "hidden")


def take(X, at):
    return X.iloc[at] if isinstance(X, pd.DataFrame) else X[at]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_row_has_one_answer_or_the_data_one_line(form, learner):
    rng = np.random.default_rng([list(FORMS).index(form), LEARNERS.index(learner)])
    told = []
    for number, rows in enumerate((8, 50)):
        X = FORMS[form](rng, rows)
        y = np.array(["a", "b", "c"])[np.minimum(rng.integers(0, 3, rows), number + 1)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            try:
                fitted = fit(X, y, learners=learner, losses="GCE(q=0.7)", minutes=0.01)
            except NoiseproofError as error:
                told.append(str(error))
                continue
            p = fitted.predict_proba(X)
            other = rng.permutation(rows)
            again = fitted.predict_proba(take(X, other))
            alone = fitted.predict_proba(take(X, [rows - 1]))
        assert np.isfinite(p).all()
        assert p.sum(axis=1) == pytest.approx(1, abs=1e-4)
        assert again == pytest.approx(p[other], abs=1e-5)
        assert alone == pytest.approx(p[-1:], abs=1e-5)
    assert not [line for line in told if "\n" in line]


@pytest.mark.parametrize("others", [[b"\xff"], [b"\xff", None], [b"\xff\0", b"\xfe", b"ab"]])
def test_a_column_of_bytes_that_are_no_text_is_left_out_and_loses_no_fit(others, tmp_path):
    X = np.random.default_rng(0).normal(size=(60, 2)) + 5 * np.eye(3, 2)[np.arange(60) % 3]
    frame = pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "blob": (others * 60)[:60]})
    frame["y"] = np.where(np.arange(60) % 20, np.arange(60) % 3, 0)
    found = fit(frame, "y", learners="linear")
    assert (found.save(tmp_path / "out") / "report.html").is_file()
    assert len(found.suspects)
    assert (found.predict(frame) == found.predict(frame.drop(columns="blob"))).all()


@pytest.mark.parametrize("kind", ["string", "string[pyarrow]", "large", "category", "object"])
def test_a_gap_in_a_text_of_any_type_is_a_gap_everywhere(kind, tmp_path):
    rng = np.random.default_rng(0)
    words = [" ".join(rng.choice(["good", "bad", "fine", "dull", "long"], 7)) for _ in range(60)]
    frame = pd.DataFrame({"note": words, "y": ["a", "b"] * 30})
    frame.loc[frame["y"] == "a", "note"] += " sun"
    frame.loc[3, "note"] = None
    frame.loc[[4, 9], "y"] = ["b", "a"]
    expected = fit(frame, "y", learners="linear").predict_proba(frame)
    arrow = pd.ArrowDtype(pa.large_string())
    frame["note"] = frame["note"].astype(arrow if kind == "large" else kind)
    found = fit(frame, "y", learners="linear")
    assert (found.predict_proba(frame) == expected).all()
    assert (found.save(tmp_path / "out") / "report.html").is_file()
    assert len(found.suspects)
