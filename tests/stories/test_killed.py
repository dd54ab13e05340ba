from __future__ import annotations

from pathlib import Path

import pytest

from stories.shop import Shop

#: Killed here one after the other, each run finding what the one before left.
SOME = ("branch-made", "published", "staged")
EVERY = ("inputs-noted", "branch-made", "written", "published", "inputs-counted", "staged")


@pytest.mark.parametrize("points", [SOME, pytest.param(EVERY, marks=pytest.mark.soak)])
def test_whatever_dies_when_the_next_run_is_right_and_leaves_no_litter(
    tmp_path: Path, points: tuple[str, ...]
) -> None:
    shop = Shop.make(tmp_path / "shop")
    for number, point in enumerate(points):
        shop.bring(
            f"file-{number}", (number, 10, "2026-01-01"), (100, number, f"2026-02-0{number + 1}")
        )
        killed = shop.run(fault=point)
        assert killed.returncode == -9, f"{point} was never reached:\n{killed.stdout}"
    shop.run()

    assert shop.leftovers() == {}
    assert sorted(row["order_id"] for row in shop.rows("bronze_orders")) == sorted(
        [*range(len(points)), *[100] * len(points)]
    )
    silver = {row["order_id"]: row["amount"] for row in shop.rows("silver_orders")}
    assert silver == {**dict.fromkeys(range(len(points)), 10), 100: len(points) - 1}
    assert shop.gold() == [(len(points) + 1, 10 * len(points) + len(points) - 1)]

    again = shop.run("--json")
    assert "nothing new of its inputs" in again.stdout
    assert '"status": "skipped"' in again.stdout
    assert len(shop.rows("bronze_orders")) == 2 * len(points)
