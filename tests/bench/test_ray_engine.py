"""The Ray engine: a node is killed, a run is interrupted, an address is wrong."""

import contextlib
import os
import secrets
import signal
import socket
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from small_grid import write_grid

from noiseproof.bench import load_grid
from noiseproof.bench.cells import Block, Cells
from noiseproof.bench.engines import local
from noiseproof.bench.engines.engine import Settings
from noiseproof.bench.engines.scheduler import Broken, Mistake, News
from noiseproof.bench.engines.worker import explain
from noiseproof.bench.run import cells_left
from noiseproof.cli import main
from noiseproof.errors import DataError, ParameterError
from noiseproof.files import locked
from noiseproof.progress import SILENT, Progress
from noiseproof.results import Store
from noiseproof.results.run_files import lock_file

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'noiseproof[ray]'")
ray_engine = pytest.importorskip("noiseproof.bench.engines.ray_engine")
ray_cluster = pytest.importorskip("noiseproof.bench.engines.ray_cluster")
ray_task = pytest.importorskip("noiseproof.bench.engines.ray_task")

pytestmark = [
    # Ray leaves files and processes to the garbage collector, and says what it will change.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
]

#: Seconds that a busy machine may take for anything: what is waited for is always a condition.
LIMIT = 600
#: Ray keeps its own in the home of the first test, where those of the second would not find it.
TOKEN = secrets.token_hex(32)


@pytest.fixture
def ray_home(monkeypatch):
    """A home of its own, with a short name: it is the beginning of the names of sockets."""
    with tempfile.TemporaryDirectory(prefix="np", dir="/tmp", ignore_cleanup_errors=True) as home:
        for name in ("HOME", "RAY_TMPDIR", "TMPDIR"):
            monkeypatch.setenv(name, home)
        monkeypatch.delenv("RAY_ADDRESS", raising=False)
        monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        monkeypatch.setenv("RAY_AUTH_TOKEN", TOKEN)
        monkeypatch.setenv("RAY_memory_monitor_refresh_ms", "0")  # no cell is killed for another's
        monkeypatch.setenv("RAY_gcs_server_port_wait_time_s", str(LIMIT))
        monkeypatch.setenv("RAY_worker_register_timeout_seconds", str(LIMIT))
        monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        yield Path(home)
        ray.shutdown()


def decisive(record):
    """All of a record but how long it took."""
    values = replace(record, seconds=0.0).to_dict()
    for row in (*values["history"], values["last"], values["best"]):
        row.pop("seconds")
    return values


class Interrupted(Progress):
    """Ctrl-C after the first result."""

    def say(self, line):
        if line.startswith("1/"):
            raise KeyboardInterrupt


def test_an_interrupted_run_goes_on(ray_home, tmp_path):
    ray.init("local", num_cpus=1, include_dashboard=False, log_to_driver=False)
    cells = load_grid(write_grid(tmp_path)).cells()
    diverges = replace(cells[0], recipe=cells[0].recipe.override(lr=1e30))
    cells = (cells[0], diverges, cells[1])
    whole = Cells((Block(cells, (1,)),))
    store = Store(tmp_path / "store")
    settings = Settings(save=True, device="cpu")

    with pytest.raises(KeyboardInterrupt):
        ray_engine.run(cells, store, settings, Interrupted())
    assert list(store.records()) == [cells[0].key]
    assert not any(store.running(cell.key) for cell in cells)

    rest = cells_left(whole, store, save=True)
    assert tuple(rest) == cells[1:]
    tally = ray_engine.run(cells, store, settings, SILENT)
    assert tally.ran == 2
    assert not tally.lost
    assert set(tally.records) == {cell.key for cell in cells}
    records = store.records()
    assert records[diverges.key].status == "failed"
    models = [store.files(records[cell.key]).model.exists() for cell in cells]
    assert models == [True, False, True]
    assert not list(ray_home.glob("noiseproof-*")), "a folder of a finished cell is left"


class Counting(Progress):
    """Knows what was said, and how many results there are."""

    def __init__(self):
        self.said, self.results = [], 0

    def say(self, line):
        self.said.append(line)

    def update(self, done, total, note=""):
        self.results = done


