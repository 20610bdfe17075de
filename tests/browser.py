"""A headless Chromium for tests of pages: what it shows, what it complains of, what it asks for."""

import json
import re
import shutil
import subprocess
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

#: Nothing but the page itself may ask the network for anything.
QUIET = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-default-apps", "--disable-extensions", "--disable-breakpad",
    "--disable-client-side-phishing-detection", "--disable-domain-reliability",
    "--disable-features=MediaRouter,OptimizationHints,Translate,AutofillServerCommunication",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--hide-scrollbars",
)  # fmt: skip


@dataclass(frozen=True)
class Seen:
    """What the browser made of a page.

    Args:
        dom: the document after its scripts ran, as text.
        console: what was written to the console, errors among it.
        requests: the addresses it asked the network for.
    """

    dom: str
    console: tuple[str, ...]
    requests: tuple[str, ...]

    @property
    def text(self) -> str:
        """What a reader reads, spaces as single ones."""
        reader = _Reader()
        reader.feed(self.dom)
        return " ".join(" ".join(reader.words).split())


def open_page(path: Path, folder: Path) -> Seen:
    """Open a page; the test is skipped, saying so, where there is no Chromium.

    Args:
        path: the page.
        folder: a fresh folder for the browser's own files.
    """
    log = folder / "net.json"
    done = _run(
        folder, "--dump-dom", "--enable-logging=stderr", f"--log-net-log={log}", path.as_uri()
    )
    console = re.findall(r"CONSOLE[^\]]*\] (.*)", done.stderr)
    return Seen(done.stdout, tuple(console), _requests(log))


def screenshot(path: Path, picture: Path, folder: Path, *options: str) -> None:
    """Draw a page as the browser shows it."""
    _run(folder, f"--screenshot={picture}", *options, path.as_uri())


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt install chromium")
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [CHROMIUM, *QUIET, profile, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


def _requests(log: Path) -> tuple[str, ...]:
    """Return the addresses of a network log that the page asked for.

    The browser asks for some of its own accord; those have no origin.
    """
    found = json.loads(log.read_text("utf-8"))
    started = found["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    asked = [e.get("params", {}) for e in found["events"] if e["type"] == started]
    return tuple(p["url"] for p in asked if "url" in p and p.get("initiator") != "not an origin")


class _Reader(HTMLParser):
    """Collects the text of a document, but for its styles and scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag, attributes):
        self.hidden += tag in ("style", "script")

    def handle_endtag(self, tag):
        self.hidden -= tag in ("style", "script")

    def handle_data(self, data):
        if not self.hidden:
            self.words.append(data)
