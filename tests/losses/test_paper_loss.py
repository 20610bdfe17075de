"""paper_loss has every method and data set of the paper's parameter table."""

import os
import re
from pathlib import Path

import pytest

import noiseproof as nf
from noiseproof.errors import ParameterError
from noiseproof.paper import DATASETS, METHODS, PARAMETERS

# The rows of the benchmark tables, as the paper names them.
ROWS = [
    *("CE", "FL", "GCE", "NLNL", "SCE", "NCE", "NFL", "NGCE", "NFL+RCE", "NCE+MAE", "NCE+RCE"),
    *("AUL", "AGCE", "AEL", "NCE+AUL", "NCE+AGCE", "NCE+AEL"),
]

# Cells of the table, copied by hand from the paper.
CELLS = {
    ("mnist", "AGCE"): "AGCE(a=4, q=0.2)",
    ("mnist", "NCE+AGCE"): "AGCE(a=4, q=0.2)",  # alpha is 0 there
    ("cifar10", "AGCE"): "AGCE(a=0.6, q=0.6)",
    ("cifar10", "AUL"): "AUL(a=5.5, p=3)",
    ("cifar10", "AEL"): "AEL(a=2.5)",
    ("cifar10", "NCE+AGCE"): "NCE + 4*AGCE(a=6, q=1.5)",
    ("cifar100", "NCE+AGCE"): "10*NCE + 0.1*AGCE(a=1.8, q=3)",
    ("webvision", "AGCE"): "AGCE(a=1e-05, q=0.5)",
}


def test_all_seventeen_rows_and_four_data_sets():
    assert sorted(METHODS) == sorted(ROWS)
    assert DATASETS == ("mnist", "cifar10", "cifar100", "webvision")
    assert set(PARAMETERS) == set(DATASETS)
    assert all(set(PARAMETERS[dataset]) == set(METHODS) for dataset in DATASETS)


@pytest.mark.parametrize("dataset", DATASETS)
@pytest.mark.parametrize("method", METHODS)
def test_every_cell_is_a_loss_or_a_blank_that_says_so(method, dataset):
    if PARAMETERS[dataset][method] is None:
        with pytest.raises(ParameterError, match=f"{re.escape(method)}.*{dataset}.*blank") as e:
            nf.paper_loss(method, dataset)
        assert "\n" not in str(e.value)
        return
    loss = nf.paper_loss(method, dataset, reduction="sum")
    assert loss.reduction == "sum"
    names = [type(term).__name__ for term in getattr(loss, "losses", [loss])]
    alpha_is_0 = dataset == "mnist" and method in ("NCE+AUL", "NCE+AGCE", "NCE+AEL")
    assert names == (method.split("+")[1:] if alpha_is_0 else method.split("+"))


@pytest.mark.parametrize(("dataset", "method"), CELLS, ids="-".join)
def test_cells_copied_by_hand(dataset, method):
    assert str(nf.paper_loss(method, dataset)) == CELLS[dataset, method]


def test_data_sets_by_their_usual_names():
    for name in ("cifar10", "CIFAR10", "CIFAR-10"):
        assert str(nf.paper_loss("AEL", name)) == "AEL(a=2.5)"


def test_the_released_codes_mae_is_half_of_ours():
    assert str(nf.paper_loss("NCE+MAE", "cifar10")) == "NCE + MAE"


@pytest.mark.parametrize(
    ("method", "dataset", "says"),
    [
        ("AGEC", "mnist", "unknown method 'AGEC'; did you mean 'AGCE'"),
        ("AGCE+NCE", "mnist", "unknown method 'AGCE.NCE'"),
        ("AGCE", "cifar1", "unknown data set 'cifar1'; did you mean 'cifar10"),
        ("AGCE", "svhn", "unknown data set 'svhn'; known: cifar10, cifar100, mnist, webvision"),
    ],
)
def test_unknown_names(method, dataset, says):
    with pytest.raises(ParameterError, match=says):
        nf.paper_loss(method, dataset)


def test_the_table_is_the_one_in_the_paper():
    source = os.environ.get("NOISEPROOF_PAPER")
    if not source:
        pytest.skip("set NOISEPROOF_PAPER to the paper's LaTeX source to compare with it")
    cells = list(printed_cells(Path(source).read_text()))
    assert len({method for method, _, _ in cells}) == 14  # all but CE, NLNL, NCE
    for method, dataset, printed in cells:
        if printed is None:
            assert PARAMETERS[dataset][method] is None, (method, dataset)
        else:
            assert settings(method, nf.paper_loss(method, dataset), printed) == printed


def printed_cells(latex):
    """Method, data set and {symbol: number} (or None for a dash) of each cell of the table."""
    table = latex.partition(r"\caption{Parameters settings")[2].partition(r"\end{tabular}")[0]
    for line in table.splitlines():
        if r"\\" not in line or "Method" in line:
            continue
        head, *cells = re.split(r"(?<!\\)&", line.replace(r"\\", ""))
        symbols = re.findall(r"\$\\?(\w+)\$", head)
        for method in head.partition("($")[0].split(r"\&"):
            for dataset, cell in zip(DATASETS, cells, strict=True):
                numbers = [float(x) for x in re.findall(r"-?[\d.]+(?:e-?\d+)?", cell)]
                known = dict(zip(symbols, numbers, strict=True)) if numbers else None
                yield method.strip(), dataset, known


def settings(method, loss, printed):
    """The settings of a loss, in the symbols of the table."""
    terms = getattr(loss, "losses", [loss])
    found = {n: getattr(term, n) for term in terms for n in type(term).domains()}
    if "+" in method:
        factors = getattr(loss, "factors", (0.0, 1.0))  # AGCE for NCE+AGCE: alpha is 0
        found |= dict(zip(("alpha", "beta"), factors, strict=True))
    return {symbol: found[symbol] for symbol in printed}
