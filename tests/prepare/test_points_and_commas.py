"""What a point or a comma in a number means is for the whole file to say, at any time."""

import warnings

import numpy as np
import pandas as pd
import pytest

import noiseproof as nf
from noiseproof.cli import main
from noiseproof.prepare.columns.column import Number
from noiseproof.prepare.formats.reading import Reading
from noiseproof.prepare.formats.table_files import table_blocks
from noiseproof.prepare.notes import Notes
from noiseproof.prepare.read import read

RNG = np.random.default_rng(0)


def numbers_of(path, column, **known):
    """Return a column as the whole file has it, and as blocks of two rows do."""
    whole = read(path, None, Reading(**known), labelled=False).inputs[column]
    parts = [part.inputs[column] for part in table_blocks(path, None, Reading(**known), rows=2)]
    return [pd.to_numeric(numbers).tolist() for numbers in (whole, pd.concat(parts))]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["2,5", "1.051,5", "133"], [2.5, 1051.5, 133]),
        (["1.051", "133", "2.816"], [1.051, 133, 2.816]),  # nothing says otherwise
        (["1.234.567", "133", "2.816"], [1234567, 133, 2816]),
        (["0.375", "0.125", "0.5"], [0.375, 0.125, 0.5]),
        (["525.087.905", "560.964.276", "7"], [525087905, 560964276, 7]),
    ],
)
def test_a_column_alone_is_read_by_what_it_shows(tmp_path, texts, expected):
    path = tmp_path / "a.csv"
    path.write_text("x;y\n" + "".join(f"{text};a\n" for text in texts))
    for found in numbers_of(path, "x", numbers=["x"]):
        assert found == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1.051", "133", "2.816"], [1051, 133, 2816]),
        (["1.000", "133", "2"], [1000, 133, 2]),
        (["1.05", "133", "2.816"], [1.05, 133, 2.816]),
        (["0.375", "133", "2.816"], [0.375, 133, 2.816]),
    ],
)
def test_beside_decimal_commas_a_point_before_three_digits_is_between_thousands(
    tmp_path, texts, expected
):
    path = tmp_path / "a.csv"
    path.write_text("x;ratio\n" + "".join(f"{text};0,25\n" for text in texts))
    for found in numbers_of(path, "x", numbers=["x", "ratio"]):
        assert found == expected
    assert read(path, None, labelled=False).inputs["x"].tolist() == expected


@pytest.mark.parametrize("other", ["0.5853;525.087.905", "0,25;0.5853"])
def test_a_decimal_point_anywhere_leaves_all_points_alone(tmp_path, other):
    path = tmp_path / "a.csv"
    path.write_text("lat;a;b\n" + "".join(f"{lat};{other}\n" for lat in ("48.166", "53.409")))
    for found in numbers_of(path, "lat", numbers=["lat", "a", "b"]):
        assert found == [48.166, 53.409]
    whole = read(path, None, labelled=False).inputs
    assert whole["lat"].tolist() == [48.166, 53.409]
    assert "525" not in str(other) or whole["b"].tolist() == ["525.087.905"] * 2  # names, not sizes


def test_what_the_fit_read_as_points_stays_so_whatever_else_is_in_the_file(tmp_path):
    w = RNG.normal(50, 9, 200).round(3)
    frame = pd.DataFrame({"w": w, "price": [f"{p:.2f}".replace(".", ",") for p in w / 3]})
    frame.assign(y=w > 50).to_csv(tmp_path / "fit.csv", sep=";", index=False)
    fitted = nf.fit(tmp_path / "fit.csv", "y", learners="linear", minutes=0)
    expected = fitted.predict_proba(tmp_path / "fit.csv")
    for row in np.flatnonzero(w * 1000 % 10 != 0)[:3]:
        frame.iloc[[row]].to_csv(tmp_path / "one.csv", sep=";", index=False)
        found = fitted.predict_proba(tmp_path / "one.csv")
        np.testing.assert_allclose(found, expected[[row]], atol=1e-6)


def test_a_model_of_decimal_commas_reads_decimal_points(tmp_path):
    x = np.append(RNG.normal(2, 1, 200).round(5), [1.125, 0.375, 3.25])
    frame = pd.DataFrame({"x": x, "y": np.where(x > 2, "up", "down")})
    frame.to_csv(tmp_path / "fit.csv", sep=";", decimal=",", index=False)
    fitted = nf.fit(tmp_path / "fit.csv", "y", learners="linear", minutes=0)
    expected = fitted.predict_proba(tmp_path / "fit.csv")
    for form in ({"sep": ";"}, {"sep": ","}, {"sep": ";", "decimal": ","}):
        frame.to_csv(tmp_path / "new.csv", index=False, **form)
        np.testing.assert_allclose(fitted.predict_proba(tmp_path / "new.csv"), expected, atol=1e-6)


@pytest.mark.parametrize(("fits", "asks"), [("{:,.2f}", "0,{:03}"), ("{:,.2f}", "0,{:03} ")])
def test_nothing_before_a_mark_is_no_thousand(tmp_path, capsys, fits, asks):
    x = RNG.uniform(100, 3000, 120)
    frame = pd.DataFrame({"x": [fits.format(v) for v in x], "y": x > 1000})
    frame.to_csv(tmp_path / "fit.csv", index=False)
    new = pd.DataFrame({"x": [asks.format(v) for v in RNG.integers(1, 999, 60)]})
    new.to_csv(tmp_path / "new.csv", index=False)
    nf.fit(tmp_path / "fit.csv", "y", learners="linear", minutes=0).save(tmp_path / "m")
    files = [str(tmp_path / name) for name in ("m", "new.csv", "out.csv")]
    assert main(["predict", *files[:2], "--out", files[2], "--strict"]) == 2
    assert "60 of 60 values cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("instead", ["many", "0,693", "2020-01-01"])
