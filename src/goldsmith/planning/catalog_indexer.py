"""Build indexes of an open catalog, each from the last, and store the parsed SQL facts."""

from __future__ import annotations

import sqlalchemy as sa

from goldsmith.catalog import database
from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.errors import CatalogUnreachable
from goldsmith.catalog.snapshot import without_collector
from goldsmith.journal.definitions import sql_facts
from goldsmith.planning.catalog_index import CatalogIndex
from goldsmith.planning.sql import SqlReader


class CatalogIndexer:
    """Builds catalog indexes; one per process and catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._survey: CatalogIndex | None = None

    def catalog_index(self) -> CatalogIndex:
        """The index of the catalog now, computed from the rows changed since the last index."""
        with without_collector(first=self._survey is None):
            return self._surveyed()

    def last(self) -> CatalogIndex:
        """The last index, without reading the database; builds the first one if there is none."""
        return self._survey or self.catalog_index()

    def _surveyed(self) -> CatalogIndex:
        rows = self.catalog.snapshot()
        if self._survey is None:
            reader = SqlReader(rows.dataset_ids, kept=self._kept())
            self._survey = CatalogIndex(rows, reader)
        else:
            self._survey = self._survey.after(rows)
        self.keep(self._survey)
        return self._survey

    def _kept(self) -> dict[str, str]:
        with database.reading(self.catalog.engine) as connection:
            # As text: most rows are never used, and parsing their JSON takes time.
            facts = sa.cast(sql_facts.c.facts, sa.Text)
            found = connection.execute(sa.select(sql_facts.c.text_hash, facts))
            return {row[0]: row[1] for row in found}

    def keep(self, catalog_index: CatalogIndex) -> None:
        """Store newly parsed SQL facts for the next process."""
        parsed = catalog_index.reader.take_parsed()
        if not parsed:
            return
        insert = sa.insert(sql_facts).prefix_with("OR IGNORE", dialect="sqlite")
        if self.catalog.engine.dialect.name == "postgresql":
            from sqlalchemy.dialects.postgresql import insert as postgres_insert

            insert = postgres_insert(sql_facts).on_conflict_do_nothing()
        try:
            with database.writing(self.catalog.engine) as connection:
                rows = [{"text_hash": key, "facts": facts} for key, facts in parsed.items()]
                connection.execute(insert, rows)
        except CatalogUnreachable:
            # The catalog is busy or read-only: the next process parses again.
            return
