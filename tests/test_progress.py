"""Progress: silent by default, lines for a file, a bar on a terminal."""

import io
import sys

import pytest

from noiseproof.progress import SILENT, Progress, Terminal, on_terminal


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def work(progress: Progress) -> None:
    with progress:
        progress.step("learn")
        for done in range(1, 4):
            progress.update(done, 3, f"loss {1 / done:.2f}")
            progress.say(f"pass {done}")
        progress.step("write")
        progress.say("done")


def test_silence(capsys: pytest.CaptureFixture[str]) -> None:
    work(SILENT)
    work(on_terminal(quiet=True))
    assert capsys.readouterr() == ("", "")


def test_a_file_gets_the_lines_and_no_bar(capsys: pytest.CaptureFixture[str]) -> None:
    work(on_terminal())
    lines = "learn     pass 1\n          pass 2\n          pass 3\nwrite     done\n"
    assert capsys.readouterr() == ("", lines)


def test_a_terminal_gets_a_bar_and_standard_output_only_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    screen, out = Screen(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("noiseproof.progress.DELAY", 0)
    work(Terminal(out))
    assert out.getvalue().splitlines()[0] == "learn     pass 1"
    assert "3.00/3.00" in screen.getvalue()
    assert "loss 0.33" in screen.getvalue()


def test_without_tqdm_there_are_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setitem(sys.modules, "tqdm", None)
    work(Terminal())
    assert screen.getvalue().splitlines()[-1] == "write     done"
