"""Take pictures of the page in a real browser over a demo that ran.

`make screenshots` writes the pictures of docs/page.md again. `--all FOLDER` takes every view, light
and dark, narrow and wide, for somebody to look through.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.page.browser import (  # noqa: E402
    NoBrowser,
    Service,
    make_demo,
    open_browser,
    serve,
    sign_in,
)
from tests.page.views import VIEWS  # noqa: E402

PICTURES = ROOT / "docs" / "pictures"
#: The pictures of the documentation, and the views in them.
DOCUMENTED = {
    "now": "now",
    "pipeline": "pipelines/orders_etl",
    "lineage": "lineage/silver_orders",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", type=Path, metavar="FOLDER", help="take every view into FOLDER")
    parser.add_argument("--project", type=Path, help="a demo that ran, instead of a new one")
    parser.add_argument("--url", help="a service that runs, instead of a new one")
    parser.add_argument("--key", help="the key for --url")
    parser.add_argument("--only", default="", help="only the views with this text in their address")
    options = parser.parse_args()
    try:
        with (
            tempfile.TemporaryDirectory() as folder,
            _service(options, Path(folder)) as service,
            sync_playwright() as playwright,
            open_browser(playwright, Path(folder)) as browser,
        ):
            if options.all:
                views = [view for view in VIEWS if options.only in view]
                take_all(browser, service, views, options.all)
            else:
                take_documented(browser, service)
    except NoBrowser as error:
        print(error, file=sys.stderr)
        return 1
    return 0


@contextmanager
def _service(options: argparse.Namespace, folder: Path) -> Iterator[Service]:
    if options.url:
        yield Service(project=Path(), url=options.url, key=options.key)
        return
    project = options.project or folder / "demo"
    if options.project is None:
        make_demo(project)
    with serve(project) as service:
        yield service


def take_documented(browser: Browser, service: Service) -> None:
    PICTURES.mkdir(exist_ok=True)
    page = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme="light")
    sign_in(page, service)
    for name, view in DOCUMENTED.items():
        open_view(page, service, view)
        page.screenshot(path=PICTURES / f"page-{name}.png")
        print(PICTURES / f"page-{name}.png")


def take_all(browser: Browser, service: Service, views: list[str], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for scheme in ("light", "dark"):
        for width in (1440, 360):
            context = browser.new_context(
                viewport={"width": width, "height": 900}, color_scheme=scheme
            )
            page = context.new_page()
            sign_in(page, service)
            for view in views:
                open_view(page, service, view)
                name = "".join(letter if letter.isalnum() else "-" for letter in view)
                page.screenshot(path=folder / f"{name}.{scheme}.{width}.png", full_page=True)
            context.close()


def open_view(page: Page, service: Service, view: str) -> None:
    page.goto(f"{service.url}/#/{view}")
    page.get_by_role("heading", level=1).wait_for()
    # Every view marks the document while it waits for an answer.
    page.locator("html[data-busy=no]").wait_for(state="attached")


if __name__ == "__main__":
    sys.exit(main())
