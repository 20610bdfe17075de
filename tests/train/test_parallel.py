"""Two processes that share each batch, against one."""

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest
import torch
from tiny_runs import write_npz
from torch import nn

from noiseproof.cli import main
from noiseproof.errors import ParameterError
from noiseproof.results import Record
from noiseproof.train import Machine, World
from noiseproof.train.parallel import synchronise

# One step over all 161 samples, an odd number, so that the processes' parts differ in size;
# momentum and decay off, so that the weights move by the gradient itself. cnn4 has batch norms.
# No crops: in their black borders neighbours tie, and rounding decides which one the pooling takes.
FIELDS = [
    "--loss", "AGCE(a=1, q=0.5)", "--noise", "symmetric:0.4", "--seed", "3", "--network", "cnn4",
    "--batch", "500", "--lr", "1", "--momentum", "0", "--weight-decay", "0", "--clip", "0",
    "--augment", "flip", "--threads", "1", "--save", "--quiet", "--device", "cpu",
]  # fmt: skip


def found(out):
    model = torch.load(next(out.glob("*.model.pt")), weights_only=True)["network"]
    return Record.read(next(out.glob("*.json"))), model


def test_two_processes_have_the_gradients_of_one(tmp_path):
    data = write_npz(tmp_path / "blobs.npz", count=201)
    one, two = tmp_path / "one", tmp_path / "two"
    command = ["train", str(data), *FIELDS, "--epochs", "1", "--out"]
    assert main([*command, str(one)]) == 0
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    torchrun += ["--standalone", "-m", "noiseproof"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*torchrun, *command, str(two)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("test accuracy") == 1  # one process speaks
    (single, weights), (shared, theirs) = found(one), found(two)
    assert shared.machine["processes"] == 2
    assert shared.noise_hash == single.noise_hash
    assert shared.identity == single.identity
    assert weights.keys() == theirs.keys()
    for name, value in weights.items():
        assert torch.allclose(theirs[name], value, atol=1e-6, rtol=1e-5), name
    ours, other = single.history[0], shared.history[0]
    assert other.loss == pytest.approx(ours.loss, abs=1e-6)
    assert other.train_accuracy == ours.train_accuracy
    assert other.corrupted_part == ours.corrupted_part


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("shape", [(6, 3), (6, 3, 4, 4)])
def test_the_batch_norm_of_all_processes_in_any_precision(monkeypatch, dtype, shape):
    monkeypatch.setattr(torch.distributed, "all_reduce", lambda values: None)  # one is all of them
    torch.manual_seed(0)
    kind = nn.BatchNorm2d if len(shape) == 4 else nn.BatchNorm1d
    found = []
    for whole in (False, True):
        network = nn.Sequential(kind(3))
        network = synchronise(network, torch.device("cpu")) if whole else network
        x = torch.randn(shape, generator=torch.Generator().manual_seed(1)).to(dtype)
        x.requires_grad_()
        y = network(x)
        (y.float() ** 3).sum().backward()
        assert y.dtype == dtype
        found.append([y.detach(), x.grad, network[0].weight.grad, *network.state_dict().values()])
    close = {"rtol": 1e-4, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 0.02, "atol": 0.05}
    for a, b in zip(*found, strict=True):
        torch.testing.assert_close(a, b, **close)


def test_parts_are_the_whole():
    for count in (0, 1, 7, 128):
        parts = [World(rank, 3).part(count) for rank in range(3)]
        assert [i for part in parts for i in range(count)[part]] == list(range(count))


def test_a_process_that_waits_for_the_others_in_vain_can_be_stopped():
    """They never come: torch waits for half an hour in code that hears no signal of Python's."""
    waiting = (
        "import signal, torch\n"
        "from noiseproof.train.parallel import joined\n"
        "signal.signal(signal.SIGTERM, lambda *_: None)\n"
        "print('waiting', flush=True)\n"
        "with joined(torch.device('cpu')): pass"
    )
    place = {"WORLD_SIZE": "2", "RANK": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}
    process = subprocess.Popen(
        [sys.executable, "-c", waiting], env=os.environ | place, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert process.stdout is not None
    with process:
        process.stdout.readline()
        for _ in range(100):  # until torch waits
            process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.2)
                break
    assert process.returncode == -signal.SIGTERM


class Told(World):
    """A world whose other process has found another number."""

    other = 0

    def sum(self, values):
        return values + torch.tensor([self.other, self.other**2])


@pytest.mark.parametrize(("mine", "other"), [(0, 1), (1, 0), (3, 5), (5, 3)])
def test_processes_that_see_different_files_of_a_run_say_so(mine, other):
    """Else one would go on from the checkpoint, the other from the beginning, and wait for ever."""
    world = Told(rank=0, size=2)
    object.__setattr__(world, "other", other)
    with pytest.raises(ParameterError, match="--out has to be one folder"):
        Machine(world=world).check_alike(mine)
    object.__setattr__(world, "other", mine)
    Machine(world=world).check_alike(mine)
