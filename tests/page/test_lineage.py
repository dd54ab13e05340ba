"""The lineage, the throttles and the order of the queue, from rows alone: nothing ran here."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect
from tests.page.browser import GOLDSMITH, ROOT, Service, serve

CATALOG = """
pipelines:
  - {pipeline_id: orders}
sources:
  - {source_id: raw_orders, s3_path: "data/raw/", file_format: jsonl}
targets:
  - {target_id: bronze_orders, location: "data/bronze/", type: s3}
  - {target_id: gold_orders, location: "data/gold/", type: s3}
stages:
  - {pipeline_id: orders, stage_order: 1, source_id: raw_orders, target_id: bronze_orders}
  - {pipeline_id: orders, stage_order: 2, source_id: bronze_orders, target_id: gold_orders}
throttles:
  - throttle_id: slow
    entity_type: source
    entity_id: raw_orders
    metric: records_per_second
    threshold: 100
"""


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    project = tmp_path_factory.mktemp("lineage")
    (project / "goldsmith.toml").write_text("", encoding="utf-8")
    rows = project / "rows.yaml"
    rows.write_text(CATALOG, encoding="utf-8")
    command = [*GOLDSMITH, "--project", str(project)]
    for order in (["catalog", "migrate"], ["apply", str(rows)]):
        subprocess.run([*command, *order, "--yes"], check=True, stdout=subprocess.DEVNULL)
    with serve(project, "--no-loop") as served:
        yield served


def test_a_dataset_opens_hop_by_hop_with_its_impact_beside_it(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/#/lineage")
    page.get_by_role("link", name="raw_orders").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("raw_orders")
    expect(page.get_by_text("Nothing feeds it.")).to_be_visible()
    expect(page.get_by_role("button", name="Open gold_orders")).to_have_count(0)
    page.get_by_role("button", name="Open bronze_orders").click()
    expect(page.get_by_role("button", name="Open gold_orders")).to_be_visible()
    page.get_by_role("button", name="Open gold_orders").click()
    expect(page.get_by_text("It feeds nothing.")).to_be_visible()
    impact = page.get_by_role("row").filter(has_text="gold_orders")
    expect(impact.filter(has_text="lost")).to_be_visible()
    impact.get_by_role("link", name="gold_orders").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("gold_orders")
    expect(page.get_by_text("raw_orders → bronze_orders → gold_orders")).to_be_visible()


def test_control_shows_a_meter_of_each_throttle_and_the_order_of_the_queue(
    page: Page, service: Service
) -> None:
    command = [*GOLDSMITH, "--project", str(service.project)]
    subprocess.run(
        [*command, "backfill", "orders", "--from", "2026-11-01", "--to", "2026-11-02"], check=True
    )
    page.goto(f"{service.url}/#/control")
    expect(page.get_by_label("Use of slow")).to_be_visible()
    entry = page.get_by_role("row").filter(has_text="No worker is alive.")
    expect(entry.filter(has_text="backfill 0.250")).to_be_visible()


@pytest.mark.parametrize("view", ["lineage", "lineage/bronze_orders", "control"])
def test_the_views_are_accessible_and_fit_a_phone(page: Page, service: Service, view: str) -> None:
    page.set_viewport_size({"width": 360, "height": 900})
    page.goto(f"{service.url}/#/{view}")
    page.get_by_role("heading", level=1).wait_for()
    expect(page.locator("html[data-busy=no]")).to_have_count(1)
    assert page.get_by_role("alert").all_inner_texts() == []
    page.evaluate((ROOT / "ui" / "node_modules" / "axe-core" / "axe.min.js").read_text())
    found = page.evaluate("axe.run()")["violations"]
    assert [f["id"] for f in found if f["impact"] in ("serious", "critical")] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
