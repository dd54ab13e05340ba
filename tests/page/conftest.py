"""A real service over a demo that ran on Spark, its page built, and a real Chromium.

The browser: `$GOLDSMITH_CHROMIUM`, else the one of the npm package in `ui/package-lock.json`, else
`chromium` of the machine. Where none starts, the tests are skipped, or fail if `$CI` is set.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, sync_playwright

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


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    subprocess.run([sys.executable, ROOT / "tools" / "ui.py"], check=True)
    project = tmp_path_factory.mktemp("page") / "demo"
    subprocess.run([*GOLDSMITH, "demo", project, "--json"], check=True, stdout=subprocess.DEVNULL)
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
            [*command, "serve", "--json", "--port", "0", "--probe-port", "0"],
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


@pytest.fixture(scope="session")
def browser(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        why = []
        for path in _browsers(tmp_path_factory.mktemp("chromium")):
            try:
                started = playwright.chromium.launch(
                    executable_path=path, args=["--no-sandbox", "--disable-gpu"]
                )
            except Error as error:
                why.append(str(error).splitlines()[0])
                continue
            yield started
            started.close()
            return
        reason = f"No Chromium starts here: {why or 'none was found'}."
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)


def _browsers(folder: Path) -> Iterator[str]:
    if named := os.environ.get("GOLDSMITH_CHROMIUM"):
        yield named
    node = shutil.which("node") or str(ROOT / ".venv" / "node" / "bin" / "node")
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


@pytest.fixture
def page(browser: Browser, service: Service) -> Iterator[Page]:
    """A page that is signed in by key; a console error or an uncaught one fails the test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(60_000)
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.goto(service.url)
    opened.get_by_label("Key").fill(service.key)
    opened.get_by_role("button", name="Sign in").click()
    opened.get_by_role("heading", name="Now", exact=True).wait_for()
    # Before the sign-in the browser itself reports the answer 401 of the session.
    opened.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
    yield opened
    context.close()
    assert wrong == []
