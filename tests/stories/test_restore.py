"""By the command line alone: a bad file is taken back, killed on the way, and all is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from stories.shop import Shop


@pytest.mark.soak
def test_a_bad_load_is_taken_back_through_to_gold_though_the_restore_is_killed(
    tmp_path: Path,
) -> None:
    shop = Shop.make(tmp_path / "shop")
    project = ("--project", str(shop.folder))
    shop.bring("a", (1, 10, "2026-01-01"))
    shop.run()
    good = shop.ask("datasets", "show", "bronze_orders")["snapshots"][0]
    shop.bring("b", (2, -999, "2026-01-02"), (3, -999, "2026-01-02"))
    shop.run()
    assert shop.gold() == [(3, -1988)]

    back = ("datasets", "restore", "bronze_orders", "--to", good["snapshot"])
    meant = shop.ask(*back, "--dry-run")
    assert (meant["done"], meant["downstream"]) == (False, ["silver_orders", "gold_orders"])
    assert [dataset["rows"] for dataset in meant["taken_back"]] == [2]
    killed = shop.goldsmith(*project, *back, "--yes", fault="rolled-back")
    assert killed.returncode == -9

    shop.bring("b", (2, 20, "2026-01-02"))
    shop.run()
    assert shop.gold() == [(2, 30)]
    assert sorted(row["order_id"] for row in shop.rows("bronze_orders")) == [1, 2]
    assert shop.leftovers() == {}
    assert "skipped" in shop.run().stdout
