"""The wheel and the sdist, and a venv that has nothing but the wheel."""

import os
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from declared import ROOT
from packaging.requirements import Requirement

import noiseproof

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "hatchling", "build", "-d", folder]
    subprocess.run(words, cwd=ROOT, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    (found,) = built.glob("*.whl")
    return found


def sources():
    """The files of the package as they are in the tree."""
    src = ROOT / "src"
    found = (path for path in src.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(src)) for path in found}


def test_the_wheel_has_the_package_and_no_more(wheel):
    assert wheel.name == f"noiseproof-{noiseproof.__version__}-py3-none-any.whl"
    assert wheel.stat().st_size < 1_000_000
    with zipfile.ZipFile(wheel) as archive:
        files = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert files == sources()
    assert {"noiseproof/py.typed", "noiseproof/paper/benchmarks.csv"} <= files


def test_the_wheel_brings_torch_and_numpy(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = message_from_bytes(archive.read(name))
    assert metadata["Version"] == noiseproof.__version__
    requirements = map(Requirement, metadata.get_all("Requires-Dist"))
    assert {r.name for r in requirements if r.marker is None} == {"torch", "numpy"}


def test_the_sdist_has_what_builds_the_wheel_and_no_results(built):
    (path,) = built.glob("*.tar.gz")
    assert path.stat().st_size < 1_000_000
    with tarfile.open(path) as archive:
        files = {name.split("/", 1)[1] for name in archive.getnames()}
    assert {f"src/{name}" for name in sources()} <= files
    assert {"LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "pyproject.toml"} <= files
    rooms = {name.split("/")[0] for name in files if "/" in name}
    assert rooms == {"src", "docs"}
    assert not [name for name in files if name.startswith("docs/results")]


@pytest.mark.slow
def test_in_a_bare_venv(wheel, tmp_path):
    venv = tmp_path / "venv"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}

    def run(*words):
        return subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    def install(what):
        words = [venv / "bin/pip", "install", "--quiet", "-c", ROOT / "constraints.txt", what]
        done = run(*words)
        assert done.returncode == 0, done.stderr

    run(sys.executable, "-m", "venv", venv)
    install(str(wheel))
    done = run(venv / "bin/python", HERE / "bare.py")
    assert (done.stdout, done.stderr) == ("bare: all right\n", "")
    done = run(venv / "bin/noiseproof", "fit", "rows.csv", "--label", "y")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "noiseproof: typer is missing: pip install 'noiseproof[fit]'\n"
    install(f"{wheel}[fit]")
    rows = [f"{i % 7},{(i * i) % 5},{'ab'[i % 7 > 3]}" for i in range(80)]
    (tmp_path / "rows.csv").write_text("\n".join(["u,v,y", *rows]))
    done = run(venv / "bin/noiseproof", "fit", "rows.csv", "--label", "y")
    assert done.returncode == 0, done.stderr
