"""Observed edges against declared ones."""

from __future__ import annotations

from datetime import UTC, datetime

from goldsmith.journal.evidence import OBSERVED
from goldsmith.journal.lineage_tables import EdgeEvidence
from goldsmith.planning.lineage_differences import edge_differences
from unit.planning.test_routes import example, index_of

NOW = datetime(2026, 11, 18, tzinfo=UTC)


def found(*edges: tuple[str, str], origin: str = OBSERVED) -> list[tuple[str, str, str]]:
    evidence = [
        EdgeEvidence(from_dataset_id=read, to_dataset_id=target, origin=origin, seen_by="try_1")
        for read, target in edges
    ]
    index = index_of(example())
    return [
        (difference.code, difference.from_dataset_id, difference.to_dataset_id)
        for difference in edge_differences(index, evidence, NOW)
    ]


def test_runs_that_read_what_is_declared_are_no_finding() -> None:
    assert found(("raw_orders", "bronze_orders"), ("bronze_orders", "silver_orders")) == []


def test_a_route_along_a_declared_edge_is_declared_too() -> None:
    edges = (("raw_orders", "bronze_orders"), ("raw_orders_alt", "bronze_orders"))
    assert found(*edges) == []


def test_what_nobody_declares_and_what_no_run_reads_are_findings() -> None:
    assert found(("prices", "bronze_orders")) == [
        ("EdgeNotDeclared", "prices", "bronze_orders"),
        ("EdgeNotSeen", "raw_orders", "bronze_orders"),
    ]


def test_other_origins_are_no_witness_of_runs() -> None:
    assert found(("prices", "bronze_orders"), origin="push_ingest") == []