def workers(node):
    """The processes of a node, and those among them that are at work on a cell."""
    raylet = node.all_processes["raylet"][0].process.pid
    every = [int(p) for p in Path(f"/proc/{raylet}/task/{raylet}/children").read_text().split()]
    busy = []
    for pid in every:
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/cmdline").read_bytes().startswith(b"ray::work"):
                busy.append(pid)
    return every, busy


def wait_until(holds):
    ends = time.monotonic() + LIMIT
    while not holds():
        assert time.monotonic() < ends, "it never came to that"
        time.sleep(0.02)


def held(folder, cells):
    """Hold the locks of all cells in the temporary folders of a node, so that it can end none."""
    locks = contextlib.ExitStack()
    for cell in cells:
        own = folder.with_name(f"{folder.name}-{cell.key[:20]}")
        locks.enter_context(locked(lock_file(own, cell.key), str(cell)))
    return locks


def kill_in_the_middle(cluster, doomed, first, board):
    """Kill a node that is at work on a cell, once the other one has finished one."""
    wait_until(lambda: workers(cluster.head_node)[1] and workers(doomed)[1])
    first.close()
    wait_until(lambda: board.results)
    every, busy = workers(doomed)
    assert busy, "nothing is at work on the node"
    for pid in every:
        os.kill(pid, signal.SIGKILL)
    cluster.remove_node(doomed, allow_graceful=False)


@pytest.mark.slow  # it starts two nodes and four processes that import torch: nothing it waits for
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes in /proc")
def test_a_node_is_killed_and_the_records_are_those_of_the_local_engine(ray_home, tmp_path):
    from ray.cluster_utils import Cluster

    cells = load_grid(write_grid(tmp_path)).select(seeds=[1]).cells()
    ours, theirs = Store(tmp_path / "ray"), Store(tmp_path / "local")
    board, name, places = Counting(), ray_engine.folder_name(ours), [ray_home / x for x in "ab"]
    for place in places:
        place.mkdir()
    nodes = [{"num_cpus": 1, "env_vars": {"TMPDIR": str(place)}} for place in places]
    cluster = Cluster(initialize_head=True, head_node_args={**nodes[0], "include_dashboard": False})
    try:
        doomed = cluster.add_node(wait=False, **nodes[1])
        cluster.wait_for_nodes(timeout=LIMIT)
        settings = Settings(device="cpu", address=cluster.address)
        with (
            held(places[0] / name, cells) as first,
            held(places[1] / name, cells),
            ThreadPoolExecutor(1) as pool,
        ):
            killed = pool.submit(kill_in_the_middle, cluster, doomed, first, board)
            tally = ray_engine.run(cells, ours, settings, board)
            killed.result()
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert sum("was lost" in line for line in board.said) == 1
    assert not tally.lost
    assert tally.ran == len(cells) == 4

    local.run(cells, theirs, Settings(device="cpu", workers=1), SILENT)
    mine, expected = ours.records(), theirs.records()
    assert len(mine) == len(cells)
    assert {k: decisive(r) for k, r in mine.items()} == {
        k: decisive(r) for k, r in expected.items()
    }


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "no.such.host.invalid:1"])
def test_a_cluster_that_does_not_answer_is_one_line_at_once(address, tmp_path, capsys):
    started = time.monotonic()
    command = ["bench", "run", "digits-symmetric", "--engine", "ray", "--address", address]
    assert main([*command, "--store", str(tmp_path / "store")]) == 2
    said = capsys.readouterr().err
    assert said == f"noiseproof: no Ray cluster answers at {address}\n"
    assert time.monotonic() - started < 30


def test_a_server_that_is_not_ray_does_not_answer():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        server.settimeout(10)
        client = socket.create_connection(("127.0.0.1", port))
        client.close()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ray_cluster, "TIMEOUT", 0.2)
            with pytest.raises(ParameterError, match="no Ray cluster answers"):
                ray_cluster.check_cluster(f"127.0.0.1:{port}")


@pytest.mark.parametrize("address", ["localhost", "host:", ":6379", "http://host:80", "host:99999"])
def test_what_is_no_address_is_said(address):
    with pytest.raises(ParameterError, match="expected the address of a Ray cluster"):
        ray_cluster.check_cluster(address)


