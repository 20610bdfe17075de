"""What runs with which extra, and the one line where one is missing."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from declared import distributions, modules, with_their_own

HERE = Path(__file__).parent

#: A command line for each command, complete enough to get past the parser.
COMMANDS = {
    "audit": ["MAE", "--classes", "3"],
    "recommend": ["--classes", "3", "--noise", "symmetric:0.2"],
    "train": ["digits", "--loss", "MAE", "--epochs", "1"],
    "fit": ["rows.csv", "--label", "y"],
    "predict": ["folder", "rows.csv"],
    "clean": ["rows.csv", "--label", "y", "--proposals", "0.9", "--out", "clean.csv"],
    "demo": [],
    "cache": [],
    "figure": ["curves", "--out", "curves.svg"],
    "data list": [],
    "data fetch": ["mnist"],
    "data verify": ["mnist"],
    "bench list": [],
    "bench run": ["digits-symmetric", "--rows", "CE", "--seeds", "1"],
    "bench status": [],
    "bench table": ["digits-symmetric", "--store", "."],
    "bench report": ["digits-symmetric", "--store", "."],
    "bench leaderboard": ["--store", "."],
    "bench verify": ["--store", "."],
    "bench pack": ["digits-symmetric", "--store", ".", "--out", "."],
    "bench unpack": ["--store", ".", "--out", "."],
}
NEED_FIT = ("train", "fit", "predict", "clean", "demo", "cache")
NEED_BENCH = tuple(name for name in COMMANDS if name.split()[0] in ("bench", "data", "figure"))


def installed(*extras, more=frozenset()):
    """The environment of a process that has some extras, and nothing else of site-packages."""
    allowed = modules(with_their_own(distributions(*extras) | more))
    paths = [str(HERE / "only"), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "NOISEPROOF_ONLY": " ".join(sorted(allowed)),
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }


def run(folder, environment, *arguments):
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )


def test_every_command_is_tried_here():
    from noiseproof.cli.commands import app

    found = {command.name or command.callback.__name__ for command in app.registered_commands}
    for group in app.registered_groups:
        found |= {f"{group.name} {c.name}" for c in group.typer_instance.registered_commands}
    assert found == set(COMMANDS)


def test_every_loss_theory_and_noise_needs_torch_and_numpy_alone(tmp_path):
    done = run(tmp_path, installed(), HERE / "bare.py")
    assert (done.stdout, done.stderr) == ("bare: all right\n", "")


def test_without_typer_the_command_line_says_what_to_install(tmp_path):
    done = run(tmp_path, installed(), "-m", "noiseproof", "--help")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "noiseproof: typer is missing: pip install 'noiseproof[fit]'\n"


@pytest.mark.parametrize(
    ("environment", "extra", "lacking"),
    [
        (installed(more=frozenset({"typer"})), "fit", NEED_FIT),
        (installed("fit"), "bench", NEED_BENCH),
    ],
    ids=["typer", "fit"],
)
def test_without_its_extra_a_command_says_what_to_install(tmp_path, environment, extra, lacking):
    others = {"audit", "recommend"}
    tried = {name: COMMANDS[name] for name in (*lacking, *others)}
    done = run(tmp_path, environment, HERE / "each_command.py", json.dumps(tried))
    assert done.stderr == ""
    for name, (code, out, err) in json.loads(done.stdout).items():
        if name in others:
            assert (code, err) == (0, "")
            continue
        assert (name, code, out) == (name, 2, "")
        assert err.startswith("noiseproof: ")
        assert err.endswith(f" missing: pip install 'noiseproof[{extra}]'\n")
        assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_fit_and_predict_need_the_extra_fit_alone(tmp_path):
    rows = [f"{i % 7},{(i * i) % 5},{'ab'[i % 7 > 3]}" for i in range(80)]
    (tmp_path / "rows.csv").write_text("\n".join(["u,v,y", *rows]))
    for command in (["fit", "rows.csv", "--label", "y"], ["predict", "rows-fit", "rows.csv"]):
        done = run(tmp_path, installed("fit"), "-m", "noiseproof", *command)
        assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_runs_and_figures_need_the_extra_bench_alone(tmp_path):
    cells = [*COMMANDS["bench run"], "--noise", "symmetric:0.2", "--recipe", "quick"]
    for command in (
        ["bench", "run", *cells],
        ["bench", "report", "digits-symmetric", "--store", "runs"],
        ["figure", *COMMANDS["figure"]],
        ["data", "list"],
    ):
        done = run(tmp_path, installed("bench"), "-m", "noiseproof", *command)
        assert done.returncode == 0, done.stderr


def test_ctrl_c_while_torch_is_imported_is_one_line(tmp_path):
    (tmp_path / "press.py").write_text(
        "import signal, sys\n"
        "class Press:\n"
        "    def find_spec(name, path=None, target=None):\n"
        "        if name == 'torch.nn':\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Press)\n"
        "from noiseproof.cli import main\n"
        "sys.exit(main(['audit', 'MAE']))\n"
    )
    done = subprocess.run(
        [sys.executable, "press.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        # Background jobs of a shell without job control, and their children, ignore SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "noiseproof: interrupted\n"
