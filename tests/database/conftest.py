"""What the tests on both databases share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from goldsmith.catalog.catalog import Catalog
from goldsmith.planning.catalog_indexer import CatalogIndexer
from plain_sql import PlainSql


@pytest.fixture
def plain(catalog_url: str) -> Iterator[PlainSql]:
    """A plain connection to the catalog's database."""
    connection = PlainSql(catalog_url)
    yield connection
    connection.close()


@pytest.fixture
def catalog_indexer(catalog: Catalog) -> CatalogIndexer:
    return CatalogIndexer(catalog)
