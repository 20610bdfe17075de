"""What a command prints is safe on a terminal, whoever wrote the names in it."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from noiseproof import cli
from noiseproof.bench.grid_file import load_grid
from noiseproof.bench.leaderboard import Board, Column
from noiseproof.bench.pages.leaderboard_page import page
from noiseproof.cli import LONGEST, main
from noiseproof.errors import ParameterError

ODD = "\x1b[2J\x9b1m\u202e\r"


def test_commands_print_by_one_way_only():
    """Whoever adds a command cannot forget to escape what it prints."""
    for path in Path(cli.__file__).parent.glob("*.py"):
        calls = [
            node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)
        ]
        printed = [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "print"]
        echoed = [c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "echo"]
        assert not echoed, path.name
        assert not printed or path.name in ("app.py", "__init__.py"), path.name


def quoted(text):
    return '"' + "".join(f"\\u{ord(c):04x}" if not c.isprintable() else c for c in text) + '"'


def grid_file(folder, **fields):
    values = {
        "title": quoted(f"T{ODD}"),
        "dataset": '"digits"',
        "noises": '["none"]',
        "rows": f'{{ {quoted("r" + ODD)} = "CE" }}',
        "seeds": "[1]",
    }
    path = folder / "odd.toml"
    path.write_text("\n".join(f"{k} = {v}" for k, v in (values | fields).items()))
    return path


@pytest.mark.parametrize("form", ["md", "latex", "html", "csv", "json"])
def test_names_in_a_foreign_grid(tmp_path, capsys, form):
    path = grid_file(tmp_path)
    assert main(["bench", "table", str(path), "--store", str(tmp_path), "--format", form]) == 0
    out, err = capsys.readouterr()
    assert "r\\" in out or "r\\textbackslash" in out
    assert (out + err).replace("\n", "").isprintable()


@pytest.mark.parametrize("command", ["status", "run"])
def test_a_foreign_grid_is_one_line(tmp_path, capsys, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    names = {
        "brackets": {"title": "[" * 5000 + "]" * 5000},
        "digits": {"seeds": f"[{'9' * 5000}]"},
        "hexadecimal": {"seeds": f"[-0x{'f' * 5000}, 0x{'f' * 5000}, 'x']"},
        "word": {"seeds": f'["{"x" * 10**6}"]'},
        "epochs": {"overrides": f"{{ epochs = 1{'0' * 30} }}"},
        "rate": {"overrides": f"{{ lr = 1{'0' * 400} }}"},
        "batch": {"overrides": f"{{ batch = 1{'0' * 20} }}"},
        "layers": {"overrides": f"{{ hidden = [{'2, ' * 5000}] }}"},
        "held out": {"overrides": "{ held_out = 0.5 }"},
    }
    for name, fields in names.items():
        path = grid_file(tmp_path, **fields)
        assert main(["bench", command, str(path), "--store", "o"]) == 2, name
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1), name
        assert err.startswith("noiseproof: "), name
        assert len(err) < LONGEST + 100, name
        with pytest.raises(ParameterError):
            load_grid(path)


def test_a_complaint_is_cut_before_it_is_escaped(tmp_path, capsys, monkeypatch):
    """A header of 300 MB was escaped letter by letter, which took minutes and gigabytes."""
    lengths = []
    monkeypatch.setattr("noiseproof.cli.printable", lambda text: lengths.append(len(text)) or text)
    (tmp_path / "a.csv").write_text("x" * 10**6 + "\n1\n")
    assert main(["fit", str(tmp_path / "a.csv"), "--label", "y"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert 0 < max(lengths) < LONGEST + 100


def test_a_long_message_keeps_its_end_and_takes_no_time():
    """A million blanks took an hour to look through for the ends of lines."""
    said = str(ParameterError(f"no column{' ' * 10**6}{'x' * 10**6}; did you mean 'y'?"))
    assert said.startswith("no column")
    assert said.endswith("; did you mean 'y'?")
    assert len(said) <= LONGEST


def test_a_network_that_is_none_has_no_recipe(capsys):
    code = main(["train", "digits", "--loss", "CE", "--show", "--network", f"mlp{ODD}"])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert err.startswith("noiseproof: unknown network")
    assert err.strip().isprintable()


def test_streams_that_the_caller_closed(tmp_path):
    """What has no standard error to go to is not printed among the results."""
    told = tmp_path / "out"
    command = [sys.executable, "-m", "noiseproof", "audit", "NOPE"]
    with told.open("w") as out:
        closed = subprocess.run(command, stdout=out, preexec_fn=lambda: os.close(2), check=False)
    assert (closed.returncode, told.read_text()) == (2, "")
    closed = subprocess.run([*command[:-1], "CE"], preexec_fn=lambda: os.close(1), check=False)
    assert closed.returncode == 0


def test_pictures_need_no_window(tmp_path):
    command = [
        sys.executable,
        "-m",
        "noiseproof",
        "audit",
        "MAE",
        "--plot",
        str(tmp_path / "a.svg"),
    ]
    done = subprocess.run(command, env={**os.environ, "MPLBACKEND": "nonsense"}, check=False)
    assert done.returncode == 0


def test_processes_that_cannot_be_counted(monkeypatch, capsys, tmp_path):
    monkeypatch.delenv("RANK", raising=False)
    command = ["train", "digits", "--loss", "CE", "--epochs", "1", "--out", str(tmp_path / "o")]
    for size, told in (("many", "a whole number, got 'many'"), ("2", "RANK expected")):
        monkeypatch.setenv("WORLD_SIZE", size)
        assert main([*command, "--quiet"]) == 2
        err = capsys.readouterr().err
        assert told in err
        assert err.count("\n") == 1


def test_names_on_the_page_of_the_leaderboard():
    name, data = f"a | b ![x](http://x)\n{ODD}", "d|<b>"
    numbers = np.array([[50.0, 40.0]])
    text = page(Board((Column(data, "none"),), {name: "MAE", "CE": "CE"}, numbers, numbers, 2))
    assert text.replace("\n", "").isprintable()
    rows = [line for line in text.splitlines() if line.startswith("| a ")]
    assert len(rows) == 2
    assert all(row.startswith(r"| a \| b \![x\](http\://x)") for row in rows)
    assert "<b>" not in text.replace(r"\<b>", "")


def test_the_demo_shows_a_command_to_type(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def stop(*_, **__):
        raise ParameterError("enough")

    monkeypatch.setattr("noiseproof.cli.fit._fit", stop)
    assert main(["demo", "--out", f"my demo{ODD}"]) == 2
    out, _ = capsys.readouterr()
    assert out.replace("\n", "").isprintable()
    assert "$ noiseproof fit 'my demo" in out


@pytest.mark.parametrize("group", [[], ["bench"], ["data"]])
def test_no_line_of_the_list_of_commands_is_cut_off(group, capsys):
    assert main([*group, "--help"]) == 0
    commands = capsys.readouterr().out.split("Commands:")[1]
    assert "..." not in commands
    assert all(line.endswith(".") for line in commands.strip().splitlines())
