"""The paper's numbers are the paper's: counted, compared by hand, and read again from its text."""

import importlib.util
import os
from collections import Counter
from importlib.resources import files
from pathlib import Path

import pytest

from noiseproof.errors import DataError
from noiseproof.paper import METHODS, PARAMETERS
from noiseproof.paper.tables import PaperNumber, paper_number, printed

SCRIPT = Path(__file__).parents[2] / "scripts" / "read_paper_tables.py"
CLEAN_AND_SYMMETRIC = ["none", *(f"symmetric:{rate}" for rate in (0.2, 0.4, 0.6, 0.8))]
ASYMMETRIC = [f"asymmetric:{rate}" for rate in (0.1, 0.2, 0.3, 0.4)]

# Typed by hand from the paper.
BY_HAND = {
    ("mnist", "CE", "symmetric:0.8"): (22.66, 0.61, False),
    ("mnist", "AGCE", "symmetric:0.8"): (96.59, 0.12, True),
    ("mnist", "NCE+MAE", "symmetric:0.2"): (99.14, 0.05, True),  # printed as {... 0.0}5
    ("mnist", "NFL+RCE", "asymmetric:0.4"): (89.58, 4.81, False),
    ("cifar10", "AUL", "symmetric:0.6"): (78.86, 0.66, False),  # printed as 78,86
    ("cifar10", "CE", "asymmetric:0.3"): (79.316, 0.59, False),
    ("cifar10", "NLNL", "asymmetric:0.3"): (81.26, 0.43, False),
    ("cifar10", "NCE+AGCE", "none"): (90.94, 0.12, False),
    ("cifar100", "CE", "symmetric:0.8"): (7.59, 0.20, False),
    ("cifar100", "NCE+AEL", "asymmetric:0.4"): (39.99, 0.12, False),
    ("webvision", "AGCE", "none"): (69.40, None, True),
    ("webvision", "GCE", "none"): (61.76, None, False),
}


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("read_paper_tables", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("place", BY_HAND, ids="-".join)
def test_numbers_typed_by_hand(place):
    assert paper_number(*place) == PaperNumber(*BY_HAND[place])


def test_405_numbers_with_deviations_in_the_two_full_tables():
    full = [number for number in printed() if number.table.startswith("full-")]
    assert len(full) == 405
    assert all(number.std > 0 for number in full)
    columns = {"full-symmetric-noise": CLEAN_AND_SYMMETRIC, "full-asymmetric-noise": ASYMMETRIC}
    rows = {"mnist": 14, "cifar10": 17, "cifar100": 14}
    expected = {
        (table, dataset, noise): rows[dataset]
        for table in columns
        for dataset in rows
        for noise in columns[table]
    }
    assert Counter((n.table, n.dataset, n.noise) for n in full) == expected


def test_the_main_text_has_a_part_of_them():
    assert Counter(number.table for number in printed() if number.part == "main") == {
        "symmetric-noise": 5 * (10 + 13 + 10),
        "asymmetric-noise": 4 * (10 + 13 + 10),
        "webvision": 6,
    }


def test_main_text_and_supplement_differ_in_one_number_and_eleven_bolds():
    supplement = {place(n): n for n in printed() if n.part == "supplement"}
    pairs = [(n, supplement[place(n)]) for n in printed() if n.part == "main"]
    other_numbers = {place(a): (a.mean, b.mean) for a, b in pairs if a.mean != b.mean}
    assert other_numbers == {("cifar10", "CE", "asymmetric:0.3"): (79.32, 79.316)}
    assert all(a.std == b.std for a, b in pairs)
    assert sum(a.bold != b.bold for a, b in pairs) == 11


def place(number):
    return number.dataset, number.method, number.noise


def test_every_row_of_the_tables_has_its_parameters():
    for number in printed():
        assert number.method in METHODS
        assert PARAMETERS[number.dataset][number.method] is not None


@pytest.mark.parametrize(
    "nowhere",
    [
        ("digits", "CE", "none"),
        ("mnist", "NCE+AGCE", "none"),
        ("mnist", "CE", "symmetric:0.5"),
        ("mnist", "MINE", "none"),
        ("", "CE", "none"),
    ],
)
def test_what_the_paper_does_not_print(nowhere):
    assert paper_number(*nowhere) is None


def test_the_released_noise_is_the_papers():
    released = paper_number("cifar100", "CE", "asymmetric:0.2:released")
    assert (
        released
        == paper_number("cifar100", "CE", "asymmetric:0.2")
        == PaperNumber(58.11, 0.32, False)
    )


def test_the_numbers_are_the_ones_in_the_paper(script):
    source = os.environ.get("NOISEPROOF_PAPER")
    if not source:
        pytest.skip("set NOISEPROOF_PAPER to the paper's LaTeX source to compare with it")
    data = files("noiseproof.paper").joinpath("benchmarks.csv").read_text("utf-8")
    assert script.read(Path(source).read_text("utf-8")) == data


# A paper with as little in it as there may be; each test below spoils one thing.
SYMMETRIC = r"""
\begin{table*}\caption{Accuracies}
\label{LABEL}
\begin{tabular}{c|c|c|cccc}
    \hline
    \multirow{2}*{Datasets} & \multirow{2}*{Methods} & \multirow{2}*{Clean ($\eta=0.0$)} &
      \multicolumn{4}{c}{Symmetric Noise Rate ($\eta$)}  \\
     ~ & ~ & ~ & 0.2 & 0.4 & 0.6 & 0.8\\
     \hline\hline
     \multirow{2}*{MNIST} & CE & 99.15 $\pm$ 0.05 & 91.62 $\pm$ 0.39 & \ \ 7.98 $\pm$ 0.27 &
     49.36$\pm$ 0.43 & {22.66 $\pm$ 0.61}\\
     \cline{2-7}
     ~ & \textbf{AUL} & CELL & CELL2 & 2.00 $\pm$ 0.10 & 3.00 $\pm$ 0.10 & 4.00 $\pm$ 0.10
     \\
     \hline
\end{tabular}
\end{table*}
"""
ASYMMETRIC_TABLE = r"""
\label{LABEL}
\begin{tabular}{c|c|cccc}
     \multirow{2}*{Datasets} & \multirow{2}*{Methods} &
       \multicolumn{4}{c}{Asymmetric Noise Rate ($\eta$)}  \\
     ~ & ~ & 0.1 & 0.2 & 0.3 & 0.4\\ \hline
     \multirow{14}*{CIFAR100} & CE &1.00 $\pm$ 0.10&1.00 $\pm$ 0.10&1.00 $\pm$ 0.10
       &1.00 $\pm$ 0.10\\ \hline
\end{tabular}
"""
WEBVISION = r"""
\label{LABEL}
\begin{tabular}{c|cc}
    Loss & CE & \textbf{AGCE}\\ \hline
    Acc & 66.96 & \textbf{69.40}\\ \hline
\end{tabular}
"""
FIRST_SLIP, SECOND_SLIP = r"78,86 $\pm$ 0.66", r"\textbf{99.14 $\pm$ 0.0}5"


def small_paper():
    full = SYMMETRIC.replace("CELL2", SECOND_SLIP).replace("CELL", FIRST_SLIP)
    main = SYMMETRIC.replace("CELL2", r"\textbf{5.00 $\pm$ 0.10}").replace(
        "CELL", r"1.00 $\pm$ 0.10"
    )
    return "\n".join(
        [
            main.replace("LABEL", "symmetric-noise"),
            ASYMMETRIC_TABLE.replace("LABEL", "asymmetric-noise"),
            WEBVISION.replace("LABEL", "webvision"),
            full.replace("LABEL", "full-symmetric-noise"),
            ASYMMETRIC_TABLE.replace("LABEL", "full-asymmetric-noise"),
            WEBVISION.replace("LABEL", "a-webvision"),
        ]
    )


def test_reading(script):
    lines = script.read(small_paper()).splitlines()
    assert lines[0] == "part,table,dataset,method,noise,mean,std,bold"
    assert len(lines) == 1 + 2 * (10 + 4 + 2)
    for line in (
        "main,symmetric-noise,mnist,CE,none,99.15,0.05,no",
        "main,symmetric-noise,mnist,CE,symmetric:0.4,7.98,0.27,no",
        "main,symmetric-noise,mnist,AUL,symmetric:0.2,5.00,0.10,yes",
        "main,webvision,webvision,AGCE,none,69.40,,yes",
        "supplement,full-symmetric-noise,mnist,AUL,none,78.86,0.66,no",
        "supplement,full-symmetric-noise,mnist,AUL,symmetric:0.2,99.14,0.05,yes",
        "supplement,full-asymmetric-noise,cifar100,CE,asymmetric:0.4,1.00,0.10,no",
    ):
        assert line in lines


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (r"91.62 $\pm$ 0.39", r"91.62", "expected a number"),
        (r"91.62 $\pm$ 0.39", r"91,62 $\pm$ 0.39", "expected a number, got '91,62"),
        (r"91.62 $\pm$ 0.39", r"91.62 $\pm$ 0.39 % 92", "expected a number"),
        (r"91.62 $\pm$ 0.39", r"\textit{91.62 $\pm$ 0.39}", "expected a number"),
        (r"91.62 $\pm$ 0.39", "", "expected a number, got ''"),
        (r"91.62 $\pm$ 0.39 &", "", "expected 7 cells"),
        ("66.96", "66.9x", "webvision: expected a number"),
        ("Loss & CE &", "Loss & CE & CE &", "two rows of one length"),
        ("Loss & CE", "Loss & AGCE", "AGCE is there twice"),
        ("0.2 & 0.4 & 0.6", "0.2 & 0.4 & 0.5", "not the columns of a table of symmetric noise"),
        ("{MNIST}", "{SVHN}", "expected a data set"),
        (r"\textbf{AUL}", "LUA", "expected a method, got 'LUA'"),
        (r"\textbf{AUL}", "CE", "mnist CE is there twice"),
        (FIRST_SLIP, r"78.86 $\pm$ 0.66", "the slip '78,86.*is not there"),
        (r"\label{a-webvision}", "", "expected one table labelled 'a-webvision', found 0"),
        ("4.00 $\\pm$ 0.10\n     \\\\", r"4.00 $\pm$ 0.10", "a last row without an end"),
    ],
)
def test_what_it_does_not_understand_is_an_error(script, old, new, says):
    paper = small_paper()
    assert old in paper
    with pytest.raises(DataError, match=says):
        script.read(paper.replace(old, new))
