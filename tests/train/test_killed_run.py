"""The whole command, killed with SIGKILL at random moments, ends as if nothing had happened."""

import random
import subprocess
import sys
import time

import torch
from tiny_runs import write_npz

from noiseproof.cli import main
from noiseproof.results import Record

FIELDS = [
    "--loss", "NLNL", "--method", "nlnl", "--noise", "symmetric:0.4", "--seed", "7",
    "--network", "mlp", "--epochs", "60", "--augment", "crop,flip",
    "--threads", "1", "--save", "--quiet", "--device", "cpu",
]  # fmt: skip


def found(out):
    rows = Record.read(next(out.glob("*.json"))).to_dict()["history"]
    model = torch.load(next(out.glob("*.model.pt")), weights_only=True)["network"]
    return [{k: v for k, v in row.items() if k != "seconds"} for row in rows], model


def test_killed_and_started_again(tmp_path, monkeypatch, capfd):
    data = write_npz(tmp_path / "blobs.npz", count=400)
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    command = ["train", str(data), *FIELDS, "--out"]
    assert main([*command, str(whole)]) == 0

    moments, kills = random.Random(1), 0
    for _ in range(2):
        process = subprocess.Popen([sys.executable, "-m", "noiseproof", *command, str(killed)])
        before = [p.stat().st_mtime_ns for p in killed.glob("*.checkpoint.pt")]
        while process.poll() is None:
            now = [p.stat().st_mtime_ns for p in killed.glob("*.checkpoint.pt")]
            if now != before:  # it has saved an epoch: kill it somewhere in the next ones
                time.sleep(moments.uniform(0, 0.15))
                process.kill()
                process.wait()
                kills += process.returncode < 0
                break
            time.sleep(0.005)
    assert kills >= 1
    assert not list(killed.glob("*.json"))
    assert main([*command, str(killed)]) == 0
    rows, model = found(whole)
    again, same = found(killed)
    assert again == rows
    assert model.keys() == same.keys()
    assert all(torch.equal(model[name], same[name]) for name in model)
