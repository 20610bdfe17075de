import subprocess
import sys

import noiseproof as nf

# The names that users, the README and the docs rely on; changing this list is a decision.
PROMISED = [
    "CE",
    "FL",
    "GCE",
    "SCE",
    "MAE",
    "RCE",
    "NLNL",
    "NCE",
    "NFL",
    "NGCE",
    "AUL",
    "AGCE",
    "AEL",
    "Normalized",
    "Loss",
    "Pointwise",
    "RowLoss",
    "Transformed",
    "AMSE",
    "NNCE",
    "NNFL",
    "Biased",
    "ClippedCE",
    "EpsSoftmax",
    "Spread",
    "UnitLogits",
    "Statistic",
    "LogSum",
    "PowerSum",
    "loss",
    "paper_loss",
    "parameter",
    "registry",
    "linear_loss",
    "asymmetry_ratio",
    "audit",
    "Audit",
    "is_symmetric",
    "is_asymmetric",
    "is_completely_asymmetric",
    "minimise_risk",
    "calibration",
    "excess_risk_constant",
    "check_excess_risk",
    "fit",
    "load",
    "recommend",
    "noise",
    "errors",
]


def test_all_is_the_promised_surface():
    assert sorted(nf.__all__) == sorted(PROMISED)
    assert all(hasattr(nf, name) for name in PROMISED)


def test_every_public_name_says_what_it_is():
    assert [
        name for name in nf.__all__ if name != "registry" and not getattr(nf, name).__doc__
    ] == []


def test_dir_shows_what_is_imported_later():
    assert {*PROMISED, "integrations"} <= set(dir(nf))
    assert nf.integrations.boosting.probabilities


def test_a_loss_imports_torch_and_numpy_and_no_more():
    code = (
        "import sys, torch, numpy; before = set(sys.modules); import noiseproof; "
        "[getattr(noiseproof, name) for name in dir(noiseproof) if name not in ('fit', 'load')]; "
        "print(sorted({m.split('.')[0] for m in set(sys.modules) - before}))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = eval(run.stdout)
    foreign = {name for name in imported if name not in sys.stdlib_module_names}
    # Modules that numpy.random makes are numpy's.
    assert {name for name in foreign if "cython" not in name} <= {"noiseproof", "numpy"}


def test_the_package_alone_imports_in_no_time():
    code = "import sys, noiseproof; print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
