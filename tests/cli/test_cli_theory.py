import importlib
import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress

import pytest

from noiseproof.cli import main
from noiseproof.errors import DataError


def run(capsys, *arguments):
    code = main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_audit_prints_the_verdict(capsys):
    code, out, err = run(capsys, "audit", "AGCE(a=0.6, q=0.6)", "--classes", 10)
    assert (code, err) == (0, "")
    assert "up to 0.859 with 10 classes" in " ".join(out.split())


def test_audit_as_json(capsys):
    code, out, _ = run(capsys, "audit", "AEL(a=2.5)", "--noise", "symmetric:0.8", "--json")
    assert code == 0
    # c = 9/4 at symmetric 0.8 with ten classes, r = exp(-1/2.5)
    found = json.loads(out)
    assert found["clean_level"] == pytest.approx(9 / 4)
    assert found["margin"] == pytest.approx(9 / 4 * 0.670320, abs=1e-5)


def test_audit_draws(capsys, tmp_path):
    picture = tmp_path / "audit.svg"
    code, _, _ = run(capsys, "audit", "MAE", "--plot", picture)
    assert code == 0
    assert picture.read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["audit", "AGEC(a=1)"], "did you mean 'AGCE'?"),
        (["audit", "AUL(a=0.5, p=1)"], "expected `a` > 1, got 0.5"),
        (["audit", "CE", "--noise", "symetric:0.4"], "did you mean 'symmetric'?"),
        (["audit", "CE", "--noise", "symmetric:1.4"], "1.4"),
        (["audit", "CE", "--noise", "matrix:nowhere.csv"], "nowhere.csv"),
        (["audit", "CE", "--classes", "1"], "greater than or equal to 2"),
        (["audit"], "Missing argument"),
        (["audit", "CE", "--plot", "x.gif"], "x.gif"),
        (["figure", "curvs", "--out", "x.svg"], "did you mean 'curves'?"),
        (["figure", "curves", "--out", "x.bmp"], "x.bmp"),
        (["figure", "curves", "--out", "no/such/place/x.svg"], "no directory"),
        (["nonsense"], "nonsense"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_code_2(
    capsys, tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert out == ""
    assert list(tmp_path.iterdir()) == []


def test_every_command_has_help_with_an_example(capsys):
    for command in ("demo", "audit", "figure"):
        code, out, _ = run(capsys, command, "--help")
        assert code == 0
        assert f"Example: noiseproof {command}" in out


def test_no_command_prints_the_help(capsys):
    code, out, _ = run(capsys)
    assert code == 0
    assert "audit" in out
    assert "figure" in out
    for group, command in (("bench", "leaderboard"), ("data", "verify")):
        code, out, err = run(capsys, group)
        assert (code, err) == (0, "")
        assert f"\n  {command} " in out


def test_interrupted_says_so_and_leaves_nothing(tmp_path):
    terminal, end = pty.openpty()  # a bar needs a terminal, and one of some width
    termios.tcsetwinsize(end, (24, 80))
    process = subprocess.Popen(
        [sys.executable, "-m", "noiseproof", "figure", "conditions", "--out", "c.svg"],
        cwd=tmp_path,
        stderr=end,
        # Background jobs of a shell without job control, and their children, ignore SIGINT.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    os.close(end)
    shown = b""
    with open(terminal, "rb", buffering=0) as screen, suppress(OSError):  # the other end closed
        while more := screen.read(200):
            if b"minimising" not in shown and b"minimising" in shown + more:  # it has begun
                process.send_signal(signal.SIGINT)
            shown += more
    assert process.wait(timeout=60) == 130
    assert shown.rstrip().endswith(b"noiseproof: interrupted")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_that_python_forgets_is_heard_all_the_same(monkeypatch, number, code):
    class Interrupted:
        def __del__(self):  # what is raised here is ignored
            signal.raise_signal(number)

    def command(arguments):
        Interrupted()
        time.sleep(60)
        return 0

    monkeypatch.setattr("noiseproof.cli.commands.run", command)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    start = time.monotonic()
    try:
        assert main([]) == code
        assert time.monotonic() - start < 30  # whatever it waits for
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("then", [0, 60])
def test_a_module_is_imported_before_an_interruption_is_heard(
    monkeypatch, tmp_path, capsys, number, code, then
):
    """torch aborts the process if its C code is interrupted: it cannot pass on what is raised."""
    body = f"import signal\nsignal.raise_signal({int(number)})\nbegan = True\n"
    (tmp_path / "module_of_c_code.py").write_text(body)
    monkeypatch.syspath_prepend(tmp_path)
    whole = []

    def command(arguments):
        module = importlib.import_module("module_of_c_code")
        whole.append(module.began)
        time.sleep(then)  # it may also end before anybody hears of it
        return 0

    monkeypatch.delitem(sys.modules, "module_of_c_code", raising=False)
    monkeypatch.setattr("noiseproof.cli.commands.run", command)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert (main([]), whole) == (code, [True])
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err in ("noiseproof: interrupted\n", "noiseproof: terminated\n")


def test_an_import_without_an_end_is_interrupted_all_the_same(monkeypatch, tmp_path):
    (tmp_path / "module_without_end.py").write_text(
        f"import signal, time\nsignal.raise_signal({int(signal.SIGTERM)})\ntime.sleep(60)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("noiseproof.cli.PATIENCE", 0.1)
    monkeypatch.setattr(
        "noiseproof.cli.commands.run", lambda _: importlib.import_module("module_without_end")
    )
    assert main([]) == 143


@pytest.mark.parametrize("error", [ImportError, RuntimeError, OSError, DataError])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_that_became_another_error_is_one(monkeypatch, capsys, number, code, error):
    """As pybind11 makes of it, while a module of scipy's is imported."""

    def command(arguments):
        try:
            signal.raise_signal(number)
        except KeyboardInterrupt as interruption:
            raise error("initialization failed") from interruption

    monkeypatch.setattr("noiseproof.cli.commands.run", command)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main([]) == code
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err in ("noiseproof: interrupted\n", "noiseproof: terminated\n")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interruption_that_torch_would_forget_is_heard(number, code):
    """torch imports numpy from C: what is raised there is forgotten, and numpy left in pieces."""
    program = f"""
import os, sys
def hook(event, arguments, sent=[]):
    if event == "import" and arguments[0] == "numpy.lib.mixins" and not sent:
        sent.append(True)
        os.kill(os.getpid(), {int(number)})
sys.addaudithook(hook)
sys.argv = ["noiseproof", "audit", "CE"]
from noiseproof.cli import command
command()
"""
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert found.returncode == code
    assert found.stderr in ("noiseproof: interrupted\n", "noiseproof: terminated\n")


@pytest.mark.parametrize("module", ["tempfile", "typer"])
def test_an_interruption_while_the_command_line_is_imported_is_heard(module):
    program = f"""
import os, runpy, signal, sys
import noiseproof
def hook(event, arguments):
    if event == "import" and arguments[0] == {module!r}:
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(hook)
sys.argv = ["noiseproof", "--version"]
runpy.run_module("noiseproof", run_name="__main__")
"""
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    assert (found.returncode, found.stderr) == (130, "noiseproof: interrupted\n")


def test_a_matrix_says_itself_how_many_classes_there_are(capsys, tmp_path):
    (tmp_path / "T.csv").write_text("0.8,0.1,0.1\n0,1,0\n0.2,0.2,0.6\n")
    code, out, err = run(capsys, "audit", "MAE", "--noise", f"matrix:{tmp_path / 'T.csv'}")
    assert (code, err) == (0, "")
    assert "with 3 classes" in " ".join(out.split())
