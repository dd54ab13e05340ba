"""Rehearsing an outage: what would be served, how, how stale, and what not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from goldsmith.planning.drill import DrillOutcome, Rehearsal, rehearse
from unit.planning.test_routes import example, index_of

NOW = datetime(2026, 11, 18, tzinfo=UTC)
AGES = {
    "raw_orders_alt": NOW - timedelta(minutes=5),
    "bronze_orders": NOW - timedelta(hours=1),
    "silver_orders": NOW - timedelta(hours=2),
}


def drilled(*down: str, tables: dict[str, Any] | None = None, **more: Any) -> Rehearsal:
    index = index_of(tables or example())
    return rehearse(index, down, NOW, environment="test", last_data=AGES.get, **more)


def test_what_has_another_way_is_served_by_it_as_stale_as_its_origin() -> None:
    found = drilled("raw_orders")
    first = found.lines[0]
    assert (first.dataset_id, first.outcome) == ("bronze_orders", DrillOutcome.OTHER_WAY)
    assert first.path_sequence == "raw_orders_alt,bronze_orders"
    assert (first.cost, first.stale_sec) == (2.0, 300.0)
    assert [line.outcome for line in found.lines[1:]] == [DrillOutcome.SERVED, DrillOutcome.SERVED]
    assert found.not_served == ()


def test_what_has_no_other_way_keeps_its_data_and_gets_older() -> None:
    found = drilled("raw_orders", "raw_orders_alt")
    assert found.not_served == ("bronze_orders", "silver_orders", "gold_orders")
    assert [line.stale_sec for line in found.lines] == [3600.0, 7200.0, None]
    assert "raw_orders_alt is down (down in this drill)" in found.lines[0].because
    assert "made of raw_orders, which is down" in found.lines[2].because


def test_what_probes_found_down_is_no_way_either() -> None:
    found = drilled("raw_orders", known_down={"raw_orders_alt": "no bucket"})
    assert found.not_served == ("bronze_orders", "silver_orders", "gold_orders")
    assert "no bucket" in found.lines[0].because


def test_a_spare_that_is_down_is_named_where_nothing_else_changes() -> None:
    found = drilled("raw_orders_alt")
    assert (found.lines, found.spares_lost) == ((), {"bronze_orders": "raw_orders_alt"})


def test_a_stopped_stage_is_not_served() -> None:
    tables = example()
    tables["stages"][1]["enabled"] = False
    found = drilled("raw_orders", tables=tables)
    assert [line.dataset_id for line in found.lines] == ["bronze_orders"]


def test_an_unknown_dataset_is_refused() -> None:
    with pytest.raises(Exception, match="raw_order"):
        drilled("raw_order")
