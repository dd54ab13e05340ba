"""Schemas that were inferred once and are kept: types must not change with the day's data."""

from __future__ import annotations

import sqlalchemy as sa

from goldsmith.catalog.prepared import Prepared
from goldsmith.journal.clock import now
from goldsmith.journal.definitions import kept_schemas
from goldsmith.journal.journal import Journal

_KEPT = Prepared(
    sa.select(kept_schemas.c.schema_json).where(
        kept_schemas.c.dataset_id == sa.bindparam("dataset")
    )
)


def get(journal: Journal, dataset_id: str) -> str | None:
    """The schema kept for a dataset, as Spark's JSON."""
    found = _KEPT.glance(journal.engine, {"dataset": dataset_id})
    return str(found[0][0]) if found else None


def put(journal: Journal, dataset_id: str, schema_json: str) -> None:
    """Keep a dataset's schema from now on."""
    mine = kept_schemas.c.dataset_id == dataset_id
    with journal.writing() as connection:
        connection.execute(sa.delete(kept_schemas).where(mine))
        connection.execute(
            sa.insert(kept_schemas).values(
                dataset_id=dataset_id, schema_json=schema_json, inferred_at=now()
            )
        )
