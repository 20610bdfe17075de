import re
from dataclasses import replace

import pandas as pd
import pytest
import torch

from noiseproof import data, demo
from noiseproof.cli import main
from noiseproof.errors import ParameterError


def shown(capsys, told=""):
    """Run the demo, which has to say what is ``told``; return its last line's numbers."""
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "$ noiseproof fit noiseproof-demo/digits.csv --label digit" in out
    assert "the report: noiseproof-demo/fit/report.html" in out
    assert re.search(told, out)
    return tuple(map(float, re.findall(r"([+-]?[\d.]+)(?:%| points)", out.splitlines()[-1])))


@pytest.mark.slow
def test_the_demo_shows_what_the_package_is_for(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    ours, plain, gain = shown(capsys, r"estimate  4\d\.\d% of the labels are wrong \(")
    assert ours > 90
    assert gain > 5
    assert ours - plain == pytest.approx(gain, abs=0.11)


def test_the_demo_names_the_report_and_the_gain_and_can_be_run_again(tmp_path, monkeypatch, capsys):
    digits = data.load("digits")
    few = replace(digits, train=digits.train.subset(torch.arange(90)))
    monkeypatch.setattr(demo, "load", lambda name: few)
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert len(shown(capsys)) == 3
    assert (tmp_path / "noiseproof-demo" / "fit" / "report.html").stat().st_size > 10_000


def test_four_in_ten_of_its_labels_are_wrong_and_the_tests_are_right(tmp_path):
    files = demo.prepare(tmp_path / "demo", seed=1)
    assert files.wrong == pytest.approx(0.4, abs=0.04)
    assert (len(pd.read_csv(files.train)), len(pd.read_csv(files.test))) == (1442, 355)
    first = files.train.read_bytes()
    assert demo.prepare(tmp_path / "demo", seed=1).train.read_bytes() == first
    assert demo.prepare(tmp_path / "other", seed=2).train.read_bytes() != first
    with pytest.raises(ParameterError, match=r"digits.csv was edited, or is of another seed"):
        demo.prepare(tmp_path / "demo", seed=2)


def test_it_touches_no_folder_of_someone_else(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(ParameterError, match="is of no demonstration"):
        demo.prepare(tmp_path)


def test_it_replaces_no_table_of_someone_else(tmp_path):
    (tmp_path / "digits.csv").write_text("pixel0,digit\n1,2\n")
    with pytest.raises(ParameterError, match="is of no demonstration"):
        demo.prepare(tmp_path)
    assert (tmp_path / "digits.csv").read_text() == "pixel0,digit\n1,2\n"


@pytest.mark.parametrize("name", [demo.TRAIN, demo.TEST])
def test_it_replaces_no_table_that_was_edited(tmp_path, name):
    demo.prepare(tmp_path)
    with (tmp_path / name).open("a") as file:
        file.write("a row of mine\n")
    before = (tmp_path / name).read_bytes()
    with pytest.raises(ParameterError, match=rf"{name} was edited"):
        demo.prepare(tmp_path)
    assert (tmp_path / name).read_bytes() == before


def test_a_demo_that_was_killed_early_can_be_run_again(tmp_path):
    files = demo.prepare(tmp_path, seed=1)
    files.test.unlink()
    assert demo.prepare(tmp_path, seed=1).test.is_file()
