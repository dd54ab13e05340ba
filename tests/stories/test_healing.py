"""Workers that die while they heal or wait: whoever comes next goes on from the rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from stories.shop import Shop

POLICY = """
retry_policies: [{retry_id: soon, max_retries: 3, backoff_sec: 1}]
pipelines: [{pipeline_id: orders, default_retry_id: soon}]
"""


@pytest.mark.soak
@pytest.mark.parametrize("point", ["healing-decided", "healing-written", "request-done"])
def test_a_worker_that_dies_while_healing_leaves_the_right_state(
    tmp_path: Path, point: str
) -> None:
    shop = Shop.make(tmp_path / "shop")
    (shop.folder / "policy.yaml").write_text(POLICY)
    arguments = ("apply", str(shop.folder / "policy.yaml"), "--yes")
    shop.goldsmith("--project", str(shop.folder), *arguments)
    shop.bring("good", (1, 5, "2026-01-01"))
    # A column the SQL of silver does not find: it fails, and no remedy has an answer.
    catalog = (shop.folder / "shop.yaml").read_text()
    broken = catalog.replace("SELECT order_id, amount, at", "SELECT nothing, order_id, amount, at")
    (shop.folder / "shop.yaml").write_text(broken)
    arguments = ("apply", str(shop.folder / "shop.yaml"), "--yes")
    shop.goldsmith("--project", str(shop.folder), *arguments)
    killed = shop.run(fault=point)
    assert killed.returncode == -9, killed.stdout
    (shop.folder / "shop.yaml").write_text(catalog)
    shop.goldsmith("--project", str(shop.folder), *arguments)
    shop.run()

    assert shop.gold() == [(1, 5)]
    assert shop.leftovers() == {}
    assert shop.ask("incidents", "list") == []
