"""A served demo and a browser for the tests of the page.

Where no Chromium starts, the tests are skipped with the reason, or fail if `$CI` is set.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from tests.page.browser import NoBrowser, Service, make_demo, open_browser, serve, sign_in


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    project = tmp_path_factory.mktemp("page") / "demo"
    make_demo(project)
    with serve(project) as served:
        yield served


@pytest.fixture(scope="session")
def browser(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    folder = tmp_path_factory.mktemp("chromium")
    with sync_playwright() as playwright:
        try:
            with open_browser(playwright, folder) as started:
                yield started
        except NoBrowser as error:
            pytest.fail(str(error)) if os.environ.get("CI") else pytest.skip(str(error))


@pytest.fixture
def page(browser: Browser, service: Service) -> Iterator[Page]:
    """A page that is signed in by key; a console error or an uncaught one fails the test."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(60_000)
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    sign_in(opened, service)
    # Before the sign-in the browser itself reports the answer 401 of the session.
    opened.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
    yield opened
    context.close()
    assert wrong == []
