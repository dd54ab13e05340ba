"""Evidence of lineage edges stands beside declared rows, by origin, until it expires."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from goldsmith.catalog.catalog import Catalog
from goldsmith.journal.evidence import (
    OBSERVED,
    PUSH_INGEST,
    current_evidence,
    forget_expired,
    record_evidence,
)
from goldsmith.journal.journal import Journal

EDGE = ("raw_orders", "bronze_orders")


def _now() -> datetime:
    return datetime.now(UTC)


def test_one_origin_never_overwrites_another(journal: Journal) -> None:
    with journal.writing() as connection:
        record_evidence(connection, [EDGE, EDGE], OBSERVED, seen_by="run-1")
        record_evidence(connection, [EDGE], PUSH_INGEST, seen_by="key-1")
        record_evidence(connection, [EDGE], PUSH_INGEST, seen_by="key-2")
        found = current_evidence(connection, _now())
    assert [(item.origin, item.seen_by) for item in found] == [
        ("observed", "run-1"),
        ("push_ingest", "key-2"),
    ]


def test_evidence_counts_until_it_expires(journal: Journal) -> None:
    soon = _now() + timedelta(hours=1)
    with journal.writing() as connection:
        record_evidence(connection, [EDGE], PUSH_INGEST, expires_at=soon)
        record_evidence(connection, [("a", "b")], OBSERVED)
        assert len(current_evidence(connection, _now())) == 2
        later = soon + timedelta(seconds=1)
        assert [item.origin for item in current_evidence(connection, later)] == ["observed"]
        assert forget_expired(connection, later) == 1
        assert [item.origin for item in current_evidence(connection, _now())] == ["observed"]


def test_evidence_is_no_revision_and_no_change(catalog: Catalog, journal: Journal) -> None:
    before = catalog.snapshot().revision
    with journal.writing() as connection:
        assert record_evidence(connection, [EDGE, ("a", "b")], OBSERVED) == 2
        assert record_evidence(connection, [], OBSERVED) == 0
    assert catalog.snapshot().revision == before
