"""A headless Chromium that tests drive: real key presses, downloads, reloads.

It speaks the DevTools protocol over two pipes, so no package is needed.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from browser import CHROMIUM, QUIET

KEYS = {
    "Enter": ("Enter", 13, "\r"), "Escape": ("Escape", 27, ""),
    "ArrowRight": ("ArrowRight", 39, ""), "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowDown": ("ArrowDown", 40, ""), "Tab": ("Tab", 9, ""),
}  # fmt: skip


class Browser:
    """One page of a headless Chromium; use as a context manager.

    Args:
        folder: a fresh folder for its profile and downloads; a second browser in the same folder
            finds what the first one kept.
        options: further options of the command line.
    """

    def __init__(self, folder: Path, *options: str):
        if CHROMIUM is None:
            pytest.skip("needs Chromium: apt install chromium")
        self.folder, self.downloads = folder, folder / "downloads"
        self.downloads.mkdir(parents=True, exist_ok=True)
        theirs, self.write = os.pipe()
        self.read, answers = os.pipe()

        def connect():  # Chromium reads commands from 3 and writes answers to 4
            # Both out of the way first: either may be 3 or 4 already.
            high, out_high = (fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (theirs, answers))
            os.dup2(high, 3)
            os.dup2(out_high, 4)

        command = [
            CHROMIUM, *QUIET, "--remote-debugging-pipe", f"--user-data-dir={folder / 'profile'}",
            *options, "about:blank",
        ]  # fmt: skip
        self.process = subprocess.Popen(
            command, preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(theirs)
        os.close(answers)
        self.number, self.buffer, self.events, self.session = 0, b"", [], None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(t["targetId"] for t in targets if t["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads),
            eventsEnabled=True,
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.session = None
        try:
            self.call("Browser.close")
            self.process.wait(20)
        except (OSError, EOFError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.write)
        os.close(self.read)

    def call(self, method, **parameters):
        """Send a command and return its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next(30)
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                return answer["result"]

    def _next(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read], [], [], max(0, end - time.monotonic()))
            assert ready, "the browser does not answer"
            part = os.read(self.read, 1 << 20)
            if not part:
                raise EOFError("the browser has gone")
            self.buffer += part
        line, _, self.buffer = self.buffer.partition(b"\0")
        message = json.loads(line)
        if "method" in message:
            self.events.append(message)
        return message

    def open(self, path: Path):
        """Open a page and wait until it is loaded."""
        self._load("Page.navigate", url=path.as_uri())

    def reload(self):
        """Load the page again."""
        self._load("Page.reload")

    def _load(self, method, **parameters):
        self.events.clear()
        self.call(method, **parameters)
        end = time.monotonic() + 60
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self._next(end - time.monotonic())

    def run(self, script):
        """Return what a script gives."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def press(self, *keys):
        """Press keys, one after another, as a keyboard does."""
        for key in keys:
            name, code, text = KEYS.get(key, (key, ord(key.upper()[0]), key))
            shared = {"key": name, "windowsVirtualKeyCode": code}
            self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **shared)
            self.call("Input.dispatchKeyEvent", type="keyUp", **shared)

    def click(self, selector):
        """Click the middle of an element with the mouse."""
        box = self.run(
            "(e => { e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect(); "
            "return [b.x + b.width / 2, b.y + b.height / 2]; })"
            f"(document.querySelector({selector!r}))"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left",
                clickCount=1,
            )  # fmt: skip

    def tap(self, x, y):
        """Touch the page with a finger, and lift it."""
        self.call("Emulation.setTouchEmulationEnabled", enabled=True)
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def downloaded(self, name):
        """Wait for a download, and return where it is; an earlier one of the name is gone."""
        path, end = self.downloads / name, time.monotonic() + 20
        while not path.exists():
            assert time.monotonic() < end, f"no {name} was downloaded"
            time.sleep(0.05)
        time.sleep(0.1)
        kept = self.folder / name
        shutil.move(path, kept)
        return kept

    @property
    def complaints(self):
        """Errors on the console since the page was opened, and addresses it asked for."""
        wrong = [e["params"] for e in self.events if e["method"] in
                 ("Runtime.exceptionThrown", "Log.entryAdded")]  # fmt: skip
        asked = [e["params"]["request"]["url"] for e in self.events
                 if e["method"] == "Network.requestWillBeSent"]  # fmt: skip
        return wrong + [url for url in asked if not url.startswith(("file:", "data:", "blob:"))]

    def screenshot(self, path, width=1200, height=900, dark=False, whole=False):
        """Draw the page as it is shown."""
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
            mobile=width < 600,
        )  # fmt: skip
        made = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(made["data"]))