def test_infinities_at_the_fit_excuse_infinities_and_nothing_else(tmp_path, capsys, instead):
    count = RNG.poisson(0.7, 200)
    with np.errstate(divide="ignore"):
        frame = pd.DataFrame({"x": np.log(count), "k": RNG.normal(size=200), "y": count > 0})
    frame.to_csv(tmp_path / "fit.csv", index=False)
    nf.fit(frame, "y", learners="linear", minutes=0).save(tmp_path / "m")
    command = ["predict", str(tmp_path / "m"), "", "--strict", "--out", str(tmp_path / "out.csv")]
    command[2] = str(tmp_path / "fit.csv")
    assert main(command) == 0
    frame.assign(x=instead).to_csv(tmp_path / "new.csv", index=False)
    command[2] = str(tmp_path / "new.csv")
    assert main([*command, "--force"]) == 2
    assert "200 of 200 values cannot be read as numbers" in capsys.readouterr().err


@pytest.mark.parametrize("never", ["0000-00-00", "2020-01-01 24:00", "00/00/0000"])
def test_days_that_never_were_are_no_news_if_the_fit_had_them(tmp_path, capsys, never):
    days = [never if i % 4 == 0 else f"2020-{1 + i % 12:02}-{1 + i % 27:02}" for i in range(200)]
    k = RNG.normal(size=200)
    frame = pd.DataFrame({"day": days, "k": k, "y": k > 0})
    frame.to_csv(tmp_path / "fit.csv", index=False)
    nf.fit(tmp_path / "fit.csv", "y", learners="linear", minutes=0).save(tmp_path / "m")
    command = ["predict", str(tmp_path / "m"), "", "--strict", "--out", str(tmp_path / "out.csv")]
    command[2] = str(tmp_path / "fit.csv")
    assert main(command) == 0
    capsys.readouterr()
    frame.assign(day=[day if i % 3 else "often" for i, day in enumerate(days)]).to_csv(
        tmp_path / "new.csv", index=False
    )
    command[2] = str(tmp_path / "new.csv")
    assert main([*command, "--force"]) == 2
    assert "are not dates" in capsys.readouterr().err


SIZES = RNG.integers(100, 5000, 120)


def told(path, table):
    """Write a semicolon table and return the doubts about it."""
    table.to_csv(path, sep=";", index=False)
    return [line for line in read(path, "y").doubts if "fraction" in line]


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("other", [None, "12000", " 1.500 ", ""])
def test_points_that_may_be_between_thousands_are_told(tmp_path, sign, other):
    texts = [sign + f"{size:,}".replace(",", ".") for size in SIZES]
    texts[0] = texts[0] if other is None else other
    (line,) = told(tmp_path / "a.csv", pd.DataFrame({"size": texts, "y": SIZES > 900}))
    assert line.endswith(": size")


@pytest.mark.parametrize(
    "texts",
    [
        [f"{size / 1000:.3f}" for size in SIZES],  # 0.997 and 1.124
        [f"{size / 1000:g}" for size in SIZES],  # 1.1 and 1.12, too
        [f"{size / 100:.2f}" for size in SIZES],
        [f"{1 + size / 1000:.3f}" for size in SIZES],  # none below a thousand
        [str(size) for size in SIZES],
        ["2.125", *(str(size) for size in SIZES[1:])],  # a single one
        [f"{2 + size % 4 / 3:.3f}".replace(".000", "") for size in SIZES],  # means of three
    ],
)
def test_points_that_are_decimal_points_are_no_doubt(tmp_path, texts):
    assert told(tmp_path / "a.csv", pd.DataFrame({"size": texts, "y": SIZES > 900})) == []


@pytest.mark.parametrize("form", [".csv", ".parquet", "frame"])
@pytest.mark.parametrize(("share", "expected"), [(0.03, 0), (0.3, 1), (1.0, 1)])
def test_whole_numbers_that_have_become_fractions_are_told(tmp_path, form, share, expected):
    frame = pd.DataFrame({"size": SIZES, "k": RNG.normal(size=120), "y": SIZES > 900})
    fitted = nf.fit(frame, "y", learners="linear", minutes=0)
    changed = frame.astype({"size": float})
    changed.loc[: round(share * 120) - 1, "size"] += 0.124
    if form == "frame":
        new = changed
    elif form == ".csv":
        new = tmp_path / "new.csv"
        changed.to_csv(new, sep=";", index=False)
    else:
        new = tmp_path / "new.parquet"
        changed.to_parquet(new)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted.predict(new)
    lines = [str(warning.message) for warning in caught if "are fractions" in str(warning.message)]
    assert len(lines) == expected


@pytest.mark.parametrize(("fitted", "new"), [(3, 1), (30, 5), (10, 1), (100, 10), (300, 50)])
def test_fractions_that_the_fit_missed_by_chance_are_no_alarm(fitted, new):
    """Of values that are fractions with the same chance at the fit and at predict."""
    alarms = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        values = rng.integers(0, 99, fitted + new) + 0.5 * (rng.random(fitted + new) < 2 / fitted)
        column, notes = Number.learn("x", values[:fitted]), Notes()
        column.fill(pd.Series(values[fitted:]), np.empty((new, 1), dtype=np.float32), notes)
        alarms += any("fractions" in line for line in notes.warnings)
    assert alarms <= 0.02 * 400
