import re

import pytest

from noiseproof import demo


def test_the_demo_shows_what_the_package_is_for(tmp_path, capsys):
    demo.run(tmp_path / "demo.png", seed=1)
    out = capsys.readouterr().out
    accuracy = dict(re.findall(r"^(CE|AGCE\(.*?\)) +([\d.]+)%", out, re.MULTILINE))
    ce, agce = (float(v) for v in accuracy.values())
    assert agce > ce + 25
    assert agce > 80
    assert (tmp_path / "demo.png").stat().st_size > 10_000


def test_the_same_seed_gives_the_same_run(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(demo, "EPOCHS", 2)
    x = torch.rand(64, 20)
    y = torch.randint(10, (64,))
    wrong = torch.ones(64, dtype=torch.bool)
    runs = [demo.train(demo.read_loss("MAE"), x, y, wrong, x, y, seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
