from __future__ import annotations

from pathlib import Path

from stories.shop import Shop

#: Killed here one after the other, each run finding what the one before left.
SOME = ("inputs-noted", "branch-made", "written", "published", "inputs-counted", "staged")


def test_whatever_dies_when_the_next_run_is_right_and_leaves_no_litter(tmp_path: Path) -> None:
    shop = Shop.make(tmp_path / "shop")
    for number, point in enumerate(SOME):
        shop.bring(
            f"file-{number}", (number, 10, "2026-01-01"), (100, number, f"2026-02-0{number + 1}")
        )
        killed = shop.run(fault=point)
        assert killed.returncode == -9, f"{point} was never reached:\n{killed.stdout}"
    shop.run()

    assert shop.litter() == {}
    assert sorted(row["order_id"] for row in shop.rows("bronze_orders")) == sorted(
        [*range(len(SOME)), *[100] * len(SOME)]
    )
    silver = {row["order_id"]: row["amount"] for row in shop.rows("silver_orders")}
    assert silver == {**dict.fromkeys(range(len(SOME)), 10), 100: len(SOME) - 1}
    assert shop.gold() == [(len(SOME) + 1, 10 * len(SOME) + len(SOME) - 1)]


def test_a_second_run_has_nothing_to_do_and_says_so(tmp_path: Path) -> None:
    shop = Shop.make(tmp_path / "shop")
    shop.bring("first", (1, 5, "2026-01-01"))
    shop.run()
    again = shop.run("--json")

    assert "nothing new of its inputs" in again.stdout
    assert '"status": "skipped"' in again.stdout
    assert len(shop.rows("bronze_orders")) == 1
