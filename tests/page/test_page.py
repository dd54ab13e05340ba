"""The page in a real browser: every view opens, and the actions that matter work by clicking."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.page.browser import ROOT, Service
from tests.page.views import VIEWS


def test_every_view_opens_without_an_error_and_without_a_serious_fault(
    page: Page, service: Service
) -> None:
    axe = (ROOT / "ui" / "node_modules" / "axe-core" / "axe.min.js").read_text()
    faults = []
    for view in VIEWS:
        page.goto(f"{service.url}/#/{view}")
        page.get_by_role("heading", level=1).wait_for()
        page.wait_for_load_state("load")
        expect(page.get_by_text("Loading…")).to_have_count(0)
        assert page.get_by_role("alert").all_inner_texts() == [], view
        page.evaluate(axe)
        found = page.evaluate("axe.run()")["violations"]
        faults += [
            (view, fault["id"], [node["html"][:200] for node in fault["nodes"][:2]])
            for fault in found
            if fault["impact"] in ("serious", "critical")
        ]
    assert faults == []


@pytest.mark.parametrize("width", [360, 2560])
def test_no_view_scrolls_sideways(page: Page, service: Service, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    wide = []
    for view in VIEWS:
        page.goto(f"{service.url}/#/{view}")
        page.get_by_role("heading", level=1).wait_for()
        expect(page.get_by_text("Loading…")).to_have_count(0)
        if (found := page.evaluate("document.documentElement.scrollWidth")) > width:
            wide.append((view, found))
    assert wide == []


def test_a_row_is_edited_refused_corrected_applied_and_undone(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/#/pipelines/orders_etl?tab=Rows")
    page.get_by_label("default_retry_id").fill("nope")
    page.get_by_role("button", name="Show the difference").click()
    expect(page.get_by_text("UnknownRetryPolicy")).to_be_visible()
    page.get_by_label("Reason, for the history").fill("try")
    expect(page.get_by_role("button", name="Apply")).to_be_disabled()

    page.get_by_label("default_retry_id").fill("std_retry")
    page.get_by_label("owner").fill("ann@example.com")
    page.get_by_role("button", name="Show the difference").click()
    page.get_by_label("Reason, for the history").fill("ann takes over")
    page.get_by_role("button", name="Apply").click()
    expect(page.get_by_text("Applied.")).to_be_visible()
    changed = page.get_by_role("row").filter(has_text="ann takes over")
    changed.get_by_role("button").click()
    page.get_by_label("Reason", exact=True).fill("too early")
    page.get_by_role("button", name="Undo it").click()
    expect(page.get_by_role("row").filter(has_text="too early")).to_be_visible()
    expect(page.get_by_label("owner")).to_have_value("shop-team")


def test_a_pipeline_is_stopped_with_its_blast_radius_in_view_and_released(
    page: Page, service: Service
) -> None:
    page.goto(f"{service.url}/#/pipelines/orders_etl")
    page.get_by_role("button", name="Stop", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("analytics.daily_revenue")).to_be_visible()
    expect(dialog.get_by_text("shop-team")).to_be_visible()
    expect(dialog.get_by_role("button", name="Stop it")).to_be_disabled()
    dialog.get_by_label("Reason, for whoever is paged").fill("wrong prices")
    dialog.get_by_role("button", name="Stop it").click()
    page.goto(f"{service.url}/#/control")
    expect(page.get_by_text("wrong prices")).to_be_visible()
    page.get_by_role("button", name="Release").click()
    page.get_by_role("dialog").get_by_label("Reason").fill("prices are right")
    page.get_by_role("button", name="Release it").click()
    expect(page.get_by_text("Nothing is stopped.")).to_be_visible()


def test_quarantined_rows_are_replayed(page: Page, service: Service) -> None:
    page.goto(f"{service.url}/#/datasets/bronze_user_events?tab=Quarantine")
    page.get_by_role("button", name="Replay 21 rows").click()
    expect(page.get_by_text("The replay is requested")).to_be_visible()


def test_search_finds_a_dataset_and_its_table_is_saved_as_csv(
    page: Page, service: Service, tmp_path: Path
) -> None:
    page.keyboard.press("Control+k")
    page.get_by_role("searchbox", name="Search").fill("silver_orders")
    page.get_by_role("link", name="dataset silver_orders").wait_for()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="silver_orders", level=1)).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    download.value.save_as(tmp_path / "columns.csv")
    assert (tmp_path / "columns.csv").read_text().startswith("column,type\norder_id,string")