def test_small_networks_share_a_gpu():
    cell = load_grid("digits-symmetric").cells()[0]
    of = {
        name: replace(cell, recipe=cell.recipe.override(network=name))
        for name in ("cnn4", "resnet34")
    }
    cluster = ray_engine.Room(cpus=64.0, gpus=4.0)
    assert cluster.slots([of["cnn4"]]) == 16
    assert cluster.slots([of["resnet34"]]) == 4
    assert ray_engine.Room(cpus=6.0, gpus=4.0).slots([of["cnn4"]]) == 6
    assert ray_engine.Room(cpus=6.0, gpus=0.0).slots([of["resnet34"]]) == 6
    assert ray_engine.Room(cpus=0.0, gpus=0.0).slots([cell]) == 1


def test_errors_of_a_node_say_which_node(tmp_path):
    match explain(DataError("mnist: not there"), tmp_path, "n7"):
        case Mistake(error):
            assert isinstance(error, DataError)
            assert str(error) == "mnist: not there (on n7)"
        case other:
            pytest.fail(f"{other}")
    full = OSError(28, "No space left on device", "/tmp/x")
    wrapped = RuntimeError("torch could not write")
    wrapped.__cause__ = full
    match explain(wrapped, tmp_path, "n7"):
        case Mistake(OSError(errno=28, filename="n7:/tmp/x")):
            pass
        case other:
            pytest.fail(f"{other}")
    assert explain(KeyError("x"), tmp_path, "n7") == Broken("KeyError: 'x' (on n7)")


def test_a_cell_that_ends_while_another_begins_does_not_disturb_it(tmp_path, monkeypatch):
    """One removed the folder of all cells, and the other's error ended the benchmark."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    first, second, *_ = load_grid(write_grid(tmp_path)).cells()
    products, made = {}, Path.mkdir

    def work(cell):
        products[cell.key] = None
        products[cell.key] = ray_task.work(cell, Settings(), "noiseproof-0123456789ab", None)

    def mkdir(folder, *arguments, **options):
        made(folder, *arguments, **options)
        if second.key not in products:
            work(second)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    work(first)
    assert {key: product.record.key for key, product in products.items()} == {
        cell.key: cell.key for cell in (first, second)
    }
    assert not list(tmp_path.glob("noiseproof-*"))


@pytest.mark.parametrize("whose", ["a link", "another user's"])
def test_a_folder_that_somebody_else_made_is_not_used(tmp_path, monkeypatch, whose):
    """Its name can be known before, and a record in it would be believed."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (cell, *_) = load_grid(write_grid(tmp_path)).cells()
    folder = tmp_path / f"noiseproof-0123456789ab-{cell.key[:20]}"
    (tmp_path / "planted").mkdir()
    if whose == "a link":
        folder.symlink_to("planted")
    else:
        folder.mkdir()
        monkeypatch.setattr(os, "geteuid", lambda: 12345)
    match ray_task.work(cell, Settings(), "noiseproof-0123456789ab", None):
        case Mistake(DataError() as error):
            assert "is not this user's folder; remove it" in str(error)
        case other:
            pytest.fail(f"{other}")
    assert not list((tmp_path / "planted").iterdir())


def test_the_engine_hears_the_last_epoch_of_each_cell():
    post = ray_task.Post()
    wire = SimpleNamespace(put=SimpleNamespace(remote=post.put))
    for key, numbers in (("a", (1, 2)), ("b", (1,))):
        for number in numbers:
            ray_task.Sender(wire, key).epoch(SimpleNamespace(number=number, test_accuracy=0.5))
    assert post.take() == {"a": News(2, 0.5), "b": News(1, 0.5)}
    assert post.take() == {}


def test_no_path_of_a_cell_depends_on_the_working_directory(tmp_path, monkeypatch):
    """A node has another one."""
    monkeypatch.chdir(tmp_path)
    rows = [",".join("1" if i == j else "0" for j in range(10)) for i in range(10)]
    (tmp_path / "T.csv").write_text("\n".join(rows))
    (tmp_path / "mine.toml").write_text(
        'dataset = "digits"\nnoises = ["matrix:T.csv"]\n[rows]\nCE = "CE"\n'
    )
    cell = load_grid("mine.toml").cells()[0]
    sent = ray_engine._absolute(cell)
    assert sent.noise == f"matrix:{tmp_path / 'T.csv'}"
    assert sent.key == cell.key
