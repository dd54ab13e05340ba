from __future__ import annotations

from pathlib import Path

import pytest

from stories.shop import Shop

RULES = """
validation_rules:
  - rule_set_id: orders_rules
    check_def:
      - {type: in_range, column: amount, min: 0, on_fail: quarantine, max_broken: 2}
      - {type: unique, column: order_id, on_fail: quarantine}
stages:
  - pipeline_id: orders
    stage_order: 1
    source_id: orders_raw
    target_id: bronze_orders
    validation_set_id: orders_rules
"""
#: Killed here one after the other, each run finding what the one before left.
SOME = ("rows-parted", "verdicts-noted", "published")
MORE = ("broken-kept", "quarantine-written", "audited", "before-publish", "inputs-counted")


def with_rules(folder: Path) -> Shop:
    shop = Shop.make(folder)
    (folder / "rules.yaml").write_text(RULES)
    shop.goldsmith("--project", str(folder), "apply", str(folder / "rules.yaml"), "--yes")
    return shop


def kept_aside(shop: Shop) -> dict[str, int]:
    return {one["dataset"]: one["rows"] for one in shop.ask("quarantine", "list")}


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
    # What was killed before its publish is read again, and all of it at once breaks the limit.
    waiting = len(points) - points.count("published") - points.count("inputs-counted")
    refused = shop.goldsmith("--project", str(shop.folder), "run", "orders", fault="never")
    if waiting > 2:
        assert refused.returncode == 1
    assert shop.litter() == {}
    assert staged_folders(shop) == []
    bronze = sorted(row["order_id"] for row in shop.rows("bronze_orders"))
    counted = kept_aside(shop).get("bronze_orders", 0)
    assert len(bronze) == counted
    assert len(set(bronze)) == len(bronze)
    if waiting <= 2:
        assert bronze == list(range(len(points)))


@pytest.mark.soak
def test_mended_rows_are_replayed_once_whatever_dies_when(tmp_path: Path) -> None:
    shop = with_rules(tmp_path / "shop")
    shop.bring("first", (1, 10, "2026-01-01"), (2, -2, "2026-01-01"))
    shop.run()
    mend = "SELECT * EXCEPT (amount), abs(amount) AS amount FROM quarantined"
    words = ("--project", str(shop.folder), "quarantine", "replay", "bronze_orders", "--sql", mend)
    for point in ("replay-marked", "rows-parted", "published"):
        killed = shop.goldsmith(*words, fault=point)
        assert killed.returncode == -9, f"{point} was never reached:\n{killed.stdout}"
    shop.goldsmith("--project", str(shop.folder), "run", "orders", fault="never")

    assert sorted(row["order_id"] for row in shop.rows("bronze_orders")) == [1, 2]
    assert kept_aside(shop) == {}
    assert shop.litter() == {}
