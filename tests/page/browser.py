"""A real service over a demo that ran on Spark, and a real Chromium.

The browser: `$GOLDSMITH_CHROMIUM`, else the one of the npm package in `ui/package-lock.json`, else
`chromium` of the machine.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Error, Page, Playwright

ROOT = Path(__file__).resolve().parents[2]
GOLDSMITH = [str(Path(sys.executable).with_name("goldsmith"))]
_NPM_CHROMIUM = (
    "import('@sparticuz/chromium').then(m => m.default.executablePath()).then(p => console.log(p))"
)


@dataclass(frozen=True)
class Service:
    """A served project."""

    project: Path
    url: str
    key: str


class NoBrowser(Exception):
    """No Chromium starts on this machine."""


def make_demo(project: Path) -> None:
    """Make the demo project and run its pipelines."""
    subprocess.run([*GOLDSMITH, "demo", project, "--json"], check=True, stdout=subprocess.DEVNULL)


@contextmanager
def serve(project: Path, *options: str) -> Iterator[Service]:
    """Build the page unless it is built, and serve the project with it."""
    subprocess.run([sys.executable, ROOT / "tools" / "ui.py"], check=True)
    command = [*GOLDSMITH, "--project", str(project)]
    made = subprocess.run(
        [*command, "keys", "create", "ann@example.com", "--role", "admin", "--json"],
        check=True,
        capture_output=True,
    )
    log = project.parent / "serve.log"
    with (
        log.open("w") as errors,
        subprocess.Popen(
            [*command, "serve", "--json", "--port", "0", "--probe-port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as served,
    ):
        try:
            url = _first_answer(served, log)["url"]
            yield Service(project=project, url=url, key=json.loads(made.stdout)["secret"])
        finally:
            # The first signal drains, the second ends what still runs.
            served.send_signal(signal.SIGTERM)
            served.send_signal(signal.SIGTERM)
            served.communicate(timeout=120)


def _first_answer(served: subprocess.Popen[str], log: Path) -> dict[str, str]:
    """The first JSON object that the service prints: its addresses."""
    assert served.stdout is not None
    text = ""
    while not text.endswith("}\n"):
        line = served.stdout.readline()
        assert line, log.read_text()
        text += line
    answer: dict[str, str] = json.loads(text)
    return answer


@contextmanager
def open_browser(playwright: Playwright, folder: Path) -> Iterator[Browser]:
    """The first Chromium that starts; the one of npm is unpacked into this folder."""
    why = []
    for path in _browsers(folder):
        try:
            started = playwright.chromium.launch(
                executable_path=path, args=["--no-sandbox", "--disable-gpu"]
            )
        except Error as error:
            why.append(str(error).splitlines()[0])
            continue
        try:
            yield started
        finally:
            started.close()
        return
    raise NoBrowser(f"No Chromium starts here: {why or 'none was found'}.")


def _browsers(folder: Path) -> Iterator[str]:
    if named := os.environ.get("GOLDSMITH_CHROMIUM"):
        yield named
    own = ROOT / ".venv" / "node" / "bin" / "node"
    if node := shutil.which("node") or (str(own) if own.exists() else None):
        unpacked = subprocess.run(
            [node, "-e", _NPM_CHROMIUM],
            cwd=ROOT / "ui",
            env={**os.environ, "TMPDIR": str(folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        if unpacked.returncode == 0:
            yield unpacked.stdout.strip()
    if machine := shutil.which("chromium"):
        yield machine


def sign_in(page: Page, service: Service) -> None:
    """Sign in by key, as a person does."""
    page.goto(service.url)
    page.get_by_label("Key").fill(service.key)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Now", exact=True).wait_for()
