"""Computed ways to datasets: kept with the catalog revision, without a revision or history."""

from __future__ import annotations

import pytest

from goldsmith.catalog.catalog import Catalog
from goldsmith.journal.journal import Journal
from goldsmith.planning.catalog_indexer import CatalogIndexer
from goldsmith.worker.computed_paths import bring_up_to_date
from plain_sql import PlainSql

VIEW = (
    "SELECT preference, origin, path_sequence FROM v_recovery_paths"
    " WHERE dataset_id = 'bronze_orders' ORDER BY preference"
)


@pytest.fixture
def orders(plain: PlainSql) -> PlainSql:
    """The edges of the seed, in its own words."""
    plain.run(
        "INSERT INTO dataset_lineage (from_dataset_id, to_dataset_id, transform_name) VALUES"
        " ('raw_orders', 'bronze_orders', 'parse_and_clean'),"
        " ('raw_orders_alt', 'bronze_orders', 'parse_and_clean'),"
        " ('bronze_orders', 'silver_orders', 'enrich_data')"
    )
    return plain


def test_written_ways_come_before_computed_ones(
    orders: PlainSql, catalog: Catalog, journal: Journal, catalog_indexer: CatalogIndexer
) -> None:
    orders.run(
        "INSERT INTO dataset_recovery_paths (dataset_id, path_order, path_sequence) VALUES"
        " ('bronze_orders', 1, 'raw_orders_alt, bronze_orders')"
    )
    assert bring_up_to_date(journal, catalog, catalog_indexer)
    assert orders.run(VIEW) == [
        (1, "written", "raw_orders_alt, bronze_orders"),
        (2, "computed", "raw_orders,bronze_orders"),
    ]
    count = "SELECT count(*) FROM computed_paths WHERE dataset_id = 'silver_orders'"
    assert orders.run(count) == [(2,)]


def test_they_follow_the_catalog_and_bump_no_revision(
    orders: PlainSql, catalog: Catalog, journal: Journal, catalog_indexer: CatalogIndexer
) -> None:
    before = catalog.revision()
    history = orders.run("SELECT count(*) FROM changes")
    assert bring_up_to_date(journal, catalog, catalog_indexer)
    assert not bring_up_to_date(journal, catalog, catalog_indexer)
    assert catalog.revision() == before
    assert orders.run("SELECT count(*) FROM changes") == history
    computed_at = "SELECT path_sequence, computed_at FROM computed_paths ORDER BY 1"
    first = orders.run(computed_at)

    orders.run("DELETE FROM dataset_lineage WHERE from_dataset_id = 'raw_orders'")
    assert bring_up_to_date(journal, catalog, catalog_indexer)
    assert [row[0] for row in orders.run(computed_at)] == [
        "raw_orders_alt,bronze_orders",
        "raw_orders_alt,bronze_orders,silver_orders",
    ]
    assert len(first) == 4
