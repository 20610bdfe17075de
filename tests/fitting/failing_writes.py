"""Runs fit, predict and clean again and again: each call that changes the disk fails in its turn.

Run in a process of its own, with one thread, so that it can fork and be killed. For each command
and each kind of fault it prints a list: for each call that failed, what was found afterwards.
"""

import builtins
import errno
import hashlib
import io
import json
import os
import shutil
import signal
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import fields
from pathlib import Path

if __name__ == "__main__":  # and not where pytest looks for doctests
    from noisy_tables import blobs
    from PIL import Image

    from noiseproof.cli import main
    from noiseproof.fitting import fit as fit_module
    from noiseproof.fitting.fitted import Fitted
    from noiseproof.fitting.review.clean_folder import SIDE
    from noiseproof.fitting.review.reviewed import fingerprint
    from noiseproof.prepare.formats.image_files import read_image_folder
else:
    Fitted = object


class Faults:
    """Counts the calls that change the disk; from one of them on, or at it alone, they fail."""

    def __init__(self):
        self.count, self.at, self.kind = 0, 0, ""

    def tick(self):
        self.count += 1
        if self.kind == "full" and self.count >= self.at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self.kind == "forbidden" and self.count == self.at:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        if self.kind == "killed" and self.count == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    def install(self):
        """Count every call through the modules that Python programs write files with."""
        real_open, real_os_open = io.open, os.open
        faults = self

        class Raw(io.FileIO):
            def write(self, data):
                faults.tick()
                return super().write(data)

        def opened(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None,
                   closefd=True, opener=None):  # fmt: skip
            if not set(mode) & set("wax+"):
                return real_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
            faults.tick()
            raw = Raw(file, mode.replace("b", "").replace("t", ""), closefd, opener)
            made = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            return made if "b" in mode else io.TextIOWrapper(made, encoding, errors, newline)

        def os_open(path, flags, *rest, **options):
            if flags & os.O_CREAT:
                faults.tick()
            return real_os_open(path, flags, *rest, **options)

        def counted(real):
            def call(*arguments, **options):
                faults.tick()
                return real(*arguments, **options)

            return call

        io.open = builtins.open = opened
        os.open = os_open
        os.fsync = counted(lambda _: None)  # a fault is all that is wanted of it
        for name in ("mkdir", "rename", "replace", "chmod"):
            setattr(os, name, counted(getattr(os, name)))


FAULTS = Faults()


def run(arguments, kind="", at=0):
    """Run a command with a fault; return its exit code and the lines on standard error.

    Without warnings: ninety rows are too few to tell noise from difficulty.
    """
    FAULTS.count, FAULTS.at, FAULTS.kind = 0, at, kind
    err = io.StringIO()
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(err):
            code = main(arguments)
    finally:
        FAULTS.kind = ""
    lines = err.getvalue().splitlines()
    return code, [line for line in lines if not line.startswith("warning: ")]


def killed(arguments, at):
    """Run a command in a child that is killed; return whether it was."""
    child = os.fork()
    if child == 0:
        code, _ = run(arguments, "killed", at)
        os._exit(code)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def state(place, names):
    """Return a hash for each output, file or folder; None where there is none."""
    found = []
    for name in names:
        path = place / name
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        made = hashlib.sha256()
        for file in files:
            made.update(str(file.relative_to(place)).encode())
            made.update(file.read_bytes() if file.is_file() else b"")
        found.append(made.hexdigest() if path.exists() else None)
    return found


def walk(place, outputs, old, new, kind):
    """Yield what was found after each fault in ``new``, where ``old`` ran before."""
    assert run(new) == (0, [])
    after, names = state(place, outputs), sorted(os.listdir(place))
    assert run(old) == (0, [])
    before = state(place, outputs)
    assert all(one != other for one, other in zip(before, after, strict=True))
    kept = place.with_name("kept")
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(place, kept)
    at = 1
    while True:
        if kind == "killed":
            code, lines = ("killed" if killed(new, at) else 0), []
        else:
            code, lines = run(new, kind, at)
        if FAULTS.count < at and kind != "killed":
            return
        if kind == "killed" and code == 0:
            return
        now = state(place, outputs)
        yield {
            "code": code,
            "lines": lines,
            "whole": [
                "old" if n == b else "new" if n == a else "broken" if n else "gone"
                for n, b, a in zip(now, before, after, strict=True)
            ],
            "left": sorted(set(os.listdir(place)) - set(names)),
            # What a killed process left behind is removed by the next one.
            "again": kind != "killed" or (run(new)[0] == 0 and state(place, outputs) == after),
            "left_then": sorted(set(os.listdir(place)) - set(names)),
        }
        shutil.rmtree(place)
        shutil.copytree(kept, place)
        os.chdir(place)
        at += 1


class Ready(Fitted):
    """A fit whose pages are made once: only their writing is tried."""

    report = "<p>report"
    summary = {"data": "a summary"}  # noqa: RUF012


def make_pictures(folder):
    """Make pictures of two classes, and two reviews that move one and two of them."""
    for at in range(6):
        path = folder / "ab"[at % 2] / f"{at}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8), (40 * at, 0, 0)).save(path)
    known = fingerprint(read_image_folder(folder, SIDE, labelled=True), 6, folder)
    lines = ["row,given_label,decision,label,list,fingerprint"]
    for name, row, given, new in (("some", "a/0.png", "a", "b"), ("all", "b/1.png", "b", "a")):
        lines.append(f"{row},{given},other,{new},doubtful,{known}")
        folder.with_name(f"{name}.csv").write_text("\n".join(lines))


def whole_walk(place):
    """Return everything that is found, by command and kind of fault."""
    place.mkdir()
    os.chdir(place)
    frame, _, _ = blobs(90)
    frame.to_csv("pets.csv", index=False)
    frame[:50].to_csv("few.csv", index=False)
    made = {}
    for name, seed in (("old", 1), ("new", 0)):
        fitted = fit_module.fit(blobs(90, seed=seed)[0], "kind")
        given = {field.name: getattr(fitted, field.name) for field in fields(Fitted)}
        made[name] = Ready(**given)
    assert run(["fit", "pets.csv", "--label", "kind", "--out", "model"])[0] == 0

    def ready(file, label, seed, **_):
        return made["old" if seed else "new"]

    fit_module.fit = ready
    make_pictures(place / "pictures")
    FAULTS.install()
    fit = ["fit", "pets.csv", "--label", "kind", "--out", "out", "--force"]
    predict = ["predict", "model", "--out", "p.csv", "--force"]
    clean = ["clean", "pets.csv", "--fit", "model", "--out", "c.csv", "--force", "--proposals"]
    pictures = ["clean", "pictures", "--out", "c", "--force", "--reviewed"]
    commands = {
        "fit": (["out"], [*fit, "--seed", "1"], fit),
        "predict": (["p.csv"], [*predict, "few.csv"], [*predict, "pets.csv"]),
        "clean": (["c.csv", "c-changes.csv"], [*clean, "0.99"], [*clean, "0.25"]),
        "clean folder": (["c", "c-changes.csv"], [*pictures, "some.csv"], [*pictures, "all.csv"]),
    }
    return {
        f"{name} {kind}": list(walk(place, *command, kind))
        for name, command in commands.items()
        for kind in ("full", "forbidden", "killed")
    }


if __name__ == "__main__":
    print(json.dumps(whole_walk(Path(sys.argv[1]).resolve())))
