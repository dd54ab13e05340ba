"""Makes surveys of an open catalog, each from the last, and keeps what parsing found."""

from __future__ import annotations

import sqlalchemy as sa

from goldsmith.catalog import database
from goldsmith.catalog.catalog import Catalog
from goldsmith.catalog.errors import CatalogUnreachable
from goldsmith.catalog.snapshot import without_collector
from goldsmith.journal.definitions import sql_facts
from goldsmith.planning.sql import SqlReader
from goldsmith.planning.survey import Survey


class Surveyor:
    """One per process and catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._survey: Survey | None = None

    def survey(self) -> Survey:
        """The catalog as it is now; only what changed since the last survey is looked at."""
        with without_collector(first=self._survey is None):
            return self._surveyed()

    def last(self) -> Survey:
        """The last survey that was made, without a look at the database."""
        return self._survey or self.survey()

    def _surveyed(self) -> Survey:
        rows = self.catalog.snapshot()
        if self._survey is None:
            reader = SqlReader(rows.dataset_ids, kept=self._kept())
            self._survey = Survey(rows, reader)
        else:
            self._survey = self._survey.after(rows)
        self.keep(self._survey)
        return self._survey

    def _kept(self) -> dict[str, str]:
        with database.reading(self.catalog.engine) as connection:
            # As text: most shapes are never asked for, and parsing JSON is not free either.
            facts = sa.cast(sql_facts.c.facts, sa.Text)
            found = connection.execute(sa.select(sql_facts.c.text_hash, facts))
            return {row[0]: row[1] for row in found}

    def keep(self, survey: Survey) -> None:
        """Keep newly parsed facts for the next process."""
        parsed = survey.reader.take_parsed()
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
            # A busy or read-only catalog: the next process parses again.
            return
