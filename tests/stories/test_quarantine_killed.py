from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from stories.shop import Shop

RULES = """
validation_rules:
  - rule_set_id: orders_rules
    check_def:
      - {type: in_range, column: amount, min: 0, on_fail: quarantine}
      - {type: unique, column: order_id, on_fail: quarantine}
stages:
  - pipeline_id: orders
    stage_order: 1
    source_id: orders_raw
    target_id: bronze_orders
    validation_set_id: orders_rules
"""
#: Killed here one after the other, each run finding what the one before left.
SOME = ("rows-routed", "published")
MORE = (
    "verdicts-noted",
    "broken-quarantined",
    "quarantine-written",
    "audited",
    "before-publish",
    "inputs-counted",
)


def with_rules(folder: Path, rules: str = RULES) -> Shop:
    shop = Shop.make(folder)
    (folder / "rules.yaml").write_text(rules)
    shop.goldsmith("--project", str(folder), "apply", str(folder / "rules.yaml"), "--yes")
    return shop


def quarantined(shop: Shop) -> dict[str, int]:
    return {entry["dataset"]: entry["rows"] for entry in shop.ask("quarantine", "list")}


def staged_folders(shop: Shop) -> list[str]:
    """Folders of rows that are not good, which nobody should find later."""
    lake = shop.folder / ".goldsmith" / "s3" / "shop" / "bronze"
    return [str(path) for path in lake.rglob("_goldsmith_side=*") if not path.name.endswith("=0")]


@pytest.mark.parametrize("points", [SOME, pytest.param(MORE, marks=pytest.mark.soak)])
def test_every_broken_row_is_kept_once_whatever_dies_when(
    tmp_path: Path, points: tuple[str, ...]
) -> None:
    shop = with_rules(tmp_path / "shop")
    for number, point in enumerate(points):
        shop.bring(f"file-{number}", (number, 10, "2026-01-01"), (100 + number, -1, "2026-01-01"))
        killed = shop.run(fault=point)
        assert killed.returncode == -9, f"{point} was never reached:\n{killed.stdout}"
    shop.run()

    assert sorted(row["order_id"] for row in shop.rows("bronze_orders")) == list(range(len(points)))
    assert quarantined(shop) == {"bronze_orders": len(points)}
    assert shop.leftovers() == {}
    assert staged_folders(shop) == []


def test_killed_between_audit_and_publish_the_next_run_decides_alike(tmp_path: Path) -> None:
    shop = with_rules(tmp_path / "shop", RULES.replace("quarantine}", "quarantine, mostly: 1.0}"))
    shop.bring("first", (1, 10, "2026-01-01"), (2, -1, "2026-01-01"))
    killed = shop.run(fault="verdicts-noted")
    assert killed.returncode == -9
    again = shop.run(fault="never")

    assert again.returncode == 1
    assert "CheckFailed" in again.stdout
    assert shop.rows("bronze_orders") == []
    assert quarantined(shop) == {"bronze_orders": 0}
    assert shop.leftovers() == {}


CORRECTION = "SELECT * EXCEPT (amount), abs(amount) AS amount FROM quarantined"


def replay(shop: Shop, *, fault: str) -> int:
    arguments = (
        "--project",
        str(shop.folder),
        "quarantine",
        "replay",
        "bronze_orders",
        "--sql",
        CORRECTION,
    )
    return shop.goldsmith(*arguments, fault=fault).returncode


@pytest.mark.soak
def test_mended_rows_are_replayed_once_whatever_dies_when(tmp_path: Path) -> None:
    shop = with_rules(tmp_path / "shop")
    shop.bring("first", (1, 10, "2026-01-01"), (2, -2, "2026-01-01"))
    shop.run()
    for point in ("replay-marked", "rows-routed", "before-publish"):
        assert replay(shop, fault=point) == -9, f"{point} was never reached"
        assert quarantined(shop) == {"bronze_orders": 1}
    assert replay(shop, fault="published") == -9
    assert quarantined(shop) == {}
    shop.goldsmith("--project", str(shop.folder), "run", "orders", fault="never")

    assert sorted(row["order_id"] for row in shop.rows("bronze_orders")) == [1, 2]
    assert quarantined(shop) == {}
    assert shop.leftovers() == {}


@pytest.mark.soak
@pytest.mark.parametrize("point", ["restore-intended", "rolled-back", "restored"])
def test_a_restore_that_is_killed_leaves_replayed_rows_in_one_place(
    tmp_path: Path, point: str
) -> None:
    shop = with_rules(tmp_path / "shop")
    shop.bring("first", (1, 10, "2026-01-01"), (2, -2, "2026-01-01"))
    shop.run()
    to = shop.ask("runs", "list")[0]["ended_at"]
    assert replay(shop, fault="never") == 0
    arguments = ("--project", str(shop.folder), "datasets", "restore", "bronze_orders", "--to", to)
    assert shop.goldsmith(*arguments, "--yes", fault=point).returncode == -9

    published = sorted(row["order_id"] for row in shop.rows("bronze_orders"))
    wanted = ([1, 2], {}) if point == "restore-intended" else ([1], {"bronze_orders": 1})
    assert (published, quarantined(shop)) == wanted
    shop.run()
    assert quarantined(shop) == wanted[1]
    assert replay(shop, fault="never") == 0
    assert sorted(row["order_id"] for row in shop.rows("bronze_orders")) == [1, 2]
    assert quarantined(shop) == {}


@pytest.mark.soak
def test_a_discard_that_is_killed_is_in_the_audit_log_after_the_next(tmp_path: Path) -> None:
    shop = with_rules(tmp_path / "shop")
    shop.bring("first", (1, 10, "2026-01-01"), (2, -2, "2026-01-01"), (3, -3, "2026-01-01"))
    shop.run()
    first, second = (row["id"] for row in shop.ask("quarantine", "show", "bronze_orders"))
    arguments = ("--project", str(shop.folder), "quarantine", "discard", "bronze_orders", "--yes")
    options = ("--reason", "test data", "--id")
    assert shop.goldsmith(*arguments, *options, first, fault="rows-discarded").returncode == -9
    assert quarantined(shop) == {"bronze_orders": 1}
    assert replay(shop, fault="never") == 0
    shop.goldsmith(*arguments, *options, second, fault="never")

    assert sorted(row["order_id"] for row in shop.rows("bronze_orders")) in ([1, 2], [1, 3])
    with closing(sqlite3.connect(shop.folder / ".goldsmith" / "catalog.db")) as connection:
        query = "SELECT facts FROM audit_log WHERE kind = 'RowsDiscarded'"
        discarded = [json.loads(facts) for (facts,) in connection.execute(query)]
    assert [(fact["rows"], fact["because"]) for fact in discarded] == [(1, "test data")]
